"""What the samples of a recording show by themselves, whatever the recording states."""

from __future__ import annotations

import numpy as np

from labs.analysis import thresholds
from labs.recording.file import Numbers, Recording, Samples


def step_of(ticks: Numbers) -> int:
    """The greatest common divisor of all samples, in ticks; 0 if all of them are 0."""
    return int(np.gcd.reduce(np.asarray(ticks, dtype=np.int64))) if len(ticks) else 0


def reads_the_counter(recording: Recording, variant: str) -> bool:
    """Whether the recording states that `variant` reads the counter and not a clock of the OS."""
    counter = recording.condition("counter")
    return bool(counter) and set(recording.condition(f"clock.{variant}.name")) == set(counter)


def usual_ticks(samples: Samples, size: int) -> float:
    """The mean sample at batch size `size`, without those far from the lower quartile."""
    ticks = samples.ticks[samples.batch == size].astype(np.float64)
    away = np.abs(ticks - np.quantile(ticks, 0.25))
    steps = thresholds.NEAR_STEPS * samples.clock.coarseness
    return float(ticks[away <= max(thresholds.REACH * float(np.median(away)), steps)].mean())


def is_below_the_clock(samples: Samples) -> bool:
    """Whether this clock usually shows 0 ticks for the smallest batch, including the timer.

    The clock of an emulator may advance once in a microsecond and claim a step of a nanosecond. Its
    samples do not grow with their work, and may be shorter than the work can be.
    """
    sizes = samples.batch[samples.batch > 0]
    return bool(len(sizes)) and float(np.median(samples.ticks[samples.batch == sizes.min()])) == 0.0
