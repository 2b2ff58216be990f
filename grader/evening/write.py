"""Puts results into nbgrader's gradebook, many students in one transaction.

nbgrader's own way asks the gradebook for each cell, and commits each of them: half a second for one
submission. Here the rows of a batch are read at once and written at once. What a row gets is the
same as with nbgrader: points given by hand stay, and then a person must look again.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from nbgrader.api import (
    Assignment,
    BaseCell,
    Comment,
    Grade,
    Gradebook,
    Notebook,
    Student,
    SubmittedAssignment,
    SubmittedNotebook,
    new_uuid,
)
from sqlalchemy import insert, select
from sqlalchemy.engine import Connection, Row

from grader.evening.graded import Result
from grader.evening.penalties import CannotEnter, HandedIn, Penalties, change, seconds_late
from grader.with_nbgrader.verdict_cells import needs_a_person
from labs.common.terminal import safe

_Rows = dict[tuple[str, str], Row[Any]]
_New = list[dict[str, Any]]


@dataclass(frozen=True)
class _Cells:
    """The cells of the notebooks of a lab: their ids, by notebook and name."""

    notebooks: dict[str, str]
    graded: dict[tuple[str, str], str]
    commented: dict[tuple[str, str], str]


class Writer:
    """The gradebook of a course, open for the results of one lab."""

    def __init__(self, gradebook: Gradebook, lab: str, penalties: Penalties, create: bool) -> None:
        """`create` says whether a student who is not in the gradebook is added to it.

        Raises CannotEnter if the gradebook does not have the lab.
        """
        self._engine = gradebook.engine
        self._penalties = penalties
        self._create = create
        with self._engine.connect() as connection:
            found = connection.execute(
                select(Assignment.id, Assignment.duedate).where(Assignment.name == lab)
            ).first()
            if found is None:
                raise CannotEnter(
                    f"the gradebook has no lab {safe(lab)}: run `nbgrader generate_assignment "
                    f"{safe(lab)}` first"
                )
            self._lab_id, self._due = found
            self._cells = _cells(connection, self._lab_id)

    @property
    def notebooks(self) -> list[str]:
        """The names of the lab's notebooks."""
        return sorted(self._cells.notebooks)

    def write(self, results: Sequence[Result]) -> dict[str, str]:
        """Enters all results, and returns why some students' were left out.

        Raises what SQLAlchemy raises, and GradebookUnavailable; then nothing is entered.
        """
        try:
            with self._engine.begin() as connection:
                self._enter(connection, results)
            return {}
        except CannotEnter as error:
            if len(results) == 1:
                return {results[0].student: str(error)}
        # One of them does not fit. The others must not wait for it.
        return {name: why for one in results for name, why in self.write([one]).items()}

    def _enter(self, connection: Connection, results: Sequence[Result]) -> None:
        self._enter_students(connection, [each.student for each in results])
        submissions = self._enter_submissions(connection, results)
        ids = [each.id for each in submissions.values()]
        notebooks = _by(
            connection,
            select(
                SubmittedNotebook.assignment_id, SubmittedNotebook.notebook_id, SubmittedNotebook.id
            ).where(SubmittedNotebook.assignment_id.in_(ids)),
        )
        found = [each.id for each in notebooks.values()]
        grades = _by(
            connection,
            select(Grade.notebook_id, Grade.cell_id, Grade.id, Grade.manual_score).where(
                Grade.notebook_id.in_(found)
            ),
        )
        comments = _by(
            connection,
            select(Comment.notebook_id, Comment.cell_id, Comment.id).where(
                Comment.notebook_id.in_(found)
            ),
        )
        scored, said = [], []
        handed_in: list[HandedIn] = []
        for result in results:
            submission = submissions[result.student]
            own = {
                name: _found(notebooks, (submission.id, number), f"notebook {name}").id
                for name, number in self._cells.notebooks.items()
            }
            for notebook, cell, automatic in self._scores(result):
                grade = _found(grades, (own[notebook], self._graded(notebook, cell)), cell)
                # Of a notebook that is missing, nbgrader asks nobody to look at anything.
                person = notebook in result.scores and needs_a_person(automatic, grade.manual_score)
                scored.append({"row": grade.id, "automatic": automatic, "person": person})
            for notebook, each in result.comments.items():
                for cell, words in each.items():
                    place = (own[notebook], self._commented(notebook, cell))
                    said.append({"row": _found(comments, place, cell).id, "words": words})
            seconds = seconds_late(submission.timestamp, self._due, submission.extension)
            handed_in += [HandedIn(own[name], result.student, seconds) for name in result.scores]
        change(connection, Grade, scored, auto_score="automatic", needs_manual_grade="person")
        change(connection, Comment, said, auto_comment="words")
        self._penalties.assign(connection, handed_in)

    def _scores(self, result: Result) -> Iterator[tuple[str, str, float | None]]:
        """Each cell's automatic points; nbgrader gives none for a notebook that is missing."""
        for notebook in result.missing:
            if notebook not in result.scores:
                for of, cell in self._cells.graded:
                    if of == notebook:
                        yield notebook, cell, 0.0
        for notebook, each in result.scores.items():
            for cell, automatic in each.items():
                yield notebook, cell, automatic

    def _graded(self, notebook: str, cell: str) -> str:
        return str(_found(self._cells.graded, (notebook, cell), f"graded cell {cell}"))

    def _commented(self, notebook: str, cell: str) -> str:
        return str(_found(self._cells.commented, (notebook, cell), f"answer cell {cell}"))

    def _enter_students(self, connection: Connection, names: Sequence[str]) -> None:
        known = set(connection.scalars(select(Student.id).where(Student.id.in_(names))))
        new = [name for name in names if name not in known]
        if new and not self._create:
            raise CannotEnter(f"the gradebook has no student {safe(new[0])}")
        if new:
            connection.execute(insert(Student), [{"id": name} for name in new])

    def _enter_submissions(
        self, connection: Connection, results: Sequence[Result]
    ) -> dict[str, Row[Any]]:
        """The submission of each student, with the rows of all its cells."""
        table = SubmittedAssignment
        query = select(table.student_id, table.id, table.timestamp, table.extension).where(
            table.assignment_id == self._lab_id,
            table.student_id.in_([each.student for each in results]),
        )
        known = {each.student_id: each for each in connection.execute(query)}
        new = [each for each in results if each.student not in known]
        times = [
            {"row": known[each.student].id, "time": _time(each)}
            for each in results
            if each.student in known and each.timestamp is not None
        ]
        change(connection, table, times, timestamp="time")
        if new:
            self._add(connection, new)
        return {each.student_id: each for each in connection.execute(query)}

    def _add(self, connection: Connection, results: Sequence[Result]) -> None:
        submissions: _New = []
        notebooks: _New = []
        grades: _New = []
        comments: _New = []
        for result in results:
            submission = {
                "id": new_uuid(),
                "assignment_id": self._lab_id,
                "student_id": result.student,
                "timestamp": _time(result),
            }
            submissions.append(submission)
            for name, number in self._cells.notebooks.items():
                notebook = new_uuid()
                notebooks.append(
                    {"id": notebook, "assignment_id": submission["id"], "notebook_id": number}
                )
                grades += _rows_for(self._cells.graded, name, notebook)
                comments += _rows_for(self._cells.commented, name, notebook)
        rows_of = {
            SubmittedAssignment: submissions,
            SubmittedNotebook: notebooks,
            Grade: grades,
            Comment: comments,
        }
        for table, rows in rows_of.items():
            if rows:
                connection.execute(insert(table), rows)


