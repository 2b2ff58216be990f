"""A person's terminal: one shell, into which one command after the other is typed."""

from __future__ import annotations

import os
import secrets
import select
import signal
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import NamedTuple

#: Installing everything from an index takes longest.
_PATIENCE_S = 900.0


class Ran(NamedTuple):
    """The exit status of a command, and what it printed."""

    status: int
    said: str


class TooLong(Exception):
    """A command did not end; the message has what it printed."""


class Shell:
    """Bash with job control and the environment `environment`, which begins in `folder`."""

    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        # Under `nohup` it is ignored, and no program that the shell starts could be ended by it. A
        # handler is not inherited.
        if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
            signal.signal(signal.SIGINT, lambda *_: None)
        self._process = subprocess.Popen(
            ["bash", "--noprofile", "--norc"],
            cwd=folder,
            env=dict(environment),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        self.run("set -m")  # else what runs in the background ignores Control-C

    def run(self, command: str) -> Ran:
        """Types a command and waits for its end. Raises TooLong."""
        mark = secrets.token_hex(8)
        self._type(f"{command}\nprintf '\\n%s %d\\n' {mark} $?")
        said, _, status = self._until(f"\n{mark} ", "\n").rpartition(f"\n{mark} ")
        return Ran(int(status), said.strip())

    def run_until(self, command: str, ready: str) -> Ran:
        """Types a command that goes on until Control-C, which comes when it has printed `ready`."""
        self._type(f"{command} &")
        said = self._until(ready)
        ended = self.run("kill -INT -- -$!; wait $!")
        return Ran(ended.status, said + ended.said)

    @property
    def folder(self) -> Path:
        """Where the person is."""
        return Path(self.run("pwd").said)

    def __enter__(self) -> Shell:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            assert stream is not None
            stream.close()

    def _type(self, text: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(text.encode() + b"\n")
        self._process.stdin.flush()

    def _until(self, *marks: str) -> str:
        """What is printed up to the last of the marks, which come in this order, without it."""
        assert self._process.stdout is not None
        found, end = "", time.monotonic() + _PATIENCE_S
        while (place := _after(found, marks)) is None:
            left = end - time.monotonic()
            if left <= 0 or not select.select([self._process.stdout], [], [], left)[0]:
                raise TooLong(found[-1000:])
            some = os.read(self._process.stdout.fileno(), 65536)
            if not some:
                raise TooLong(f"the shell ended: {found[-1000:]}")
            found += some.decode("utf-8", "replace")
        return found[:place]


def _after(text: str, marks: tuple[str, ...]) -> int | None:
    """Where the last of the marks begins; None if one of them is not there yet."""
    place, after = 0, 0
    for mark in marks:
        place = text.find(mark, after)
        if place < 0:
            return None
        after = place + len(mark)
    return place
