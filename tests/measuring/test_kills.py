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
from collections.abc import Callable, Collection, Iterator
from pathlib import Path

import pytest

from support.c_programs import LINUX, Program

pytestmark = [LINUX, pytest.mark.slow]

KILLS_PER_WAY = 60
#: So many take seconds, and their memory a moment: kills meet what is being measured, too.
SAMPLES = "100000"
#: In seconds, the latest kill. A C kernel measures after some hundredths.
LATEST_KILL_S = 0.06
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


def descendants() -> dict[int, str]:
    """The processes below this one, zombies among them, and their state.

    Orphans come here, so nothing that a test has started is anywhere else.
    """
    found: dict[int, str] = {}
    parents = ["self"]
    for parent in parents:
        with contextlib.suppress(OSError):  # it has ended meanwhile
            for task in Path(f"/proc/{parent}/task").iterdir():
                for pid in (task / "children").read_text().split():
                    parents.append(pid)
                    stat = Path(f"/proc/{pid}/stat").read_text()
                    found[int(pid)] = stat.rpartition(")")[2].split()[0]
    return found


def all_gone(before: Collection[int]) -> dict[int, str]:
    """What is left when all have had time to end; {} is what should be."""
    deadline = time.monotonic() + LONGEST_END_S
    while True:
        left = {pid: state for pid, state in descendants().items() if pid not in before}
        if not left or time.monotonic() > deadline:
            return left
        for pid in (pid for pid, state in left.items() if state == "Z"):
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)
        time.sleep(0.002)


@pytest.fixture(autouse=True)
def before() -> Iterator[Collection[int]]:
    """What runs below this process from before.

    Children of what is killed come to this process: the system's own init may be slow.
    """
    set_child_subreaper = 36
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(set_child_subreaper, 1, 0, 0, 0) != 0:
        pytest.skip(f"orphans cannot be taken in here: {os.strerror(ctypes.get_errno())}")
    with subprocess.Popen(["sleep", "60"]) as child:
        if child.pid not in descendants():
            pytest.skip("this OS does not list the children of a task")
        child.kill()
    yield descendants()
    libc.prctl(set_child_subreaper, 0, 0, 0, 0)


def moments(seed: int) -> Iterator[tuple[str, list[str], float]]:
    """What to run, and after how many seconds to kill it; every run gets as many."""
    chance = random.Random(seed)
    for number in range(KILLS_PER_WAY):
        kernel, variants = RUNS[number % len(RUNS)]
        options = ["--variant", variants, "--samples", SAMPLES]
        yield kernel, options, LATEST_KILL_S * chance.random() ** 2


def test_a_killed_c_kernel_leaves_nothing(program_of: ProgramOf, before: Collection[int]) -> None:
    for kernel, options, after in moments(1):
        process = subprocess.Popen(
            [str(program_of(kernel)), *options],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        time.sleep(after)
        process.kill()
        assert process.wait(timeout=20) == -signal.SIGKILL, (kernel, options)
        assert all_gone(before) == {}, (kernel, options, after)


PARENT = """
import os, sys
pid = os.posix_spawn(
    sys.argv[1], [*sys.argv[1:], "--end-with", str(os.getpid())], os.environ, setsid=True,
    file_actions=[(os.POSIX_SPAWN_OPEN, out, os.devnull, os.O_WRONLY, 0) for out in (1, 2)])
print("started", flush=True)
os.waitpid(pid, 0)
"""


def test_a_killed_python_process_leaves_nothing(
    program_of: ProgramOf, before: Collection[int]
) -> None:
    for kernel, options, after in moments(2):
        parent = subprocess.Popen(
            [sys.executable, "-S", "-c", PARENT, str(program_of(kernel)), *options],
            stdout=subprocess.PIPE,
        )
        assert parent.stdout is not None
        parent.stdout.readline()
        time.sleep(after)
        parent.kill()
        parent.wait(timeout=20)
        parent.stdout.close()
        assert all_gone(before) == {}, (kernel, options, after)


def test_a_cancelled_and_a_killed_run_of_labs_leave_nothing(
    tmp_path: Path, before: Collection[int]
) -> None:
    chance = random.Random(3)
    for number, ending in enumerate([signal.SIGKILL, signal.SIGINT] * 2):
        kernel, variants = RUNS[(5 * number) % len(RUNS)]
        run = subprocess.Popen(
            [sys.executable, "-m", "labs.commands.cli", "measure", kernel, "--variant", variants,
             "--samples", "20000", "--processes", "1"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=tmp_path,
        )  # fmt: skip
        wait_for_a_program(run)
        time.sleep(0.2 * chance.random())
        run.send_signal(ending)
        assert run.wait(timeout=30) != 0, (kernel, variants, ending)
        assert all_gone(before) == {}, (kernel, variants, ending)


def wait_for_a_program(run: subprocess.Popen[bytes]) -> None:
    """Until a C kernel runs; fails where the run has ended before."""
    folder = Path(os.environ["TICKLAB_CACHE"], "programs").resolve()
    while True:
        for pid in descendants():
            with contextlib.suppress(OSError):  # it has ended meanwhile
                if str(Path(f"/proc/{pid}/exe").readlink()).startswith(f"{folder}/"):
                    return
        assert run.poll() is None, "it has ended before anything was killed"
        time.sleep(0.005)
