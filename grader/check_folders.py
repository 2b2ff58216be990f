"""What `grader check` does, and `check()` in a notebook: find labs, check them, and show verdicts.

A worker judges each of several folders, so that no folder can stop the check of the others.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.figures import LABS, figure_named, figures_of
from grader.figures.verdict import NOT_HANDED_IN, Outcome, Verdict
from grader.judging.lab_folder import check_figure, check_folder, handed_in_for_practice, lab_of
from grader.judging.presentation import as_html, as_text, points_as_text
from grader.judging.worker import NotGraded, Worker
from labs import terminal
from labs.course.lab_names import folder_meant
from labs.files import denied
from labs.html import Table, inline
from labs.messages import Message, Refused
from labs.terminal import say, say_json

ALL_PASSED, SOMETHING_FAILED, SOMETHING_NOT_GRADED = 0, 1, 2


class NotALab(ValueError):
    """A folder cannot be checked; the message says why, and what to do."""


@dataclass(frozen=True)
class LabFolder:
    """A folder to check. `practice` holds its figures if it is a lab in which none counts."""

    path: Path
    lab: str
    practice: frozenset[str] | None = None

    def only_asked(self, verdicts: Sequence[Verdict]) -> list[Verdict]:
        """`verdicts` without those on figures that a practice folder does not have."""
        return [v for v in verdicts if self.practice is None or v.figure in self.practice]

    def report(self, verdicts: Sequence[Verdict]) -> str:
        """The verdicts as text, and the points in the last line."""
        return "\n\n".join([*map(as_text, verdicts), self.closing(verdicts)])

    def closing(self, verdicts: Sequence[Verdict]) -> str:
        """The last line of a report: the points of all verdicts."""
        if self.practice is not None:
            return "for practice: nothing counts in this folder"
        got = points_as_text(sum(verdict.points for verdict in verdicts))
        most = points_as_text(sum(verdict.max_points for verdict in verdicts))
        return f"{self.lab}: {got} of {most} points"


def lab_folder(path: Path, lab: str | None) -> LabFolder:
    """The lab folder at `path`; `lab` names its lab, otherwise we find it. Raises NotALab."""
    trouble = denied(path)
    if trouble is not None:
        raise NotALab(f"not graded: {trouble}")
    if not path.is_dir():
        raise NotALab(f"{path} is not a folder{folder_meant(path)}")
    practice = None if lab else handed_in_for_practice(path)
    if practice is not None and not practice:
        raise NotALab(f"there is no figure in {path.resolve()} yet")
    try:
        return LabFolder(path, lab or lab_of(path), practice)
    except LookupError as error:
        raise NotALab(f"{error}; name it with --lab") from error


def status(verdicts: Sequence[Verdict]) -> int:
    """The exit status of `grader check` for these verdicts."""
    outcomes = {verdict.outcome for verdict in verdicts}
    if Outcome.NOT_GRADED in outcomes:
        return SOMETHING_NOT_GRADED
    return SOMETHING_FAILED if Outcome.FAILED in outcomes else ALL_PASSED


def check_each(paths: Sequence[Path], lab: str | None, *, as_json: bool) -> int:
    """Check every folder and print a report on each; the exit status is the worst of all."""
    worst = ALL_PASSED
    found: dict[str, object] = {}
    with Worker() as worker:
        for path in paths:
            try:
                folder = lab_folder(path, lab)
                verdicts = _judged(worker, folder)
            except NotALab as error:
                worst, report = SOMETHING_NOT_GRADED, str(error)
                found[str(path)] = {"outcome": Outcome.NOT_GRADED.value, "reason": str(error)}
            else:
                worst, report = max(worst, status(verdicts)), folder.report(verdicts)
                found[str(path)] = [verdict.as_json() for verdict in verdicts]
            if not as_json:
                say(f"{path}\n\n{report}\n")
    if as_json:
        say_json(found)
    return worst


def _judged(worker: Worker, folder: LabFolder) -> list[Verdict]:
    judged = worker.judge(folder.path, folder.lab)
    for line in _lines(judged.log):
        say(line, file=sys.stderr)
    if isinstance(judged, NotGraded):
        raise NotALab(f"not graded: {judged.reason}")
    return folder.only_asked(judged.verdicts)


def _lines(log: str) -> list[str]:
    """The lines of a log without control characters, which may come from a student's text."""
    return ["".join(c if c.isprintable() else "?" for c in line) for line in log.splitlines()]


