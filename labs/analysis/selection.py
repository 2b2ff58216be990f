"""Which samples of a variant count as steady, and for each of the others why not.

Three things lengthen an interval that are not the operation's cost: an interruption, something else
that uses the same core for a while, and whatever is so rare that it lies far from all others. Every
sample that is set aside is set aside for one of these reasons, which the line counts.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from labs.analysis.arrays import Bools, Floats
from labs.recording.file import Integers, Numbers, Samples

#: How far from the median a sample may lie, in twice the distance from lower quartile to median,
#: and at least, in steps of the counter.
REACH, LEAST_STEPS = 6.0, 3
#: Interruptions are looked for where so many intervals of some batch size were lengthened; fewer
#: the reach leaves out. Of a batch size of which more were hit, too few samples are left.
LEAST_HIT, MOST_HIT = 0.15, 0.95
#: An interruption takes so many ns at least, and a whole operation: less is the operation's own.
LEAST_NS = 1000.0
#: By this share an interval may vary with the speed of the core, uninterrupted.
OF_LENGTH = 0.02
#: Samples far from the others are this share of a batch size's at most.
MOST_FAR = 0.46
#: Levels this share of a batch size's samples apart are the steps of a clock, if all samples lie so
#: many ticks at most from a multiple of a step, which is longer by the second number at least.
COMMON, OFF_STEP, LONGER = 0.1, 1.0, 8.0
#: A process is rarely so many times slower than others, an interrupted interval often.
MOST_APART = 3.0
#: So few samples say nothing of a batch size.
FEWEST = 5
#: Hits of one batch size in so many samples in a row are compared with those in others.
IN_A_ROW = 25
#: Numbers below this are looked up in a table, which is faster than sorting them.
FEW = 1 << 14


@dataclass(frozen=True, eq=False)
class Cells:
    """The samples of one variant by process and batch size: a cell is one of each.

    `ticks`, `sample`, `row` (the process, by its place in `processes`) and `column` (the batch
    size, by its place in `batch`) have the shape (n,); `of_size` holds the places of the samples of
    each batch size. `step` is what the counter steps by, as it declares or as the samples show.
    """

    ticks: Floats
    sample: Integers
    row: Integers
    column: Integers
    processes: Integers
    batch: Integers
    of_size: tuple[Integers, ...]
    step: float

    @property
    def shape(self) -> tuple[int, int]:
        """The number of processes, and of batch sizes."""
        return len(self.processes), len(self.batch)

    @cached_property
    def cell(self) -> Integers:
        """The number of each sample's cell, row by row; shape (n,)."""
        number: Integers = self.row * self.shape[1] + self.column
        return number

    def with_rows(self, row: Integers) -> Cells:
        """The same samples where others than processes are the rows, which `row` numbers from 0
        without a gap."""
        return replace(self, row=row, processes=np.arange(int(row.max(initial=-1)) + 1))

    def sums(self, weight: Floats | None, chosen: Bools) -> Floats:
        """The sum of `weight` (None: 1) over the chosen samples of each cell; `shape`."""
        mine = chosen if weight is None else np.where(chosen, weight, 0.0)
        found = np.bincount(self.cell, mine, self.shape[0] * self.shape[1])
        return found.astype(np.float64).reshape(self.shape)

    def quantiles(self, ticks: Floats, chosen: Bools, percent: Sequence[float]) -> Floats:
        """Percentiles of the chosen samples by batch size, NaN without one; (percents, sizes)."""
        found = np.full((len(percent), len(self.batch)), np.nan)
        for column, places in enumerate(self.of_size):
            mine = ticks[places][chosen[places]]
            if len(mine):
                found[:, column] = _percentiles(mine, percent)
        return found


def _percentiles(values: Floats, percent: Sequence[float]) -> Floats:
    """As np.percentile, which takes longer for a few hundred values than the rest of the fit."""
    place = np.array(percent) / 100 * (len(values) - 1)
    lower = place.astype(np.int64)
    upper = np.minimum(lower + 1, len(values) - 1)
    ordered = np.partition(values, sorted({*lower.tolist(), *upper.tolist()}))
    found: Floats = ordered[lower] + (place - lower) * (ordered[upper] - ordered[lower])
    return found


def cells_of(samples: Samples, rows: Integers | None = None, step: float | None = None) -> Cells:
    """The cells of these samples; `rows`, shape (n,), stands in place of the process, and `step` in
    place of what the samples show of the clock's."""
    process = samples.process if rows is None else rows
    processes, row = _numbered(process)
    batch, column = _numbered(samples.batch)
    by_size = np.argsort(column.astype(np.int16 if len(batch) < 2**15 else int), kind="stable")
    ends = np.cumsum(np.bincount(column, minlength=len(batch)))[:-1]
    return Cells(
        samples.ticks.astype(np.float64),
        samples.sample,
        row,
        column,
        processes,
        batch,
        tuple(np.split(by_size, ends)),
        step_of(samples) if step is None else step,
    )


