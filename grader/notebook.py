"""The check that a student calls in a notebook; it is the grader's own check."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from pathlib import Path

from grader.cases.verdict import Verdict
from grader.examples import of_findings
from grader.figures import LABS, figure_named, figures_of
from grader.judging.check_folders import LabFolder, NotALab, lab_folder
from grader.judging.lab_folder import check_folder, lab_of
from grader.judging.presentation import as_html, as_text
from labs import terminal
from labs.html import inline
from labs.messages import Message, Refused


@dataclass(frozen=True)
class Shown:
    """A verdict that displays itself: as HTML in a notebook, as text elsewhere."""

    verdict: Verdict

    def __repr__(self) -> str:
        return as_text(self.verdict)

    def _repr_html_(self) -> str:
        return as_html(self.verdict, of_findings(self.verdict))


@dataclass(frozen=True)
class AllShown:
    """The verdicts on all figures of a lab folder, as `grader check` prints them."""

    folder: LabFolder
    verdicts: tuple[Verdict, ...]

    def __repr__(self) -> str:
        return self.folder.report(self.verdicts)

    def _repr_html_(self) -> str:
        closing = inline("<p>{{ line }}</p>", line=self.folder.closing(self.verdicts))
        shown = [as_html(verdict, of_findings(verdict)) for verdict in self.verdicts]
        return "".join([*shown, closing])


def check(figure: str = "", folder: Path | str = ".") -> Shown | AllShown:
    """The verdict on one figure of the lab folder `folder`, as the grader will give it.

    Without an id, the verdicts on all figures of the lab. Raises Refused for an unknown id; the
    message suggests a similar id or lists those of this lab.
    """
    if not figure:
        try:
            lab = lab_folder(Path(folder), None)
        except NotALab as error:
            raise Refused(Message("problem", str(error))) from None
        return AllShown(lab, tuple(lab.only_asked(check_folder(lab.path, lab.lab))))
    try:
        spec = figure_named(figure)
    except KeyError:
        what = f"there is no figure {figure!r}"
        known = [each.id for specs in LABS.values() for each in specs]
        with contextlib.suppress(LookupError):
            known = [each.id for each in figures_of(lab_of(Path(folder)))]
        raise Refused(
            Message("problem", what + terminal.suggestion(figure, tuple(known)))
        ) from None
    verdicts = check_folder(Path(folder), spec.lab)
    verdict = next(verdict for verdict in verdicts if verdict.figure == figure)
    return Shown(verdict)