@contextmanager
def opened(url: str, course_id: str, lab: str, converter: Any) -> Iterator[Writer]:
    """The gradebook at `url`. Raises CannotEnter, and what SQLAlchemy raises."""
    with Gradebook(url, course_id) as gradebook:
        yield Writer(gradebook, lab, Penalties(converter), bool(converter.create_student))


def _cells(connection: Connection, lab_id: str) -> _Cells:
    names = {
        each.id: each.name
        for each in connection.execute(
            select(Notebook.id, Notebook.name).where(Notebook.assignment_id == lab_id)
        )
    }
    graded, commented = {}, {}
    table = BaseCell.__table__
    query = select(table.c.id, table.c.name, table.c.notebook_id, table.c.type)
    for cell in connection.execute(query.where(table.c.notebook_id.in_(names))):
        place = (names[cell.notebook_id], cell.name)
        if cell.type != "SolutionCell":
            graded[place] = cell.id
        if cell.type != "GradeCell":
            commented[place] = cell.id
    return _Cells({name: number for number, name in names.items()}, graded, commented)


def _rows_for(cells: Mapping[tuple[str, str], str], name: str, notebook: str) -> _New:
    """New rows for the cells of one notebook."""
    return [
        {"id": new_uuid(), "notebook_id": notebook, "cell_id": cell}
        for (of, _), cell in cells.items()
        if of == name
    ]


def _time(result: Result) -> datetime.datetime | None:
    return datetime.datetime.fromisoformat(result.timestamp) if result.timestamp else None


def _by(connection: Connection, query: Any) -> _Rows:
    """The rows of a query by their first two columns."""
    return {(each[0], each[1]): each for each in connection.execute(query)}


def _found(rows: Mapping[tuple[str, str], Any], place: tuple[str, str], what: str) -> Any:
    if place not in rows:
        raise CannotEnter(
            f"the gradebook has no row for {safe(what)} in this submission; was the lab released "
            "anew after an earlier grading?"
        )
    return rows[place]