def _numbered(values: Integers) -> tuple[Integers, Integers]:
    """The values that occur, ascending, and the place of each of `values` among them."""
    if values.max(initial=0) >= FEW:
        found = np.unique(values)
        return found, np.searchsorted(found, values)
    found = np.flatnonzero(np.bincount(values))
    place = np.zeros(FEW, dtype=np.int64)
    place[found] = np.arange(len(found))
    return found, place[values]


def step_of(samples: Samples) -> float:
    """What the clock steps by, in ticks: as it declares, or longer where the samples show that.

    They show it by their greatest common divisor; or where each lies next to a multiple of a step
    that is no whole number of ticks, as where an emulator counts microseconds at 62.5 MHz.
    """
    ticks = samples.ticks[:1000]
    shown = float(np.gcd.reduce(ticks.astype(np.int64), initial=0))
    return max(samples.clock.coarseness, shown, _step_between(ticks, samples.batch[:1000]))


def _step_between(ticks: Numbers, batch: Integers) -> float:
    """A step that all samples lie next to multiples of, give or take a tick; 0: there is none."""
    gaps = []
    for size in np.unique(batch):
        mine = np.sort(ticks[batch == size]).astype(np.float64)
        level = np.cumsum(np.diff(mine, prepend=mine[:1]) > 2 * OFF_STEP + 1)
        common = np.bincount(level) >= max(COMMON * len(mine), 2)
        means = np.bincount(level, mine) / np.bincount(level)
        gaps += np.diff(means[common]).tolist()
    step = min(gaps, default=0.0)
    if step < LONGER * OFF_STEP:
        return 0.0
    for value in np.unique(ticks).tolist():  # the longer the sample, the better known the step
        if (number := round(value / step)) > 0:
            if abs(value - number * step) > OFF_STEP + 0.5 * number:
                return 0.0
            step = value / number
    return step if np.all(np.abs(ticks - step * np.round(ticks / step)) <= 2 * OFF_STEP) else 0.0


