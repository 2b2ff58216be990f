"""The grades of one lab, read from nbgrader's gradebook in a few queries.

nbgrader's own export asks the gradebook again for every student.
"""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from nbgrader import api
from nbgrader.api import Gradebook, MissingEntry
from sqlalchemy.exc import SQLAlchemyError

from grader.with_nbgrader.gradebook_lock import cause_of

#: More characters of one comment are left out.
MOST_CHARACTERS = 2_000


class NoGrades(Exception):
    """There is nothing to export; the message says why and what to do."""


@dataclass(frozen=True)
class Part:
    """The grade of one cell. While it `waits` for a person, its score is not final.

    `comment` is what a person wrote to the answer in this cell, or nbgrader if there is none.
    """

    name: str
    score: float
    most: float
    waits: bool = False
    comment: str = ""


@dataclass(frozen=True)
class Graded:
    """What one student has of the lab: one part for each graded cell, sorted by name.

    A student who has not handed in has neither `when` nor `parts`.
    """

    student: str
    first_name: str = ""
    last_name: str = ""
    email: str = ""
    lms_id: str = ""
    when: datetime.datetime | None = None
    penalty: float = 0.0
    parts: tuple[Part, ...] = ()
    handed_in: bool = False

    @property
    def raw(self) -> float:
        """The points so far, without the penalty for a late submission."""
        return sum(part.score for part in self.parts)

    @property
    def score(self) -> float:
        """The points so far, with the penalty."""
        return max(0.0, self.raw - self.penalty)

    @property
    def waits(self) -> bool:
        """Whether a part of it has no grade yet."""
        return any(part.waits for part in self.parts)


@dataclass(frozen=True)
class Sheet:
    """All students of a course, with what each of them has of `lab`; `most` is its full points."""

    lab: str
    most: float
    due: datetime.datetime | None
    students: tuple[Graded, ...]

    @cached_property
    def final(self) -> dict[str, Graded]:
        """Who has a grade that no person must still complete, by id."""
        return {g.student: g for g in self.students if g.handed_in and not g.waits}

    @cached_property
    def so_far(self) -> dict[str, Graded]:
        """Who has handed in, by id; some of the grades may not be complete."""
        return {g.student: g for g in self.students if g.handed_in}


def read_sheet(course: Any, lab: str) -> Sheet:
    """The grades of `lab` in the gradebook of `course`. Raises NoGrades.

    `course` is nbgrader's CourseDirectory.
    """
    kind, _, path = course.db_url.partition(":///")
    if kind == "sqlite" and not Path(path.partition("?")[0]).is_file():
        raise NoGrades(
            f"the course has no gradebook yet ({path.partition('?')[0]}); grade the lab first"
        )
    try:
        with Gradebook(course.db_url, course.course_id) as gradebook:
            return _sheet(gradebook, lab)
    except MissingEntry as error:
        raise NoGrades(f"the gradebook has no lab {lab}; grade the lab first") from error
    except (SQLAlchemyError, OSError) as error:
        raise NoGrades(cause_of(error) or f"the gradebook cannot be read: {error}") from error


def _sheet(gradebook: Gradebook, lab: str) -> Sheet:
    assignment = gradebook.find_assignment(lab)
    handed_in, parts = _submissions(gradebook, assignment.id), _parts(gradebook, assignment.id)
    who = api.Student
    rows = gradebook.db.query(who.id, who.first_name, who.last_name, who.email, who.lms_user_id)
    students = []
    for student, first, last, email, lms_id in rows.order_by(who.last_name, who.first_name, who.id):
        when, penalty, has_it = handed_in.get(student, (None, 0.0, False))
        students.append(
            Graded(
                student=student,
                first_name=first or "",
                last_name=last or "",
                email=email or "",
                lms_id=lms_id or "",
                when=when,
                penalty=penalty,
                parts=tuple(parts.get(student, ())),
                handed_in=has_it,
            )
        )
    return Sheet(lab, float(assignment.max_score), assignment.duedate, tuple(students))


def _submissions(gradebook: Gradebook, assignment: str) -> dict[str, tuple[Any, float, bool]]:
    """When each student handed in, and the penalty for that, by student."""
    of = api.SubmittedAssignment
    penalty = api.func.coalesce(api.func.sum(api.SubmittedNotebook.late_submission_penalty), 0.0)
    rows = (
        gradebook.db.query(of.student_id, of.timestamp, penalty)
        .outerjoin(api.SubmittedNotebook, api.SubmittedNotebook.assignment_id == of.id)
        .filter(of.assignment_id == assignment)
        .group_by(of.student_id, of.timestamp)
    )
    return {student: (when, float(late), True) for student, when, late in rows}


def _parts(gradebook: Gradebook, assignment: str) -> dict[str, list[Part]]:
    """The graded cells of each student, by name."""
    comments = _comments(gradebook, assignment)
    grade, book, of = api.Grade, api.SubmittedNotebook, api.SubmittedAssignment
    found: dict[str, list[Part]] = {}
    for cell_of in (api.GradeCell, api.TaskCell):
        rows = (
            gradebook.db.query(
                of.student_id, cell_of.name, grade.score, grade.needs_manual_grade,
                cell_of.max_score, book.id,
            )
            .select_from(grade)
            .join(book, grade.notebook_id == book.id)
            .join(of, book.assignment_id == of.id)
            .join(cell_of, grade.cell_id == cell_of.id)
            .filter(of.assignment_id == assignment)
        )  # fmt: skip
        for student, name, score, waits, most, notebook in rows:
            comment = comments.get((notebook, name), "")
            part = Part(name, float(score), float(most), waits, comment)
            found.setdefault(student, []).append(part)
    return {student: sorted(parts, key=lambda part: part.name) for student, parts in found.items()}


def _comments(gradebook: Gradebook, assignment: str) -> dict[tuple[str, str], str]:
    """The comments on cells, by the id of the submitted notebook and the name of the cell."""
    comment, book, of = api.Comment, api.SubmittedNotebook, api.SubmittedAssignment
    rows = (
        gradebook.db.query(book.id, api.BaseCell.name, comment.manual_comment, comment.auto_comment)
        .select_from(comment)
        .join(book, comment.notebook_id == book.id)
        .join(of, book.assignment_id == of.id)
        .join(api.BaseCell, comment.cell_id == api.BaseCell.id)
        .filter(of.assignment_id == assignment)
    )
    found = {(book, name): (by_hand or by_itself) for book, name, by_hand, by_itself in rows}
    return {key: text.strip()[:MOST_CHARACTERS] for key, text in found.items() if text}
