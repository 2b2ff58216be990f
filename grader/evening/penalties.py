"""Late penalties, which the course's own plugin gives, and the update of many rows at once."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from nbgrader.api import SubmittedNotebook
from nbgrader.preprocessors import AssignLatePenalties
from sqlalchemy import bindparam, select, update
from sqlalchemy.engine import Connection


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
        late = [each.row for each in notebooks if each.seconds_late > 0]
        scores: dict[str, float] = {}
        if late:
            query = select(SubmittedNotebook.id, SubmittedNotebook.score.label("score"))
            rows = connection.execute(query.where(SubmittedNotebook.id.in_(late)))
            scores = {each.id: float(each.score) for each in rows}
        penalties = [
            {"row": each.row, "penalty": self._penalty(scores.get(each.row), each)}
            for each in notebooks
        ]
        change(connection, SubmittedNotebook, penalties, late_submission_penalty="penalty")

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
        notebook = SimpleNamespace(score=score)
        return float(self._step._check_late_penalty(notebook, penalty))


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
