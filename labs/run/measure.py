"""Run a C kernel in fresh processes and gather what they print into one recording.

Free of widgets: a plan goes in, a recording comes out. `measure` is asynchronous, tells its
progress, and can be cancelled: the whole process group ends. `measure_now` does the same and waits.
`measure_in_turns` carries out several plans whose processes take turns.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from labs.c_kernels import toolchain
from labs.common import limits
from labs.machine import surroundings
from labs.recording.file import Recording
from labs.run import stack_places
from labs.run.c_process import output_of
from labs.run.output import ProcessRun, parse_run
from labs.run.plan import (
    DEFAULT_TIME_LIMIT_S,
    DEFAULT_WARMUP,
    BadPlan,
    Plan,
)
from labs.run.provenance import of_stopping, recording_of

__all__ = [
    "DEFAULT_TIME_LIMIT_S",
    "DEFAULT_WARMUP",
    "BadPlan",
    "Enough",
    "Plan",
    "Progress",
    "ProgressCallback",
    "measure",
    "measure_in_turns",
    "measure_in_turns_now",
    "measure_now",
]

#: An adaptive run looks at its interval again when it has a tenth more processes, not after each
#: one: the fewer looks there are, the less an interval is preferred that is narrow by chance.
ASKED_AGAIN_AFTER = 10
TIME_IS_UP = "time is up"
FULL = "the recording is full"

ProgressCallback = Callable[["Progress"], None]
#: Why the run may stop, from its recordings so far; None where it is to go on.
Enough = Callable[[tuple[Recording, ...]], str | None]


@dataclass(frozen=True)
class Progress:
    """How far a run has come: intervals taken, of how many, over all processes."""

    done: int
    total: int


async def measure(
    plan: Plan, progress: ProgressCallback | None = None, enough: Enough | None = None
) -> Recording:
    """Carry out `plan`; cancelling the task ends every process of the run.

    `progress` is called now and then, from the event loop. Raises BadPlan, RunFailed, and what
    building raises (toolchain.NoCompiler, toolchain.CompileError). For `enough` see
    `measure_in_turns`.
    """
    return (await measure_in_turns((plan,), progress, enough))[0]


async def measure_in_turns(
    plans: Sequence[Plan],
    progress: ProgressCallback | None = None,
    enough: Enough | None = None,
) -> tuple[Recording, ...]:
    """Carry out several plans at once, one recording each; as `measure`.

    Their processes take turns (A B, B A, A B, ...), so that what the machine does meets them alike:
    for figures that are to be compared. They may take the sum of their time limits.

    An adaptive run needs `enough`, which is called in another thread. While it answers None, the
    run adds processes, one of each plan in turn, for at most the sum of the plans' `at_most_s`. The
    recordings state why the run stopped.
    """
    for plan in plans:
        plan.check()
        if plan.within is not None and enough is None:
            raise BadPlan("within: nobody says when the interval is narrow enough")
    binaries = [await asyncio.to_thread(build, plan) for plan in plans]
    turns = _turns([plan.shares() for plan in plans])
    loop = asyncio.get_running_loop()
    begin = loop.time()
    deadline = begin + sum(plan.time_limit_s for plan in plans)
    before = surroundings.cpu_times()
    runs = _Runs(plans, binaries, deadline, progress)
    runs.expect([(which, share) for which, _, share in turns])
    for which, when, share in turns:
        await asyncio.sleep(max(begin + plans[which].spread_s * when - loop.time(), 0))
        await runs.one(which, share)
    why = await _go_on(runs, enough) if enough is not None else None
    return runs.recordings(surroundings.during(before, surroundings.cpu_times()), why)


class _Runs:
    """The processes of several plans, carried out one after the other."""

    def __init__(
        self,
        plans: Sequence[Plan],
        binaries: Sequence[toolchain.Binary],
        deadline: float,
        progress: ProgressCallback | None,
    ) -> None:
        self.plans, self.binaries, self.deadline = plans, binaries, deadline
        self.seconds = 0.0  # that processes have taken
        self._printed: list[list[ProcessRun]] = [[] for _ in plans]
        self._start = stack_places.random_start()
        self._progress = progress
        self._done = self._total = 0

    @property
    def rounds(self) -> int:
        """How many processes the plan has that has most."""
        return max(map(len, self._printed), default=0)

    def expect(self, turns: Sequence[tuple[int, int]]) -> None:
        """Count these processes into the total: each a number of a plan, and its samples."""
        self._total += sum(_intervals(self.plans[which], share) for which, share in turns)

    async def one(self, which: int, share: int) -> None:
        """Carry out one process of the plan `which`, with so many samples of each variant."""
        plan, printed = self.plans[which], self._printed[which]
        mine = _intervals(plan, share)
        told = _telling(self._progress, self._done, mine, self._total)
        place = stack_places.place_of(len(printed), self._start)
        loop = asyncio.get_running_loop()
        begin = loop.time()
        output = _one_process(self.binaries[which], plan, share, place, self.deadline, told)
        printed.append(await output)
        self.seconds += loop.time() - begin
        self._done += mine
        if self._progress is not None:
            self._progress(Progress(self._done, self._total))

    def so_far(self) -> tuple[Recording, ...]:
        """The recordings of what has been carried out until now; nothing is remembered of them."""
        return self._recordings({}, None, remember=False)

    def recordings(self, meanwhile: Mapping[str, str], why: str | None) -> tuple[Recording, ...]:
        """The recordings of the whole run; `why` an adaptive run stopped."""
        return self._recordings(meanwhile, why, remember=True)

    def _recordings(
        self, meanwhile: Mapping[str, str], why: str | None, *, remember: bool
    ) -> tuple[Recording, ...]:
        recordings = []
        for plan, binary, printed in zip(self.plans, self.binaries, self._printed, strict=True):
            others = [each.command_line() for each in self.plans if each is not plan]
            beside = {"in_turns_with": "; ".join(others)} if others else {}
            stopping = {} if why is None else of_stopping(plan, why)
            known = {**beside, **meanwhile, **stopping}
            recordings.append(recording_of(plan, binary, printed, known, remember=remember))
        return tuple(recordings)


async def _go_on(runs: _Runs, enough: Enough) -> str:
    """Add processes until it is enough, time is up, or a recording is full. Returns which."""
    loop = asyncio.get_running_loop()
    at_most = loop.time() + sum(plan.at_most_s for plan in runs.plans)
    while True:
        recordings = await asyncio.to_thread(runs.so_far)
        why = await asyncio.to_thread(enough, recordings)
        if why is not None:
            return why
        more = min(max(runs.rounds // ASKED_AGAIN_AFTER, 1), _room(recordings))
        if more <= 0:
            return FULL
        for added in range(more):
            # No process is begun that would probably not end in time.
            each = runs.seconds / runs.rounds
            if loop.time() + each > min(at_most, runs.deadline - 2 * each):
                if added == 0:
                    return TIME_IS_UP
                break
            turns = [(which, plan.shares()[0]) for which, plan in enumerate(runs.plans)]
            turns = turns if runs.rounds % 2 == 0 else turns[::-1]
            runs.expect(turns)
            for which, share in turns:
                await runs.one(which, share)


def _room(recordings: Sequence[Recording]) -> int:
    """How many more processes each of the recordings can hold."""
    rooms = []
    for recording in recordings:
        count = len(recording.processes)
        rows = -(-len(recording) // count)
        size = len(recording.as_bytes())
        # The last process's lines may be longer, and conditions are added at the end.
        each = int(1.1 * size / count) + 1
        rooms.append(limits.MOST_PROCESSES - count)
        rooms.append((limits.MOST_RECORDING_ROWS - len(recording)) // (rows + 1))
        rooms.append((limits.MOST_RECORDING_BYTES - size - each) // each)
    return min(rooms)


def _turns(shares: Sequence[Sequence[int]]) -> list[tuple[int, float, int]]:
    """Who takes a turn, in this order: the number of the plan, when it is due at the earliest (as a
    share of the time that the plan is spread over), and its samples."""
    rounds = [
        [(which, n / len(mine), mine[n]) for which, mine in enumerate(shares) if n < len(mine)]
        for n in range(max(map(len, shares), default=0))
    ]
    return [turn for n, row in enumerate(rounds) for turn in (row if n % 2 == 0 else row[::-1])]


def _intervals(plan: Plan, share: int) -> int:
    """How many intervals a process takes that has so many samples of each variant."""
    return (share + plan.warmup) * max(len(plan.variants), 1)


def measure_now(
    plan: Plan, progress: ProgressCallback | None = None, enough: Enough | None = None
) -> Recording:
    """Carry out `plan` and wait for it; usable in a notebook cell, where a loop already runs.

    An interrupt (Ctrl-C, the stop button) ends the run's processes before it is raised.
    """
    return measure_in_turns_now((plan,), progress, enough)[0]


def measure_in_turns_now(
    plans: Sequence[Plan],
    progress: ProgressCallback | None = None,
    enough: Enough | None = None,
) -> tuple[Recording, ...]:
    """As `measure_now`, for several plans whose processes take turns."""
    outcome: list[tuple[Recording, ...] | BaseException] = []
    loop = asyncio.new_event_loop()
    task = loop.create_task(measure_in_turns(plans, progress, enough))

    def work() -> None:
        asyncio.set_event_loop(loop)
        try:
            outcome.append(loop.run_until_complete(task))
        except BaseException as error:
            outcome.append(error)
        finally:
            loop.close()

    # A thread with a loop of its own: a Jupyter kernel runs cells inside a loop.
    thread = threading.Thread(target=work, name="measure", daemon=True)
    thread.start()
    try:
        thread.join()
    except BaseException:
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(task.cancel)
        thread.join()
        raise
    result = outcome[0]
    if isinstance(result, BaseException):
        raise result
    return result


def _telling(
    progress: ProgressCallback | None, before: int, mine: int, total: int
) -> Callable[[int, int], None]:
    """What hears a process say how far it has come; of all intervals, `mine` are its own.

    It counts the intervals of the baselines too, which were not asked for: so its share counts.
    """

    def told(done: int, of: int) -> None:
        if progress is not None:
            progress(Progress(before + mine * min(done, of) // max(of, 1), total))

    return told


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


async def _one_process(
    binary: toolchain.Binary,
    plan: Plan,
    samples: int,
    place: int,
    deadline: float,
    told: Callable[[int, int], None],
) -> ProcessRun:
    """Run `binary` once for so many samples per variant, its stack at `place`, and read what it
    printed."""
    command = [str(binary.path), "--samples", str(samples)]
    if plan.warmup != DEFAULT_WARMUP:
        # Unasked the C kernel does what is right for it: none where the cold sample is the point.
        command += ["--warmup", str(plan.warmup)]
    command += ["--stack-place", str(place), "--end-with", str(os.getpid())]
    if plan.variants:
        command += ["--variant", ",".join(plan.variants)]
    if plan.batches:
        command += ["--batch", ",".join(map(str, plan.batches))]
    if plan.cpu is not None:
        command += ["--cpu", str(plan.cpu)]
    if plan.peer_cpu is not None:
        command += ["--peer-cpu", str(plan.peer_cpu)]
    command += surroundings.place_options()
    rows = (samples + plan.warmup) * max(len(plan.variants), 1)
    # A row has at most 80 bytes, and every variant may bring a baseline along.
    most = 2 * 80 * rows + 65_536
    output = await output_of(command, plan.kernel_name, most, deadline, plan.time_limit_s, told)
    return parse_run(output, where=plan.kernel_name)
