"""Grading on a Dask cluster whose worker or whose scheduler is killed in the middle.

It is a part of `python -m bench interrupted`.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from bench.exchange import steps
from bench.exchange.class_to_interrupt import Command, Copy, copied
from bench.report import must_hold, skipped, verdict

_START_S = 120.0


def run(folder: Path, command: Command) -> bool:
    """Kills a worker, and then a scheduler, of which there is another one afterwards."""
    if importlib.util.find_spec("distributed") is None:
        return skipped("the extra `cluster` is not installed")
    held = True
    for victim in ("worker", "scheduler"):
        must_hold(f"a Dask {victim} is killed: {command.name} --dask ends as one left alone")
        held &= _killed(folder / f"dask-{victim}", command, victim)
    return held


def _killed(folder: Path, command: Command, victim: str) -> bool:
    course = copied(command.before, folder)
    with _cluster(folder) as (address, processes):
        killer = threading.Thread(target=_kill_in_the_middle, args=(course, processes[victim]))
        killer.start()
        ran = steps.run(course, (*command.words, "--dask", address))
        killer.join()
    seconds, fault = ran.seconds, ""
    if victim == "scheduler":
        if ran.status == 0 or "scheduler" not in ran.said or "Traceback" in ran.said:
            fault = f"exit status {ran.status}, and it says {ran.said[-600:]!r}"
        with _cluster(folder) as (address, _):
            ran = steps.run(course, (*command.words, "--dask", address))
    fault = fault or command.fault(course, ran)
    shutil.rmtree(folder)
    return verdict(not fault, fault or f"as one left alone; the first run took {seconds:.0f} s")


@contextlib.contextmanager
def _cluster(folder: Path) -> Iterator[tuple[str, dict[str, subprocess.Popen[bytes]]]]:
    """A scheduler and two workers; gives its address, and the scheduler and one of the workers."""
    stated = folder / "scheduler.json"
    stated.unlink(missing_ok=True)
    here = ("--host", "127.0.0.1", "--no-dashboard")
    with contextlib.ExitStack() as stack:
        scheduler = stack.enter_context(
            _started("scheduler", "--port", "0", *here, "--scheduler-file", str(stated))
        )
        until = time.monotonic() + _START_S
        while not stated.exists():
            if time.monotonic() > until:
                raise RuntimeError("the scheduler does not start")
            time.sleep(0.05)
        own = (*here, "--nthreads", "1", "--no-nanny", "--local-directory", str(folder))
        workers = [
            stack.enter_context(_started("worker", "--scheduler-file", str(stated), *own))
            for _ in range(2)
        ]
        address = _address(stated)
        yield address, {"scheduler": scheduler, "worker": workers[0]}


def _address(stated: Path) -> str:
    return str(json.loads(stated.read_text())["address"])


@contextlib.contextmanager
def _started(kind: str, *words: str) -> Iterator[subprocess.Popen[bytes]]:
    quiet = subprocess.DEVNULL
    module = f"distributed.cli.dask_{kind}"
    path = os.pathsep.join(each for each in sys.path if each)
    process = subprocess.Popen(
        [sys.executable, "-m", module, *words],
        env={**os.environ, "PYTHONPATH": path},
        stdout=quiet,
        stderr=quiet,
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def _kill_in_the_middle(course: Copy, victim: subprocess.Popen[bytes]) -> None:
    """Kills it when the first submissions are graded."""
    until = time.monotonic() + _START_S
    while time.monotonic() < until:
        if any(course.folder.glob("autograded/.unfinished/*/*.result.json")):
            break
        time.sleep(0.01)
    victim.kill()
