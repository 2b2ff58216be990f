"""Run a C kernel in fresh processes and gather what they print into one recording.

A plan goes in, a recording comes out, and no widget is needed. `measure` is asynchronous, reports
its progress, and can be cancelled: the whole process group ends. `measure_now` does the same and
waits. `measure_in_turns` carries out several plans whose processes take turns.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import secrets
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, wait
from dataclasses import dataclass, replace

import numpy as np

from labs import limits, paths
from labs.c_kernels import toolchain
from labs.machine import surroundings
from labs.recording import run_conditions
from labs.recording.counts import EVENTS, SCOPE, TRIAL_KEY, absent_key, as_text, count_key
from labs.recording.file import BadRecording, Integers, Recording
from labs.run import c_process

# Who measures needs these two.
from labs.run.plan import BadPlan as BadPlan
from labs.run.plan import Plan as Plan

#: Called with the recordings of a run that is cancelled, if every plan has a process that finished.
Kept = Callable[[tuple[Recording, ...]], None]

#: So often, in seconds, one who waits for a run is called. More often would disturb what is timed.
MEANWHILE_S = 0.4


async def measure(
    plan: Plan,
    progress: ProgressCallback | None = None,
    enough: Enough | None = None,
    kept: Kept | None = None,
) -> Recording:
    """Carry out `plan`; cancelling the task ends every process of the run.

    `progress` is called now and then, from the event loop. Raises BadPlan, RunFailed, and what
    building raises (toolchain.NoCompiler, toolchain.CompileError). For `enough` and `kept` see
    `measure_in_turns`.
    """
    return (await measure_in_turns((plan,), progress, enough, kept))[0]


async def measure_in_turns(
    plans: Sequence[Plan],
    progress: ProgressCallback | None = None,
    enough: Enough | None = None,
    kept: Kept | None = None,
) -> tuple[Recording, ...]:
    """Carry out several plans at once, one recording each; as `measure`.

    Their processes take turns, one of each plan in a round, so that what the machine does meets
    all alike: for figures that are to be compared. Chance says who is first in a round: then equal
    programs differ by chance alone, whatever rhythm the machine has (Fisher, "The Design of
    Experiments", 1935). They may take the sum of their time limits.

    An adaptive run needs `enough`, which is called in another thread. While it answers None, the
    run adds processes, one of each plan in turn, for at most the sum of the plans' `longer_s`. The
    recordings state why the run stopped, if it was adaptive or has processes that were not planned.

    At the time limit, or where C of a student's own takes no sample, the run keeps the processes
    that have finished, if every plan has one. Its recordings state that it was cut short. A run
    that is cancelled calls `kept` with such recordings, and ends as every cancelled task does.
    No limit counts time in which the run was stopped (labs.run.c_process).
    """
    for plan in plans:
        plan.check()
        if plan.within is not None and enough is None:
            raise BadPlan(
                "within: this call has no function that decides when the interval is narrow enough"
            )
    binaries = [await asyncio.to_thread(c_process.build, plan) for plan in plans]
    async with c_process.ticking() as clock:
        deadline = c_process.Deadline(clock, sum(plan.time_limit_s for plan in plans))
        runs = Runs(plans, binaries, deadline, progress)
        before = surroundings.cpu_times()
        try:
            await _carry_out(runs, enough)
            load = surroundings.load_conditions(before, surroundings.cpu_times())
            await runs.count()
            await runs.make_trials()
        except asyncio.CancelledError:
            if kept is not None and runs.keep_what_is_whole(run_conditions.CANCELLED, clock.now()):
                load = surroundings.load_conditions(before, surroundings.cpu_times())
                kept(runs.recordings(load))
            raise
        return runs.recordings(load)


async def _carry_out(runs: Runs, enough: Enough | None) -> None:
    """Carry out the planned processes, and those that are added to them."""
    plans, clock = runs.plans, runs.deadline.clock
    turns = turns_of([plan.shares() for plan in plans])
    runs.expect([(which, share) for which, _, share in turns])
    begin = clock.now()
    try:
        for which, when, share in turns:
            await asyncio.sleep(max(begin + plans[which].spread_s * when - clock.now(), 0))
            await runs.one(which, share)
    except c_process.TimeLimitReached:
        if not runs.keep_what_is_whole(run_conditions.TIME_LIMIT, runs.deadline.at_s):
            raise
        return
    except c_process.TookNoSample as error:
        if not runs.keep_what_is_whole(run_conditions.PATIENCE, error.patience_s, error.cpu_share):
            raise
        return
    if enough is None:
        return
    planned, why = runs.rounds, run_conditions.CANCELLED
    try:
        why = await go_on(runs, enough)
    finally:
        if runs.rounds > planned or any(plan.within is not None for plan in plans):
            runs.stopped = why


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
    meanwhile: Callable[[], object] = lambda: None,
    kept: Kept | None = None,
) -> tuple[Recording, ...]:
    """As `measure_now`, for several plans whose processes take turns.

    `progress` is called in another thread. `meanwhile` is called in this one, now and then. At an
    interrupt, `kept` is called before it is raised, as `measure_in_turns` calls it.
    """
    # A future, and no `join` of the thread: Python 3.11 takes a thread for ended whose `join` was
    # interrupted.
    outcome: Future[tuple[Recording, ...]] = Future()
    loop = asyncio.new_event_loop()
    task = loop.create_task(measure_in_turns(plans, progress, enough, kept))

    def work() -> None:
        asyncio.set_event_loop(loop)
        try:
            with contextlib.closing(loop):
                measured = loop.run_until_complete(task)
        except BaseException as error:
            outcome.set_exception(error)
        else:
            outcome.set_result(measured)

    # A thread with a loop of its own: a Jupyter kernel runs cells inside a loop.
    threading.Thread(target=work, name="measure", daemon=True).start()
    try:
        # The OS may hand a signal to another thread of ours, and then it does not wake this one.
        while not outcome.done():
            wait((outcome,), MEANWHILE_S)
            meanwhile()
    except BaseException:
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(task.cancel)
        wait((outcome,))
        if kept is not None and outcome.exception() is None:
            kept(outcome.result())  # the run ended just before it was cancelled
        raise
    return outcome.result()


# Carry out the processes of several plans one after the other, and report the progress.

ProgressCallback = Callable[["Progress"], None]


@dataclass(frozen=True)
class Progress:
    """How far a run has come: samples taken so far and in total, over all processes."""

    done: int
    total: int


def turns_of(shares: Sequence[Sequence[int]]) -> list[tuple[int, float, int]]:
    """Who takes a turn, in this order: the number of the plan, when it is due at the earliest (as a
    share of the time that the plan is spread over), and its samples."""
    rounds = [
        [(which, n / len(mine), mine[n]) for which, mine in enumerate(shares) if n < len(mine)]
        for n in range(max(map(len, shares), default=0))
    ]
    return [turn for row in rounds for turn in random.sample(row, len(row))]


class Runs:
    """The processes of several plans, carried out one after the other.

    `seconds` are those that processes have taken. `stopped` says why the run adds no more processes
    to those planned; None if it may not add any.
    """

    def __init__(
        self,
        plans: Sequence[Plan],
        binaries: Sequence[toolchain.Binary],
        deadline: c_process.Deadline,
        progress: ProgressCallback | None,
    ) -> None:
        self.plans, self.binaries, self.deadline = plans, binaries, deadline
        self.seconds = 0.0
        self.stopped: str | None = None
        self._cut: tuple[str, float, float | None] | None = None
        self._printed: list[list[c_process.ProcessRun]] = [[] for _ in plans]
        self._counted: dict[int, dict[str, str]] = {}
        self._tried: dict[int, dict[str, str]] = {}
        self._start = c_process.random_stack_place()
        self._first_cpu = c_process.random_first_cpu()
        self._seeds: list[int] = []
        #: What the recordings of one call have in common, and no others.
        self._turns = secrets.token_hex(8)
        self._progress = progress or (lambda at: None)
        self._done = self._total = 0

    def _seed(self, number: int) -> int:
        """The seed of process `number` of every plan: then all of them draw the same inputs, and
        their chance cancels in a comparison process by process."""
        while len(self._seeds) <= number:
            self._seeds.append(random.SystemRandom().randint(1, 2**31 - 1))
        return self._seeds[number]

    @property
    def rounds(self) -> int:
        """How many processes the plan has that has most."""
        return max(map(len, self._printed), default=0)

    def keep_what_is_whole(self, by: str, after_s: float, cpu_share: float | None = None) -> bool:
        """Call the run cut short, for a reason of labs.recording.run_conditions.

        Does nothing and returns False if a plan has no process that is whole. The process that was
        ended is no evidence: it may have been the slowest one.
        """
        if not all(self._printed):
            return False
        self._cut = self._cut or (by, after_s, cpu_share)
        return True

    def expect(self, turns: Sequence[tuple[int, int]]) -> None:
        """Count these processes into the total: each a number of a plan, and its samples."""
        self._total += sum(_sample_count(self.plans[which], share) for which, share in turns)

    async def one(self, which: int, share: int) -> None:
        """Carry out one process of the plan `which`, with so many samples of each variant."""
        plan, printed = self.plans[which], self._printed[which]
        mine = _sample_count(plan, share)
        report_progress = _reporter(self._progress, self._done, mine, self._total)
        place = c_process.Place(
            c_process.place_of(len(printed), self._start),
            c_process.cpu_of(plan, len(printed), self._first_cpu),
            self._seed(len(printed)) if len(self.plans) > 1 else 0,
        )
        clock = self.deadline.clock
        begin = clock.now()
        binary, deadline = self.binaries[which], self.deadline
        output = c_process.one_process(binary, plan, share, place, deadline, report_progress)
        printed.append(await output)
        self.seconds += clock.now() - begin
        self._done += mine
        self._progress(Progress(self._done, self._total))

    async def count(self) -> None:
        """Count events for the plans that ask for it; the recordings state them."""
        for which, plan in enumerate(self.plans):
            if plan.perf:
                self._counted[which] = await counted(plan, self.deadline.clock)

    async def make_trials(self) -> None:
        """Try the operations of C that is not the kit's; the recordings state what was seen."""
        for which, plan in enumerate(self.plans):
            if plan.of_student and self._cut is None:
                self._tried[which] = await tried(plan, self.deadline.clock)

    def recordings(self, meanwhile: Mapping[str, str]) -> tuple[Recording, ...]:
        """The recordings of what has been carried out, with the conditions `meanwhile`."""
        recordings = []
        for which, (plan, binary, printed) in enumerate(
            zip(self.plans, self.binaries, self._printed, strict=True)
        ):
            others = [each.command_line() for n, each in enumerate(self.plans) if n != which]
            turns = {"in_turns_with": "; ".join(others), "turns": self._turns} if others else {}
            stopping = c_process.of_stopping(plan, self.stopped) if self.stopped is not None else {}
            if self._cut is not None:
                by, after_s, cpu_share = self._cut
                stopping |= run_conditions.cut_short_conditions(
                    after_s, len(plan.shares()), by, cpu_share
                )
            uncounted = COUNTED_NOTHING if plan.perf and self._cut is not None else {}
            seen = {**self._counted.get(which, uncounted), **self._tried.get(which, {})}
            known = {**turns, **meanwhile, **stopping, **seen}
            recordings.append(c_process.recording_of(plan, binary, printed, known))
        return tuple(recordings)


def _sample_count(plan: Plan, share: int) -> int:
    """How many samples a process takes, if it takes `share` steady samples of each variant."""
    return (share + plan.warmup) * max(len(plan.variants), 1)


def _reporter(
    progress: ProgressCallback, before: int, mine: int, total: int
) -> Callable[[int, int], None]:
    """A callback for the progress of a process; `mine` of the `total` samples are its own.

    The process also counts the samples of baselines, which are not part of the total. Therefore the
    callback uses only the share of its samples that the process has taken.
    """

    def report_progress(done: int, of: int) -> None:
        progress(Progress(before + mine * min(done, of) // max(of, 1), total))

    return report_progress


# Add processes to a run until it is enough: its interval is narrow, time is up, or it is full.

#: An adaptive run looks at its interval again when it has a tenth more processes, not after each
#: one: the fewer looks there are, the less an interval is preferred that is narrow by chance. Any
#: other run only counts what it has, when it has half as many more.
ASKED_AGAIN_AFTER, COUNTED_AGAIN_AFTER = 10, 2

#: Why the run may stop, from its recordings so far, and from how many processes each of them can
#: have in the end; None where it is to go on.
Enough = Callable[[tuple[Recording, ...], int], str | None]


async def go_on(runs: Runs, enough: Enough) -> str:
    """Add processes until it is enough, time is up, or a recording is full. Returns which."""
    clock = runs.deadline.clock
    at_most = clock.now() + sum(plan.longer_s for plan in runs.plans)
    adaptive = any(plan.within is not None for plan in runs.plans)
    part = ASKED_AGAIN_AFTER if adaptive else COUNTED_AGAIN_AFTER

    def in_time() -> int:
        """How many processes more of each plan will probably end in time."""
        each = runs.seconds / runs.rounds
        left = min(at_most, runs.deadline.at_s - 2 * each) - clock.now()
        return max(int(left / max(each, 1e-6)), 0)

    while True:
        recordings = await asyncio.to_thread(runs.recordings, {})
        most = min(runs.rounds + in_time(), max(limits.MOST_PROCESSES, runs.rounds))
        why = await asyncio.to_thread(enough, recordings, most)
        if why is not None:
            return why
        more = min(max(runs.rounds // part, 1), _room(recordings))
        if more <= 0:
            return run_conditions.FULL
        for added in range(more):
            if in_time() == 0:
                if added == 0:
                    return run_conditions.TIME_IS_UP
                break
            turns = [(which, plan.shares()[0]) for which, plan in enumerate(runs.plans)]
            runs.expect(turns)
            for which, share in random.sample(turns, len(turns)):
                try:
                    await runs.one(which, share)
                except c_process.TimeLimitReached:  # all processes that were planned have finished
                    return run_conditions.TIME_IS_UP
                except c_process.TookNoSample as error:
                    runs.keep_what_is_whole(
                        run_conditions.PATIENCE, error.patience_s, error.cpu_share
                    )
                    return run_conditions.TOOK_NO_SAMPLE


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


# Count events of the processor and of the OS.
#
# The timed processes stay as they are: nothing is counted while something is timed. Each further
# process counts one event in samples of the same form (kernels_c/events.h), and what it counts goes
# into the conditions of the recording.

#: It builds a C kernel whose readings read a count.
_FLAG = "-DTICKLAB_COUNT_EVENTS"
#: What a run states that was cancelled before it counted.
COUNTED_NOTHING = {absent_key(event): "the run was cancelled" for event in EVENTS}
#: Each event is counted in so many processes, which show how much counts differ.
COUNTING_PROCESSES = 3
#: Steady samples of each variant in one of them, over all batch sizes.
COUNTING_SAMPLES = 160


async def counted(plan: Plan, clock: c_process.RunClock) -> dict[str, str]:
    """The conditions that state what was counted, and why an event was not. `clock` is the run's.

    A run that was timed is not lost because it cannot be counted: that is a reason like others.
    """
    binary = await asyncio.to_thread(c_process.build, replace(plan, flags=(*plan.flags, _FLAG)))
    conditions: dict[str, str] = {}
    for event in EVENTS:
        try:
            every = range(COUNTING_PROCESSES)
            runs = [await _untimed(plan, binary, COUNTING_SAMPLES, n, clock, event) for n in every]
        except (c_process.RunFailed, BadRecording) as error:
            conditions[absent_key(event)] = str(error).removeprefix(f"{event}: ")
            if isinstance(error, c_process.RunFailed) and error.hung:
                break  # the next one would hang too
            continue
        conditions[SCOPE] = runs[0].conditions.get("count.scope", "")
        lost = "no sample was counted: other programs had the counters, or it reads another clock"
        stated = {
            count_key(event, variant, number): as_text(cells)
            for number, run in enumerate(runs)
            for variant, cells in mean_counts(run).items()
        }
        conditions |= stated or {absent_key(event): lost}
    return conditions


async def _untimed(
    plan: Plan,
    binary: toolchain.Binary,
    samples: int,
    number: int,
    clock: c_process.RunClock,
    event: str = "",
) -> c_process.ProcessRun:
    """A process that counts `event`, or tries the operations. Raises RunFailed, BadRecording."""
    deadline = c_process.Deadline(clock, clock.now() + plan.time_limit_s)
    place = c_process.Place(c_process.place_of(number, 0))
    return await c_process.one_process(
        binary, plan, samples, place, deadline, lambda done, total: None, event
    )


def mean_counts(run: c_process.ProcessRun) -> Mapping[str, dict[int, float]]:
    """For each variant the mean count of a steady sample, by batch size.

    It is the mean of the middle half: an interrupt adds thousands of instructions to a sample, but
    an event that happens in every third sample only should be seen.
    """
    steady = run.table[run.table[:, 1] >= 0]
    found: dict[str, dict[int, float]] = {}
    for index, name in enumerate(run.variants):
        mine = steady[steady[:, 0] == index]
        found[name] = {
            int(batch): _middle_mean(mine[mine[:, 2] == batch, 3]) for batch in set(mine[:, 2])
        }
    return {name: cells for name, cells in found.items() if cells}


def _middle_mean(counts: Integers) -> float:
    """The mean of the counts without their lowest and their highest quarter."""
    ordered = np.sort(counts)
    quarter = len(ordered) // 4
    return float(ordered[quarter : len(ordered) - quarter].mean())


# Try operations in a process that times nothing (kernels_c/trials/trials.c).

#: It is ended after so many seconds. On a busy machine of two CPUs it took 2.
MOST_TRIAL_S = 10.0


async def tried(plan: Plan, clock: c_process.RunClock) -> dict[str, str]:
    """The conditions that state what was seen of the operations; none if they cannot be tried."""
    flags = (*plan.flags, "-DTICKLAB_TRIALS", str(paths.kernels_c() / "trials" / "trials.c"))
    few = replace(plan, flags=flags, warmup=0, time_limit_s=MOST_TRIAL_S)
    try:
        binary = await asyncio.to_thread(c_process.build, few)
        # The compiler has a limit of its own: on a busy machine it would use up this one.
        conditions = (await _untimed(few, binary, 1, 0, clock)).conditions
    except (c_process.RunFailed, BadRecording, toolchain.CompileError):
        return {}
    return {key: value for key, value in conditions.items() if TRIAL_KEY.fullmatch(key)}
