"""What no longer holds of grades that were given before: the release, or the late penalty.

A lab may be released again, and its due date may move, after a class was graded. Then `autograde`
skips those who have a grade. So every step that shows or hands out grades says who they are.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from glob import escape
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from nbgrader.api import Gradebook, SubmittedAssignment, SubmittedNotebook
from nbgrader.preprocessors import AssignLatePenalties
from sqlalchemy import bindparam, select, update
from sqlalchemy.engine import Connection, Engine

from grader.submissions.safe_files import some
from grader.with_nbgrader.release import EARLIER


class CannotEnter(Exception):
    """A result does not fit into the gradebook; the message says why."""


@dataclass(frozen=True)
class HandedIn:
    """A submitted notebook: its id in the gradebook, whose it is, and how late."""

    row: str
    student: str
    seconds_late: float


class Penalties:
    """nbgrader's step that assigns late penalties, for many notebooks at once."""

    def __init__(self, converter: Any) -> None:
        self._step = AssignLatePenalties(parent=converter)
        self._step.init_plugin()

    def assign(self, connection: Connection, notebooks: Sequence[HandedIn]) -> None:
        """Writes the penalty of each notebook, whose points must be there already.

        Raises CannotEnter if the plugin fails.
        """
        penalties = [
            {"row": row, "penalty": each} for row, each in self.due(connection, notebooks).items()
        ]
        change(connection, SubmittedNotebook, penalties, late_submission_penalty="penalty")

    def due(self, connection: Connection, notebooks: Sequence[HandedIn]) -> dict[str, float | None]:
        """The penalty of each notebook by its id, for the points that the gradebook has."""
        late = [each.row for each in notebooks if each.seconds_late > 0]
        scores: dict[str, float] = {}
        if late:
            query = select(SubmittedNotebook.id, SubmittedNotebook.score.label("score"))
            rows = connection.execute(query.where(SubmittedNotebook.id.in_(late)))
            scores = {each.id: float(each.score) for each in rows}
        return {each.row: self._penalty(scores.get(each.row), each) for each in notebooks}

    def _penalty(self, score: float | None, of: HandedIn) -> float | None:
        if score is None:
            return None
        try:
            penalty = self._step.plugin_inst.late_submission_penalty(
                of.student, score, of.seconds_late
            )
        except Exception as error:  # the course's own function
            words = f"the course's plugin for late penalties failed: {error!r}"
            raise CannotEnter(words) from error
        if penalty is None:
            return None
        return float(self._step._check_late_penalty(SimpleNamespace(score=score), penalty))


def seconds_late(
    timestamp: datetime.datetime | None,
    due: datetime.datetime | None,
    extension: datetime.timedelta | None,
) -> float:
    """How late a submission is, as nbgrader counts it."""
    if timestamp is None or due is None:
        return 0.0
    return max(0.0, (timestamp - due - (extension or datetime.timedelta())).total_seconds())


def change(
    connection: Connection, table: Any, rows: Sequence[Mapping[str, Any]], **columns: str
) -> None:
    """Updates each row by its id; `columns` says which key of a row each column gets."""
    if rows:
        values: dict[str, Any] = {column: bindparam(key) for column, key in columns.items()}
        of = table.__table__
        connection.execute(update(of).where(of.c.id == bindparam("row")).values(values), rows)


def other_penalties(
    engine: Engine,
    lab_id: str,
    due: datetime.datetime | None,
    penalties: Penalties,
    *,
    renew: bool = False,
) -> list[str]:
    """The students whose late penalty is not the one by the due date as it is now.

    The due date may have moved since they were graded. With `renew`, each gets the one of now.
    """
    of, by = SubmittedNotebook, SubmittedAssignment
    query = (
        select(of.id, of.late_submission_penalty, by.student_id, by.timestamp, by.extension)
        .join(by, of.assignment_id == by.id)
        .where(by.assignment_id == lab_id, by.timestamp.isnot(None))
    )
    found: set[str] = set()
    with engine.begin() as connection:
        for row in connection.execute(query).all():
            late = seconds_late(row.timestamp, due, row.extension)
            notebook = HandedIn(row.id, row.student_id, late)
            if late <= 0 and not row.late_submission_penalty:
                continue
            try:
                penalty = penalties.due(connection, [notebook])[row.id]
            except CannotEnter:  # who has no penalty of the course's plugin keeps the one of before
                continue
            if round(penalty or 0.0, 9) != round(row.late_submission_penalty or 0.0, 9):
                found.add(row.student_id)
                if renew:
                    penalties.assign(connection, [notebook])
    return sorted(found)


def by_replaced_release(course: Any, lab: str) -> list[str]:
    """The students who were graded by a release that another one has replaced since."""
    root = Path(course.root)
    replaced = (root / course.release_directory / EARLIER / lab).glob("[0-9]*")
    newest = max((each.stat().st_mtime for each in replaced), default=0.0)
    graded = (root / course.autograded_directory).glob(f"*/{escape(lab)}/*.ipynb")
    return sorted({each.parent.parent.name for each in graded if each.stat().st_mtime < newest})


def on_due_date(course: Any, lab: str, converter: Any) -> Iterator[str]:
    """Whose late penalty is that of another due date. Raises CannotEnter.

    `converter` is nbgrader's autograding, whose settings name the plugin for late penalties.
    """
    with Gradebook(course.db_url, course.course_id) as gradebook:
        of = gradebook.find_assignment(lab)
        moved = other_penalties(gradebook.engine, of.id, of.duedate, Penalties(converter))
    if moved:
        yield (
            "The due date has moved since these were graded, and so has their late penalty: "
            f"{some(moved)}. Run `grader autograde {lab}`, which corrects it"
        )


def on_release(course: Any, lab: str) -> Iterator[str]:
    """Whose grades are of a replaced release."""
    if before := by_replaced_release(course, lab):
        yield (
            f"The lab was released anew after these were graded: {some(before)}. Run "
            f"`grader autograde {lab} --force`"
        )
