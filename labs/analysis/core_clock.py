"""The core's clock during a run: how long a core cycle was in each process, in ticks.

The host of a virtual machine may change the clock speed at any time. Therefore each process
measures the speed while it takes its samples, and its samples can be converted to core cycles.
"""

from __future__ import annotations

import statistics
from dataclasses import replace

import numpy as np

from labs.common.units import Clock
from labs.recording.file import Recording, Samples
from labs.recording.memo import memoized

#: Limits for the length of a core cycle in ticks, for every known clock and every known core.
SHORTEST, LONGEST = 1e-9, 1e9
#: The highest clock speed of any core, in Hz.
FASTEST_CORE = 6.5e9
#: Two processes must measure the same speed within this share. A speed that only one measured is
#: the result of a disturbance.
ALIKE = 0.03


def cycle_lengths(recording: Recording) -> list[float]:
    """The length of a core cycle in ticks of the counter: one for each process, or one for all.

    The list is empty if the length is not known for every process. A length that no core has, or
    that differs from all others of the run, comes from a disturbed calibration. The median of the
    others replaces it.
    """
    return list(_cycle_lengths(recording))


@memoized
def _cycle_lengths(recording: Recording) -> tuple[float, ...]:
    try:
        found = [float(text) for text in recording.condition("core_cycle_ticks")]
    except ValueError:
        return ()
    if len(found) not in (1, len(recording.processes)):
        return ()
    if not all(SHORTEST <= length <= LONGEST for length in found):
        return ()
    shortest = (recording.number("counter.frequency_hz") or 0.0) / FASTEST_CORE
    known = [x for x in found if x >= shortest and _seen_twice(x, found)]
    middle = statistics.median(known or found)
    return tuple(x if x in known else middle for x in found)


def _seen_twice(length: float, every: list[float]) -> bool:
    return len(every) < 3 or sum(abs(x / length - 1) <= ALIKE for x in every) > 1


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
    middle, known = clock.core_cycle_ticks, cycle_lengths(recording)
    return middle * min(known) / statistics.median(known) if middle and known else 0.0


def at_one_speed(samples: Samples, recording: Recording) -> Samples:
    """The samples as if the core had run at the run's median speed in all processes.

    This is for work that takes a fixed number of core cycles. Do not compute a time of the run from
    these samples. If the speed is not known, the samples are unchanged.
    """
    known = np.array(cycle_lengths(recording))
    if len(known) < 2:
        return samples
    factor = np.median(known) / known
    return replace(samples, ticks=samples.ticks * factor[samples.process])
