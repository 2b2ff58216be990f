"""One process of a C kernel: build and start it, read its output within limits, and always end it.

A student's program may print endlessly, leave children behind, or never stop. So we limit its
output, and we end its whole process group, also if it shows no progress for too long. A run chooses
the place of each process's stack and the CPU on which the process begins.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import re
import signal
import subprocess
import time
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import IO, Any, NamedTuple

import numpy as np
import psutil

from labs import paths
from labs.c_kernels import toolchain
from labs.files import time_now
from labs.machine import description, surroundings
from labs.recording.file import BadRecording, Integers, Recording, naming_file, read_table
from labs.recording.run_conditions import COMPUTES, WAITS
from labs.run.declared_options import DEFAULT_WARMUP
from labs.run.plan import Plan, without_home
from labs.version import __version__

# Read the output of a C kernel, and combine the processes of a run into one recording.
#
# A student may have written the program, so nothing here trusts the size or the form of the output.

COLUMNS = b"variant,sample,batch,ticks"
#: Of a process that counts an event in place of time.
COLUMNS_OF_COUNTS = b"variant,sample,batch,count"
#: Enough for all the variants of one run, each of which states about twenty conditions.
MOST_HEADER_LINES = 2_000

_CONDITION = re.compile(r"# ([a-z][a-z0-9_.-]{0,79}): (.{0,2000})")


@dataclass(frozen=True, eq=False)
class ProcessRun:
    """The output of one process of a C kernel.

    `table` has the shape (rows, 4): index into `variants`, sample, batch, and ticks or a count.
    """

    conditions: Mapping[str, str]
    variants: tuple[str, ...]
    table: Integers


def parse_run(output: bytes, where: str, columns: bytes = COLUMNS) -> ProcessRun:
    """The run in `output`, the standard output of one process. Raises BadRecording."""
    with naming_file(where):
        return _parsed(output, columns)


def _parsed(output: bytes, columns: bytes) -> ProcessRun:
    head, found, body = output.partition(columns + b"\n")
    if not found:
        raise BadRecording(f"printed no line {columns.decode()!r}: does main() end with measure()?")
    lines = head.decode("utf-8", "replace").splitlines()
    conditions = {}
    for number, line in enumerate(lines[:MOST_HEADER_LINES], start=1):
        match = _CONDITION.fullmatch(line)
        if match is None:
            raise BadRecording(
                f"printed {line[:60]!r} on standard output, which is only for the samples; print "
                "other text to stderr, outside the measured region",
                number,
            )
        conditions[match[1]] = match[2].strip()
    if len(lines) > MOST_HEADER_LINES:
        raise BadRecording(f"printed more than {MOST_HEADER_LINES} lines of conditions")
    variants, table = read_table(body, len(lines) + 2, columns=4)
    if len(table) == 0:
        raise BadRecording("printed no samples")
    return ProcessRun(MappingProxyType(conditions), variants, table)


def gather(conditions: Mapping[str, str], runs: Sequence[ProcessRun], name: str) -> Recording:
    """One recording of all `runs`, which become its processes 0, 1, and so on.

    A condition that all processes state alike becomes a condition of the run. The recording takes
    the name that the C kernel states, because a copy in another file measures the same. If it
    states none, the name is `name`.
    """
    kernel = runs[0].conditions.get("kernel", name)
    shared = {
        key: value
        for key, value in runs[0].conditions.items()
        if key not in ("kernel", "seed") and all(run.conditions.get(key) == value for run in runs)
    }
    processes = tuple(
        MappingProxyType(
            {key: value for key, value in run.conditions.items() if key not in {*shared, "kernel"}}
        )
        for run in runs
    )
    variants = tuple(dict.fromkeys(name for run in runs for name in run.variants))
    parts = []
    for number, run in enumerate(runs):
        index = np.array([variants.index(name) for name in run.variants], dtype=np.int64)
        column = np.full((len(run.table), 1), number, dtype=np.int64)
        parts.append(np.hstack([index[run.table[:, :1]], column, run.table[:, 1:]]))
    table = np.vstack(parts)
    columns = [np.ascontiguousarray(table[:, i]) for i in range(5)]
    return Recording(
        kernel, MappingProxyType({**conditions, **shared}), processes, variants, *columns
    )


# Add how the recording was made: with which program and command, and on which machine.


def recording_of(
    plan: Plan, binary: toolchain.Binary, runs: Sequence[ProcessRun], known: Mapping[str, str]
) -> Recording:
    """The recording of `runs`, the processes of `binary` that `plan` asked for.

    `known` are further conditions.
    """
    conditions = {
        "created": time_now(),
        "ticklab": __version__,
        "command": plan.command_line(),
        "source.sha256": binary.source_sha256,
        "flags": " ".join(filter(None, [*map(without_home, binary.options), plan.shown_flags])),
        "compiler": binary.compiler,
        "time_limit_s": f"{plan.time_limit_s:g}",
        **surroundings.machine_conditions(),
        **known,
    }
    if plan.of_student and (names := toolchain.imported_by(binary)) is not None:
        conditions["program.imports"] = " ".join(names)
    return gather(conditions, runs, plan.kernel_name)


def of_stopping(plan: Plan, why: str) -> dict[str, str]:
    """The conditions of a run that may add processes: what its plan asked for, and why it
    stopped."""
    stated = {} if plan.within is None else {"adaptive.within": f"{plan.within:g}"}
    return {
        **stated,
        "adaptive.at_most_s": f"{plan.longer_s:g}",
        "adaptive.planned_processes": str(len(plan.shares())),
        "adaptive.stopped": why,
    }


class Place(NamedTuple):
    """Where a process takes its samples: the place of its stack within a page, in bytes, and the
    CPU on which it begins (None: the OS chooses); and the seed of what it draws (0: its own)."""

    stack: int
    cpu: int | None = None
    seed: int = 0


def build(plan: Plan) -> toolchain.Binary:
    """The program that `plan` runs. Raises what building raises, FileNotFoundError."""
    if plan.source is not None:
        return toolchain.build_text(
            plan.source,
            plan.kernel_name,
            plan.flags,
            shown_as=plan.shown_as,
            first_line=plan.first_line,
        )
    return toolchain.build(toolchain.c_kernel_source(plan.kernel), plan.flags)


async def one_process(
    binary: toolchain.Binary,
    plan: Plan,
    samples: int,
    place: Place,
    deadline: Deadline,
    report_progress: Callable[[int, int], None],
    event: str = "",
) -> ProcessRun:
    """Run `binary` once for so many samples per variant, at `place`, and read what it printed. With
    `event` it counts this event in place of time."""
    command = [str(binary.path), "--samples", str(samples)]
    if plan.warmup != DEFAULT_WARMUP:
        # Unasked the C kernel does what is right for it: none where the cold sample is the point.
        command += ["--warmup", str(plan.warmup)]
    command += ["--stack-place", str(place.stack), "--end-with", str(os.getpid())]
    if place.cpu is not None:
        command += ["--begin-on", str(place.cpu)]
    if place.seed:
        command += ["--seed", str(place.seed)]
    if plan.variants:
        command += ["--variant", ",".join(plan.variants)]
    if event:
        command += ["--count", event]
    command += [*plan.words_of_c(), *surroundings.place_options()]
    rows = (samples + plan.warmup) * max(len(plan.variants), 1)
    # A row has at most 80 bytes, and every variant may bring a baseline along.
    most = 2 * 80 * rows + 65_536
    patience_s = plan.patience_s if plan.of_student else None
    limits = Limits(most, deadline, plan.time_limit_s, patience_s)
    output = await output_of(command, plan.kernel_name, limits, report_progress)
    return parse_run(output, plan.kernel_name, COLUMNS_OF_COUNTS if event else COLUMNS)


# Read the output of a command within limits, and end it.

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


CACHE_ELSEWHERE = (
    "Set TICKLAB_CACHE to a folder where programs may run, such as one in your home: "
    "export TICKLAB_CACHE=~/ticklab-cache"
)


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
    `patience_s` seconds of its own time (see `Standstill`); None means for as long as it takes.
    """

    output: int
    deadline: Deadline
    time_s: float
    patience_s: float | None = None


