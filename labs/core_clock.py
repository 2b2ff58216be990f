"""The core's clock during a run: how long a core cycle was in each process, in ticks.

A virtual machine's host changes the speed of the core as it likes. Each process measures it while
it takes its samples, so that its samples can be counted in core cycles, whatever the speed was.
"""

from __future__ import annotations

import statistics
from dataclasses import replace

import numpy as np

from labs.recording import Recording, Samples
from labs.units import Clock

#: A core cycle in ticks: of any clock that there is, beside any core that there is.
SHORTEST, LONGEST = 1e-9, 1e9


def lengths(recording: Recording) -> list[float]:
    """The length of a core cycle in ticks of the counter, one a process or one for all of them;
    empty where it is not known of every process."""
    found = _usable(recording.condition("core_cycle_ticks"))
    return found if len(found) in (1, len(recording.processes)) else []


def lengths_of_last_hour(recording: Recording) -> list[float]:
    """The shortest and longest core cycle that this machine saw in the hour before the run's end;
    empty where the recording does not say (labs.core_speed)."""
    return _usable(tuple(" ".join(recording.condition("core_cycle_ticks.last_hour")).split()))


def shortest_cycle(recording: Recording, clock: Clock) -> float:
    """A core cycle at the highest clock speed of the run, in ticks of `clock`; 0: not known.

    The speed may have changed between the samples and the moment when the cycle was measured.
    """
    middle, known = clock.core_cycle_ticks, lengths(recording)
    return middle * min(known) / statistics.median(known) if middle and known else 0.0


def _usable(texts: tuple[str, ...]) -> list[float]:
    """The lengths that the texts state; none where one of them is no length."""
    try:
        found = [float(text) for text in texts]
    except ValueError:
        return []
    return found if all(SHORTEST <= length <= LONGEST for length in found) else []


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
