"""Starts a sandbox, and ends it with everything in it."""

from __future__ import annotations

import contextlib
import json
import os
import platform
import select
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from types import TracebackType

from grader.sandbox.enclosed import Inside, NoSandbox, enclosed
from grader.sandbox.limits import Limits
from grader.sandbox.system_calls import program
from grader.sandbox.watch import Inhabitants

_START_S = 30.0
_MOST_REPORTED = 10_000


@dataclass
class Sandbox:
    """A running sandbox: bubblewrap's process, those inside, and what bubblewrap reports."""

    process: subprocess.Popen[bytes]
    inhabitants: Inhabitants
    report: int

    def command_ran(self) -> bool:
        """Whether the command was started; to be asked after bubblewrap has ended."""
        if not select.select([self.report], [], [], 0)[0]:
            return False
        return b"exit-code" in os.read(self.report, _MOST_REPORTED)

    def end(self) -> None:
        """End everything in it; it may be called again. Raises TimeoutError if a process stays."""
        try:
            self.inhabitants.end()
        finally:
            self.process.kill()
            self.process.wait()
            for stream in (self.process.stdout, self.process.stderr):
                if stream is not None:
                    stream.close()
            report, self.report = self.report, -1
            if report >= 0:
                os.close(report)

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.end()


def start(command: list[str], limits: Limits, inside: Inside, streams: int | None) -> Sandbox:
    """`command` in a sandbox, running. Its output and errors go to `streams`, as for Popen.

    If the thread that calls this ends, the OS ends the sandbox. Raises NoSandbox, and then nothing
    was run.
    """
    reading, writing = os.pipe()
    try:
        with _filter() as steps:
            words = enclosed(command, limits, inside, steps)
            words[1:1] = ["--json-status-fd", str(writing)]
            process = subprocess.Popen(
                words,
                stdin=subprocess.DEVNULL,
                stdout=streams,
                stderr=streams,
                cwd="/",
                start_new_session=True,
                pass_fds=(writing, steps),
            )
    except OSError as error:
        os.close(reading)
        raise NoSandbox(f"bubblewrap does not start: {error}; nothing was run") from error
    except NoSandbox:
        os.close(reading)
        raise
    finally:
        os.close(writing)
    first = _first_process(reading)
    if first is None:
        process.kill()
        said = process.communicate()[1] or b""
        os.close(reading)
        raise NoSandbox(
            f"bubblewrap could not build the sandbox ({said.decode('utf-8', 'replace').strip()}), "
            "so nothing was run; if this is a container, allow it user namespaces, or grade on "
            "another machine"
        )
    return Sandbox(process, Inhabitants(first), reading)


@contextlib.contextmanager
def _filter() -> Iterator[int]:
    """A descriptor from which bubblewrap reads the filter of system calls. Raises NoSandbox."""
    steps = program()
    if steps is None:
        raise NoSandbox(
            f"the sandbox knows no filter of system calls for a machine of type "
            f"{platform.machine()}, so nothing was run; use one with x86-64 or arm64"
        )
    descriptor = os.memfd_create("filter")
    try:
        os.write(descriptor, steps)
        os.lseek(descriptor, 0, os.SEEK_SET)
        yield descriptor
    finally:
        os.close(descriptor)


def _first_process(report: int) -> int | None:
    """The id of the sandbox's first process, which bubblewrap reports; None if there is none."""
    line = b""
    while not line.endswith(b"\n") and len(line) < _MOST_REPORTED:
        if not select.select([report], [], [], _START_S)[0]:
            return None
        letter = os.read(report, 1)
        if not letter:
            return None
        line += letter
    try:
        return int(json.loads(line)["child-pid"])
    except (ValueError, KeyError, TypeError):
        return None
