"""Which samples of a batch size count as steady: those that lie near its median.

Interrupts and preemptions fall outside, the spread of the thing measured and the steps of the
counter stay inside. What counts as near is six times the distance between the quartiles; and since
the samples of one variant were taken in turns, all its batch sizes are held to one measure: where a
quarter of the intervals was lengthened by something, the quartiles of one size tell of it and those
of the next do not, and a line through means with and without it would bend.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from labs.recording import Numbers, Samples

#: How far from the median a sample may lie, in distances between the quartiles.
REACH = 6.0

#: And at least, in steps of the counter.
LEAST_STEPS = 3


def fence(ticks: Numbers, step: int) -> tuple[float, float]:
    """The range of steady samples of one batch size by itself: lowest and highest, in ticks.

    Equivariant: adding a constant to all samples shifts the fence by it, so that a slope is not
    touched by where the fence stands.
    """
    middle, reach = _middle_and_reach(ticks, step)
    return middle - reach, middle + reach


def fences(samples: Samples) -> Mapping[int, tuple[float, float]]:
    """The range of steady samples by batch size, for one variant, in ticks.

    As `fence`, but no batch size reaches farther than a longer one, for a longer interval varies no
    less; nor farther than a shorter one times the root of how many times longer it is: so the sum
    of operations varies. (All of them together vary with the speed of the core, in proportion; for
    that the fence is wide enough up to 36 times the size.) Where this would leave out most of its
    samples, a batch size keeps the fence of its own.
    """
    step = samples.clock.coarseness
    alone = {
        size: _middle_and_reach(samples.ticks[samples.batch == size], step)
        for size in np.unique(samples.batch).tolist()
    }
    # What does not vary by two steps tells of the clock: its next step is as likely at other sizes.
    told = {size: far for size, (_, far) in alone.items() if size > 0 and far >= 2 * REACH * step}
    found = {}
    for size, (middle, own) in alone.items():
        # An empty interval holds no operations, and is not on the line.
        others = told if size > 0 else {}
        allowed = [far * max(size / other, 1.0) ** 0.5 for other, far in others.items()]
        reach = min([own, *allowed])
        far_off = np.abs(samples.ticks[samples.batch == size] - middle) > reach
        reach = reach if far_off.mean() <= 0.5 else own
        found[size] = (middle - reach, middle + reach)
    return found


def steady(samples: Samples) -> NDArray[np.bool_]:
    """Which samples of one variant lie inside the fence of their batch size; shape (n,)."""
    chosen = np.zeros(len(samples), dtype=np.bool_)
    for size, (low, high) in fences(samples).items():
        inside = (samples.ticks >= low) & (samples.ticks <= high)
        chosen |= (samples.batch == size) & inside
    return chosen


def _middle_and_reach(ticks: Numbers, step: int) -> tuple[float, float]:
    low, middle, high = np.percentile(ticks, [25, 50, 75])
    return float(middle), float(max(REACH * (high - low), LEAST_STEPS * step))
