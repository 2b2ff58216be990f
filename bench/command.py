"""Run the command `labs measure`, and programs to hold it against, and see what they cost."""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from labs.recording import file
from labs.recording.file import Recording
from support.programs import call

#: Below this share of its time on the CPU, a peer's own clock has counted others' time too.
UNDISTURBED = 0.995

#: Of <linux/prctl.h>. A program that is started afterwards inherits it.
_PR_SET_THP_DISABLE = 41


class CannotRun(RuntimeError):
    """A command failed: which, and what it said."""


def measure(*words: str) -> dict[str, Any]:
    """The JSON of `labs measure WORDS`. Raises CannotRun."""
    done = _labs("measure", *words, "--json")
    result: dict[str, Any] = json.loads(done)
    return result


def compare(*words: str) -> dict[str, Any]:
    """The JSON of `labs compare WORDS`. Raises CannotRun."""
    result: dict[str, Any] = json.loads(_labs("compare", *words, "--json"))
    return result


def record(*words: str) -> Recording:
    """The recording that `labs measure WORDS` saves. Raises CannotRun."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "recording.csv"
        _labs("measure", *words, "--save", str(path))
        return file.read(path)


def _labs(*words: str) -> str:
    command = [sys.executable, "-m", "labs.commands.cli", *words]
    done = call(*command, timeout=300)
    if done.returncode != 0:
        raise CannotRun(f"labs {' '.join(words)}: {done.stderr.strip()[-300:]}")
    return done.stdout


@dataclass(frozen=True)
class Ran:
    """What a program printed, the time until it ended, and the CPU time it and its children had."""

    output: str
    wall_s: float
    cpu_s: float

    @property
    def share(self) -> float:
        """The share of its time that it had the CPU: 1 where nothing else ran there."""
        return self.cpu_s / self.wall_s


def run(*words: str, cpu: int | None = None, small_pages: bool = False) -> Ran:
    """Run a program pinned to `cpu`, and account for it. Raises CannotRun.

    With `small_pages`, all of its memory is in pages of the smallest size.
    """

    def pin() -> None:
        if cpu is not None:
            os.sched_setaffinity(0, {cpu})
        if small_pages:
            ctypes.CDLL(None).prctl(_PR_SET_THP_DISABLE, 1, 0, 0, 0)

    with tempfile.TemporaryFile() as output:
        begin = time.perf_counter()
        # A preexec_fn is safe here: no thread of ours holds a lock.
        process = subprocess.Popen(words, stdout=output, stderr=output, preexec_fn=pin)
        _, status, used = os.wait4(process.pid, 0)
        wall = time.perf_counter() - begin
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        text = output.read().decode("utf-8", "replace")
    if process.returncode != 0:
        raise CannotRun(f"{' '.join(words)}: {text.strip()[-300:]}")
    return Ran(text, wall, used.ru_utime + used.ru_stime)
