"""From the command `labs start` to a page that is served, and to the answer of short commands."""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from pathlib import Path
from typing import IO

from bench.report import median_and_range, must_hold, say, skipped, verdict
from labs import paths

MOST_S = 6.0
#: The module of a program, its words, and the seconds of CPU that it may take.
SHORT = (
    ("labs.commands.cli", "--version", 0.1),
    ("grader.commands.cli", "--version", 0.1),
    ("labs.commands.cli", "list", 0.15),
)
PATIENCE_S = 60.0


def run(quick: bool) -> bool:
    """Ask for short answers, then start JupyterLab; both again and again."""
    rounds = 5 if quick else 25
    answered = [_answered(module, word, most, rounds) for module, word, most in SHORT]
    return all([*answered, _pages(quick)])


def _answered(module: str, word: str, most: float, rounds: int) -> bool:
    must_hold(f"python -m {module} {word} takes under {most:g} s of CPU")
    every = [_cpu_s([sys.executable, "-m", module, word]) for _ in range(rounds)]
    bare = statistics.median(_cpu_s([sys.executable, "-c", ""]) for _ in range(rounds))
    say(f"   {median_and_range(every, 3, 's')}; Python alone {bare:.3f} s")
    median = statistics.median(every)
    return verdict(median < most, f"median {median:.3f} s of CPU")


def _cpu_s(command: list[str]) -> float:
    """Seconds of CPU, user and system, that a command takes."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{' '.join(command)} ended with status {process.returncode}")
    return usage.ru_utime + usage.ru_stime


def _pages(quick: bool) -> bool:
    """Start, ask for the page, end; again and again in the same folder."""
    must_hold(f"labs start serves its page in under {MOST_S:.0f} s")
    try:
        paths.released()
    except paths.PartMissing as error:
        return skipped(str(error))
    with tempfile.TemporaryDirectory() as folder:
        every = []
        for number in range(3 if quick else 6):
            try:
                every.append(_start(Path(folder) / "labs"))
            except RuntimeError as error:
                return verdict(False, str(error))
            if number == 0:
                say(f"   the first, which lays the copy down: {every[0]:.2f} s")
    again = every[1:]
    say(f"   again: {median_and_range(again, 2, 's')}")
    return verdict(statistics.median(again) < MOST_S, f"median {statistics.median(again):.2f} s")


def _address(printed: IO[str]) -> str:
    """The first line that is an address with a token; empty where there is none.

    Extensions of the server may greet first, and nbclassic names an address of its own.
    """
    return next((line.strip() for line in printed if "token=" in line), "")


def _start(folder: Path) -> float:
    """Seconds from the command to the page. Raises RuntimeError where none is served."""
    begin = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "labs.commands.cli", "start", str(folder), "--no-browser"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None
    printed = process.stdout
    said: queue.Queue[str] = queue.Queue()
    threading.Thread(target=lambda: said.put(_address(printed)), daemon=True).start()
    try:
        address = said.get(timeout=PATIENCE_S)
        if not address:
            raise RuntimeError("labs start ended without an address")
        with urllib.request.urlopen(address, timeout=PATIENCE_S) as page:
            if page.status != 200:
                raise RuntimeError(f"the page was answered with status {page.status}")
            page.read()
        return time.perf_counter() - begin
    except (queue.Empty, OSError) as error:
        raise RuntimeError(f"no page: {error or 'no address'}") from error
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
