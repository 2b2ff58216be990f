"""`python -m bench kills`: nbgrader's commands that are killed, out of disk or locked out.

Whatever happened: the same command again ends with the folders and the gradebook of a run that was
left alone. `python -m bench interrupted` does this to the commands of `grader`.
"""

from __future__ import annotations

import multiprocessing
import random
import shutil
import sqlite3
import subprocess
import time
from collections import Counter
from multiprocessing.synchronize import Event
from pathlib import Path

from bench.exchange import steps
from bench.exchange.steps import Ran, Stage, State, a_class, state
from bench.report import must_hold, say, skipped, verdict
from testing.small_exchange import ExchangeCourse

_KILLS, _DISKS, _LOCKS_S = 50, 20, (30.0, 90.0)
#: tmpfs gives room in pages.
PAGE = 4096
_SEED = 20_250_102


def run(quick: bool) -> bool:
    """All three parts, with fewer trials if `quick`."""
    with a_class() as (folder, stages):
        references = [_reference(folder, stage, number) for number, stage in enumerate(stages)]
        held = kills(folder, stages, references, len(stages) if quick else _KILLS)
        held &= disks(folder, stages, references, 3 if quick else _DISKS)
        for seconds in (8.0,) if quick else _LOCKS_S:
            held &= locked(folder, stages[1], references[1], seconds)
    return held


def _reference(folder: Path, stage: Stage, number: int) -> tuple[Ran, State]:
    """How the step ends when it is left alone."""
    course = stage.before.copied_to(folder / f"alone-{number}")
    return steps.run(course, stage.words), state(course)


def kills(
    folder: Path, stages: list[Stage], references: list[tuple[Ran, State]], count: int
) -> bool:
    """Kills each step at random moments: half by the clock, half at a change of a file."""
    must_hold("a step that was killed with SIGKILL ends, run again, as one that was left alone")
    chance = random.Random(_SEED)
    killed, wrong = Counter[str](), []
    trial = 0
    while killed.total() < count:  # some end before the moment comes, and count for nothing
        trial += 1
        number = trial % len(stages)
        stage, (alone, expected) = stages[number], references[number]
        course = stage.before.copied_to(folder / "trial")
        if trial // len(stages) % 2:
            moment = chance.uniform(0, alone.seconds)
            first, what = (
                steps.run(course, stage.words, kill_after_s=moment),
                f"after {moment:.3f} s",
            )
        else:
            change = chance.randint(1, alone.changes)
            first = steps.run(course, stage.words, kill_at_change=change)
            what = f"at change {change} of {alone.changes}"
        killed[stage.name] += first.status == -9
        again = steps.run(course, stage.words)
        fault = _difference(course, again, alone, expected)
        if fault:
            wrong.append(f"{stage.name} killed {what}: {fault}")
        shutil.rmtree(folder / "trial")
    for line in wrong:
        say(f"   {line}")
    moments = ", ".join(f"{name} {times}" for name, times in sorted(killed.items()))
    return verdict(not wrong, f"{len(wrong)} of {trial} differ; killed in the middle: {moments}")


def _difference(course: ExchangeCourse, again: Ran, alone: Ran, expected: State) -> str:
    """What differs from a step that was left alone; empty if nothing does."""
    if again.status != alone.status:
        return f"exit status {again.status}, not {alone.status}: {again.said[-300:]}"
    files, grades = state(course)
    own_files, own_grades = expected
    if grades != own_grades:
        return f"the gradebook has {grades}, not {own_grades}"
    odd = sorted({name for name, _ in files.items() ^ own_files.items()})
    return f"these files differ: {odd[:5]}" if odd else ""


def disks(
    folder: Path, stages: list[Stage], references: list[tuple[Ran, State]], count: int
) -> bool:
    """Runs the steps of a class on a disk that fills up, then gives it room."""
    must_hold("a full disk ends a step with a clear error; with room, it ends as one left alone")
    disk, chance = folder / "disk", random.Random(_SEED)
    disk.mkdir()
    first, last = stages[0].before, folder / f"alone-{len(stages) - 1}"
    least = _size(first.folder.parent)
    most = _size(last) - _size(stages[-1].before.inbound) + _size(first.inbound)
    wrong, full = [], Counter[str]()
    for trial in range(count):
        # Squared: the first step writes least, and should meet a full disk as often.
        size = least + int((most - least) * ((trial + chance.random()) / count) ** 2)
        if not mounted(disk, size):
            return skipped("a small disk cannot be mounted: run it as root or in `unshare -Urm`")
        try:
            course = first.copied_to(disk / "class")
            for number, stage in enumerate(stages[:4]):
                ran = steps.run(course, stage.words)
                if ran.status != references[number][0].status or "disk is full" in ran.said:
                    full[stage.name] += 1
                    if "disk is full" not in ran.said or "Traceback" in ran.said:
                        wrong.append(f"{stage.name} on {size} bytes says {ran.said[-300:]}")
                    mount("-o", f"remount,size={size + 50_000_000}", str(disk))
                    ran = steps.run(course, stage.words)
                fault = _difference(course, ran, *references[number])
                if fault:
                    wrong.append(f"{stage.name} on {size} bytes, then more: {fault}")
        finally:
            subprocess.run(["umount", str(disk)], check=True)
    for line in wrong:
        say(f"   {line}")
    where = ", ".join(f"{name} {times}" for name, times in sorted(full.items()))
    return verdict(not wrong, f"{len(wrong)} faults on {count} disks; full in: {where}")


def locked(folder: Path, stage: Stage, reference: tuple[Ran, State], seconds: float) -> bool:
    """Autogrades while another program has the gradebook."""
    must_hold(f"{stage.words[0]} waits {seconds:g} s for a gradebook that is locked, and says so")
    course = stage.before.copied_to(folder / f"locked-{seconds:g}")
    held = multiprocessing.Event()
    other = multiprocessing.Process(
        target=hold, args=(course.folder / "gradebook.db", seconds, held)
    )
    other.start()
    held.wait()
    ran = steps.run(course, stage.words)
    other.join()
    fault = _difference(course, ran, *reference)
    if "is locked by another program" not in ran.said or "upgrade" in ran.said:
        fault = fault or f"it says {ran.said[-300:]}"
    return verdict(not fault, fault or f"as one left alone, after {ran.seconds:.0f} s")


def hold(gradebook: Path, seconds: float, held: Event) -> None:
    """Another program with a transaction; SQLite's locks do not survive a fork."""
    connection = sqlite3.connect(gradebook, isolation_level=None)
    connection.execute("BEGIN EXCLUSIVE")
    held.set()
    time.sleep(seconds)
    connection.close()


def _size(folder: Path) -> int:
    """How much room the files and folders under `folder` take in pages."""
    paths = [folder, *folder.rglob("*")]
    return sum(-(-path.lstat().st_size // PAGE) * PAGE or PAGE for path in paths)


def mounted(disk: Path, size: int, files: int = 0) -> bool:
    """Puts a new disk at the folder `disk`, of `size` bytes and so many files, if any.

    Whether that may be done here.
    """
    room = f"size={size},nr_inodes={files}"
    return mount("-t", "tmpfs", "-o", room, "ticklab-bench", str(disk))


def mount(*words: str) -> bool:
    """Runs `mount`; whether it could."""
    return subprocess.run(["mount", *words], capture_output=True, check=False).returncode == 0
