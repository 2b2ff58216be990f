"""Whether the cost of an operation depends on where the stack begins in a cache line.

The run chooses the place of each process's stack (labs/run/stack_places.py), so the place is an
experiment: if it separates the processes into two groups, it is the cause of the difference.
Anything else would have to choose the same processes by chance. Of ten processes, two that it
chose have one place to themselves in 2 of 45 cases, and three in 2 of 120.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from labs.analysis.arrays import Bools, Floats
from labs.recording.file import Integers, Recording

#: Bytes of a cache line on most machines.
CACHE_LINE = 64
#: Each place needs so many processes.
FEWEST_AT_A_PLACE = 2
#: The groups must lie this far apart: as a share of the lower one, and as a multiple of the
#: distance within which four fifths of the processes lie from the median of their own group. In
#: 10,000 runs of ten alike processes, chance exceeded 10 times once; of twenty, it reached 2.6.
LEAST_GAP, TIMES_OWN_SPREAD = 0.01, 10.0
#: The share of the processes that may lie on the wrong side, because something else met them. Of
#: ten, none may: else 8 of the 45 pairs of fast processes would look like an effect.
MOST_ON_THE_WRONG_SIDE = 0.05


@dataclass(frozen=True)
class StackEffect:
    """An operation takes `factor` times as long if the stack begins at one of the bytes `slow` of a
    cache line as it takes at one of the bytes `fast`. `slowed` numbers the slow processes.
    """

    fast: tuple[int, ...]
    slow: tuple[int, ...]
    factor: float
    slowed: tuple[int, ...]

    def factor_of(self, process: Integers, value: Floats) -> float | None:
        """How many times as large these values are in the slow processes; None if they do not show
        the effect. The baseline may have the same effect, and the net cost none.

        `process`, the numbers of the processes, and `value` have the same shape.
        """
        fast = ~np.isin(process, self.slowed)
        if fast.all() or not fast.any():
            return None
        sure, factor = _cut(value, fast)
        return factor if sure >= TIMES_OWN_SPREAD else None

    def slow_bytes(self) -> str:
        """The bytes at which it takes longer, as text."""
        return ", ".join(map(str, self.slow))

    def fast_bytes(self) -> str:
        """The other bytes, as text."""
        return ", ".join(map(str, self.fast))


def stack_effect(recording: Recording, process: Integers, value: Floats) -> StackEffect | None:
    """The effect of the place on `value`, one for each of the processes with the numbers `process`.

    None if there is no effect, or if the recording does not state the places of all processes.
    """
    place = _places(recording)
    if place is None:
        return None
    place = place[process]
    bytes_, count = np.unique(place, return_counts=True)
    if len(bytes_) < 2 or count.min() < FEWEST_AT_A_PLACE:
        return None
    at_each = np.array([np.median(value[place == each]) for each in bytes_])
    order = bytes_[np.argsort(at_each)]
    cuts = [_cut(value, np.isin(place, order[:cut])) for cut in range(1, len(order))]
    cut = int(np.argmax([sure for sure, _ in cuts]))
    sure, factor = cuts[cut]
    if sure < TIMES_OWN_SPREAD:
        return None
    fast, slow = np.sort(order[: cut + 1]), np.sort(order[cut + 1 :])
    slowed = process[np.isin(place, slow)]
    return StackEffect(tuple(fast.tolist()), tuple(slow.tolist()), factor, tuple(slowed.tolist()))


def _places(recording: Recording) -> Integers | None:
    """The byte of a cache line at which the stack of each process begins; None if not stated."""
    try:
        place = np.array([int(text) for text in recording.condition("stack.place")], dtype=np.int64)
    except (ValueError, OverflowError):
        return None
    return place % CACHE_LINE if len(place) == len(recording.processes) else None


def _cut(value: Floats, fast: Bools) -> tuple[float, float]:
    """How far the groups lie apart, in units of their own spread; 0 if they are no two groups.

    Also how many times as long the slow group took.
    """
    lower, upper = float(np.median(value[fast])), float(np.median(value[~fast]))
    gap, middle = upper - lower, (upper + lower) / 2
    wrong = int((value[fast] > middle).sum() + (value[~fast] < middle).sum())
    if lower <= 0 or gap < LEAST_GAP * lower or wrong > MOST_ON_THE_WRONG_SIDE * len(value):
        return 0.0, 1.0
    own = float(np.percentile(np.abs(value - np.where(fast, lower, upper)), 80))
    return gap / max(own, 1e-9 * upper), upper / lower
