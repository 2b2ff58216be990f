"""Find the intervals that were interrupted, where too many were for the quartiles to tell.

Interrupts, a hypervisor that takes the CPU for a moment, other programs: they come so many times a
second and add about as much each time, so that the longer an interval is, the likelier one fell
into it. As long as that is less than a quarter of the intervals of a batch size, the fence of the
estimate leaves them out. On one busy host the hypervisor took 5 µs every 70 µs: of intervals of
6 µs a tenth was hit, of those of 45 µs more than half, and their mean lay 9 % off the line.

What else makes some intervals longer is no interruption, and stays: modes of the operation hit long
and short intervals alike, or add in proportion to their length; a neighbour or a change of the
clock's speed meets many intervals in a row.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from labs.recording import Integers, Numbers, Samples

Bools = NDArray[np.bool_]

#: Below this share of hit intervals, at the longest batch size, the fence does by itself.
LEAST_SHARE = 0.2

#: An interruption takes that long at least, in ns: into the OS kernel or the hypervisor, and back.
#: What is shorter is the clock's step, or something of the core's own.
LEAST_NS = 500.0

#: Hit intervals that a batch size needs for what they took more to be known.
FEWEST_HITS = 5

#: Samples in a row, of one process and batch size, whose share of hits is compared with others'.
IN_A_ROW = 25


@dataclass(frozen=True, eq=False)
class _Size:
    """The samples of one batch size, in the order taken: which were hit, in ticks how long the
    others were, and what the hit ones took more."""

    hit: Bools
    length: float
    more: float

    @property
    def share(self) -> float:
        return float(self.hit.mean())

    @property
    def rate(self) -> float:
        """Interruptions an interval, were they to come at random (Poisson)."""
        return -float(np.log1p(-min(self.share, 0.999)))


def find(samples: Samples) -> Bools:
    """Which samples of one variant were interrupted, shape (n,); none where there were few.

    A batch size of which three quarters and more were hit cannot be told apart.
    """
    none = np.zeros(len(samples), dtype=np.bool_)
    order = np.lexsort((samples.sample, samples.process))
    places = [order[samples.batch[order] == size] for size in np.unique(samples.batch)]
    step = samples.clock.coarseness
    every = [_size(samples.ticks[place], step) for place in places]
    timed = [each for each, place in zip(every, places, strict=True) if samples.batch[place[0]] > 0]
    if len(timed) < 2 or not _are_interruptions(timed, LEAST_NS * samples.clock.ticks_in("ns")):
        return none
    most = max(timed, key=lambda each: each.share)
    place = next(place for place, each in zip(places, every, strict=True) if each is most)
    if not _scattered(most.hit, samples.process[place]):
        return none
    for place, each in zip(places, every, strict=True):
        none[place] = each.hit
    return none


def _size(ticks: Numbers, step: int) -> _Size:
    """The lower half of the samples tells how long an interval is, and how much it varies."""
    low, base = np.percentile(ticks, [5, 25])
    hit: Bools = ticks > base + max(6 * (base - low), 3 * step)
    more = float(np.median(ticks[hit])) - float(base) if hit.any() else 0.0
    return _Size(hit, float(base), more)


def _are_interruptions(timed: list[_Size], least_ticks: float) -> bool:
    """Whether long intervals were hit more often than short ones, but no harder."""
    most = max(timed, key=lambda each: each.share)
    if most.share < LEAST_SHARE or most.more < least_ticks or not _ever_more(timed):
        return False
    known = [each for each in timed if each.length > 0 and each.hit.sum() >= FEWEST_HITS]
    shorter = [each for each in known if each.length < 0.7 * most.length]
    if not shorter:
        return False
    least = min(shorter, key=lambda each: each.length)
    # Of interruptions a long interval may meet several; what is part of the work grows like it.
    no_harder = least.more > (0.8 * least.length / most.length) ** 0.5 * most.more
    return no_harder and _misfit(known, grows=True) < _misfit(known, grows=False)


def _ever_more(timed: list[_Size]) -> bool:
    """Whether no batch size was hit less often than the one before it, but for chance."""
    return all(
        after.share > before.share - 2 * (before.share / len(before.hit)) ** 0.5
        for before, after in itertools.pairwise(timed)
    )


def _misfit(sizes: list[_Size], *, grows: bool) -> float:
    """How badly the rates fit one that `grows` with the length of the interval, or a constant."""
    rate = np.array([each.rate for each in sizes])
    hits = np.array([float(each.hit.sum()) for each in sizes])
    model = np.array([each.length for each in sizes]) if grows else np.ones(len(sizes))
    # A count of hits that come at random varies by its square root.
    weight = hits / rate**2
    factor = float(np.sum(weight * rate * model) / np.sum(weight * model**2))
    return float(np.sum(weight * (rate - factor * model) ** 2))


def _scattered(hit: Bools, process: Integers) -> bool:
    """Whether hits come one by one, as interruptions do, and not many in a row."""
    rows = [
        float(row.mean())
        for each in np.unique(process)
        for row in np.array_split(hit[process == each], max(1, (process == each).sum() // IN_A_ROW))
    ]
    share = float(hit.mean())
    return float(np.var(rows)) < 0.4 * share * (1 - share)
