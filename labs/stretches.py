"""Find the stretches of time in which the machine was slower for all that was timed.

On a shared computer a neighbour on the same physical core (another virtual machine, the sibling of
a hyper-threaded core) lengthens every interval by a constant for as long as it runs: on one machine
42 ticks became 53 for some milliseconds, came back, and went again. Runs that meet the neighbour
for different shares of their time then disagree, although each is tight. What was measured with the
neighbour away is the figure; how long it was there, and what it cost, belongs beside the figure.

Only what comes or goes within a process is such a visit: modes that alternate from one sample to
the next are a property of what is timed, processes that differ from first to last have another
layout, and a change of the core's clock speed lengthens long intervals more than short ones. All
three stay.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from labs.recording import Integers, Samples

Floats = NDArray[np.float64]

#: Samples in one stretch. Shorter sees shorter visits, longer sees below a coarse counter's step.
STRETCH = 50

#: Two groups of stretches are apart from this many times their own spread on: a trend has 3.5,
#: chance 2.7, a few differing processes rarely 6.
APART = 7.0

#: The faster group is the machine undisturbed if it holds this share of the stretches.
LEAST_SHARE = 0.1


@dataclass(frozen=True, eq=False)
class Stretches:
    """Which samples were taken undisturbed, shape (n,); of the others the share, and by how much
    they were longer, in ticks (0 where there are none)."""

    undisturbed: NDArray[np.bool_]
    slow_share: float
    slower_by: float


def none(samples: Samples) -> Stretches:
    """Nothing set aside."""
    return Stretches(np.ones(len(samples), dtype=np.bool_), 0.0, 0.0)


def find(samples: Samples) -> Stretches:
    """The undisturbed samples of one variant; all of them where no two groups stand apart."""
    everything = none(samples)
    if len(samples) == 0:
        return everything
    stretch = _numbered(samples)
    if stretch.max() < 3 or len(np.unique(samples.batch)) < 2:
        return everything
    added = _added(samples, stretch)
    known = np.isfinite(added)
    if known.sum() < 4:
        return everything
    level = added[known]
    split = _split(level)
    faster, slower = level[level <= split], level[level > split]
    if len(slower) == 0 or len(faster) < LEAST_SHARE * len(level):
        return everything
    apart = float(np.median(slower) - np.median(faster))
    spread = max(_spread(faster), _spread(slower) / 2)
    if apart < APART * spread:
        return everything
    # Between the groups lie the stretches in which the neighbour came or went.
    fast = known & (added <= np.median(faster) + min(4 * spread, apart / 3))
    kept = fast[stretch]
    if not _both_in_one_process(samples.process, kept):
        return everything
    return Stretches(kept, float(1 - kept.mean()), apart)


def _both_in_one_process(process: Integers, kept: NDArray[np.bool_]) -> bool:
    """Whether some process has two stretches or more of each kind."""
    fast, all_of_it = (
        np.bincount(which, minlength=int(process.max()) + 1) for which in (process[kept], process)
    )
    return bool(np.any((fast >= 2 * STRETCH) & (all_of_it - fast >= 2 * STRETCH)))


def _numbered(samples: Samples) -> Integers:
    """The stretch of each sample, numbered from 0 over all processes; shape (n,)."""
    order = np.lexsort((samples.sample, samples.process))
    process = samples.process[order]
    first = np.flatnonzero(np.r_[True, process[1:] != process[:-1]]) if len(process) else process
    length = np.diff(np.r_[first, len(process)])
    place = np.arange(len(process)) - np.repeat(first, length)
    # The rest of a process, shorter than a stretch, goes to the stretch before it.
    last = np.maximum(length // STRETCH - 1, 0)
    within = np.minimum(place // STRETCH, np.repeat(last, length))
    before = np.r_[0, np.cumsum(last + 1)[:-1]]
    numbered = np.empty(len(process), dtype=np.int64)
    numbered[order] = within + np.repeat(before, length)
    return numbered


def _added(samples: Samples, stretch: Integers) -> Floats:
    """What each stretch added to every interval alike, in ticks; NaN where it cannot be told.

    In each stretch a line through what its samples have above the mean of their batch size,
    against that mean: its intercept is what was added, its slope a change of the clock's speed.
    """
    mean, above = np.zeros(len(samples)), np.zeros(len(samples))
    near = np.zeros(len(samples), dtype=np.bool_)
    for size in np.unique(samples.batch):
        mine = samples.batch == size
        ticks = samples.ticks[mine]
        low, middle, high = np.percentile(ticks, [10, 50, 90])
        # Interrupts fall outside.
        near[mine] = np.abs(ticks - middle) <= max(6 * (high - low), 3 * samples.clock.coarseness)
        mean[mine] = ticks[near[mine]].mean()
        above[mine] = ticks - mean[mine]
    where, x, y = stretch[near], mean[near], above[near]
    n, sx, sy, sxx, sxy = (
        np.bincount(where, weights=w, minlength=int(stretch.max()) + 1)
        for w in (np.ones(len(x)), x, y, x * x, x * y)
    )
    determinant = n * sxx - sx * sx
    solvable = determinant > 1e-9 * np.maximum(n * sxx, 1)
    added = np.full(len(n), np.nan)
    added[solvable] = (sxx * sy - sx * sxy)[solvable] / determinant[solvable]
    return added


def _split(level: Floats) -> float:
    """Where to cut in two: the cut with the most variance between the parts (Otsu 1979)."""
    ordered = np.sort(level)
    n = len(ordered)
    below = np.arange(1, n)
    total = np.cumsum(ordered)
    left = total[:-1] / below
    right = (total[-1] - total[:-1]) / (n - below)
    between = below * (n - below) * (right - left) ** 2
    cut = int(np.argmax(between))
    return float(ordered[cut])


def _spread(level: Floats) -> float:
    """The standard deviation, by the median distance from the median."""
    return 1.4826 * float(np.median(np.abs(level - np.median(level))))
