"""`python -m bench stock`: the same class graded by our command and by stock nbgrader.

The class has 200 submissions of lab 01. Stock nbgrader runs their notebooks, our command does not.
In each of five turns our command grades all 200, and then stock nbgrader the next fifth of them:
with all of them in each turn, it would take more than an hour. The ratio is the turns' median. For
a few submissions, the start of both programs takes longer than their work: --quick only compares
points.
"""

from __future__ import annotations

import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from nbgrader.api import Gradebook

from bench.exchange.full_class import LAB, FullClass, environment
from bench.report import must_hold, say, show, verdict
from bench.speed.class_of_5000 import clear, graded
from support.programs import call

_SIZE, _QUICK, _TURNS, _TIMES = 200, 10, 5, 30
_HEAD = ("turn", "ours, a second", "stock, a second", "times")


def run(quick: bool) -> bool:
    """All turns; then the points of both, for every submission."""
    size = _QUICK if quick else _SIZE
    must_hold(
        f"{size} submissions are graded at {_TIMES} times the throughput of stock nbgrader, which "
        "runs each notebook; the points are equal where both give some"
    )
    with tempfile.TemporaryDirectory(prefix="ticklab-stock-") as scratch:
        ours = FullClass(Path(scratch))
        ours.hand_in(range(size))
        stock = FullClass(Path(scratch) / "stock", with_our_settings=False).course
        students = sorted(path.name for path in (ours.course / "submitted").iterdir())
        rates = []
        for turn in range(_TURNS):
            if turn:
                clear(ours.course)
            own = graded(ours.course, size).rate
            rates.append((own, _by_stock(ours.course, stock, students[turn::_TURNS])))
        show(_HEAD, [_row(turn, *pair) for turn, pair in enumerate(rates, start=1)])
        times = statistics.median(own / theirs for own, theirs in rates)
        return verdict(
            _same_points(ours.course, stock, size) and (quick or times >= _TIMES),
            f"{times:.0f} times in the median of {_TURNS} turns",
        )


def _row(turn: int, own: float, theirs: float) -> tuple[str, ...]:
    return str(turn), f"{own:.1f}", f"{theirs:.3f}", f"{own / theirs:.0f}"


def _by_stock(ours: Path, stock: Path, students: list[str]) -> float:
    """Submissions a second of stock nbgrader, which gets these students' files and no others."""
    shutil.rmtree(stock / "submitted", ignore_errors=True)
    for student in students:
        shutil.copytree(ours / "submitted" / student, stock / "submitted" / student)
    begin = time.monotonic()
    done = call(
        sys.executable, "-m", "nbgrader", "autograde", LAB, cwd=stock, env=environment(stock)
    )
    seconds = time.monotonic() - begin
    if done.returncode != 0:
        raise RuntimeError(done.stderr[-2000:])
    return len(students) / seconds


def _same_points(ours: Path, stock: Path, size: int) -> bool:
    """Whether both graded everybody and no points differ; says how many were compared."""
    own, theirs = _points(ours), _points(stock)
    both = [key for key in theirs if theirs[key] is not None and own.get(key) is not None]
    differ = [key for key in both if theirs[key] != own[key]]
    people = len({student for student, _ in both})
    say(f"   {len(differ)} of {len(both)} points of {people} students differ {differ[:5]}")
    return not differ and people == size


def _points(course: Path) -> dict[tuple[str, str], Any]:
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
        return {
            (submission.student.id, grade.name): grade.auto_score
            for submission in gradebook.assignment_submissions(LAB)
            for notebook in submission.notebooks
            for grade in notebook.grades
        }
