"""The core's clock during a run: how long a core cycle was in each process, in ticks.

A virtual machine's host changes the speed of the core as it likes. Each process measures it while
it takes its samples, so that its samples can be counted in core cycles, whatever the speed was.
"""

from __future__ import annotations

import statistics
from dataclasses import replace

import numpy as np

from labs.common.units import Clock
from labs.recording.file import Recording, Samples

#: A core cycle in ticks: of any clock that there is, beside any core that there is.
SHORTEST, LONGEST = 1e-9, 1e9
#: No core runs faster, in Hz.
FASTEST_CORE = 6.5e9
#: A core was at a speed if two processes saw it, within this share: one alone was disturbed.
ALIKE = 0.03


def lengths(recording: Recording) -> list[float]:
    """The length of a core cycle in ticks of the counter, one a process or one for all of them;
    empty where it is not known of every process.

    A length that no core has, or that differs from all others of the run, is of a disturbed
    calibration: the median of the others stands in its place.
    """
    try:
        found = [float(text) for text in recording.condition("core_cycle_ticks")]
    except ValueError:
        return []
    if len(found) not in (1, len(recording.processes)):
        return []
    if not all(SHORTEST <= length <= LONGEST for length in found):
        return []
    shortest = (recording.number("counter.frequency_hz") or 0.0) / FASTEST_CORE
    known = [x for x in found if x >= shortest and _seen_twice(x, found)]
    middle = statistics.median(known or found)
    return [x if x in known else middle for x in found]


def _seen_twice(length: float, every: list[float]) -> bool:
    return len(every) < 3 or sum(abs(x / length - 1) <= ALIKE for x in every) > 1


def speeds_ghz(recording: Recording) -> tuple[float, float] | None:
    """The slowest and fastest speed of the core in the run, in GHz; None where it is not known."""
    known, frequency = lengths(recording), recording.number("counter.frequency_hz")
    if not known or not frequency:
        return None
    return frequency / max(known) / 1e9, frequency / min(known) / 1e9


def shortest_cycle(recording: Recording, clock: Clock) -> float:
    """A core cycle at the highest clock speed of the run, in ticks of `clock`; 0: not known.

    The speed may have changed between the samples and the moment when the cycle was measured.
    """
    middle, known = clock.core_cycle_ticks, lengths(recording)
    return middle * min(known) / statistics.median(known) if middle and known else 0.0


def at_one_speed(samples: Samples, recording: Recording) -> Samples:
    """The samples as if the core had run at the run's median speed in all processes.

    For work that takes so many core cycles, whatever their length; a time of the run itself must
    not be taken from these. As they are where the speed is not known.
    """
    known = np.array(lengths(recording))
    if len(known) < 2:
        return samples
    factor = np.median(known) / known
    return replace(samples, ticks=samples.ticks * factor[samples.process])
