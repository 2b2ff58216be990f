"""Which samples of a variant count, and for each of the others the reason why it does not.

Three things lengthen a sample and are not the operation's cost: an interruption, another program
that uses the same core for a while, and rare events that put a sample far from all others. Every
sample that is set aside has one of these reasons, and the line counts them.
"""

from __future__ import annotations

import itertools

import numpy as np

from labs.analysis.arrays import Bools, Floats
from labs.analysis.cells import Cells
from labs.recording.file import Integers

#: How far from the median a sample may lie: in units of twice the distance from the lower quartile
#: to the median, but at least so many steps of the counter.
REACH, LEAST_STEPS = 6.0, 3
#: The search for interruptions needs a batch size of which at least this share was lengthened; the
#: limit REACH handles fewer. A batch size of which more than the second share was hit has too few
#: samples left.
LEAST_HIT, MOST_HIT = 0.15, 0.95
#: A shorter delay is no interruption, but part of the operation.
SHORTEST_INTERRUPTION_NS = 1000.0
#: An uninterrupted sample may vary by this share with the clock speed of the core.
SPEED_VARIATION = 0.02
#: At most this share of a batch size's samples may be set aside as far from the others.
MOST_FAR = 0.46
#: A process is rarely slower than the others by more than this factor; an interrupted sample often
#: is.
MOST_APART = 3.0
#: A batch size with fewer samples says nothing.
FEWEST_SAMPLES = 5
#: The number of hits in so many consecutive samples is compared with that in the next ones.
IN_A_ROW = 25


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


def interrupted(cells: Cells, ticks: Floats, chosen: Bools, ticks_in_ns: float) -> Bools:
    """Which of the chosen samples were interrupted, shape (n,).

    None is, if the long samples have another cause. Interruptions come at random (Poisson), so they
    hit long samples more often than short ones, and each hit adds about the same time. A second
    duration of the operation occurs as often in short samples, or adds time in proportion to their
    length. A neighbour on the core, or another clock speed, lengthens many samples in a row.
    """
    none = np.zeros(len(ticks), dtype=np.bool_)
    low, base = cells.quantiles(ticks, chosen, [5, 25])
    timed = np.flatnonzero((cells.batch > 0) & ~np.isnan(base))
    if len(timed) < 2:
        return none
    k, first, last = cells.batch.astype(np.float64), timed[0], timed[-1]
    least = max(
        SHORTEST_INTERRUPTION_NS * ticks_in_ns,
        REACH * (base[first] - low[first]),
        LEAST_STEPS * cells.step,
    )
    # If most samples of the largest sizes were hit, the smaller sizes predict their length.
    for before, size in itertools.pairwise(timed[1:]):
        slope = (base[before] - base[first]) / (k[before] - k[first])
        predicted = base[first] + slope * (k[size] - k[first])
        # Half, because a quartile may lie between a sample that was hit and one that was not.
        if base[size] > predicted + max(least / 2, SPEED_VARIATION * predicted):
            base[size] = predicted
    hit = chosen & (ticks > (base + np.maximum(least, SPEED_VARIATION * base))[cells.column])
    by_size = [places[chosen[places]] for places in cells.by_size]
    share = np.array([hit[mine].mean() if len(mine) else 0.0 for mine in by_size])
    hit_sizes = [size for size in timed if hit[by_size[size]].sum() >= FEWEST_SAMPLES]
    if len(hit_sizes) < 2 or share[timed].max() < LEAST_HIT:
        return none
    if min((~hit[by_size[size]]).sum() for size in timed) < FEWEST_SAMPLES:
        return none
    short, long = hit_sizes[0], hit_sizes[-1]
    added = {
        size: float(np.median(ticks[mine[hit[mine]]])) - base[size]
        for size, mine in ((size, by_size[size]) for size in hit_sizes)
    }
    rate = -np.log1p(-np.minimum(share[hit_sizes], 0.999))
    # How many interruptions a sample met that was hit at all, on average (Poisson).
    hits_met = dict(zip(hit_sizes, rate / -np.expm1(-rate), strict=True))
    are_interruptions = (
        base[short] < 0.7 * base[long]
        and added[long] > (base[last] - base[first]) / (k[last] - k[first])
        # A delay that belongs to the work grows in proportion to it; an interruption does not.
        and added[short] / hits_met[short]
        > (0.8 * base[short] / base[long]) ** 0.5 * added[long] / hits_met[long]
        and _misfit(rate, base[hit_sizes]) < _misfit(rate, np.ones(len(hit_sizes)))
        and _scattered(hit[mine := _in_order(cells, by_size[long])], cells.row[mine])
    )
    return (hit | (chosen & (share > MOST_HIT)[cells.column])) if are_interruptions else none


def _misfit(rate: Floats, model: Floats) -> float:
    """How badly rates of hits fit a multiple of the model; a rate varies by its square root."""
    factor = float(np.sum(model) / np.sum(model**2 / rate))
    return float(np.sum((rate - factor * model) ** 2 / rate))


def _in_order(cells: Cells, places: Integers) -> Integers:
    """The indices of these samples, sorted by process and time."""
    sorted_places: Integers = places[np.lexsort((cells.sample[places], cells.row[places]))]
    return sorted_places


def _scattered(hit: Bools, row: Integers) -> bool:
    """Whether the hits are scattered over the samples of each process, and not many in a row."""
    parts = [
        float(part.mean())
        for each in np.unique(row)
        for part in np.array_split(hit[row == each], max(1, (row == each).sum() // IN_A_ROW))
    ]
    share = float(hit.mean())
    return float(np.var(parts)) < 0.4 * share * (1 - share)
