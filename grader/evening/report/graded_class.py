"""All submissions of one lab in a course folder, as they were graded."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from grader.evening.course_folder import NotOurs, open_course
from grader.evening.report.graded import GradedFigure, GradedSubmission, read_graded
from grader.submissions.names import trouble_with_name
from grader.with_nbgrader.places import students_in, trusted_part


class NoReport(Exception):
    """There is nothing to report on; the message says why and what to do."""


@dataclass(frozen=True)
class GradedClass:
    """The submissions of `lab` that could be read, those that could not, and who waits.

    `unread` are autograded but cannot be read, and `waiting` are students whose submission was
    collected and not graded. `refused` is the number of folders whose name no student can have.
    """

    lab: str
    submissions: tuple[GradedSubmission, ...]
    unread: tuple[GradedSubmission, ...] = ()
    waiting: tuple[str, ...] = ()
    refused: int = 0

    @cached_property
    def figures(self) -> tuple[str, ...]:
        """The ids of all figures with a verdict, in the order of the notebook."""
        return tuple(dict.fromkeys(f.figure for each in self.submissions for f in each.figures))

    @cached_property
    def students(self) -> tuple[str, ...]:
        """Everybody who handed in, sorted."""
        both = (*self.submissions, *self.unread)
        return tuple(sorted({*(each.student for each in both), *self.waiting}))

    def verdicts_on(self, figure: str) -> Iterator[tuple[str, GradedFigure]]:
        """The verdicts on one figure, each with its student."""
        for each in self.submissions:
            if (verdict := each.verdict_on(figure)) is not None:
                yield each.student, verdict


def course_in(folder: Path) -> Any:
    """nbgrader's CourseDirectory of the course in `folder`, with its settings. Raises NoReport."""
    try:
        return open_course(folder).coursedir
    except NotOurs as error:
        raise NoReport(f"{error}") from None


def read_class(course: Any, lab: str) -> GradedClass:
    """Reads the graded submissions of `lab`. Raises NoReport if nobody's is graded."""
    if Path(lab).name != lab:
        raise NoReport(f"{lab!r} is no name of a lab: write it as in 01-timer-overhead.")
    done, handed_in = course.autograded_directory, course.submitted_directory
    trusted = trusted_part(course, done)
    graded = {
        student: folder
        for student, folder in students_in(course, done, lab, "*").items()
        if trouble_with_name(student) is None
    }
    others = set(students_in(course, handed_in, lab, "*")) - set(graded)
    waiting = {student for student in others if trouble_with_name(student) is None}
    if not graded:
        raise NoReport(
            f"No submission of {lab} is graded in {course.root}. First run `grader autograde "
            f"{lab}` in the course folder."
        )
    read = [read_graded(student, folder, trusted) for student, folder in sorted(graded.items())]
    return GradedClass(
        lab,
        tuple(each for each in read if not each.trouble),
        tuple(each for each in read if each.trouble),
        tuple(sorted(waiting)),
        len(others - waiting),
    )
