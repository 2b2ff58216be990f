"""`python -m bench interrupted`: `grader` for a class, killed, out of disk, or locked out.

`grader collect`, `grader autograde` and `grader feedback`: any process is killed at random moments,
the disk is full, the gradebook is locked. Whatever happened, the same command again ends with all
files and the gradebook of a run that was left alone. Of nbgrader's own commands and of a cluster,
`test_interrupted.py` and `test_on_dask.py` show the same.
"""

from __future__ import annotations

import multiprocessing
import random
import shutil
import sqlite3
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from multiprocessing.synchronize import Event
from pathlib import Path

import psutil

from bench.exchange import steps
from bench.exchange.class_to_interrupt import GRADEBOOK, ClassToInterrupt, Command, Copy, copied
from bench.report import must_hold, say, skipped, verdict
from grader.evening import autograde_class

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
    "grader.evening.grading_process": "worker",
    "grader.judging.work": "judge",
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
