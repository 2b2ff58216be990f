"""The core during a run: the length of its cycle in each process, and what it did in one at best.

The host of a virtual machine may change the clock speed at any time. Therefore each process
measures the speed while it takes its samples, and its samples can be converted to core cycles.
"""

from __future__ import annotations

import itertools
import statistics
from dataclasses import dataclass, replace

import numpy as np

from labs.analysis import thresholds as t
from labs.recording import run_conditions
from labs.recording.file import Recording, Samples, memoized
from labs.units import Clock


def cycle_lengths(recording: Recording) -> list[float]:
    """Mean lengths of a core cycle, in ticks of the counter: one for each process, or one for all.

    The list is empty if the length is not known for every process.
    """
    stated = recording.numbers("core_cycle_ticks")
    shortest = (recording.number("counter.frequency_hz") or 0.0) / t.FASTEST_CORE
    known = [length for length in stated if length >= shortest]
    if not known or min(stated) <= 0 or len(stated) not in (1, len(recording.processes)):
        return []
    return [each if each in known else statistics.median(known) for each in stated]


def speeds_ghz(recording: Recording) -> tuple[float, float] | None:
    """The lowest and the highest clock speed in the run, in GHz; None if they are not known."""
    known, frequency = cycle_lengths(recording), recording.number("counter.frequency_hz")
    if not known or not frequency:
        return None
    return frequency / max(known) / 1e9, frequency / min(known) / 1e9


def mean_speed_ghz(recording: Recording) -> float | None:
    """The clock speed at which the run's mean cycle is a cycle, in GHz; None if it is not known."""
    known, frequency = cycle_lengths(recording), recording.number("counter.frequency_hz")
    return frequency / statistics.fmean(known) / 1e9 if known and frequency else None


def shortest_cycle(recording: Recording, clock: Clock) -> float:
    """A core cycle at the highest clock speed of the run, in ticks of `clock`; 0 if not known.

    The samples may have been taken at another speed than that at which the cycle was measured, so a
    caller that looks for impossible values must assume the highest speed.
    """
    known, of_clock = cycle_lengths(recording), recording.number("core_cycle_ticks")
    if not (clock.core_cycle_ticks and known and of_clock):
        return 0.0
    return clock.core_cycle_ticks * min(known) / of_clock


def at_one_speed(samples: Samples, recording: Recording) -> Samples:
    """The samples as if a core cycle had always had the length that the run's clock gives it.

    This is for work that takes a fixed number of core cycles. Do not compute a time of the run from
    these samples. If the speed is not known, the samples are unchanged.
    """
    # Not the median of the lengths, which leave out disturbed ones: `Clock` divides by this one.
    of_clock = recording.number("core_cycle_ticks")
    known = np.array(cycle_lengths(recording))
    if len(known) < 2 or of_clock is None:
        return samples
    return replace(samples, ticks=samples.ticks * (of_clock / known[samples.process]))


#: The independent additions of a round (kernels_c/core_rounds.h).
ADDITIONS_IN_ROUND = 16_384


@dataclass(frozen=True)
class Core:
    """What the core did at its best in a run: additions and stores in a cycle (None: not counted).

    `always_shared` says that it never was a whole core, as far as the run can show. A round took
    `round_steps` steps of the counter.
    """

    additions: float
    stores: float | None
    always_shared: bool
    round_steps: float


@memoized
def core_of(recording: Recording) -> Core | None:
    """The core of a run at its best; None if the recording has no usable rounds.

    The best number is one that some rounds of this run reached. Nothing from outside the run
    decides, so a core that was shared from the first sample to the last shows only by its absolute
    width.
    """
    additions = _best(recording, run_conditions.ADDITIONS)
    cycle = recording.number("core_cycle_ticks") or 0.0
    if additions is None or not 0 < additions <= run_conditions.MOST_WIDTH:
        return None
    steps = (
        ADDITIONS_IN_ROUND * cycle / additions / max(recording.number("counter.step") or 1.0, 1.0)
    )
    narrow = additions < t.LEAST_ADDITIONS and "x86_64" in recording.conditions.get("os", "x86_64")
    return Core(additions, _best(recording, run_conditions.STORES), narrow, steps)


def _best(recording: Recording, counted: str) -> float | None:
    rounds = np.fromiter(
        itertools.chain(*run_conditions.core_rounds(recording, counted)), np.float64
    )
    return float(np.quantile(rounds, 1 - t.BEST_ROUNDS)) if len(rounds) else None
