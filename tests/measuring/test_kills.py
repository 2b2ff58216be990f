"""Whatever is killed, and whenever: no process stays behind, neither running nor as a zombie."""

from __future__ import annotations

import contextlib
import ctypes
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from testing.c_programs import LINUX, Program

pytestmark = [LINUX, pytest.mark.slow]

KILLS_PER_WAY = 100
RUNS = [
    ("process_switch", "pipe-pinned"),
    ("process_switch", "pipe-pinned,eventfd-pinned,socketpair-pinned"),
    ("process_switch", "pipe-unpinned"),
    ("thread_switch", "condvar"),
    ("thread_switch", "bare-mutex"),
    ("task_creation", "fork-wait"),
    ("task_creation", "fork"),
    ("task_creation", "clone-vm-wait"),
    ("task_creation", "vfork-wait"),
    ("task_creation", "pthread"),
    ("switch_footprint", "processes-8-16k"),
    ("switch_footprint", "threads-8-16k"),
]
#: Longer than anything that is left to end by itself takes, on a machine under load.
LONGEST_END_S = 20.0

ProgramOf = Callable[[str], Program]


def programs_that_run(folder: Path) -> dict[int, str]:
    """Processes, zombies among them, whose program lies in `folder`, and their state."""
    found = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            name = (entry / "comm").read_text().strip()
            state = (entry / "stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            continue  # it has ended meanwhile
        place = ""
        with contextlib.suppress(OSError):  # no program any more: a zombie, or about to be one
            place = str((entry / "exe").readlink())
        if place.startswith(f"{folder}/") or (not place and name in _SHORT_NAMES):
            found[int(entry.name)] = state
    return found


#: As the OS cuts them short.
_SHORT_NAMES = {kernel[:15] for kernel, _ in RUNS}


def all_gone(folder: Path, before: set[int]) -> dict[int, str]:
    """What is left when all have had time to end; {} is what should be."""
    deadline = time.monotonic() + LONGEST_END_S
    while True:
        left = {pid: s for pid, s in programs_that_run(folder).items() if pid not in before}
        if not left or time.monotonic() > deadline:
            return left
        for pid in (pid for pid, state in left.items() if state == "Z"):
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)
        time.sleep(0.002)


@pytest.fixture(autouse=True)
def orphans_come_here() -> Iterator[None]:
    """Children of what was killed come to this process: the system's own init may be slow."""
    set_child_subreaper = 36
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(set_child_subreaper, 1, 0, 0, 0) != 0:
        pytest.skip(f"orphans cannot be taken in here: {os.strerror(ctypes.get_errno())}")
    yield
    libc.prctl(set_child_subreaper, 0, 0, 0, 0)


@pytest.fixture
def zombies_before(program_of: ProgramOf) -> set[int]:
    """Zombies of the same names that something else on this machine has left."""
    return set(programs_that_run(program_of("process_switch").parent))


def moments(seed: int) -> list[tuple[str, str, float]]:
    """What to run and after how many seconds to kill it; every run gets as many."""
    chance = random.Random(seed)
    return [
        (*RUNS[number % len(RUNS)], 0.12 * chance.random() ** 2) for number in range(KILLS_PER_WAY)
    ]


def test_a_killed_c_kernel_leaves_nothing(program_of: ProgramOf, zombies_before: set[int]) -> None:
    folder = program_of("process_switch").parent
    for kernel, variants, after in moments(1):
        process = subprocess.Popen(
            [str(program_of(kernel)), "--variant", variants, "--samples", "1000000"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        time.sleep(after)
        process.kill()
        assert process.wait(timeout=20) == -signal.SIGKILL, (kernel, variants)
        assert all_gone(folder, zombies_before) == {}, (kernel, variants, after)


PARENT = """
import os, subprocess, sys
process = subprocess.Popen(
    [sys.argv[1], "--variant", sys.argv[2], "--samples", "1000000", "--end-with", str(os.getpid())],
    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
print("started", flush=True)
process.wait()
"""


def test_a_killed_python_process_leaves_nothing(
    program_of: ProgramOf, zombies_before: set[int]
) -> None:
    folder = program_of("process_switch").parent
    for kernel, variants, after in moments(2):
        parent = subprocess.Popen(
            [sys.executable, "-S", "-c", PARENT, str(program_of(kernel)), variants],
            stdout=subprocess.PIPE,
        )
        assert parent.stdout is not None
        parent.stdout.readline()
        time.sleep(after)
        parent.kill()
        parent.wait(timeout=20)
        parent.stdout.close()
        assert all_gone(folder, zombies_before) == {}, (kernel, variants, after)


def test_a_cancelled_and_a_killed_run_of_labs_leave_nothing(
    tmp_path: Path, zombies_before: set[int]
) -> None:
    cache = Path(os.environ["TICKLAB_CACHE"])
    chance = random.Random(3)
    for number, ending in enumerate([signal.SIGKILL, signal.SIGINT] * 3):
        kernel, variants = RUNS[(5 * number) % len(RUNS)]
        run = subprocess.Popen(
            [sys.executable, "-m", "labs.commands.cli", "measure", kernel, "--variant", variants,
             "--samples", "20000", "--processes", "1"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=tmp_path,
        )  # fmt: skip
        wait_for_a_program(cache, run)
        time.sleep(0.2 * chance.random())
        run.send_signal(ending)
        assert run.wait(timeout=30) != 0, (kernel, variants, ending)
        assert all_gone(cache, zombies_before) == {}, (kernel, variants, ending)


def wait_for_a_program(folder: Path, run: subprocess.Popen[bytes]) -> None:
    """Until something in `folder` runs; fails where the run has ended before."""
    while not programs_that_run(folder):
        assert run.poll() is None, "it has ended before anything was killed"
        time.sleep(0.005)
