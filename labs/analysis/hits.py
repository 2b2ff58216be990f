"""Samples that something hit at random: an interruption, or something that the operation does now
and then.

Hits at random (Poisson) meet long samples more often than short ones, and each adds about the same
time. A second duration of the operation occurs as often in short samples, or adds time in
proportion to their length. A neighbour on the core, or another clock speed, lengthens many samples
in a row.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from labs.analysis.arrays import Bools, Floats
from labs.analysis.cells import Cells
from labs.analysis.outliers import FEWEST_SAMPLES, LEAST_STEPS, REACH
from labs.recording.file import Integers

#: The search needs a batch size of which at least the first share was lengthened. A batch size of
#: which more than the second share was hit has too few samples left.
LEAST_SHARE, MOST_SHARE = 0.05, 0.95
#: A shorter delay is no hit, but part of the operation.
SHORTEST_NS = 1000.0
#: A sample that was not hit may vary by this share with the clock speed of the core.
SPEED_VARIATION = 0.02
#: At least this share of the hits adds no more than REACH times their median.
ALIKE = 0.9
#: The rate of hits in the longest size but one is at least this share of that in the longest.
LEAST_STEADY = 0.6
#: The number of hits in so many consecutive samples is compared with that in the next ones.
IN_A_ROW = 25


@dataclass(frozen=True, eq=False)
class Hits:
    """The samples that were hit at random.

    `samples` were hit, and `moderately` were hit no more than some times; both have the shape (n,).
    `length`, shape (batch sizes,), is that of a sample that was not hit, in ticks. `most` is the
    largest share of a batch size that was hit. `steady` says whether the two longest sizes with
    hits have about the same rate of hits per tick.
    """

    samples: Bools
    moderately: Bools
    length: Floats
    per_tick: float
    most: float
    steady: bool

    @property
    def alike(self) -> bool:
        """Whether nearly all of them add about the same, unlike time slices of other programs."""
        return float(self.moderately.sum()) >= ALIKE * float(self.samples.sum())


def find(cells: Cells, ticks: Floats, chosen: Bools, ticks_in_ns: float) -> Hits | None:
    """Which of the chosen samples were hit at random; None if the long ones have another cause.

    `ticks` and `chosen` have the shape (n,).
    """
    low, base = cells.quantiles(ticks, chosen, [5, 25])
    timed = np.flatnonzero((cells.batch > 0) & ~np.isnan(base))
    if len(timed) < 2:
        return None
    k, first, last = cells.batch.astype(np.float64), timed[0], timed[-1]
    least = max(
        SHORTEST_NS * ticks_in_ns, REACH * (base[first] - low[first]), LEAST_STEPS * cells.step
    )
    base = _not_hit(base, k, timed, least)
    hit = chosen & (ticks > (base + np.maximum(least, SPEED_VARIATION * base))[cells.column])
    by_size = [places[chosen[places]] for places in cells.by_size]
    share = np.array([hit[mine].mean() if len(mine) else 0.0 for mine in by_size])
    sizes = [size for size in timed if hit[by_size[size]].sum() >= FEWEST_SAMPLES]
    if len(sizes) < 2 or share[timed].max() < LEAST_SHARE:
        return None
    if min((~hit[by_size[size]]).sum() for size in timed) < FEWEST_SAMPLES:
        return None
    added = np.array([np.median(ticks[mine[hit[mine]]]) for mine in (by_size[x] for x in sizes)])
    added -= base[sizes]
    rate = -np.log1p(-np.minimum(share[sizes], 0.999))
    longest = by_size[sizes[-1]]
    at_random = (
        _come_at_random(rate, added, base[sizes])
        and added[-1] > (base[last] - base[first]) / (k[last] - k[first])
        and _scattered(hit[mine := _in_order(cells, longest)], cells.row[mine])
    )
    if not at_random:
        return None
    number = np.array([len(by_size[size]) for size in sizes])
    hit |= chosen & (share > MOST_SHARE)[cells.column]
    before_last, at_last = (rate / base[sizes])[-2:]
    return Hits(
        samples=hit,
        moderately=hit & (ticks <= (base + REACH * float(np.median(added)))[cells.column]),
        length=base,
        per_tick=float(number @ rate / (number @ base[sizes])),
        most=float(share[timed].max()),
        steady=bool(before_last > LEAST_STEADY * at_last),
    )


def _not_hit(base: Floats, k: Floats, timed: Integers, least: float) -> Floats:
    """The length of a sample that was not hit at each batch size, from the lower quartiles `base`.

    If most samples of the largest sizes were hit, the smaller sizes predict their length.
    """
    base, first = base.copy(), timed[0]
    for before, size in itertools.pairwise(timed[1:]):
        slope = (base[before] - base[first]) / (k[before] - k[first])
        predicted = base[first] + slope * (k[size] - k[first])
        # Half, because a quartile may lie between a sample that was hit and one that was not.
        if base[size] > predicted + max(least / 2, SPEED_VARIATION * predicted):
            base[size] = predicted
    return base


def _come_at_random(rate: Floats, added: Floats, length: Floats) -> bool:
    """Whether hits come more often in long samples, and add about the same to short ones.

    `rate` (hits of a sample), `added` (by the median hit) and `length` (of a sample that was not
    hit) are by batch size, for sizes that have hits.
    """
    # How many hits a sample met that was hit at all, on average (Poisson).
    met = rate / -np.expm1(-rate)
    each = added / met
    # A delay that belongs to the work grows in proportion to it; an interruption does not.
    grows = each[0] <= (0.8 * length[0] / length[-1]) ** 0.5 * each[-1]
    more_often = _misfit(rate, length) < _misfit(rate, np.ones(len(rate)))
    return bool(length[0] < 0.7 * length[-1]) and not grows and more_often


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
