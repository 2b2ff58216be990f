"""A person's terminal: one shell, into which one command after the other is typed."""

from __future__ import annotations

import re
import secrets
import signal
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import NamedTuple

import pexpect
import psutil

#: Installing everything from an index takes longest.
_PATIENCE_S = 900.0
#: A Jupyter server asks before it ends.
_ASKS_S = 5.0
_MOST_SHOWN = 1000


class Ran(NamedTuple):
    """The exit status of a command, and what it printed."""

    status: int
    said: str


class TooLong(Exception):
    """A command did not end, or the shell did; the message has what was printed last."""


class Shell:
    """Bash in a terminal of its own, with the variables `environment`; it begins in `folder`."""

    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        self._terminal = pexpect.spawn(
            "bash",
            ["--noprofile", "--norc"],
            cwd=str(folder),
            env={**environment, "TERM": "dumb"},
            encoding="utf-8",
            codec_errors="replace",
            echo=False,
            timeout=_PATIENCE_S,
            # Under `nohup` it is ignored, and Control-C would end nothing.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
        self._terminal.delaybeforesend = None
        self.run("PS1= PS2=; bind 'set enable-bracketed-paste off'")

    def run(self, command: str) -> Ran:
        """Types a command and waits for its end. Raises TooLong."""
        self._terminal.sendline(command)
        return self._ended()

    def run_until(self, command: str, ready: str) -> Ran:
        """Types a command that goes on until Control-C, which comes when it has printed `ready`."""
        self._terminal.sendline(command)
        said = self._until(re.escape(ready))
        self._terminal.sendintr()
        if self._terminal.expect([r"\(y/\[n\]\)", pexpect.TIMEOUT], timeout=_ASKS_S) == 0:
            self._terminal.sendline("y")
        ended = self._ended()
        return Ran(ended.status, said + ended.said)

    @property
    def folder(self) -> Path:
        """Where the person is. The OS is asked: what the shell prints may hold a prompt."""
        return Path(psutil.Process(self._terminal.pid).cwd())

    def __enter__(self) -> Shell:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._terminal.close(force=True)

    def _ended(self) -> Ran:
        """The end of what was typed before: the shell reads this line when it comes to it."""
        mark = secrets.token_hex(8)
        self._terminal.sendline(f"printf '\\n%s %d.\\n' {mark} $?")
        said = self._until(rf"\n{mark} (\d+)\.")
        return Ran(int(self._terminal.match[1]), said.strip())

    def _until(self, pattern: str) -> str:
        try:
            self._terminal.expect(pattern)
        except (pexpect.TIMEOUT, pexpect.EOF) as error:
            raise TooLong(str(self._terminal.before)[-_MOST_SHOWN:]) from error
        return str(self._terminal.before).replace("\r\n", "\n")
