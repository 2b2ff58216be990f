"""Run a C kernel in fresh processes and gather what they print into one recording.

Free of widgets: a plan goes in, a recording comes out. `measure` is asynchronous, tells its
progress, and can be cancelled: the whole process group ends. `measure_now` does the same and waits.
`measure_in_turns` carries out several plans whose processes take turns.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, wait

from labs.machine import surroundings
from labs.recording.cut_short import CANCELLED, PATIENCE, TIME_LIMIT
from labs.recording.file import Recording
from labs.run.adaptive import Enough, go_on
from labs.run.c_process import TimeLimitReached, TookNoSample
from labs.run.one_process import build
from labs.run.plan import BadPlan, Plan
from labs.run.run_clock import Deadline, ticking
from labs.run.turns import Progress, ProgressCallback, Runs, turns_of

__all__ = [
    "BadPlan",
    "Enough",
    "Kept",
    "Plan",
    "Progress",
    "ProgressCallback",
    "measure",
    "measure_in_turns",
    "measure_in_turns_now",
    "measure_now",
]

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

    Their processes take turns (A B, B A, A B, ...), so that what the machine does meets them alike:
    for figures that are to be compared. They may take the sum of their time limits.

    An adaptive run needs `enough`, which is called in another thread. While it answers None, the
    run adds processes, one of each plan in turn, for at most the sum of the plans' `longer_s`. The
    recordings state why the run stopped, if it was adaptive or has processes that were not planned.

    At the time limit, or where C of a student's own takes no sample, the run keeps the processes
    that have finished, if every plan has one. Its recordings state that it was cut short. A run
    that is cancelled calls `kept` with such recordings, and ends as every cancelled task does.
    No limit counts time in which the run was stopped (labs.run.run_clock).
    """
    for plan in plans:
        plan.check()
        if plan.within is not None and enough is None:
            raise BadPlan(
                "within: this call has no function that decides when the interval is narrow enough"
            )
    binaries = [await asyncio.to_thread(build, plan) for plan in plans]
    async with ticking() as clock:
        deadline = Deadline(clock, sum(plan.time_limit_s for plan in plans))
        runs = Runs(plans, binaries, deadline, progress)
        before = surroundings.cpu_times()
        try:
            await _carry_out(runs, enough)
            load = surroundings.load_conditions(before, surroundings.cpu_times())
            await runs.count()
        except asyncio.CancelledError:
            if kept is not None and runs.keep_what_is_whole(CANCELLED, clock.now()):
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
    except TimeLimitReached:
        if not runs.keep_what_is_whole(TIME_LIMIT, runs.deadline.at_s):
            raise
        return
    except TookNoSample as error:
        if not runs.keep_what_is_whole(PATIENCE, error.patience_s, error.cpu_share):
            raise
        return
    if enough is None:
        return
    planned, why = runs.rounds, CANCELLED
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
