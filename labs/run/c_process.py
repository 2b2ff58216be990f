"""One process of a C kernel: start it, read its output within limits, and always end it.

A student's program may print endlessly, leave children behind, or never stop. So we limit its
output, and we end its whole process group.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
from collections.abc import AsyncIterator, Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import IO, Any

from labs.run.run_clock import TICK_S, Deadline, ticking
from labs.run.standstill import Standstill, likely_cause

#: The most frequent cause of each signal that ends a C kernel.
_USUAL_CAUSE = {
    "SIGSEGV": "it used an address without memory, or wrote to code or constants; look for a "
    "pointer that was never set, or an index that is too large",
    "SIGBUS": "it used an address without memory, or an address that is not aligned",
    "SIGFPE": "it divided a whole number by zero",
    "SIGILL": "it ran bytes that are not an instruction of this processor",
    "SIGABRT": "it ended itself; the C library does so if a program writes past the end of memory",
    "SIGKILL": "another program ended it, or the OS did because memory ran out",
}


class RunFailed(RuntimeError):
    """A C kernel ended without a usable run; the message is its error text, `status` its status.

    If `hung` is set, we ended it, because it took too long.
    """

    def __init__(self, message: str, status: int | None = None, *, hung: bool = False) -> None:
        super().__init__(message)
        self.status = status
        self.hung = hung

    @property
    def impossible_here(self) -> bool:
        """Whether the C kernel reported that this machine cannot do what was asked."""
        return self.status == 3


class TimeLimitReached(RunFailed):
    """The time limit of the whole run has ended this process."""


class TookNoSample(RunFailed):
    """We ended this process, because it took no sample for as long as patience lasts.

    `patience_s` is in seconds, and `cpu_share` is the share of a CPU that it used meanwhile.
    """

    def __init__(self, message: str, patience_s: float, cpu_share: float) -> None:
        super().__init__(message, hung=True)
        self.patience_s, self.cpu_share = patience_s, cpu_share


@dataclass(frozen=True)
class Limits:
    """The limits of one command.

    `output` is in bytes. `deadline` is computed from `time_s`. The command may show no progress for
    `patience_s` seconds of its own time (labs.run.standstill); None means for as long as it takes.
    """

    output: int
    deadline: Deadline
    time_s: float
    patience_s: float | None = None


async def output_of(
    command: list[str],
    name: str,
    limits: Limits,
    on_progress: Callable[[int, int], None],
) -> bytes:
    """The standard output of `command`; it calls `on_progress` at its start and with each report.

    Raises RunFailed if the command reaches a limit, or ends with another status than 0. Cancelling
    ends the command.
    """
    # We do not use asyncio's subprocess: its wait() also waits until all pipes are closed, so a
    # process that left the group would block a cancelled run. We await nothing between the start
    # and the `try`, so that no cancel can happen there.
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    assert process.stdout is not None and process.stderr is not None
    standstill = Standstill(process.pid)

    def progressed(done: int, total: int) -> None:
        standstill.progressed()
        on_progress(done, total)

    reading = asyncio.create_task(_read_all(process.stdout, limits.output, name))
    listening = asyncio.create_task(_read_words(process.stderr, progressed))
    waiting = asyncio.create_task(asyncio.to_thread(process.wait))
    tasks = (reading, listening, waiting)
    try:
        on_progress(0, 1)  # it runs, and has taken no sample
        await _until_done(tasks, name, limits, standstill)
        output, words, status = reading.result(), listening.result(), waiting.result()
    finally:
        for task in tasks:
            task.cancel()
        _end(process)
        await asyncio.wait(tasks)
    if status != 0:
        raise RunFailed(_describe_ending(name, status, words), status)
    return output


async def _until_done(
    tasks: Iterable[asyncio.Task[Any]], name: str, limits: Limits, standstill: Standstill
) -> None:
    """Wait for `tasks`. Raises RunFailed at a limit, and what a task raises."""
    deadline, patience_s = limits.deadline, limits.patience_s
    unfinished: set[asyncio.Task[Any]] = set(tasks)
    while unfinished:
        # Only tick by tick can be seen what stopped the run, and what keeps the command waiting.
        done, unfinished = await asyncio.wait(
            unfinished,
            timeout=max(min(deadline.left_s(), TICK_S), 0),
            return_when=asyncio.FIRST_EXCEPTION,
        )
        for task in done:
            task.result()  # raises the task's exception
        if not unfinished:
            return
        if deadline.left_s() <= 0:
            raise TimeLimitReached(
                f"Ticklab ended {name} after the time limit of {limits.time_s:g} s, and no sample "
                "is kept. Take fewer samples or fewer variants at a time, raise the limit "
                "(time_limit=..., in a terminal --time-limit ...), or "
                "look for an endless loop or wait in the C",
                hung=True,
            )
        if patience_s is None:
            continue
        standstill.look(deadline.clock.now())
        if standstill.own_s >= patience_s:
            raise TookNoSample(
                f"Ticklab ended {name}, because it took no sample for {patience_s:g} s. "
                f"{likely_cause(standstill.cpu_share)}. If one sample may take so long, allow it "
                "more seconds (patience=..., in a terminal --patience ...)",
                patience_s,
                standstill.cpu_share,
            )


def output_now(command: list[str], name: str, most_output: int, time_limit_s: float) -> bytes:
    """Like `output_of`, but waits; usable in a notebook cell, where a loop already runs."""

    async def listen() -> bytes:
        async with ticking() as clock:
            limits = Limits(most_output, Deadline(clock, time_limit_s), time_limit_s)
            return await output_of(command, name, limits, lambda done, total: None)

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, listen()).result()


@contextlib.asynccontextmanager
async def _stream(pipe: IO[bytes]) -> AsyncIterator[asyncio.StreamReader]:
    """The reading end of a pipe as a stream; it is closed at the end."""
    reader = asyncio.StreamReader()
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), pipe
    )
    try:
        yield reader
    finally:
        transport.close()


async def _read_all(pipe: IO[bytes], most: int, name: str) -> bytes:
    """Everything from `pipe`. Raises RunFailed over `most` bytes, which no honest run prints."""
    parts: list[bytes] = []
    size = 0
    async with _stream(pipe) as stream:
        while part := await stream.read(1 << 16):
            size += len(part)
            if size > most:
                raise RunFailed(
                    f"{name} printed more than {most} bytes, which is more than its samples need"
                )
            parts.append(part)
    return b"".join(parts)


async def _read_words(pipe: IO[bytes], on_progress: Callable[[int, int], None]) -> list[str]:
    """The first lines of standard error that are not progress, each truncated."""
    words: list[str] = []
    rest = b""
    async with _stream(pipe) as stream:
        while part := await stream.read(1 << 12):
            *lines, rest = (rest + part).split(b"\n")
            rest = rest[:2_000]
            for line in lines:
                _sort_line(line, words, on_progress)
    if rest:
        _sort_line(rest, words, on_progress)
    return words


def _sort_line(line: bytes, words: list[str], on_progress: Callable[[int, int], None]) -> None:
    fields = line.split()
    if len(fields) == 3 and fields[0] == b"progress" and all(map(bytes.isdigit, fields[1:])):
        on_progress(int(fields[1][:12]), int(fields[2][:12]))
    elif len(words) < 20:
        words.append(line[:500].decode("utf-8", "replace"))


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the whole process group, and wait for the process itself."""
    # The process leads a session, so its id is the group's id. The group may outlive the process.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _describe_ending(name: str, status: int, words: list[str]) -> str:
    own_words = "; ".join(line for line in words if line.strip())
    if status < 0:
        try:
            number = signal.Signals(-status).name
        except ValueError:
            number = f"signal {-status}"
        # The program's own words are a better explanation than the usual cause.
        cause = own_words or _USUAL_CAUSE.get(number, "")
        return f"{name} was ended by {number}" + (f": {cause}" if cause else "")
    return own_words or f"{name} ended with status {status} and printed no error"
