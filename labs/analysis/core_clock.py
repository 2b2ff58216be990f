"""The core's clock during a run: how long a core cycle was in each process, in ticks.

The host of a virtual machine may change the clock speed at any time. Therefore each process
measures the speed while it takes its samples, and its samples can be converted to core cycles.
"""

from __future__ import annotations

import statistics
from dataclasses import replace

import numpy as np

from labs.analysis.thresholds import FASTEST_CORE
from labs.recording.file import Recording, Samples
from labs.units import Clock


def cycle_lengths(recording: Recording) -> list[float]:
    """Mean lengths of a core cycle, in ticks of the counter: one for each process, or one for all.

    The list is empty if the length is not known for every process.
    """
    stated = recording.numbers("core_cycle_ticks")
    shortest = (recording.number("counter.frequency_hz") or 0.0) / FASTEST_CORE
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
