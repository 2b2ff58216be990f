"""Which runs the submissions of a course hold, so that a copy shows.

A file beside the gradebook lists the fingerprints of every run and whose submission holds it. Two
students with the same run are told to the instructor by name, and on the pages without names.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

#: The register of a course, in its folder.
REGISTER = "ticklab-runs.db"
#: Several graders may write at once.
_WAIT_S = 60
_TABLE = """
CREATE TABLE IF NOT EXISTS runs (
    fingerprint TEXT NOT NULL, student TEXT NOT NULL, assignment TEXT NOT NULL,
    PRIMARY KEY (fingerprint, student, assignment)
) WITHOUT ROWID
"""


class EvidenceRegister:
    """The register in the file `path`, which is made when it is first needed."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @contextlib.contextmanager
    def opened(self) -> Iterator[Entries]:
        """The register for several submissions, all or none of which are entered at the end.

        Raises sqlite3.Error if it cannot be read or written.
        """
        with contextlib.closing(sqlite3.connect(self.path, timeout=_WAIT_S)) as register, register:
            register.execute(_TABLE)
            yield Entries(register)

    def enter(
        self, student: str, assignment: str, runs: Mapping[str, Sequence[str]]
    ) -> dict[str, list[str]]:
        """Enters one submission: see :meth:`Entries.enter`. Raises sqlite3.Error."""
        with self.opened() as entries:
            return entries.enter(student, assignment, runs)


class Entries:
    """The open register."""

    def __init__(self, register: sqlite3.Connection) -> None:
        self._register = register

    def enter(
        self, student: str, assignment: str, runs: Mapping[str, Sequence[str]]
    ) -> dict[str, list[str]]:
        """Puts the runs of a submission in the place of those that it held when last graded.

        `runs` has the fingerprints of the run that each figure names. Returns the other students
        whose submissions hold the same run, by figure; figures whose run nobody else holds are left
        out. Raises sqlite3.Error if the register cannot be read or written.
        """
        self._register.execute(
            "DELETE FROM runs WHERE student = ? AND assignment = ?", (student, assignment)
        )
        rows = {(one, student, assignment) for marks in runs.values() for one in marks}
        self._register.executemany("INSERT INTO runs VALUES (?, ?, ?)", sorted(rows))
        found = {}
        for figure, marks in runs.items():
            others = self._register.execute(
                f"SELECT DISTINCT student FROM runs WHERE student != ? AND fingerprint IN "
                f"({','.join('?' * len(marks))}) ORDER BY student",
                (student, *marks),
            )
            if names := [name for (name,) in others]:
                found[figure] = names
        return found