def at_one_level(cells: Cells) -> Floats:
    """The ticks as if all processes were equally fast, so that one measure holds for all: (n,).

    The level of a process is the lower quartile of its samples as a share of that of all processes:
    the median of these shares over the batch sizes; 1 where the counter's step would hide it. A
    share beyond MOST_APART is that of a batch size of which most samples were interrupted, unless
    nearly all batch sizes have such a share.
    """
    (low,) = cells.quantiles(cells.ticks, np.ones(len(cells.ticks), dtype=np.bool_), [25])
    # One sort of whole numbers: the cell in the upper bits, an eighth of a tick in the lower.
    eighths = np.clip(cells.ticks * 8, 0, 2.0**43).astype(np.int64)
    ordered = np.sort((cells.cell << 44) | eighths) & ((1 << 44) - 1)
    count = np.bincount(cells.cell, minlength=cells.shape[0] * cells.shape[1])
    place = np.minimum(np.cumsum(count) - count + (count - 1) // 4, len(ordered) - 1)
    own, count = (ordered[place] / 8).reshape(cells.shape), count.reshape(cells.shape)
    share = own / np.maximum(low, 1)
    usable = (cells.batch > 0) & (low >= 20 * cells.step) & (count >= FEWEST)
    most = 2 * usable.sum(axis=1) > (cells.batch > 0).sum()
    moderate = usable & (share > 1 / MOST_APART) & (share < MOST_APART)
    usable = np.where(moderate.any(axis=1)[:, None], moderate, usable & most[:, None])
    # The median of each row by its place: unusable shares come last.
    share = np.sort(np.where(usable, share, np.inf), axis=1)
    number, row = usable.sum(axis=1), np.arange(cells.shape[0])
    middle = (share[row, np.maximum(number - 1, 0) // 2] + share[row, number // 2]) / 2
    level = np.where(number > 0, np.maximum(middle, 1e-3), 1.0)
    at_level: Floats = cells.ticks / level[cells.row]
    return at_level


def near(cells: Cells, ticks: Floats, chosen: Bools) -> Bools:
    """Which of the chosen samples lie near the median of their batch size, shape (n,).

    The distance from lower quartile to median hardly moves where up to two fifths of the samples
    were lengthened. Of what is left the mean is taken, because a median of a counter with a coarse
    step is a multiple of the step (dithering: Widrow & Kollar, "Quantization Noise", ch. 4).
    """
    low, middle, high = cells.quantiles(ticks, chosen, [25, 50, 75])
    reach = np.maximum(2 * REACH * (middle - low), LEAST_STEPS * cells.step)
    # What is added to intervals of all lengths alike is to be kept or set aside at all of them.
    timed = (cells.batch > 0) & ~np.isnan(reach)
    if timed.any():
        reach[timed] = np.maximum(reach[timed], np.median(reach[timed]))
    away = np.abs(ticks - middle[cells.column])
    # More than so many are not rare, but another way of the operation.
    far = np.bincount(cells.column[chosen & (away > reach[cells.column])], minlength=len(reach))
    every = np.bincount(cells.column[chosen], minlength=len(reach))
    reach = np.where(far > MOST_FAR * every, np.maximum(reach, 2 * REACH * (high - middle)), reach)
    kept: Bools = chosen & (away <= reach[cells.column])
    return kept


def interrupted(cells: Cells, ticks: Floats, chosen: Bools, ticks_in_ns: float) -> Bools:
    """Which of the chosen samples were interrupted, shape (n,); none where it was not that.

    Interruptions come at random (Poisson): long intervals are hit more often than short ones, and
    each hit adds about as much. A second way of the operation is taken as often in short intervals,
    or adds in proportion; a neighbour or another clock speed meets many samples in a row.
    """
    none = np.zeros(len(ticks), dtype=np.bool_)
    low, base = cells.quantiles(ticks, chosen, [5, 25])
    timed = np.flatnonzero((cells.batch > 0) & ~np.isnan(base))
    if len(timed) < 2:
        return none
    k, first, last = cells.batch.astype(np.float64), timed[0], timed[-1]
    least = max(
        LEAST_NS * ticks_in_ns, REACH * (base[first] - low[first]), LEAST_STEPS * cells.step
    )
    # Where most intervals of the longest sizes were hit, shorter ones foretell how long they are.
    for before, size in itertools.pairwise(timed[1:]):
        slope = (base[before] - base[first]) / (k[before] - k[first])
        foretold = base[first] + slope * (k[size] - k[first])
        # Half: a quartile may lie between a sample that was hit and one that was not.
        if base[size] > foretold + max(least / 2, OF_LENGTH * foretold):
            base[size] = foretold
    hit = chosen & (ticks > (base + np.maximum(least, OF_LENGTH * base))[cells.column])
    of_size = [places[chosen[places]] for places in cells.of_size]
    share = np.array([hit[mine].mean() if len(mine) else 0.0 for mine in of_size])
    known = [size for size in timed if hit[of_size[size]].sum() >= FEWEST]
    if len(known) < 2 or share[timed].max() < LEAST_HIT:
        return none
    if min((~hit[of_size[size]]).sum() for size in timed) < FEWEST:
        return none
    short, long = known[0], known[-1]
    more = {
        size: float(np.median(ticks[mine[hit[mine]]])) - base[size]
        for size, mine in ((size, of_size[size]) for size in known)
    }
    rate = -np.log1p(-np.minimum(share[known], 0.999))
    # How many of them a hit interval met, on average (Poisson, none left out).
    met = dict(zip(known, rate / -np.expm1(-rate), strict=True))
    is_it = (
        base[short] < 0.7 * base[long]
        and more[long] > (base[last] - base[first]) / (k[last] - k[first])
        # What is part of the work grows in proportion to it, an interruption does not.
        and more[short] / met[short]
        > (0.8 * base[short] / base[long]) ** 0.5 * more[long] / met[long]
        and _misfit(rate, base[known]) < _misfit(rate, np.ones(len(known)))
        and _scattered(hit[mine := _in_order(cells, of_size[long])], cells.row[mine])
    )
    return (hit | (chosen & (share > MOST_HIT)[cells.column])) if is_it else none


def _misfit(rate: Floats, model: Floats) -> float:
    """How badly rates of hits, which vary by their square roots, fit a multiple of the model."""
    factor = float(np.sum(model) / np.sum(model**2 / rate))
    return float(np.sum((rate - factor * model) ** 2 / rate))


def _in_order(cells: Cells, places: Integers) -> Integers:
    """The places of these samples, sorted by process and time."""
    sorted_places: Integers = places[np.lexsort((cells.sample[places], cells.row[places]))]
    return sorted_places


def _scattered(hit: Bools, row: Integers) -> bool:
    """Whether hits, in the order taken, come one by one, and not many in a row of a process."""
    parts = [
        float(part.mean())
        for each in np.unique(row)
        for part in np.array_split(hit[row == each], max(1, (row == each).sum() // IN_A_ROW))
    ]
    share = float(hit.mean())
    return float(np.var(parts)) < 0.4 * share * (1 - share)
