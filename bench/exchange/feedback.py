"""`python -m bench feedback`: the feedback of a large class: its time, memory, size, and kills.

The class is one honest submission of lab 01, many times over: the same work for each student.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil

from bench.report import must_hold, say, verdict
from grader.with_nbgrader.course import make_course
from testing.paths import FIXTURES, REPOSITORY

LAB = "01-timer-overhead"
_SIZES, _QUICK_SIZES = (1_000, 2_500, 5_000), (60, 120)
_MOST_S, _MOST_BYTES, _MOST_MEMORY = 180.0, 150_000, 1e9
_WORKERS = 2
_KILLS, _QUICK_KILLS = 20, 3


@dataclass(frozen=True)
class Ran:
    """A run: its seconds, its seconds of CPU with all its processes, and their peak memory."""

    status: int
    seconds: float
    cpu_s: float
    peak_bytes: int


def run(quick: bool) -> bool:
    """The times of several sizes of a class, those of nbgrader's command, and kills."""
    with tempfile.TemporaryDirectory() as name:
        course = _graded(Path(name) / "course")
        held, count, sizes = True, 1, _QUICK_SIZES if quick else _SIZES
        for size in sizes:
            _multiply(course, count, size)
            count = size
            held &= _timed(course, size)
            if size == sizes[0]:
                held &= _killed(course, size, _QUICK_KILLS if quick else _KILLS)
    return held


def _timed(course: Path, size: int) -> bool:
    must_hold(f"feedback of {size:,} in {_MOST_S:.0f} s and less than 1 GB, 150 KB each")
    shutil.rmtree(course / "feedback", ignore_errors=True)
    ran = _run(course, "grader.commands.cli", "feedback", LAB, "--workers", str(_WORKERS))
    sizes = [path.stat().st_size for path in course.glob(f"feedback/*/{LAB}/*.html")]
    held = ran.status == 0 and len(sizes) == size and max(sizes) <= _MOST_BYTES
    held &= ran.seconds <= _MOST_S and ran.peak_bytes <= _MOST_MEMORY
    say(
        f"   {ran.seconds:.1f} s, {1e3 * ran.cpu_s / size:.1f} ms of CPU each, "
        f"{ran.peak_bytes / 1e6:.0f} MB of memory at most, {max(sizes) / 1e3:.0f} kB each"
    )
    some = _run(course, "nbgrader", "generate_feedback", LAB, "--student=s00000", "--force")
    say(f"   nbgrader generate_feedback of one, with its start: {some.cpu_s:.1f} s of CPU")
    return verdict(held, f"{len(sizes):,} pages")


def _killed(course: Path, size: int, kills: int) -> bool:
    """Kills a run at random moments, until the next one has made all."""
    must_hold("a run that was killed, run again, makes what a run that was left alone makes")
    chance = random.Random(1)
    expected = _pages(course)
    begin = time.monotonic()
    _run(course, "grader.commands.cli", "feedback", LAB, "--force")
    alone = time.monotonic() - begin
    shutil.rmtree(course / "feedback")
    counts = []
    for _ in range(kills):
        with _started(course, "grader.commands.cli", "feedback", LAB, "--workers", "2") as program:
            with contextlib.suppress(subprocess.TimeoutExpired):
                program.wait(chance.uniform(0, alone))
            family = [program.pid, *(each.pid for each in _children(program.pid))]
            with contextlib.suppress(ProcessLookupError):
                os.kill(chance.choice(family), signal.SIGKILL)
        counts.append(len(_pages(course)))
        if counts[-1] == size:
            shutil.rmtree(course / "feedback")
    ran = _run(course, "grader.commands.cli", "feedback", LAB, "--resume")
    say(f"   pages after each kill: {', '.join(map(str, counts))}")
    left = [path for path in (course / "feedback").iterdir() if path.name.startswith(".")]
    same = _pages(course) == expected
    return verdict(ran.status == 0 and same and not left, f"{kills} kills, {size:,} pages")


def _pages(course: Path) -> dict[str, str]:
    """The hash of each student's page."""
    pages = course.glob(f"feedback/[!.]*/{LAB}/*.html")
    return {path.parts[-3]: hashlib.sha256(path.read_bytes()).hexdigest() for path in pages}


