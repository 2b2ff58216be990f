"""`python -m bench class_of_5000`: how long grading, feedback and the report of a large class take.

The class measured lab 01 in full: 5,000 submissions of 66,000 samples each. Printed are time,
memory of all processes, and room on the disk. It needs 10 GB on the disk of TMPDIR.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, replace
from pathlib import Path

import psutil
from nbgrader.api import Gradebook
from sqlalchemy import text

from bench.exchange.full_class import LAB, FullClass, environment
from bench.report import must_hold, show, verdict

_SIZES, _QUICK = (1_000, 2_500, 5_000), (60, 120)
_MOST_SECONDS, _MOST_MEMORY, _MOST_DISK = 300.0, 1e9, 1.5e9
#: In seconds, for feedback and report of the largest class, and bytes of a page of feedback.
_MOST_FEEDBACK, _MOST_REPORT, _MOST_PAGE = 180.0, 60.0, 150_000
#: Of a graded submission, so many bytes may be other than recordings and C.
_MOST_BESIDE_EVIDENCE = 100_000
#: The time of a class of another size may be so much off a straight line.
_OFF_LINE = 0.25
_LOOK_EVERY_S = 0.25
_HEAD = (
    *("submissions", "seconds", "a second", "CPU ms each", "memory MB", "disk MB"),
    *("KB beside evidence", "feedback s", "KB a page", "report s", "load"),
)


@dataclass(frozen=True)
class Evening:
    """What grading a class took: seconds, bytes of memory at most, and bytes on the disk.

    `beside_evidence` are the most bytes of a graded submission without its evidence. `load` is how
    many tasks the machine had on average in the last minute: other programs make it slower.
    `feedback_s` and `report_s` are the seconds of the two steps after grading, `page` the most
    bytes of a page of feedback.
    """

    size: int
    seconds: float
    cpu_s: float
    memory: int
    disk: int
    beside_evidence: int
    load: float
    feedback_s: float = 0.0
    page: int = 0
    report_s: float = 0.0

    @property
    def rate(self) -> float:
        """Submissions in a second."""
        return self.size / self.seconds


def run(quick: bool) -> bool:
    """Every size of the class, one after the other."""
    sizes = _QUICK if quick else _SIZES
    must_hold(
        f"{_SIZES[-1]:,} submissions are graded in {_MOST_SECONDS:.0f} s on two CPUs, with "
        f"{_MOST_MEMORY / 1e9:.0f} GB of memory in all processes and {_MOST_DISK / 1e9:.1f} GB on "
        "the disk beyond what was handed in, in time that grows with their number; a graded "
        f"submission has {_MOST_BESIDE_EVIDENCE / 1e3:.0f} KB beside its evidence; their feedback "
        f"takes {_MOST_FEEDBACK:.0f} s and {_MOST_PAGE / 1e3:.0f} KB a page, their report "
        f"{_MOST_REPORT:.0f} s"
    )
    with tempfile.TemporaryDirectory(prefix="ticklab-class-") as scratch:
        done = []
        made = FullClass(Path(scratch))
        for before, size in zip((0, *sizes), sizes, strict=False):
            made.hand_in(range(before, size))
            done.append(_afterwards(made.course, graded(made.course, size)))
            clear(made.course)
        show(_HEAD, [_row(each) for each in done])
        largest = done[-1]
        share = largest.size / _SIZES[-1]
        linear = max(abs(each.rate / largest.rate - 1) for each in done)
        return verdict(
            largest.seconds <= _MOST_SECONDS * share
            and largest.memory <= _MOST_MEMORY
            and largest.disk <= _MOST_DISK * share
            and largest.beside_evidence <= _MOST_BESIDE_EVIDENCE
            and largest.feedback_s <= _MOST_FEEDBACK * share
            and largest.page <= _MOST_PAGE
            and largest.report_s <= _MOST_REPORT * share
            and (quick or linear <= _OFF_LINE),
            f"{largest.size:,} in {largest.seconds:.0f} s, {largest.memory / 1e6:.0f} MB, "
            f"{largest.disk / 1e6:.0f} MB, {largest.beside_evidence / 1e3:.0f} KB beside the "
            f"evidence; rates within {100 * linear:.0f} %",
        )


def _row(done: Evening) -> tuple[str, ...]:
    return (
        f"{done.size:,}",
        f"{done.seconds:.1f}",
        f"{done.rate:.1f}",
        f"{1000 * done.cpu_s / done.size:.0f}",
        f"{done.memory / 1e6:.0f}",
        f"{done.disk / 1e6:.0f}",
        f"{done.beside_evidence / 1e3:.0f}",
        f"{done.feedback_s:.1f}",
        f"{done.page / 1e3:.0f}",
        f"{done.report_s:.1f}",
        f"{done.load:.1f}",
    )


def graded(course: Path, size: int) -> Evening:
    """Grades the class from nothing; raises RuntimeError if this fails."""
    before, used = _room(course), os.times()
    said, seconds, memory = _ran(course, "autograde", LAB, "--workers", "2")
    now = os.times()
    if f"{size:,} submissions graded" not in said:
        raise RuntimeError(said[-2000:])
    cpu = now.children_user + now.children_system - used.children_user - used.children_system
    room, beside = _room(course) - before, _beside_evidence(course / "autograded")
    return Evening(size, seconds, cpu, memory, room, beside, os.getloadavg()[0])


def _afterwards(course: Path, done: Evening) -> Evening:
    """With the feedback and the report of the class; raises RuntimeError if one lacks a student."""
    _, feedback_s, memory = _ran(course, "feedback", LAB, "--workers", "2")
    sizes = [path.stat().st_size for path in course.glob(f"feedback/*/{LAB}/*.html")]
    _, report_s, more = _ran(course, "report", LAB)
    report = (course / "report" / LAB / "report.html").read_text(encoding="utf-8")
    counted = re.search(r"<p>([\d,]+) graded\s+submissions?", report)
    if len(sizes) != done.size or counted is None or counted[1] != f"{done.size:,}":
        raise RuntimeError(f"{len(sizes):,} pages of feedback, and the report counts {counted}")
    most = max(done.memory, memory, more)
    return replace(done, memory=most, feedback_s=feedback_s, page=max(sizes), report_s=report_s)


def _ran(course: Path, *words: str) -> tuple[str, float, int]:
    """What a command of `grader` says, its seconds, and the most bytes of its processes.

    Raises RuntimeError if it fails.
    """
    begin = time.monotonic()
    process = subprocess.Popen(
        [sys.executable, "-m", "grader.commands.cli", *words],
        cwd=course,
        env=environment(course),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    watched = _Watched(process.pid)
    watched.start()
    said, _ = process.communicate()
    watched.join()
    if process.returncode != 0:
        raise RuntimeError(said[-2000:])
    return said, time.monotonic() - begin, watched.most


def _beside_evidence(graded: Path) -> int:
    """The most bytes of files that one graded submission has outside of its `recordings`."""
    return max(
        sum(path.stat().st_size for path in (folder / LAB).iterdir() if path.is_file())
        for folder in graded.glob("student-*")
    )


class _Watched(threading.Thread):
    """Looks how much memory a process and all that it started have, until it ends."""

    def __init__(self, pid: int) -> None:
        super().__init__()
        self._process = psutil.Process(pid)
        self.most = 0

    def run(self) -> None:
        """Adds up resident memory; pages that processes share count for each of them."""
        while self._process.is_running() and self._process.status() != psutil.STATUS_ZOMBIE:
            total = 0
            try:
                for each in [self._process, *self._process.children(recursive=True)]:
                    total += each.memory_info().rss
            except psutil.NoSuchProcess:
                continue
            self.most = max(self.most, total)
            time.sleep(_LOOK_EVERY_S)


def _room(course: Path) -> int:
    """The bytes that the files of the course take; a file with two names counts once."""
    seen, total = set(), 0
    for top, folders, files in os.walk(course):
        for name in [*folders, *files]:
            status = (Path(top) / name).lstat()
            if status.st_ino not in seen:
                seen.add(status.st_ino)
                total += status.st_blocks * 512
    return total


def clear(course: Path) -> None:
    """Takes every result away, so that the next class is graded from nothing."""
    results = [course / name for name in ("autograded", "feedback", "report")]
    subprocess.run(["rm", "-rf", *map(str, results)], check=True)
    (course / "ticklab-runs.db").unlink()
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
        for table in ("grade", "comment", "submitted_notebook", "submitted_assignment", "student"):
            gradebook.db.execute(text(f"DELETE FROM {table}"))
        gradebook.db.commit()
