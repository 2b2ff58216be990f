"""The gradebook as the formgrader's lists read it, by a few queries for the whole class.

nbgrader asks the gradebook several questions for each submission, or joins each table with each
other. With 5,000 submissions that takes half a minute (its issues 785 and 929).
:class:`LargeGradebook` answers the same questions with the same values. A query here reads each
grade of the lab once.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from nbgrader.api import (
    Assignment,
    Grade,
    Gradebook,
    GradeCell,
    Notebook,
    Student,
    SubmittedAssignment,
    SubmittedNotebook,
    TaskCell,
)
from sqlalchemy import and_, case, func

_GRADED, _TASK = GradeCell.__table__, TaskCell.__table__


@dataclass(frozen=True)
class ListedStudent:
    """A student as far as a list needs one."""

    id: str


@dataclass(frozen=True)
class ListedNotebook:
    """A notebook that a student handed in, as far as a list needs it."""

    id: str
    name: str
    student: ListedStudent


@dataclass
class _Sums:
    """The points of one submission, by kind of cell."""

    score: dict[str, float] = field(default_factory=dict)
    most: dict[str, float] = field(default_factory=dict)
    needs_manual_grade: bool = False
    failed_tests: bool = False

    def as_json(self) -> dict[str, float]:
        made = {"score": sum(self.score.values()), "max_score": sum(self.most.values())}
        for kind in ("code", "written", "task"):
            made[f"{kind}_score"] = self.score.get(kind, 0.0)
            made[f"max_{kind}_score"] = self.most.get(kind, 0.0)
        return made


class LargeGradebook(Gradebook):  # type: ignore[misc]
    """A gradebook for lists; what it does not override is nbgrader's."""

    def student_dicts(self) -> list[dict[str, Any]]:
        """All students with their points, as nbgrader gives them."""
        most = self.db.query(func.sum(Assignment.max_score)).scalar()
        if not most:
            listed: list[dict[str, Any]] = super().student_dicts()
            return listed
        scores = dict(
            self.db.query(SubmittedAssignment.student_id, func.sum(Grade.score))
            .join(SubmittedNotebook, SubmittedNotebook.assignment_id == SubmittedAssignment.id)
            .join(Grade, Grade.notebook_id == SubmittedNotebook.id)
            .group_by(SubmittedAssignment.student_id)
            .all()
        )
        students = self.db.query(
            Student.id, Student.first_name, Student.last_name, Student.email, Student.lms_user_id
        )
        return [
            {
                "id": each.id,
                "first_name": each.first_name,
                "last_name": each.last_name,
                "email": each.email,
                "score": scores.get(each.id, 0.0),
                "max_score": most,
                "lms_user_id": each.lms_user_id,
            }
            for each in students
        ]

    def names_of_students(self) -> dict[str, dict[str, Any]]:
        """The first and the last name of each student."""
        rows = self.db.query(Student.id, Student.first_name, Student.last_name)
        return {own: {"first_name": first, "last_name": last} for own, first, last in rows}

    def submission_dicts(self, assignment_id: str) -> list[dict[str, Any]]:
        """The graded submissions of a lab, as nbgrader gives them."""
        sums = self._sums(SubmittedNotebook.assignment_id, Assignment.name == assignment_id)
        rows = (
            self.db.query(
                SubmittedAssignment.id,
                SubmittedAssignment.timestamp,
                Student.first_name,
                Student.last_name,
                Student.id.label("student"),
            )
            .join(Assignment, Assignment.id == SubmittedAssignment.assignment_id)
            .join(Student, Student.id == SubmittedAssignment.student_id)
            .filter(Assignment.name == assignment_id)
        )
        return [
            {
                "id": each.id,
                "name": assignment_id,
                "timestamp": each.timestamp,
                "first_name": each.first_name,
                "last_name": each.last_name,
                "student": each.student,
                **sums[each.id].as_json(),
                "needs_manual_grade": sums[each.id].needs_manual_grade,
            }
            for each in rows
            if each.id in sums
        ]

    def notebook_submission_dicts(
        self, notebook_id: str, assignment_id: str
    ) -> list[dict[str, Any]]:
        """The graded copies of one notebook of a lab, as nbgrader gives them."""
        wanted = and_(Assignment.name == assignment_id, Notebook.name == notebook_id)
        sums = self._sums(SubmittedNotebook.id, wanted)
        rows = self._notebooks(wanted).with_entities(
            SubmittedNotebook.id,
            SubmittedNotebook.flagged,
            Student.id.label("student"),
            Student.first_name,
            Student.last_name,
        )
        return [
            {
                "id": each.id,
                "name": notebook_id,
                "student": each.student,
                "first_name": each.first_name,
                "last_name": each.last_name,
                **sums[each.id].as_json(),
                "needs_manual_grade": sums[each.id].needs_manual_grade,
                "failed_tests": sums[each.id].failed_tests,
                "flagged": each.flagged,
            }
            for each in rows
            if each.id in sums
        ]

    def notebook_submissions(self, notebook: str, assignment: str) -> list[ListedNotebook]:
        """Who handed in a notebook of a lab: what the formgrader counts and steps through."""
        wanted = and_(Assignment.name == assignment, Notebook.name == notebook)
        rows = self._notebooks(wanted).with_entities(SubmittedNotebook.id, Student.id)
        return [ListedNotebook(own, notebook, ListedStudent(student)) for own, student in rows]

    def waiting_notebooks(self, notebook: str, assignment: str) -> list[ListedNotebook]:
        """The copies of a notebook in which something waits for a person, in order of their ids."""
        wanted = and_(
            Assignment.name == assignment, Notebook.name == notebook, Grade.needs_manual_grade
        )
        rows = (
            self._notebooks(wanted)
            .join(Grade, Grade.notebook_id == SubmittedNotebook.id)
            .with_entities(SubmittedNotebook.id, Student.id)
            .distinct()
            .order_by(SubmittedNotebook.id)
        )
        return [ListedNotebook(own, notebook, ListedStudent(student)) for own, student in rows]

    def failed_notebooks(self, notebook: str, assignment: str) -> set[str]:
        """The ids of the copies of a notebook in which a test failed."""
        wanted = and_(Assignment.name == assignment, Notebook.name == notebook)
        sums = self._sums(SubmittedNotebook.id, wanted)
        return {each for each, found in sums.items() if found.failed_tests}

    def _notebooks(self, wanted: Any) -> Any:
        """A query of the notebooks that students handed in, with what they belong to."""
        return (
            self.db.query(SubmittedNotebook)
            .join(SubmittedAssignment, SubmittedAssignment.id == SubmittedNotebook.assignment_id)
            .join(Assignment, Assignment.id == SubmittedAssignment.assignment_id)
            .join(Notebook, Notebook.id == SubmittedNotebook.notebook_id)
            .join(Student, Student.id == SubmittedAssignment.student_id)
            .filter(wanted)
        )

    def _sums(self, key: Any, wanted: Any) -> dict[str, _Sums]:
        """The sums of the grades for each value of the column `key`."""
        found: dict[str, _Sums] = {}
        for table in (_GRADED, _TASK):
            is_failed = and_(table.c.cell_type == "code", Grade.auto_score < table.c.max_score)
            rows = (
                self._notebooks(wanted)
                .join(Grade, Grade.notebook_id == SubmittedNotebook.id)
                .join(table, table.c.id == Grade.cell_id)
                .with_entities(
                    key,
                    table.c.cell_type,
                    func.sum(Grade.score),
                    func.sum(table.c.max_score),
                    func.max(case((Grade.needs_manual_grade, 1), else_=0)),
                    func.max(case((is_failed, 1), else_=0)),
                )
                .group_by(key, table.c.cell_type)
            )
            for own, cell_type, score, most, is_open, has_failed in rows:
                sums = found.setdefault(own, _Sums())
                kind = "task" if table is _TASK else {"markdown": "written"}.get(cell_type, "code")
                sums.score[kind], sums.most[kind] = score, most
                sums.needs_manual_grade |= bool(is_open)
                sums.failed_tests |= bool(has_failed) and table is _GRADED
        return found
