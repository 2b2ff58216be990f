"""Which samples of a variant count, and for each of the others the reason why it does not.

Three things lengthen a sample and are not the operation's cost: an interruption (see
`interruptions`), another program that uses the same core for a while (see `shared_core`), and rare
events that put a sample far from all others. Every sample that is set aside has one of these
reasons, and the line counts them.
"""

from __future__ import annotations

import numpy as np

from labs.analysis.arrays import Bools, Floats
from labs.analysis.cells import Cells

#: How far from the median a sample may lie: in units of twice the distance from the lower quartile
#: to the median, but at least so many steps of the counter.
REACH, LEAST_STEPS = 6.0, 3
#: At most this share of a batch size's samples may be set aside as far from the others.
MOST_FAR = 0.46
#: A process is rarely slower than the others by more than this factor; an interrupted sample often
#: is.
MOST_APART = 3.0
#: A batch size with fewer samples says nothing.
FEWEST_SAMPLES = 5


def at_one_level(cells: Cells) -> Floats:
    """The ticks as if all processes were equally fast, so that one limit fits all; shape (n,).

    The ticks of each process are divided by its level. At each batch size, the lower quartile of
    the process is divided by the lower quartile of all processes; the level is the median of these
    ratios over the batch sizes. It is 1 if the counter's step is too coarse to show it. A ratio
    beyond MOST_APART means that most samples of that batch size were interrupted, so it is left
    out, except if nearly all batch sizes of the process have such a ratio.
    """
    (low,) = cells.quantiles(cells.ticks, np.ones(len(cells.ticks), dtype=np.bool_), [25])
    # One sort of integers is enough: the upper bits hold the cell, the lower bits the ticks.
    eighths = np.clip(cells.ticks * 8, 0, 2.0**43).astype(np.int64)
    ordered = np.sort((cells.cell << 44) | eighths) & ((1 << 44) - 1)
    count = np.bincount(cells.cell, minlength=cells.shape[0] * cells.shape[1])
    place = np.minimum(np.cumsum(count) - count + (count - 1) // 4, len(ordered) - 1)
    own, count = (ordered[place] / 8).reshape(cells.shape), count.reshape(cells.shape)
    share = own / np.maximum(low, 1)
    usable = (cells.batch > 0) & (low >= 20 * cells.step) & (count >= FEWEST_SAMPLES)
    most = 2 * usable.sum(axis=1) > (cells.batch > 0).sum()
    moderate = usable & (share > 1 / MOST_APART) & (share < MOST_APART)
    usable = np.where(moderate.any(axis=1)[:, None], moderate, usable & most[:, None])
    # The median of each row by its index: unusable shares come last.
    share = np.sort(np.where(usable, share, np.inf), axis=1)
    number, row = usable.sum(axis=1), np.arange(cells.shape[0])
    middle = (share[row, np.maximum(number - 1, 0) // 2] + share[row, number // 2]) / 2
    level = np.where(number > 0, np.maximum(middle, 1e-3), 1.0)
    at_level: Floats = cells.ticks / level[cells.row]
    return at_level


def near_median(cells: Cells, ticks: Floats, chosen: Bools) -> Bools:
    """Which of the chosen samples lie near the median of their batch size, shape (n,).

    The limit uses the distance from the lower quartile to the median, which hardly changes if up to
    two fifths of the samples are lengthened. Callers take the mean of the samples that are left: if
    the counter has a coarse step, a median would be a multiple of the step, and a mean is not
    (dithering: Widrow & Kollar, "Quantization Noise", ch. 4).
    """
    low, middle, high = cells.quantiles(ticks, chosen, [25, 50, 75])
    reach = np.maximum(2 * REACH * (middle - low), LEAST_STEPS * cells.step)
    # A delay that all batch sizes meet alike must be kept at all of them or set aside at all.
    timed = (cells.batch > 0) & ~np.isnan(reach)
    if timed.any():
        reach[timed] = np.maximum(reach[timed], np.median(reach[timed]))
    away = np.abs(ticks - middle[cells.column])
    # If more samples are far, they are no rare events: the operation itself has a second duration.
    far = np.bincount(cells.column[chosen & (away > reach[cells.column])], minlength=len(reach))
    every = np.bincount(cells.column[chosen], minlength=len(reach))
    reach = np.where(far > MOST_FAR * every, np.maximum(reach, 2 * REACH * (high - middle)), reach)
    kept: Bools = chosen & (away <= reach[cells.column])
    return kept
