"""Samples that something lengthened now and then: an interruption, or the operation itself.

An interruption has nothing to do with the operation, so its samples are set aside. Something that
the operation does now and then belongs to its cost, and its samples stay. An example is the OS
kernel, which takes pages from its own list and fills that list after every so many page faults.

In the samples, the two look alike: both come at random, hit long samples more often, and add about
the same time to each. But interruptions also come if the operation does not run. Each process of a
run counts them for some milliseconds in which it only reads the clock.
"""

from __future__ import annotations

import itertools
import statistics
from dataclasses import dataclass

import numpy as np

from labs.analysis.arrays import Bools, Floats
from labs.analysis.cells import Cells
from labs.analysis.outliers import FEWEST_SAMPLES, LEAST_STEPS, REACH
from labs.recording.file import Integers, Recording

#: The search needs a batch size of which at least the first share was lengthened. The limit REACH
#: handles fewer interruptions than the second share. A batch size of which more than the third
#: share was hit has too few samples left.
LEAST_OWN, LEAST_HIT, MOST_HIT = 0.05, 0.15, 0.95
#: A shorter delay is no interruption, but part of the operation.
SHORTEST_INTERRUPTION_NS = 1000.0
#: An uninterrupted sample may vary by this share with the clock speed of the core.
SPEED_VARIATION = 0.02
#: Interruptions of samples are at most so many times as frequent as those that the processes
#: count beside. The OS interrupts a CPU up to a thousand times per second, which a few
#: milliseconds may miss.
MOST_OFTEN, TIMER_PER_S = 3.0, 1000.0
#: At least this share of the operation's own delays adds no more than REACH times their median.
ALIKE = 0.9
#: The number of hits in so many consecutive samples is compared with that in the next ones.
IN_A_ROW = 25


@dataclass(frozen=True, eq=False)
class Lengthened:
    """Which samples were `interrupted`, and which met something of the operation's `own`.

    Both have the shape (n,), and one of the two has no sample.
    """

    interrupted: Bools
    own: Bools


@dataclass(frozen=True, eq=False)
class _Hits:
    """The samples that were hit at random.

    `samples` were hit, and `moderately` were hit no more than some times; both have the shape (n,).
    `most` is their largest share of a batch size.
    """

    samples: Bools
    moderately: Bools
    per_tick: float
    most: float

    @property
    def alike(self) -> bool:
        """Whether nearly all of them add about the same, unlike time slices of other programs."""
        return float(self.moderately.sum()) >= ALIKE * float(self.samples.sum())


def counted_beside(recording: Recording) -> float | None:
    """How many interruptions per second the processes counted; None if none states it.

    The median, because another program may have disturbed some of the processes.
    """
    stated = [float(text) for text in recording.condition("cpu.gaps_per_s") if _is_rate(text)]
    return statistics.median(stated) if stated else None


def _is_rate(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 12


def lengthened(
    cells: Cells, ticks: Floats, chosen: Bools, ticks_in_ns: float, beside: float | None
) -> Lengthened:
    """Which of the chosen samples something lengthened now and then.

    `beside` is what `counted_beside` says. If it is None, all of them count as interrupted, and so
    they do if some add far more than others. A sample that lies far from the others in any case is
    not among the operation's own.
    """
    none = np.zeros(len(ticks), dtype=np.bool_)
    hits = _hits(cells, ticks, chosen, ticks_in_ns)
    if hits is None:
        return Lengthened(none, none)
    most = np.inf if beside is None else MOST_OFTEN * max(beside, TIMER_PER_S)
    if not hits.alike or hits.per_tick * ticks_in_ns * 1e9 <= most:
        return Lengthened(hits.samples if hits.most >= LEAST_HIT else none, none)
    return Lengthened(none, hits.moderately)


def _hits(cells: Cells, ticks: Floats, chosen: Bools, ticks_in_ns: float) -> _Hits | None:
    """Which of the chosen samples were hit at random; None if the long ones have another cause.

    Hits at random (Poisson) meet long samples more often than short ones, and each adds about the
    same time. A second duration of the operation occurs as often in short samples, or adds time in
    proportion to their length. A neighbour on the core, or another clock speed, lengthens many
    samples in a row.
    """
    low, base = cells.quantiles(ticks, chosen, [5, 25])
    timed = np.flatnonzero((cells.batch > 0) & ~np.isnan(base))
    if len(timed) < 2:
        return None
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
    if len(hit_sizes) < 2 or share[timed].max() < LEAST_OWN:
        return None
    if min((~hit[by_size[size]]).sum() for size in timed) < FEWEST_SAMPLES:
        return None
    short, long = hit_sizes[0], hit_sizes[-1]
    added = {
        size: float(np.median(ticks[mine[hit[mine]]])) - base[size]
        for size, mine in ((size, by_size[size]) for size in hit_sizes)
    }
    rate = -np.log1p(-np.minimum(share[hit_sizes], 0.999))
    # How many interruptions a sample met that was hit at all, on average (Poisson).
    hits_met = dict(zip(hit_sizes, rate / -np.expm1(-rate), strict=True))
    at_random = (
        base[short] < 0.7 * base[long]
        and added[long] > (base[last] - base[first]) / (k[last] - k[first])
        # A delay that belongs to the work grows in proportion to it; an interruption does not.
        and added[short] / hits_met[short]
        > (0.8 * base[short] / base[long]) ** 0.5 * added[long] / hits_met[long]
        and _misfit(rate, base[hit_sizes]) < _misfit(rate, np.ones(len(hit_sizes)))
        and _scattered(hit[mine := _in_order(cells, by_size[long])], cells.row[mine])
    )
    if not at_random:
        return None
    number = np.array([len(by_size[size]) for size in hit_sizes])
    per_tick = float(number @ rate / (number @ base[hit_sizes]))
    hit |= chosen & (share > MOST_HIT)[cells.column]
    each = float(np.median(list(added.values())))
    moderately = hit & (ticks <= (base + REACH * each)[cells.column])
    return _Hits(hit, moderately, per_tick, float(share[timed].max()))


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
