"""`python -m bench interrupted`: `grader` for a class, killed, out of disk, or locked out.

`grader collect`, `grader autograde` and `grader feedback`: any process is killed at random moments,
the disk is full, the gradebook is locked. Whatever happened, the same command again ends with all
files and the gradebook of a run that was left alone. Of nbgrader's own commands and of a cluster,
`test_interrupted.py` and `test_on_dask.py` show the same.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import multiprocessing
import random
import shutil
import sqlite3
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import Any

import psutil

from bench.exchange import steps
from bench.exchange.full_class import LAB, FullClass, environment
from bench.exchange.steps import Ran
from bench.report import must_hold, say, skipped, verdict
from grader.class_grading import autograde_class
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
    """Makes classes of any size in `folder`; it measures once, which takes seconds.

    Two of the students hand in the same run, and some of those who were collected before hand in
    again. So it matters who is graded first, and what counts.
    """

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


_KILLS, _QUICK_KILLS = 50, 6
_DISKS, _QUICK_DISKS = 12, 2
_LOCK_S, _QUICK_LOCK_S = 30.0, 6.0
_SMALL, _LARGE = 12, 120
#: A small class shall need several transactions of the gradebook, as a large one does.
_BATCH = 5
_MORE_ROOM = 200_000_000
#: tmpfs gives room in pages.
PAGE = 4096
_SEED = 20_261_123
#: What a process is, by a word of its command line.
_KINDS = {
    "grader.class_grading.grading_process": "worker",
    "grader.judging.worker": "judge",
    "spawn_main": "page process",
    "resource_tracker": "resource tracker",
}


def run(quick: bool) -> bool:
    """All parts, with fewer trials and a smaller class if `quick`."""
    autograde_class.BATCH = _BATCH
    with tempfile.TemporaryDirectory(prefix="ticklab-interrupted-") as scratch:
        made = ClassToInterrupt(Path(scratch))
        commands = made.commands(_SMALL)
        held = True
        for command in commands:
            held &= killed(Path(scratch), command, _QUICK_KILLS if quick else _KILLS)
        for command in commands:
            held &= on_full_disks(Path(scratch), command, _QUICK_DISKS if quick else _DISKS)
        for command in commands if quick else made.commands(_LARGE):
            held &= locked(Path(scratch), command, _QUICK_LOCK_S if quick else _LOCK_S)
    return held


class Killer:
    """Chooses processes to kill, and counts of what kind they were."""

    def __init__(self, chance: random.Random) -> None:
        self.killed = Counter[str]()
        self._chance = chance

    def __call__(self, processes: list[int]) -> Sequence[int]:
        """One of the processes, or all of them."""
        chosen = self._chance.choice([*processes, None])
        if chosen is None:
            self.killed["all"] += 1
            return processes
        self.killed["main process" if chosen == processes[0] else _kind(chosen)] += 1
        return [chosen]

    @property
    def counts(self) -> str:
        return ", ".join(f"{name} {times}" for name, times in sorted(self.killed.items()))


def _kind(process: int) -> str:
    try:
        line = " ".join(psutil.Process(process).cmdline())
    except psutil.Error:
        return "one that ended just then"
    return next((kind for word, kind in _KINDS.items() if word in line), "another process")


def killed(folder: Path, command: Command, count: int) -> bool:
    """Kills any process of a command: half by the clock, half the main one at a change of a file.

    The command runs again at once, while processes of the first run may still be at work.
    """
    must_hold(f"`{command.name}`, of which any process was killed, ends as one left alone")
    chance = random.Random(_SEED)
    killer, wrong, trials = Killer(chance), [], 0
    while killer.killed.total() < count:
        course = copied(command.before, folder / "trial")
        if trials % 2:
            moment = chance.uniform(0, command.alone.seconds)
            steps.run(course, command.words, kill_after_s=moment, whom=killer)
            what = f"after {moment:.3f} s"
        else:
            change = chance.randint(1, command.alone.changes)
            first = steps.run(course, command.words, kill_at_change=change)
            killer.killed["main process, at a change"] += first.status == -9
            what = f"at change {change} of {command.alone.changes}"
        trials += 1
        again = steps.run(course, command.words)
        if fault := command.fault(course, again):
            wrong.append(f"killed {what}: {fault}")
            say(f"   {wrong[-1]}")
        shutil.rmtree(folder / "trial")
    return verdict(not wrong, f"{len(wrong)} of {trials} differ; killed: {killer.counts}")


def on_full_disks(folder: Path, command: Command, count: int) -> bool:
    """Runs a command on disks that fill up in the middle, and again with more room."""
    must_hold(f"a full disk ends `{command.name}` with what to do; with room, it ends as else")
    disk = folder / "disk"
    disk.mkdir(exist_ok=True)
    least, most = _size(command.before.folder), _size(command.after.folder)
    files = sum(1 for _ in command.before.folder.rglob("*")) + 2
    more = sum(1 for _ in command.after.folder.rglob("*")) + 2 - files
    wrong, full = [], 0
    for trial in range(count):
        size = least + (most - least) * (2 * trial + 1) // (2 * count)
        room = size, 0
        if trial % 4 == 3:  # room for bytes, and none for names
            room = size + _MORE_ROOM, files + more * (2 * trial + 1) // (2 * count)
        if not mounted(disk, *room):
            return skipped("a small disk cannot be mounted: run it as root or in `unshare -Urm`")
        try:
            course = copied(command.before, disk)
            ran = steps.run(course, command.words)
            if ran.status != 0:
                full += 1
                if trouble := _unclear(ran.said):
                    wrong.append(f"on {room} bytes and files it says {trouble}")
                mount("-o", f"remount,size={size + _MORE_ROOM},nr_inodes=0", str(disk))
                ran = steps.run(course, command.words)
            if fault := command.fault(course, ran):
                wrong.append(f"on {room} bytes and files, then more: {fault}")
        finally:
            subprocess.run(["umount", str(disk)], check=True)
    for line in wrong:
        say(f"   {line}")
    return verdict(
        not wrong and 2 * full >= count,
        f"{len(wrong)} faults; {full} of {count} disks were full",
    )


def _unclear(said: str) -> str:
    """What is wrong with the words about a full disk; "" if nothing is."""
    full = any(each in said for each in ("disk is full", "No space left", "the disk has no room"))
    clear = full and "ree some space" in said and "the same command" in said
    return "" if clear and "Traceback" not in said else repr(said[-600:])


def locked(folder: Path, command: Command, seconds: float) -> bool:
    """Runs a command while another program has the gradebook for so long."""
    must_hold(f"`{command.name}` waits for a gradebook that is locked for {seconds:g} s")
    course = copied(command.before, folder / f"locked-{command.words[1]}")
    held = multiprocessing.Event()
    # Only grading writes; the other two read the gradebook at their beginning.
    middle = command.words[1] == "autograde"
    other = multiprocessing.Process(target=_hold, args=(course, seconds, held, middle))
    other.start()
    if not middle:
        held.wait()
    ran = steps.run(course, command.words)
    other.join()
    fault = command.fault(course, ran)
    if "is locked by another program" not in ran.said or "Traceback" in ran.said:
        fault = fault or f"it says {ran.said[-600:]!r}"
    alone = command.alone.seconds
    return verdict(not fault, fault or f"as one left alone, {ran.seconds:.0f} s, not {alone:.0f} s")


def _hold(course: Copy, seconds: float, held: Event, in_the_middle: bool) -> None:
    """Another program, which takes the gradebook at once or when something is graded."""
    while in_the_middle and not any(course.folder.glob("autograded/.unfinished/*/*.result.json")):
        time.sleep(0.01)
    # SQLite's locks do not survive a fork.
    connection = sqlite3.connect(course.folder / GRADEBOOK, isolation_level=None)
    connection.execute("BEGIN EXCLUSIVE")
    held.set()
    time.sleep(seconds)
    connection.close()


def _size(folder: Path) -> int:
    """How much room the files under `folder` take on a disk in memory, hard links once."""
    sizes = {}
    for path in folder.rglob("*"):
        status = path.lstat()
        if not path.is_dir():
            sizes[status.st_ino] = -(-status.st_size // PAGE) * PAGE
    return sum(sizes.values())


def mounted(disk: Path, size: int, files: int = 0) -> bool:
    """Puts a new disk at the folder `disk`, of `size` bytes and so many files, if any.

    Whether that may be done here.
    """
    room = f"size={size},nr_inodes={files}"
    return mount("-t", "tmpfs", "-o", room, "ticklab-bench", str(disk))


def mount(*words: str) -> bool:
    """Runs `mount`; whether it could."""
    return subprocess.run(["mount", *words], capture_output=True, check=False).returncode == 0
