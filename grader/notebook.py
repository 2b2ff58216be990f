"""The check that a student calls in a notebook; it is the grader's own check."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from pathlib import Path

from grader.cases.verdict import Verdict
from grader.figures import LABS, figure_named, figures_of
from grader.judging.lab_folder import check_folder, lab_of
from grader.judging.presentation import as_html, as_text
from labs.common import spelling
from labs.common.messages import Message, Refused


@dataclass(frozen=True)
class Shown:
    """A verdict that displays itself: as HTML in a notebook, as text elsewhere."""

    verdict: Verdict

    def __repr__(self) -> str:
        return as_text(self.verdict)

    def _repr_html_(self) -> str:
        return as_html(self.verdict)


def check(figure: str = "", folder: Path | str = ".") -> Shown:
    """The verdict on one figure of the lab folder `folder`, as the grader will give it.

    Raises Refused for an unknown id; the message suggests a similar id or lists those of this lab.
    """
    try:
        spec = figure_named(figure)
    except KeyError:
        what = f"there is no figure {figure!r}" if figure else "name the figure to check"
        known = [each.id for specs in LABS.values() for each in specs]
        with contextlib.suppress(LookupError):
            known = [each.id for each in figures_of(lab_of(Path(folder)))]
        raise Refused(
            Message("problem", what + spelling.suggestion(figure, tuple(known)))
        ) from None
    verdicts = check_folder(Path(folder), spec.lab)
    return Shown(next(verdict for verdict in verdicts if verdict.figure == figure))