def _children(pid: int) -> list[psutil.Process]:
    try:
        return psutil.Process(pid).children(recursive=True)
    except psutil.NoSuchProcess:
        return []


@contextlib.contextmanager
def _started(course: Path, module: str, *words: str) -> Iterator[subprocess.Popen[bytes]]:
    """A program in the course folder; at the end it and its processes have ended."""
    command = [sys.executable, "-m", module, *words]
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    quiet = subprocess.DEVNULL
    with subprocess.Popen(command, cwd=course, env=environment, stdout=quiet, stderr=quiet) as one:
        yield one
        family = _children(one.pid)
        one.wait()
        psutil.wait_procs(family, timeout=60)


def _run(course: Path, module: str, *words: str) -> Ran:
    """A program that is left alone; its memory is looked at ten times a second."""
    begin, before, peak = time.monotonic(), os.times(), 0
    with _started(course, module, *words) as program:
        while program.poll() is None:
            used = 0
            for each in [psutil.Process(program.pid), *_children(program.pid)]:
                with contextlib.suppress(psutil.Error):
                    used += each.memory_full_info().uss
            peak = max(peak, used)
            with contextlib.suppress(subprocess.TimeoutExpired):
                program.wait(0.1)
    after = os.times()
    cpu = after.children_user + after.children_system
    cpu -= before.children_user + before.children_system
    return Ran(program.returncode, time.monotonic() - begin, cpu, peak)


def _graded(course: Path) -> Path:
    """A course in which one honest submission is graded."""
    make_course(course, REPOSITORY / "notebooks")
    _well(_run(course, "nbgrader", "generate_assignment", LAB))
    folder = course / "submitted" / "s00000" / LAB
    shutil.copytree(FIXTURES / "honest" / LAB, folder)
    shutil.copy(course / "release" / LAB / f"{LAB}.ipynb", folder)
    _well(_run(course, "grader.commands.cli", "autograde", LAB))
    return course


def _well(ran: Ran) -> None:
    if ran.status != 0:
        raise RuntimeError(f"the class could not be made: exit status {ran.status}")


def _multiply(course: Path, have: int, size: int) -> None:
    """From `have` students to `size`, all like the first one."""
    source = course / "autograded" / "s00000" / LAB
    with contextlib.closing(sqlite3.connect(course / "gradebook.db")) as gradebook:
        for number in range(have, size):
            student = f"s{number:05}"
            shutil.copytree(source, course / "autograded" / student / LAB, copy_function=os.link)
            _enter(gradebook, student)
        gradebook.commit()


def _enter(gradebook: sqlite3.Connection, student: str) -> None:
    """The rows of the first student, for another one."""
    gradebook.execute("INSERT INTO student (id) VALUES (?)", (student,))
    assignment, notebook = uuid.uuid4().hex, uuid.uuid4().hex
    first = "(SELECT id FROM submitted_assignment WHERE student_id = 's00000')"
    gradebook.execute(
        "INSERT INTO submitted_assignment SELECT ?, assignment_id, ?, timestamp, extension "
        f"FROM submitted_assignment WHERE id = {first}",
        (assignment, student),
    )
    gradebook.execute(
        "INSERT INTO submitted_notebook SELECT ?, ?, notebook_id, flagged, "
        f"late_submission_penalty FROM submitted_notebook WHERE assignment_id = {first}",
        (notebook, assignment),
    )
    of_first = f"(SELECT id FROM submitted_notebook WHERE assignment_id = {first})"
    gradebook.execute(
        "INSERT INTO grade SELECT lower(hex(randomblob(16))), ?, cell_id, auto_score, "
        "manual_score, extra_credit, needs_manual_grade FROM grade "
        f"WHERE notebook_id = {of_first}",
        (notebook,),
    )
    gradebook.execute(
        "INSERT INTO comment SELECT lower(hex(randomblob(16))), ?, cell_id, auto_comment, "
        f"manual_comment FROM comment WHERE notebook_id = {of_first}",
        (notebook,),
    )
