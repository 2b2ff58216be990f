"""What `strace` prints of a C kernel: evidence that comes neither from a clock nor from the kit."""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from labs.c_kernels import toolchain
from labs.common import messages
from labs.common.messages import Message
from labs.common.table import Table
from labs.common.units import rounded
from labs.machine.surroundings import place_options
from labs.views.gather import refused

#: Tracing makes each system call about a hundred times as slow.
_TIME_LIMIT_S = 60.0
_CREATES = re.compile(r"^(v?fork|clone3?)\((?:.*?flags=([\w|]+))?", re.MULTILINE)
_COUNTED = re.compile(r"^ *[\d.]+ +[\d.]+ +\d+ +(\d+) +(?:\d+ +)?(\w+)$", re.MULTILINE)
_ROW = re.compile(r"^(\w[\w-]*),(?:\d+,)?\d+,(\d+),\d+$", re.MULTILINE)
#: What strace calls the system call of a variant of system_call, if it is not called like it.
_OF_VARIANTS = {"monotonic": "clock_gettime", "read0": "read", "invalid": "syscall_0x186a0"}


class NoTrace(Exception):
    """strace printed nothing that can be used; the message says why."""


def traced_calls(call: str, kernel: str, *variants: str, samples: int = 100) -> Table | None:
    """How often each variant of a C kernel makes the system call `call`, counted by `strace`.

    Each variant takes `samples` samples, in a process of its own with all its threads. The count
    includes the calls of the start, the end, and the baseline. Shows a note and returns None where
    no program can be traced. Raises Refused for an unknown C kernel or system call.
    """
    options = ("--samples", str(samples), "--warmup", "0", "--batch", "40,60")
    rows = []
    try:
        for variant in variants:
            trace, shown = traced(kernel, variant, ("-f", "-c", "-e", f"trace={call}"), options)
            calls = calls_of_summary(trace)
            done = sum(int(size) for name, size in _ROW.findall(shown) if name in ("", variant))
            each = rounded(calls / done, 2) if done else ""
            rows.append((variant, f"{done:,}", f"{calls:,}", each))
    except NoTrace as why:
        _note(why)
        return None
    header = ("variant", "operations timed", f"calls of {call}", "calls for each operation")
    return Table(f"System calls of {kernel}, counted by strace", header, tuple(rows))


def counted_calls(*variants: str) -> Table | None:
    """The rounds of the loop of each variant of system_call, next to its system calls.

    Each variant is traced for its own system call, also for a call number that does not exist,
    which `strace -c` leaves out. Shows a note and returns None where no program can be traced.
    Raises Refused for an unknown variant.
    """
    if not variants or not all(isinstance(each, str) for each in variants):
        raise refused("name variants of system_call", 'Such as "getppid", "invalid".')
    options = ("--samples", "20", "--warmup", "0", "--batch", "50")
    rows = []
    try:
        for variant in variants:
            call = _OF_VARIANTS.get(variant.split("-")[0], variant.split("-")[0])
            trace, shown = traced("system_call", variant, (), options)
            rounds = sum(int(size) for name, size in _ROW.findall(shown) if name == variant)
            rows.append((variant, f"{rounds:,}", call, f"{calls_in(trace, call):,}"))
    except NoTrace as why:
        _note(why)
        return None
    header = ("variant", "rounds of the loop", "system call", "calls counted by strace")
    return Table("System calls, counted without a clock", header, tuple(rows))


def calls_in(trace: str, call: str) -> int:
    """How many lines of strace's output are calls of `call`."""
    return len(re.findall(rf"^{re.escape(call)}\(", trace, re.MULTILINE))


def traced_creation(*variants: str) -> Table | None:
    """The system call by which each variant of task_creation creates its first task.

    `strace` prints it with its flags. They say whether the task shares its parent's memory, and
    whether it belongs to its parent's process. Shows a note and returns None where no program can
    be traced. Raises Refused for an unknown variant.
    """
    if not variants:
        raise refused("name the variants to trace", 'Such as "fork-wait", "pthread-wait".')
    options = ("--samples", "8", "--warmup", "0")
    rows = []
    try:
        for variant in variants:
            trace, _ = traced("task_creation", variant, ("-e", "trace=process"), options)
            first = _CREATES.search(trace)
            call, flags = (first[1], first[2] or "none printed") if first else ("none", "")
            rows.append((variant, call, flags.replace("|", " | "), *_shared(call, flags)))
    except NoTrace as why:
        _note(why)
        return None
    header = ("variant", "system call", "flags", "parent's memory", "parent's process")
    return Table("How a task is created", header, tuple(rows))


def _shared(call: str, flags: str) -> tuple[str, str]:
    """Whether a task shares its parent's memory, and whether it belongs to its parent's process."""
    if call == "none":
        return "", ""
    named = flags.split("|")
    memory = call == "vfork" or "CLONE_VM" in named
    return (
        "shared" if memory else "not shared: it has its own",
        "the same" if "CLONE_THREAD" in named else "another process",
    )


def calls_of_summary(summary: str) -> int:
    """The sum of the calls in the table that `strace -c` prints; an empty table has none."""
    rows = _COUNTED.findall(summary.replace(",", ""))
    return sum(int(count) for count, name in rows if name != "total")


def _note(why: NoTrace) -> None:
    words = ("The lab goes on without this evidence.",)
    messages.show(Message("note", f"nothing can be traced here: {why}", words))


def traced(
    kernel: str, variant: str, asked: Sequence[str], options: Sequence[str]
) -> tuple[str, str]:
    """What strace, and what the program printed. Raises NoTrace, and Refused for a wrong name."""
    try:
        program = toolchain.build(toolchain.c_kernel_source(kernel)).path
    except (OSError, ValueError) as error:
        raise refused(f"{kernel} cannot be traced", f"{error}.") from None
    with tempfile.TemporaryDirectory(prefix="ticklab-strace-") as scratch:
        trace = Path(scratch) / "trace"
        command = ["strace", "-q", *asked, "-o", str(trace), str(program), "--variant", variant]
        try:
            done = subprocess.run(
                [*command, *options, *place_options()],
                capture_output=True,
                text=True,
                timeout=_TIME_LIMIT_S,
                check=False,
            )
        except FileNotFoundError:
            raise NoTrace("strace is not installed") from None
        except (OSError, subprocess.TimeoutExpired) as error:
            raise NoTrace(str(error)) from None
        printed = trace.read_text("utf-8", "replace") if trace.is_file() else ""
    if done.returncode:
        last = (done.stderr.strip().splitlines() or [f"status {done.returncode}"])[-1]
        if "strace: invalid system call" in done.stderr or "--variant" in last:
            raise refused("that cannot be traced", f"{last.removeprefix('strace: ')}.")
        raise NoTrace(last)
    return printed, done.stdout
