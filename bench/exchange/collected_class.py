"""`python -m bench collect_class`: a large class from Canvas, and collecting that is killed.

The hand-ins are the saved honest run of lab 01, each with one more file of its own.
"""

from __future__ import annotations

import json
import multiprocessing
import random
import resource
import shutil
import tempfile
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path

from nbgrader.coursedir import CourseDirectory

from bench.report import must_hold, say, verdict
from grader.evening import class_roster, collect_class
from grader.evening.collect_class import Collect
from grader.with_nbgrader.student_folders import RECORD
from testing.paths import REPOSITORY
from testing.platform_archives import Upload, canvas_names, handed_in

LAB = "01-timer-overhead"
_HONEST = REPOSITORY / "tests" / "fixtures" / "honest" / LAB
_SIZES, _QUICK_SIZES = (1_000, 2_500, 5_000), (50, 125, 250)
_KILLS, _CLASS = 50, 24
#: CPU time per student in the largest class over that in the smallest, and the most memory.
_MOST_TIMES, _MOST_MB = 1.5, 400
_SEED = 20_260_304


def run(quick: bool) -> bool:
    """Both parts, with a smaller class and fewer kills if `quick`."""
    with tempfile.TemporaryDirectory(prefix="ticklab-bench-") as folder:
        held = large(Path(folder), _QUICK_SIZES if quick else _SIZES)
        return kills(Path(folder), 5 if quick else _KILLS) and held


def large(folder: Path, sizes: tuple[int, ...]) -> bool:
    """Collects classes of several sizes, each twice."""
    must_hold(
        f"CPU time linear in the students: at {sizes[-1]:,} at most {_MOST_TIMES} times as much "
        f"for each as at {sizes[0]:,}; below {_MOST_MB} MB of memory"
    )
    each: list[float] = []
    for size in sizes:
        place = folder / f"{size}"
        place.mkdir()
        archive = _archive(place / "class.zip", size, "first")
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


def kills(folder: Path, count: int) -> bool:
    """Kills the collecting of a second download, in which half of the class hands in again."""
    must_hold("a collect that was killed with SIGKILL ends, run again, as one that was left alone")
    first = _archive(folder / "first.zip", _CLASS, "first")
    second = _archive(folder / "second.zip", _CLASS, "second")
    before, alone = folder / "before", folder / "alone"
    _timed(before, first)
    shutil.copytree(before, alone)
    seconds = _timed(alone, second)
    expected, chance = _everything(alone), random.Random(_SEED)
    killed, wrong = 0, []
    for _ in range(10 * count):
        trial = folder / "trial"
        shutil.copytree(before, trial)
        process = multiprocessing.Process(target=_collect, args=(trial, second))
        process.start()
        moment = chance.uniform(0, seconds)
        process.join(moment)
        process.kill()
        process.join()
        killed += process.exitcode == -9
        _timed(trial, second)
        found = _everything(trial)
        odd = sorted({name for name, _ in found.items() ^ expected.items()})
        if odd:
            wrong.append(f"killed after {moment:.3f} s: these files differ: {odd[:5]}")
        shutil.rmtree(trial)
        if killed >= count:
            break
    for line in wrong:
        say(f"   {line}")
    return verdict(not wrong and killed >= count, f"{len(wrong)} differ; {killed} were killed")


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


def _archive(path: Path, size: int, version: str) -> Path:
    """What Canvas hands out for a class; in a second version, every other student is new."""
    files = {
        str(each.relative_to(_HONEST)): each.read_bytes()
        for each in _HONEST.rglob("*")
        if each.is_file()
    }
    with zipfile.ZipFile(path, "w") as packed:
        for number, text in _students(size, version):
            made = handed_in(LAB, {**files, "notes.txt": text.encode()})
            first = 1_000 * number + (500 if text.startswith("second") else 0)
            upload = Upload(f"Student {number}", number, made, first_attachment=first)
            for name, content in canvas_names(upload).items():
                packed.writestr(name, content)
    return path


def _students(size: int, version: str) -> Iterator[tuple[int, str]]:
    for number in range(1, size + 1):
        yield number, f"{version if number % 2 else 'first'} of {number}"


def _everything(course: Path) -> dict[str, bytes]:
    """Every file of the course; of a record, without the time of collecting."""
    return {
        str(path.relative_to(course)): _content(path)
        for path in course.rglob("*")
        if path.is_file()
    }


def _content(path: Path) -> bytes:
    content = path.read_bytes()
    if path.name != RECORD:
        return content
    record = {key: value for key, value in json.loads(content).items() if key != "collected"}
    return json.dumps(record, sort_keys=True).encode()
