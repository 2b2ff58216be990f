"""Count events of the processor and of the OS in processes of their own, after the timed ones.

The timed processes stay as they are: nothing is counted while something is timed. Each further
process counts one event in samples of the same form (kernels_c/events.h), and what it counts goes
into the conditions of the recording.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from labs.c_kernels import toolchain
from labs.recording.counts import EVENTS, SCOPE, absent_key, as_text, count_key
from labs.recording.file import BadRecording
from labs.recording.rows import Integers
from labs.run import stack_places
from labs.run.c_process import RunFailed
from labs.run.one_process import Place, build, one_process
from labs.run.output import ProcessRun
from labs.run.plan import Plan
from labs.run.run_clock import Deadline, RunClock

#: It builds a C kernel whose readings read a count.
_FLAG = "-DTICKLAB_COUNT_EVENTS"
#: What a run states that was cancelled before it counted.
CANCELLED = {absent_key(event): "the run was cancelled" for event in EVENTS}
#: Each event is counted in so many processes, which show how much counts differ.
PROCESSES = 3
#: Steady samples of each variant in one of them, over all batch sizes.
SAMPLES = 160


async def counted(plan: Plan, clock: RunClock) -> dict[str, str]:
    """The conditions that state what was counted, and why an event was not. `clock` is the run's.

    A run that was timed is not lost because it cannot be counted: that is a reason like others.
    """
    binary = await asyncio.to_thread(build, replace(plan, flags=(*plan.flags, _FLAG)))
    conditions: dict[str, str] = {}
    for event in EVENTS:
        try:
            runs = [await _one(plan, binary, event, n, clock) for n in range(PROCESSES)]
        except (RunFailed, BadRecording) as error:
            conditions[absent_key(event)] = str(error).removeprefix(f"{event}: ")
            if isinstance(error, RunFailed) and error.hung:
                break  # the next one would hang too
            continue
        conditions[SCOPE] = runs[0].conditions.get("count.scope", "")
        lost = "no sample was counted: other programs had the counters, or it reads another clock"
        stated = {
            count_key(event, variant, number): as_text(cells)
            for number, run in enumerate(runs)
            for variant, cells in means(run).items()
        }
        conditions |= stated or {absent_key(event): lost}
    return conditions


async def _one(
    plan: Plan, binary: toolchain.Binary, event: str, number: int, clock: RunClock
) -> ProcessRun:
    """One process that counts `event`. Raises RunFailed and BadRecording."""
    deadline = Deadline(clock, clock.now() + plan.time_limit_s)
    place = Place(stack_places.place_of(number, 0))
    return await one_process(
        binary, plan, SAMPLES, place, deadline, lambda done, total: None, event
    )


def means(run: ProcessRun) -> Mapping[str, dict[int, float]]:
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
