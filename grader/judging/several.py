"""What `grader check` does with each of its folders: find the lab, check it, report.

Each of several folders is judged by a worker, so that no folder can stop the check of the others.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.cases.verdict import Outcome, Verdict
from grader.judging.judgement import NotGraded
from grader.judging.lab_folder import handed_in_for_practice, lab_of
from grader.judging.permission import denied
from grader.judging.presentation import as_text, points_as_text
from grader.judging.worker import Worker
from labs.common.terminal import say, say_json
from labs.course.catalogue.names import folder_meant
from labs.languages.words import ENGLISH, Words, of_reader

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

    def report(self, verdicts: Sequence[Verdict], words: Words = ENGLISH) -> str:
        """The verdicts as text, and the points in the last line."""
        shown = [as_text(verdict, words) for verdict in verdicts]
        return "\n\n".join([*shown, self.closing(verdicts, words)])

    def closing(self, verdicts: Sequence[Verdict], words: Words = ENGLISH) -> str:
        """The last line of a report: the points of all verdicts."""
        if self.practice is not None:
            return words("for practice: nothing counts in this folder")
        got = points_as_text(sum(verdict.points for verdict in verdicts))
        most = points_as_text(sum(verdict.max_points for verdict in verdicts))
        return f"{self.lab}: {words('{points} of {most} points').format(points=got, most=most)}"


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


def check(paths: Sequence[Path], lab: str | None, *, as_json: bool) -> int:
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
                worst, report = max(worst, status(verdicts)), folder.report(verdicts, of_reader())
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
