"""One process of a C kernel: start it, listen to it within bounds, and end it whatever happens.

A student's program may print without end, leave children behind, or never stop: its output is
bounded, and its whole process group ends with it.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import IO

#: What most often makes a C kernel end by each signal.
_USUAL_CAUSE = {
    "SIGSEGV": "it used an address where it has no memory: a pointer that was never set, an index "
    "too large, or code and constants written to",
    "SIGBUS": "it used an address where it has no memory, or one that is not aligned",
    "SIGFPE": "it divided a whole number by zero",
    "SIGILL": "it ran bytes that are no instruction of this processor",
    "SIGABRT": "it ended itself, as the C library does where memory was written past its end",
    "SIGKILL": "from outside: by somebody, or by the OS for want of memory",
}


class RunFailed(RuntimeError):
    """A C kernel ended without a usable run: its exit status, and what it said."""

    def __init__(self, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status

    @property
    def impossible_here(self) -> bool:
        """Whether the C kernel said that this machine cannot do it."""
        return self.status == 3


async def output_of(
    command: list[str],
    name: str,
    most_output: int,
    deadline: float,
    time_limit_s: float,
    told: Callable[[int, int], None],
) -> bytes:
    """What `command` prints on standard output; `told` hears of its progress.

    `most_output` is in bytes, `deadline` a time of the running loop, which `time_limit_s` led to.
    Raises RunFailed where it prints more, takes longer, or ends with another status than 0.
    Cancelling ends it.
    """
    # Not asyncio's own subprocess: its wait() waits for whoever holds the pipes as well, so that a
    # process that left the group would keep a cancelled run from ending. And nothing is awaited
    # between the start and the `try`, so that no cancel falls there.
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    assert process.stdout is not None and process.stderr is not None
    reading = asyncio.create_task(_read_all(process.stdout, most_output, name))
    listening = asyncio.create_task(_read_words(process.stderr, told))
    waiting = asyncio.create_task(asyncio.to_thread(process.wait))
    tasks = (reading, listening, waiting)
    try:
        left = deadline - asyncio.get_running_loop().time()
        done, unfinished = await asyncio.wait(
            tasks, timeout=max(left, 0), return_when=asyncio.FIRST_EXCEPTION
        )
        for task in done:
            task.result()  # raises what it raised
        if unfinished:
            raise RunFailed(
                f"{name} was ended after the time limit of {time_limit_s:g} s; take fewer samples, "
                "raise the time limit, or look for a loop in the C that never ends"
            )
        output, words, status = reading.result(), listening.result(), waiting.result()
    finally:
        for task in tasks:
            task.cancel()
        _end(process)
        await asyncio.wait(tasks)
    if status != 0:
        raise RunFailed(_ending_in_words(name, status, words), status)
    return output


def output_now(command: list[str], name: str, most_output: int, time_limit_s: float) -> bytes:
    """As `output_of`, and waits for it; usable in a notebook cell, where a loop already runs."""

    async def listen() -> bytes:
        deadline = asyncio.get_running_loop().time() + time_limit_s
        return await output_of(
            command, name, most_output, deadline, time_limit_s, lambda done, total: None
        )

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, listen()).result()


@contextlib.asynccontextmanager
async def _stream(pipe: IO[bytes]) -> AsyncIterator[asyncio.StreamReader]:
    """The reading end of a pipe, as a stream; closed at the end."""
    reader = asyncio.StreamReader()
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), pipe
    )
    try:
        yield reader
    finally:
        transport.close()


async def _read_all(pipe: IO[bytes], most: int, name: str) -> bytes:
    """All that comes from `pipe`, unless it is over `most` bytes, which no honest run prints."""
    parts: list[bytes] = []
    size = 0
    async with _stream(pipe) as stream:
        while part := await stream.read(1 << 16):
            size += len(part)
            if size > most:
                raise RunFailed(f"{name} printed more than {most} bytes: more than its samples")
            parts.append(part)
    return b"".join(parts)


async def _read_words(pipe: IO[bytes], told: Callable[[int, int], None]) -> list[str]:
    """The lines of standard error that are not progress: the first of them, each cut short."""
    words: list[str] = []
    rest = b""
    async with _stream(pipe) as stream:
        while part := await stream.read(1 << 12):
            *lines, rest = (rest + part).split(b"\n")
            rest = rest[:2_000]
            for line in lines:
                _sort_line(line, words, told)
    if rest:
        _sort_line(rest, words, told)
    return words


def _sort_line(line: bytes, words: list[str], told: Callable[[int, int], None]) -> None:
    fields = line.split()
    if len(fields) == 3 and fields[0] == b"progress" and all(map(bytes.isdigit, fields[1:])):
        told(int(fields[1][:12]), int(fields[2][:12]))
    elif len(words) < 20:
        words.append(line[:500].decode("utf-8", "replace"))


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the whole process group, and collect the process itself."""
    # The group's number is the process's own: it leads a session. The group may outlive it.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _ending_in_words(name: str, status: int, words: list[str]) -> str:
    said = "; ".join(line for line in words if line.strip())
    if status < 0:
        try:
            number = signal.Signals(-status).name
        except ValueError:
            number = f"signal {-status}"
        # What the program says of itself is nearer to the truth than what is usual.
        told = said or _USUAL_CAUSE.get(number, "")
        return f"{name} was ended by {number}" + (f": {told}" if told else "")
    return said or f"{name} ended with status {status} and said nothing"
