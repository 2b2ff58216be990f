"""`grader report` on a large class: how long it takes, how much memory, and whether it lost anyone.

The submissions are written as our autograding leaves them, with plots as large as those of lab 01.
Many share one file by hard links, so that the disk holds them; each is read and parsed anyway.
"""

from __future__ import annotations

import os
import random
import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench.report import must_hold, say, verdict
from grader.cases.spec import CHOICE
from grader.cases.verdict import Outcome, Verdict
from grader.figures import LABS
from testing import graded_course
from testing.graded_course import AMD_GUEST, ARM, LAB, GradedCourse, not_handed_in

SUBMISSIONS, SMALLER = 5_000, 500
MOST_S = 60.0
#: The characters of one plot in base64, and how many notebooks differ.
_PLOT, _DIFFERENT = 130_000, 100
_INTEL = {"machine.cpu": "Intel(R) Core(TM) i7", "machine.virtual": "False", "os": "Linux 6 x86_64"}
_CODES = ("unit-slip", "clock-read-too-early", "one-process", "timer-not-subtracted")


def run(quick: bool) -> bool:
    """Report on two classes, the larger one ten times as large."""
    must_hold(f"a report on {SUBMISSIONS:,} submissions takes less than {MOST_S:.0f} s")
    sizes = (SMALLER,) if quick else (SMALLER, SUBMISSIONS)
    took = {}
    for size in sizes:
        with tempfile.TemporaryDirectory(prefix="ticklab-report-") as folder:
            course = Path(folder) / "course"
            make_class(course, size)
            took[size] = _report(course)
            counted = _counted(course)
        if counted != size:
            return verdict(False, f"the page counts {counted:,} of {size:,} submissions")
    most = 1024 * resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    say(f"   {', '.join(f'{size:,}: {seconds:.1f} s' for size, seconds in took.items())}")
    largest = max(sizes)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    say(f"   processor time of all: {used.ru_utime + used.ru_stime:.1f} s")
    figures = f"{took[largest]:.1f} s for {largest:,}, {most / 1e6:.0f} MB of memory"
    return verdict(took[largest] < MOST_S * largest / SUBMISSIONS, figures)


def make_class(folder: Path, size: int, seed: int = 1, plot: int = _PLOT) -> GradedCourse:
    """A course with `size` graded submissions of lab 01, of three kinds of machine."""
    random_ = random.Random(seed)
    course = GradedCourse(folder)
    made: list[Path] = []
    for number in range(size):
        typical, machine = random_.choice(((20.0, AMD_GUEST), (12.0, ARM), (15.0, _INTEL)))
        verdicts: list[Verdict] = []
        numbers: dict[str, tuple[float, str]] = {}
        for spec in LABS[LAB]:
            if random_.random() < 0.05:
                verdicts.append(not_handed_in(spec.id))
                continue
            wrong = random_.random() < 0.2
            value = typical * random_.lognormvariate(0, 0.1) * (1000 if wrong else 1)
            numbers[spec.id] = (1.0 if spec.unit == CHOICE else value, spec.unit)
            codes = (random_.choice(_CODES),) if wrong else ()
            outcome = Outcome.FAILED if wrong else Outcome.PASSED
            verdicts.append(graded_course.verdict(spec.id, outcome, *codes))
        guesses = {
            name: (value * random_.lognormvariate(0, 1), unit)
            for name, (value, unit) in numbers.items()
        }
        new = number < _DIFFERENT
        place = course.add(
            f"student-{number:05}", verdicts, numbers, machine=machine, predictions=guesses,
            plot="A" * plot if new else "",
        )  # fmt: skip
        notebook = place / f"{LAB}.ipynb"
        if new:
            made.append(notebook)
        else:
            notebook.unlink()
            os.link(made[number % _DIFFERENT], notebook)
    return course


def _report(course: Path) -> float:
    """Seconds for the whole command."""
    begin = time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", "grader.commands.cli", "report", LAB, "--course", str(course)],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    return time.perf_counter() - begin


def _counted(course: Path) -> int:
    """How many submissions the page says it is about."""
    page = (course / "report" / LAB / "report.html").read_text(encoding="utf-8")
    match = re.search(r"<p>([\d,]+) graded\s+submissions?", page)
    return int(match[1].replace(",", "")) if match else 0
