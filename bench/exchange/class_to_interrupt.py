"""A class with recordings of full size, and the three commands of `grader` that work on it.

Two of the students hand in the same run, and some of those who were collected before hand in again.
So it matters who is graded first, and what counts.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import shutil
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.exchange import steps
from bench.exchange.full_class import LAB, FullClass, environment
from bench.exchange.steps import Ran
from grader.with_nbgrader.class_flags import REGISTER
from grader.with_nbgrader.student_folders import RECORD

GRADEBOOK = "gradebook.db"
#: The state of a course: each file by its path, and the rows of its databases by their tables.
State = tuple[dict[str, str], dict[str, list[Any]]]

_ROWS = {
    "students": "SELECT id, first_name, last_name, email FROM student",
    "submissions": """
        SELECT of.student_id, lab.name, of.timestamp, of.extension FROM submitted_assignment of
        JOIN assignment lab ON lab.id = of.assignment_id""",
    "notebooks": """
        SELECT of.student_id, notebook.name, own.flagged, own.late_submission_penalty
        FROM submitted_notebook own JOIN notebook ON notebook.id = own.notebook_id
        JOIN submitted_assignment of ON of.id = own.assignment_id""",
    "grades": """
        SELECT of.student_id, cell.name, grade.auto_score, grade.manual_score,
            grade.extra_credit, grade.needs_manual_grade
        FROM grade JOIN base_cell cell ON cell.id = grade.cell_id
        JOIN submitted_notebook own ON own.id = grade.notebook_id
        JOIN submitted_assignment of ON of.id = own.assignment_id""",
    "comments": """
        SELECT of.student_id, cell.name, comment.auto_comment, comment.manual_comment
        FROM comment JOIN base_cell cell ON cell.id = comment.cell_id
        JOIN submitted_notebook own ON own.id = comment.notebook_id
        JOIN submitted_assignment of ON of.id = own.assignment_id""",
}

#: Whose submission holds which run; the number of a submission depends on which came first.
_HELD = """
    SELECT student, assignment, fingerprint FROM fingerprints
    JOIN submissions ON submissions.id = submission"""


@dataclass(frozen=True)
class Copy:
    """A course folder that commands may change."""

    folder: Path

    @property
    def environment(self) -> dict[str, str]:
        """Without the Jupyter settings of the user; temporary files lie next to the course."""
        scratch = self.folder.parent / "tmp"
        scratch.mkdir(exist_ok=True)
        return {**environment(self.folder), "TMPDIR": str(scratch)}

    def state(self) -> State:
        """Everything in the course folder but logs, and the rows of the gradebook."""
        return dict(self._files()), dict(self._rows())

    def _files(self) -> Iterator[tuple[str, str]]:
        for path in self.folder.rglob("*"):
            place = path.relative_to(self.folder)
            if place.name in {GRADEBOOK, REGISTER} or path.suffix == ".log":
                continue
            if "__pycache__" in place.parts or place.parts[0] in {"source", "release"}:
                continue
            kind = f"{path.lstat().st_mode:o}"
            yield str(place), kind if path.is_dir() else f"{kind} {_digest(path)}"

    def _rows(self) -> Iterator[tuple[str, list[Any]]]:
        with closing(sqlite3.connect(self.folder / GRADEBOOK)) as gradebook:
            for name, query in _ROWS.items():
                yield name, sorted(map(repr, gradebook.execute(query)))
            # A row that no query above finds counts too.
            tables = gradebook.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            for (table,) in sorted(tables):
                count = f'SELECT count(*) FROM "{table}"'
                yield f"size of {table}", [*gradebook.execute(count)]
            yield "check", [*gradebook.execute("PRAGMA integrity_check")]
        if (self.folder / REGISTER).exists():
            with closing(sqlite3.connect(self.folder / REGISTER)) as register:
                yield "register", sorted(register.execute(_HELD))


@dataclass(frozen=True)
class Command:
    """A command, the course before it, and how it ends when it is left alone."""

    name: str
    words: tuple[str, ...]
    before: Copy
    alone: Ran
    after: Copy
    expected: State

    def fault(self, course: Copy, ran: Ran) -> str:
        """What differs from the end of a command that was left alone; "" if nothing does."""
        if ran.status != self.alone.status:
            return f"exit status {ran.status}, not {self.alone.status}: {ran.said[-300:]}"
        files, rows = course.state()
        own_files, own_rows = self.expected
        tables = sorted(name for name in own_rows if rows.get(name) != own_rows[name])
        if tables:
            return f"the databases differ in {', '.join(tables)}"
        odd = sorted({name for name, _ in files.items() ^ own_files.items()})
        return f"these files differ: {odd[:5]}" if odd else ""


def copied(course: Copy, to: Path) -> Copy:
    """The course in the new folder `to`/course; hard links in it stay hard links."""
    to.mkdir(parents=True, exist_ok=True)
    subprocess.run(["cp", "-a", str(course.folder), str(to / "course")], check=True)
    return Copy(to / "course")


class ClassToInterrupt:
    """Makes classes of any size in `folder`; it measures once, which takes seconds."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._made = FullClass(folder / "made")

    def commands(self, size: int) -> list[Command]:
        """`grader collect`, `autograde` and `feedback` of a class of `size` students."""
        top = self._folder / f"{size}"
        first, second = self._hand_ins(top, size)
        course = copied(Copy(self._made.course), top / "0")
        _well(steps.run(course, ("grader", "collect", str(first), "--lab", LAB)))
        found = []
        for number, words in enumerate(
            (
                ("collect", str(second), "--lab", LAB),
                ("autograde", LAB, "--workers", "2", "--resume"),
                ("feedback", LAB, "--workers", "2", "--resume"),
            ),
            start=1,
        ):
            after = copied(course, top / f"{number}")
            alone = _well(steps.run(after, ("grader", *words)))
            name = f"grader {words[0]}"
            command = Command(name, ("grader", *words), course, alone, after, after.state())
            found.append(command)
            course = after
        return found

    def _hand_ins(self, top: Path, size: int) -> tuple[Path, Path]:
        """Two folders that are collected one after the other."""
        first, second = top / "first", top / "second"
        now = datetime.datetime.now(datetime.timezone.utc).replace(microsecond=0, tzinfo=None)
        self._made.hand_in(range(size), second)
        copies = sorted(second.iterdir())
        for name in ("figures.json", "recordings"):
            one, other = copies[2] / LAB / name, copies[3] / LAB / name
            shutil.rmtree(other) if other.is_dir() else other.unlink()
            shutil.copytree(one, other) if one.is_dir() else shutil.copy(one, other)
        self._made.hand_in(range(0, size, 3), first)
        for number, student in enumerate(sorted(first.iterdir())):
            (student / LAB / "timestamp.txt").write_text(f"{now} UTC")
            again = second / student.name / LAB
            if number % 2:
                (again / "notes.txt").write_text("handed in once more")
                later = now + datetime.timedelta(hours=1)
                (again / "timestamp.txt").write_text(f"{later} UTC")
            else:
                (again / "timestamp.txt").write_text(f"{now} UTC")
        for student in second.iterdir():
            if not (first / student.name).exists():
                (student / LAB / "timestamp.txt").write_text(f"{now} UTC")
        return first, second


def _well(ran: Ran) -> Ran:
    if ran.status != 0:
        raise RuntimeError(f"a command that was left alone failed: {ran.said[-2000:]}")
    return ran


def _digest(path: Path) -> str:
    """The hash of a file; of a record, without what is another time in each run."""
    content = path.read_bytes()
    if path.name == RECORD:
        stated = json.loads(content)
        for name in ("collected", "changed"):
            stated.pop(name, None)
        content = json.dumps(stated, sort_keys=True).encode()
    return hashlib.sha256(content).hexdigest()
