"""The flags that come from a comparison with the rest of the class, and the lines that name whom.

A flag is shown in feedback, so it names nobody. The lines are for the instructor's log.
"""

from __future__ import annotations

import contextlib
import hashlib
import re
import sqlite3
from array import array
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from grader.figures.verdict import Verdict
from grader.judging.flags import AccountFlag, AccountFlags, Stated, flags_of_class
from grader.submissions.safe_files import evidence_in, opened, printable, read_regular
from grader.with_nbgrader.student_folders import folders_in, trusted_part
from labs.course.account import FILE_NAME, read_course
from labs.course.figures import RECORDINGS
from labs.limits import MOST_HEAD_BYTES
from labs.recording.run_conditions import stated_in_head

#: The flags on accounts by figure.
ByFigure = Mapping[str, Sequence[AccountFlag]]


def raised_by_accounts(
    flags: Mapping[str, Sequence[AccountFlag]], verdicts: Mapping[str, Verdict]
) -> dict[str, list[AccountFlag]]:
    """The flags of a submission by figure; `flags` has them by the path of the recording."""
    found = {figure: flags.get(each.recording or "") for figure, each in verdicts.items()}
    return {figure: list(each) for figure, each in found.items() if each}


def asked_about(student: str, raised: ByFigure) -> Iterator[str]:
    """For each flag on an account: whose it is, on which figures, and who must be asked as well."""
    figures: dict[AccountFlag, list[str]] = {}
    for figure, flags in raised.items():
        for flag in flags:
            figures.setdefault(flag, []).append(figure)
    for flag, names in figures.items():
        others = ", ".join(printable(name) for name in flag.students)
        words = f"{flag.words}{f' ({others})' if others else ''}"
        yield f"{printable(student)}, {', '.join(names)}: {words}"


def same_run_as(student: str, copies: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """For each figure whose run others hold too: who they are."""
    for figure, students in copies.items():
        names = ", ".join(printable(name) for name in students)
        yield f"{printable(student)}, {figure}: the same run as of {names}"


# Which accounts the recordings of a class name, read before anybody is graded.
#
# All of them are read first, so that a flag does not depend on who is graded before whom. Only the
# heads of the recordings that figures name are read, and nothing of a student's file ends the
# batch.

_CONDITION = re.compile(rb"# (account|created|ticklab): ([^\r\n]*)")


def account_flags(course: Any) -> AccountFlags:
    """The flags of the submissions of the lab that is graded; none if the course has no id.

    `course` is nbgrader's CourseDirectory. Raises BadCourse.
    """
    try:
        identity = read_course(Path(course.root) / FILE_NAME)
    except FileNotFoundError:
        return AccountFlags()
    step, lab = course.submitted_directory, course.assignment_id
    trusted = trusted_part(course, step)
    stated = {
        student: stated_in(folder, trusted)
        for student, folder, trouble in folders_in(course, step, lab, "*")
        if trouble is None
    }
    return flags_of_class(identity, stated, _students(course, trusted))


def _students(course: Any, submitted: Path) -> list[str]:
    """All students with a folder below `submitted`, also if they did not hand in this lab."""
    shape = Path(course.directory_structure).parts
    if shape[:2] != ("{nbgrader_step}", "{student_id}"):
        return []
    try:
        return sorted(each.name for each in submitted.iterdir() if each.name[0] != ".")
    except OSError:
        return []


def stated_in(folder: Path, trusted: Path) -> dict[str, Stated]:
    """What each recording states that a figure in `folder` names; those that cannot be read are
    left out, and no level below `trusted` may be a link."""
    found: dict[str, Stated] = {}
    with contextlib.suppress(OSError), opened(folder / RECORDINGS, trusted) as inside:
        for path in map(PurePosixPath, evidence_in(folder)):
            if path.suffix == ".csv" and path.parts[:-1] == (RECORDINGS,):
                with contextlib.suppress(OSError):
                    head = read_regular(path.name, MOST_HEAD_BYTES, inside)
                    found[str(path)] = stated_by(head[:MOST_HEAD_BYTES])
    return found


def stated_by(head: bytes) -> Stated:
    """What the first lines of a recording state, down to the first line about a process."""
    known = stated_in_head(head, _CONDITION)
    return Stated(known.get("account"), known.get("created"), known.get("ticklab"))


# Which runs the submissions of a course hold, so that a copy shows.
#
# A file next to the gradebook lists the fingerprints of every run and whose submission holds it.
# The instructor's log names two students with the same run, and the pages name nobody.

#: The register of a course, in its folder.
REGISTER = "ticklab-runs.db"
#: Several graders may write at once.
_WAIT_S = 60
#: Of a class of 5,000, a million fingerprints: so each is a number, with the submission's number.
#: The submission has its own in one piece, to find them when it is graded again.
_TABLES = """
DROP TABLE IF EXISTS runs;
CREATE TABLE IF NOT EXISTS submissions (
    id INTEGER PRIMARY KEY, student TEXT NOT NULL, assignment TEXT NOT NULL, held BLOB NOT NULL,
    UNIQUE (student, assignment)
);
CREATE TABLE IF NOT EXISTS fingerprints (
    fingerprint INTEGER, submission INTEGER, PRIMARY KEY (fingerprint, submission)
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
            for statement in _TABLES.split(";"):
                register.execute(statement)
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
        place = (student, assignment)
        numbers = {one: _number(one) for marks in runs.values() for one in marks}
        for own, held in self._register.execute(
            "SELECT id, held FROM submissions WHERE student = ? AND assignment = ?", place
        ).fetchall():
            before = ((number, own) for number in array("q", held))
            self._register.executemany(
                "DELETE FROM fingerprints WHERE fingerprint = ? AND submission = ?", before
            )
            self._register.execute("DELETE FROM submissions WHERE id = ?", (own,))
        now = sorted(set(numbers.values()))
        own = self._register.execute(
            "INSERT INTO submissions (student, assignment, held) VALUES (?, ?, ?)",
            (*place, array("q", now).tobytes()),
        ).lastrowid
        self._register.executemany(
            "INSERT INTO fingerprints VALUES (?, ?)", ((number, own) for number in now)
        )
        found = {}
        for figure, marks in runs.items():
            others = self._register.execute(
                "SELECT DISTINCT student FROM fingerprints JOIN submissions ON id = submission "
                f"WHERE student != ? AND fingerprint IN ({','.join('?' * len(marks))}) "
                "ORDER BY student",
                (student, *(numbers[one] for one in marks)),
            )
            if names := [name for (name,) in others]:
                found[figure] = names
        return found


def _number(fingerprint: str) -> int:
    """A number of 64 bits for a fingerprint."""
    return int.from_bytes(hashlib.sha256(fingerprint.encode()).digest()[:8], "big", signed=True)
