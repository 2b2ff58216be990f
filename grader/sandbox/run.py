"""Runs one command in the sandbox, and returns what it printed.

    done = run(["cc", "/given/own.c", "-o", "own"], folder, Limits(wall_s=20))

Where no sandbox can be had, NoSandbox says why, and nothing is run.
"""

from __future__ import annotations

import functools
import os
import secrets
import select
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from grader.sandbox.enclosed import Inside, NoSandbox
from grader.sandbox.limits import Limits
from grader.sandbox.start import start
from grader.sandbox.watch import EVERY_S

_CHUNK = 1 << 16
_START_S = 30.0


@dataclass(frozen=True)
class Result:
    """What a command did. `status` is None if we ended it; then `ended` says why.

    `output` and `errors` are what it printed, each cut at the limit.
    """

    status: int | None
    output: bytes
    errors: bytes
    ended: str = ""


def run(
    command: list[str],
    folder: Path | None = None,
    limits: Limits | None = None,
    *,
    python: bool = False,
) -> Result:
    """Run `command` in the sandbox and wait for it; `folder` is /given there, and read-only.

    The command has neither input nor a terminal; with `python` it sees this Python environment.
    Raises NoSandbox if it could not be enclosed.
    """
    why = refusal()
    if why is not None:
        raise NoSandbox(why)
    return _run(command, limits or Limits(), Inside(given=folder, python=python))


@functools.lru_cache(maxsize=1)
def refusal() -> str | None:
    """Why there is no sandbox on this machine, in a sentence; None if there is one."""
    if sys.platform != "linux":
        return "the sandbox needs Linux (on Windows: WSL2), so nothing was run"
    word = secrets.token_hex(8)
    try:
        done = _run(["echo", word], Limits(wall_s=_START_S), Inside())
    except NoSandbox as error:
        return str(error)
    if done.output.decode("utf-8", "replace").strip() != word:
        said = done.ended or done.errors.decode("utf-8", "replace").strip()[:300]
        return f"a command in the sandbox does not start ({said}), so nothing was run"
    return None


def _run(command: list[str], limits: Limits, inside: Inside) -> Result:
    until = time.monotonic() + limits.wall_s
    with start(command, limits, inside, subprocess.PIPE) as sandbox:
        pipes = _pipes(sandbox.process)
        kept = {pipe: bytearray() for pipe in pipes}
        ended, looked = "", 0.0
        while not ended and (pipes or sandbox.process.poll() is None):
            for pipe in select.select(pipes, [], [], EVERY_S)[0]:
                some = os.read(pipe.fileno(), _CHUNK)
                kept[pipe] += some
                if not some:
                    pipes.remove(pipe)
            now = time.monotonic()
            if sum(map(len, kept.values())) > limits.output:
                ended = f"It printed more than {limits.output:,} bytes and was ended."
            elif now > until:
                ended = f"It took more than {limits.wall_s:g} s and was ended."
            elif now > looked + EVERY_S:
                looked, ended = now, sandbox.inhabitants.excess(limits) or ""
        output, errors = (bytes(each[: limits.output]) for each in kept.values())
        if ended:
            return Result(None, output, errors, ended)
        status = sandbox.process.wait()
        if not sandbox.command_ran():
            said = errors.decode("utf-8", "replace").strip()[:300]
            raise NoSandbox(f"bubblewrap could not build the sandbox ({said}); nothing was run")
        return Result(status, output, errors)


def _pipes(process: subprocess.Popen[bytes]) -> list[IO[bytes]]:
    assert process.stdout is not None and process.stderr is not None
    return [process.stdout, process.stderr]
