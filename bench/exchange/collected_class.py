"""`python -m bench collect_class`: a large class from Canvas.

The hand-ins are the saved honest run of lab 01, each with one more file of its own.
"""

from __future__ import annotations

import multiprocessing
import resource
import shutil
import tempfile
import time
import zipfile
from pathlib import Path

from nbgrader.coursedir import CourseDirectory

from bench.report import must_hold, say, verdict
from grader.evening import class_roster, collect_class
from grader.evening.collect_class import Collect
from testing.paths import REPOSITORY
from testing.platform_archives import Upload, canvas_names, handed_in

LAB = "01-timer-overhead"
_HONEST = REPOSITORY / "tests" / "fixtures" / "honest" / LAB
_SIZES, _QUICK_SIZES = (1_000, 2_500, 5_000), (50, 125, 250)
#: CPU time per student in the largest class over that in the smallest, and the most memory.
_MOST_TIMES, _MOST_MB = 1.5, 400


def run(quick: bool) -> bool:
    """Collects classes of several sizes, smaller ones if `quick`, each twice."""
    with tempfile.TemporaryDirectory(prefix="ticklab-bench-") as folder:
        return _collected(Path(folder), _QUICK_SIZES if quick else _SIZES)


def _collected(folder: Path, sizes: tuple[int, ...]) -> bool:
    must_hold(
        f"CPU time linear in the students: at {sizes[-1]:,} at most {_MOST_TIMES} times as much "
        f"for each as at {sizes[0]:,}; below {_MOST_MB} MB of memory"
    )
    each: list[float] = []
    for size in sizes:
        place = folder / f"{size}"
        place.mkdir()
        archive = _archive(place / "class.zip", size)
        before = _cpu()
        seconds = _timed(place / "course", archive)
        each.append((_cpu() - before) / size)
        again = _timed(place / "course", archive)
        say(
            f"   {size:>5,} students: {seconds:6.1f} s, and {1e3 * each[-1]:4.1f} ms of CPU for "
            f"each; again, with nothing new: {again:5.1f} s"
        )
        shutil.rmtree(place)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    times = each[-1] / each[0]
    return verdict(times <= _MOST_TIMES and peak < _MOST_MB, f"{times:.2f} times, {peak:.0f} MB")


def _cpu() -> float:
    """The CPU time of all processes that have ended, in seconds."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _timed(course: Path, archive: Path) -> float:
    """The seconds that a process of its own needs to collect."""
    process = multiprocessing.Process(target=_collect, args=(course, archive))
    begin = time.perf_counter()
    process.start()
    process.join()
    if process.exitcode != 0:
        raise RuntimeError(f"collecting ended with {process.exitcode}")
    return time.perf_counter() - begin


def _collect(folder: Path, archive: Path) -> None:
    course = CourseDirectory(root=str(folder))
    with class_roster.opened_source(archive) as items:
        report = Collect(course, LAB, [LAB]).run(archive.name, items)
    collect_class.write_receipts(course, LAB, report.not_collected)


def _archive(path: Path, size: int) -> Path:
    """What Canvas hands out for a class."""
    files = {
        str(each.relative_to(_HONEST)): each.read_bytes()
        for each in _HONEST.rglob("*")
        if each.is_file()
    }
    with zipfile.ZipFile(path, "w") as packed:
        for number in range(1, size + 1):
            made = handed_in(LAB, {**files, "notes.txt": f"of {number}".encode()})
            upload = Upload(f"Student {number}", number, made, first_attachment=1_000 * number)
            for name, content in canvas_names(upload).items():
                packed.writestr(name, content)
    return path
