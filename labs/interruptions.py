"""Find the intervals that were interrupted, where too many were for the quartiles to tell.

Interrupts, a hypervisor that takes the CPU for a moment, other programs: they come so many times a
second and add about as much each time, so that the longer an interval is, the likelier one fell
into it. As long as that is less than a quarter of the intervals of a batch size, the fence of the
estimate leaves them out. On one busy host the hypervisor took 5 µs every 70 µs: of intervals of
6 µs a tenth was hit, of those of 45 µs more than half, and their mean lay 9 % off the line.

What else makes some intervals longer is no interruption, and stays: modes of the operation hit long
and short intervals alike, or add in proportion to their length; now and then an operation takes a
way that is some times as long; a neighbour or a change of the clock's speed meets many intervals in
a row.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from labs.recording import Integers, Numbers, Samples

Bools = NDArray[np.bool_]

#: Below this share of hit intervals, at the longest batch size, the fence does by itself.
LEAST_SHARE = 0.2

#: Of a batch size of which more than this share was hit, too few samples are left.
MOST_SHARE = 0.9

#: From this share of hits on, foretold by shorter batch sizes, a longer one tells nothing itself.
LEAST_FORETOLD = 0.6

#: An interruption takes that long at least, in ns: into the OS kernel or the hypervisor, and back.
#: What is shorter is the clock's step, or something of the core's own.
LEAST_NS = 1000.0

#: And so many operations: what an operation takes more now and then is less, and its own.
LEAST_OPERATIONS = 10.0

#: By this share of its length an interval may vary with the speed of the core, uninterrupted.
LEAST_OF_LENGTH = 0.05

#: Hit intervals that a batch size needs for what they took more to be known.
FEWEST_HITS = 5

#: Samples in a row, of one process and batch size, whose share of hits is compared with others'.
IN_A_ROW = 25


@dataclass(frozen=True, eq=False)
class _Size:
    """The samples of one batch size, in the order taken, and their `place` among all; `hit` tells
    which were interrupted. The others last `length` ticks, and `reach` more at most."""

    batch: int
    place: Integers
    ticks: Numbers
    length: float
    reach: float

    @property
    def hit(self) -> Bools:
        found: Bools = self.ticks > self.length + self.reach
        return found

    @property
    def more(self) -> float:
        """What the interrupted samples took more, in ticks."""
        hit = self.hit
        return float(np.median(self.ticks[hit])) - self.length if hit.any() else 0.0

    @property
    def share(self) -> float:
        return float(self.hit.mean())

    @property
    def rate(self) -> float:
        """Interruptions an interval, were they to come at random (Poisson)."""
        return -float(np.log1p(-min(self.share, 0.999)))


def find(samples: Samples) -> Bools:
    """Which samples of one variant were interrupted, shape (n,); none where there were few.

    Of a batch size of which more than nine in ten were hit, all are said to have been.
    """
    hit = np.zeros(len(samples), dtype=np.bool_)
    every = _sizes(samples)
    timed = [each for each in every if each.batch > 0]
    # The longest may have been hit so often that their lower half tells nothing; shorter ones do.
    for count in range(len(timed), 1, -1):
        told, untold = timed[:count], timed[count:]
        if not _are_interruptions(told) or not _scattered(told, samples.process):
            continue
        beyond = [_as_foretold(each, told) for each in untold]
        known = [each for each in beyond if each is not None]
        if len(known) < len(untold):
            continue
        for each in (*(each for each in every if each.batch == 0), *told, *known):
            hit[each.place] = each.hit if each.share <= MOST_SHARE else True
        break
    return hit


def _sizes(samples: Samples) -> list[_Size]:
    """Every batch size: the lower half tells how long an interval is, and how much it varies."""
    order = np.lexsort((samples.sample, samples.process))
    found: list[_Size] = []
    least = max(3 * samples.clock.coarseness, LEAST_NS * samples.clock.ticks_in("ns"))
    for batch in np.unique(samples.batch).tolist():
        place = order[samples.batch[order] == batch]
        low, base = np.percentile(samples.ticks[place], [5, 25])
        if not found:
            least = max(least, 6 * float(base - low))
        reach = max(least, LEAST_OF_LENGTH * float(base))
        found.append(_Size(batch, place, samples.ticks[place], float(base), reach))
    return found


def _as_foretold(size: _Size, told: list[_Size]) -> _Size | None:
    """A longer batch size, its length as the line through `told` has it; None where hits so often
    are not to be expected, or no sample lies there."""
    last = told[-1]
    length = last.length + _operation(told) * (size.batch - last.batch)
    reach = max(last.reach, LEAST_OF_LENGTH * length)
    expected = 1 - math.exp(-last.rate * length / last.length)
    clean = np.abs(size.ticks - length) <= reach
    if expected < LEAST_FORETOLD or clean.sum() < FEWEST_HITS:
        return None
    return replace(size, length=length, reach=reach)


def _operation(sizes: list[_Size]) -> float:
    """What an operation takes, in ticks, by the shortest and the longest of these batch sizes."""
    first, last = sizes[0], sizes[-1]
    return (last.length - first.length) / (last.batch - first.batch)


def _are_interruptions(timed: list[_Size]) -> bool:
    """Whether long intervals were hit more often than short ones, but no harder."""
    most = max(timed, key=lambda each: each.share)
    if most.share < LEAST_SHARE or most.more < LEAST_OPERATIONS * _operation(timed):
        return False
    if not _ever_more(timed):
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


def _scattered(timed: list[_Size], process: Integers) -> bool:
    """Whether hits come one by one, as interruptions do, and not many in a row."""
    most = max(timed, key=lambda each: each.share)
    hit, made_by = most.hit, process[most.place]
    rows = [
        float(row.mean())
        for each in np.unique(made_by)
        for row in np.array_split(hit[made_by == each], max(1, (made_by == each).sum() // IN_A_ROW))
    ]
    share = most.share
    return float(np.var(rows)) < 0.4 * share * (1 - share)