_NOTHING = "nothing handed in yet"


def labs_in(folder: Path) -> list[Path]:
    """The folders of labs in `folder` whose figures count, in the order taught."""
    return [folder / lab for lab in LABS if (folder / lab).is_dir()]


def check_all_labs(folders: Sequence[Path], *, as_json: bool) -> int:
    """Check each lab, and print a table. The exit status is the worst of all labs."""
    worst, got, most = ALL_PASSED, 0.0, 0.0
    rows: list[tuple[str, ...]] = []
    found: dict[str, object] = {}
    with Worker() as worker:
        for folder in folders:
            judged = worker.judge(folder, folder.name)
            if isinstance(judged, NotGraded):
                worst = SOMETHING_NOT_GRADED
                rows.append((folder.name, "", "", f"not graded: {judged.reason}"))
                found[str(folder)] = {
                    "outcome": Outcome.NOT_GRADED.value,
                    "reason": judged.reason,
                }
                continue
            verdicts = judged.verdicts
            worst = max(worst, status(verdicts))
            got += sum(verdict.points for verdict in verdicts)
            most += sum(verdict.max_points for verdict in verdicts)
            rows.append(_row(folder.name, verdicts))
            found[str(folder)] = [verdict.as_json() for verdict in verdicts]
    if as_json:
        say_json(found)
        return worst
    table = Table(
        "All labs in this folder", ("lab", "passed", "points", "not right yet"), tuple(rows)
    )
    say(table.as_text(terminal.columns()))
    say(f"\n{points_as_text(got)} of {points_as_text(most)} points.")
    if worst != ALL_PASSED:
        # A lab that was begun comes first: False sorts before True.
        to_do = [(row[-1] == _NOTHING, n) for n, row in enumerate(rows) if row[-1]]
        first = folders[min(to_do)[1]]
        say(f"`grader check {first}` says more about {first.name}.")
    return worst


def _row(lab: str, verdicts: Sequence[Verdict]) -> tuple[str, ...]:
    """The lab, how many of its figures passed, its points, and what is not right yet."""
    passed = sum(verdict.outcome is Outcome.PASSED for verdict in verdicts)
    got = points_as_text(sum(verdict.points for verdict in verdicts))
    most = points_as_text(sum(verdict.max_points for verdict in verdicts))
    missing = sum(verdict.in_words == NOT_HANDED_IN for verdict in verdicts)
    wrong = [
        verdict.figure
        if verdict.outcome is not Outcome.NOT_GRADED
        else f"{verdict.figure} (not graded)"
        for verdict in verdicts
        if verdict.outcome is not Outcome.PASSED and verdict.in_words != NOT_HANDED_IN
    ]
    if missing == len(verdicts):
        wrong = [_NOTHING]
    elif missing:
        wrong.append(f"{missing} not handed in")
    return (lab, f"{passed} of {len(verdicts)}", f"{got} of {most}", ", ".join(wrong))


# In a notebook, where a student calls `check`: the same verdicts, which display themselves.


@dataclass(frozen=True)
class Shown:
    """A verdict that displays itself: as HTML in a notebook, as text elsewhere."""

    verdict: Verdict

    def __repr__(self) -> str:
        return as_text(self.verdict)

    def _repr_html_(self) -> str:
        return _with_examples(self.verdict)


@dataclass(frozen=True)
class AllShown:
    """The verdicts on all figures of a lab folder, as `grader check` prints them."""

    folder: LabFolder
    verdicts: tuple[Verdict, ...]

    def __repr__(self) -> str:
        return self.folder.report(self.verdicts)

    def _repr_html_(self) -> str:
        closing = inline("<p>{{ line }}</p>", line=self.folder.closing(self.verdicts))
        return "".join([*map(_with_examples, self.verdicts), closing])


def _with_examples(verdict: Verdict) -> str:
    # Here: a terminal shows no examples, and needs nothing that draws.
    from grader.examples import of_findings

    return as_html(verdict, of_findings(verdict))


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
    return Shown(check_figure(Path(folder), spec))
