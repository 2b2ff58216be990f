"""What the samples of a recording show by themselves, whatever is said of them."""

from __future__ import annotations

import numpy as np

from labs.analysis import selection
from labs.recording.file import Numbers, Recording, Samples


def step_of(ticks: Numbers) -> int:
    """The greatest common divisor of all samples, in ticks; 0 where all of them are 0."""
    return int(np.gcd.reduce(np.asarray(ticks, dtype=np.int64))) if len(ticks) else 0


def reads_the_counter(recording: Recording, variant: str) -> bool:
    """Whether `variant` says that it reads the machine's counter, and not a clock of the OS."""
    counter = recording.condition("counter")
    return bool(counter) and set(recording.condition(f"clock.{variant}.name")) == set(counter)


def usual_ticks(samples: Samples, size: int) -> float:
    """The mean interval at batch size `size` without the samples far from the median."""
    cells = selection.cells_of(samples.only(samples.batch == size))
    near = selection.near(cells, cells.ticks, np.ones(len(cells.ticks), dtype=np.bool_))
    return float(cells.ticks[near].mean())


def is_below_the_clock(samples: Samples) -> bool:
    """Whether the shortest intervals are typically nothing by this clock, timer and all.

    The clock of an emulator may move once in a microsecond and say that its step is a nanosecond;
    its intervals neither grow with their work nor take the least that work takes.
    """
    sizes = samples.batch[samples.batch > 0]
    return bool(len(sizes)) and float(np.median(samples.ticks[samples.batch == sizes.min()])) == 0.0