async def output_of(
    command: list[str], name: str, limits: Limits, on_progress: Callable[[int, int], None]
) -> bytes:
    """The standard output of `command`; it calls `on_progress` at its start and with each report.

    Raises RunFailed if the command reaches a limit, or ends with another status than 0. Cancelling
    ends the command.
    """
    # We do not use asyncio's subprocess: its wait() also waits until all pipes are closed, so a
    # process that left the group would block a cancelled run. We await nothing between the start
    # and the `try`, so that no cancel can happen there.
    try:
        process = paths.start(
            command,
            paths.HERE,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except PermissionError as error:
        raise RunFailed(f"{paths.no_programs(paths.cache())}. {CACHE_ELSEWHERE}") from error
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


# The time of a run, without the pauses in which it was stopped.
#
# Ctrl-Z stops us, and whoever pauses a container or a virtual machine stops us and the C. No limit
# in seconds counts such a pause. We notice it by a tick of our own: it is due several times a
# second, and it comes seconds late. A machine that is suspended stops `time.monotonic` too.

#: So often, in seconds, a clock is looked at. More often would disturb what is timed.
TICK_S = 0.25
#: After so many seconds without a look, the run was stopped. Other load delays a tick by less.
STOPPED_S = 1.0


class RunClock:
    """The seconds of a run without its pauses; `now` must be called at every tick."""

    def __init__(self, read: Callable[[], float] = time.monotonic) -> None:
        """`read` gives seconds of any clock that never goes back."""
        self._read = read
        self._last = read()
        self._seconds = 0.0

    def now(self) -> float:
        """The seconds since the beginning of the run, without its pauses."""
        at = self._read()
        passed, self._last = at - self._last, at
        if passed < STOPPED_S:
            self._seconds += passed
        return self._seconds


@dataclass(frozen=True)
class Deadline:
    """When a run must be over: at `at_s` seconds of its clock."""

    clock: RunClock
    at_s: float

    def left_s(self) -> float:
        """The seconds until then; 0 or less if it is over."""
        return self.at_s - self.clock.now()


@contextlib.asynccontextmanager
async def ticking() -> AsyncIterator[RunClock]:
    """A clock of a run that begins now, and the task that looks at it."""
    clock = RunClock()

    async def look() -> None:
        while True:
            clock.now()
            await asyncio.sleep(TICK_S)

    looking = asyncio.create_task(look())
    try:
        yield clock
    finally:
        looking.cancel()
        await asyncio.wait([looking])


# Spread the stacks of a run's processes evenly: over a page, and over a cache line.
#
# The place of the stack can change the cost of a program (Mytkowicz et al., "Producing wrong data
# without doing anything obviously wrong!", ASPLOS 2009). The OS chooses a random place for each
# process, but ten such places may lie close together. So the run chooses them
# (kernels_c/stack_place.h).
#
# A cost can depend on the place in the page or on the place in the cache line. On one machine, a
# call with five arguments at -O0 took 3.5 cycles at the places 32, 96, 160 and so on, and 4.0 at
# all others. Places that differ by multiples of 256 bytes would all be of one kind, and the next
# run's places might be of the other.

#: Bytes of a page, and the distance in bytes between possible places of a stack.
PAGE = 4096
GRAIN = 16
_SLOTS = PAGE // GRAIN
#: From one process to the next, in slots. It is odd, so the places also go through all slots of
#: each smaller power of two. For 2 to 40 processes, and in 64 bytes to 4 KB, the largest gap is at
#: most 2.5 times that of evenly spaced places; no odd number does better.
_STRIDE = 39


def random_stack_place() -> int:
    """A random place for a run's first process, which its recording states as `stack.place`."""
    return random.SystemRandom().randrange(_SLOTS) * GRAIN


def place_of(process: int, start: int) -> int:
    """The place of process number `process`, in bytes modulo 4096, in a run that began at `start`.

    These are multiples of a constant modulo the page (a Kronecker sequence). So the places are
    spread evenly for any number of processes, and 256 of them are distinct.
    """
    return (start + process * _STRIDE * GRAIN) % PAGE


# Let the processes of a run begin on the CPUs in turn.
#
# A cost can depend on the CPU, also among equal cores: the OS kernel keeps data of its own for
# each. On one machine with two CPUs, four of six system calls took 1.5 to 3.2 % longer on one of
# them. The other two differed by less than 1 % (`labs measure system_call --unit cycles`, with
# `--cpu 0` and `--cpu 1`). If no CPU is asked for, the OS tends to keep the processes of a run on
# one CPU, and those of the next run on another. Then two runs differ by more than the spread within
# either shows. So the run chooses where its processes begin, and the OS may move them from there.
#
# Four processes in a row go through the places of a stack in a cache line (`place_of`). If the
# number of CPUs is even, the next four begin one CPU further on. Otherwise a place would belong to
# one CPU, and nobody could say which of the two a cost depends on.

_IN_A_CACHE_LINE = 4


def random_first_cpu() -> int:
    """A random number for a run: which CPU its first process begins on."""
    return random.SystemRandom().randrange(1 << 16)


def cpu_of(plan: Plan, process: int, start: int) -> int | None:
    """The CPU on which process number `process` begins, in a run that began with `start`.

    None if the OS shall choose: the plan names a CPU, there is one only, no task can be bound to
    one, or the cores are of several kinds. A large and a small core have no cost in common.
    """
    allowed = surroundings.allowed_cpus()
    if (
        plan.cpu is not None
        or allowed is None
        or len(allowed) < 2
        or not description.cores_of_one_kind()
    ):
        return None
    further = process // _IN_A_CACHE_LINE if len(allowed) % 2 == 0 else 0
    return sorted(allowed)[(start + process + further) % len(allowed)]


# For how long a C kernel of a student's own has shown no progress, and the likely reason.
#
# Only time in which the C could have gone on counts: time that it computed or slept. While it
# waits for a CPU that other programs use, or while something has stopped it, the machine keeps it
# waiting.
#
# The usual mistakes differ in what they use. An endless loop uses a CPU all the time, and so does a
# loop whose counter a system call has overwritten. A call that waits uses none: for another task,
# or for a byte.

_ENDLESS_LOOP = "a loop that never ends, or assembly that changes a register without naming it"
_ENDLESS_WAIT = (
    "a call that waits for what never comes: a byte that nobody writes, or a task that waits too "
    "or has ended"
)

#: The states of a task (proc(5)) that uses a CPU or waits for one, and of one that is stopped. One
#: that sleeps beyond the reach of signals (D) may be the parent of a `vfork`: it waits by itself.
_READY = frozenset((b"R", b"T", b"t"))


class Reading(NamedTuple):
    """What the processes of a group are doing: the processor time in seconds that they have used
    until now, and whether a task of theirs uses or needs a CPU, or is stopped."""

    cpu_s: float
    ready: bool


class Standstill:
    """For how long the process group `group` has shown no progress.

    `own_s` are the seconds in which it could have gone on, and `cpu_s` the seconds of processor
    time that it used in them.
    """

    def __init__(self, group: int, read: Callable[[int], Reading] | None = None) -> None:
        self._group, self._read = group, read or reading
        self.progressed()

    def progressed(self) -> None:
        """Begin anew: it has shown progress."""
        self.own_s = self.cpu_s = 0.0
        self._quiet = False
        self._before: tuple[float, Reading] | None = None

    def look(self, now: float) -> None:
        """Count the time since the last look; `now` is in seconds of the run.

        Who shows progress between any two looks is not looked at: that would disturb the samples.
        """
        if not self._quiet:
            self._quiet = True
            return
        seen = self._read(self._group)
        if self._before is not None:
            at, before = self._before
            used = min(max(seen.cpu_s - before.cpu_s, 0.0), now - at)
            self.own_s += used if seen.ready else now - at
            self.cpu_s += used
        self._before = now, seen

    @property
    def cpu_share(self) -> float:
        """The share of a CPU that it used in its own time."""
        return self.cpu_s / self.own_s if self.own_s > 0 else 0.0


def likely_cause(cpu_share: float) -> str:
    """The likely mistake in C that took no sample, and used this share of a CPU meanwhile."""
    if cpu_share < WAITS:
        return f"It used no processor time, so it waits: look for {_ENDLESS_WAIT}"
    if cpu_share > COMPUTES:
        extra = " (syscall changes rcx and r11)" if os.uname().machine == "x86_64" else ""
        return f"It computed all the time: look for {_ENDLESS_LOOP}{extra}"
    return f"Look for {_ENDLESS_LOOP}; or for {_ENDLESS_WAIT}"


def reading(group: int) -> Reading:
    """What the living processes of the group are doing. Where the OS does not tell the states of
    tasks (macOS), none is ready."""
    used, ready = 0.0, False
    for process in psutil.pids():
        with contextlib.suppress(psutil.Error, OSError):
            if os.getpgid(process) == group:
                # Of children that have ended, their parent has the time.
                times = psutil.Process(process).cpu_times()
                used += times.user + times.system + times.children_user + times.children_system
                ready = ready or _is_ready(process)
    return Reading(used, ready)


def _is_ready(process: int) -> bool:
    """Whether a task of the process uses or needs a CPU, or is stopped."""
    for stat in Path(f"/proc/{process}/task").glob("*/stat"):
        with contextlib.suppress(OSError, IndexError):
            # The name before the state may hold any byte, also blanks and brackets.
            if stat.read_bytes().rpartition(b")")[2].split()[0] in _READY:
                return True
    return False
