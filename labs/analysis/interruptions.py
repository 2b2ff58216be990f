"""Samples that something lengthened now and then: an interruption, or the operation itself.

An interruption has nothing to do with the operation, so its samples are set aside. Something that
the operation does now and then belongs to its cost, and its samples stay. An example is the OS
kernel, which takes pages from its own list and fills that list after every so many page faults.

In the samples, the two look alike: both come at random, hit long samples more often, and add about
the same time to each. But interruptions also come if the operation does not run. Each process of a
run counts them for some milliseconds in which it only reads the clock. So nobody knows which of the
samples were interrupted, but it is known how many. That many are set aside, and the others stay. A
choice of all or none would be made differently in two runs of one operation: futex switches took
5,140 ticks in some runs and 4,240 in others, next to a host that interrupts 15,000 times a second.
"""

from __future__ import annotations

import statistics
from dataclasses import dataclass

import numpy as np

from labs.analysis import hits
from labs.analysis.arrays import Bools, Floats
from labs.analysis.cells import Cells
from labs.analysis.fits import Fits
from labs.recording.file import Recording

#: The limit `outliers.REACH` handles fewer interruptions than this share of a batch size.
LEAST_HIT = 0.15
#: Interruptions of samples are so many times as frequent as those that the processes count beside:
#: in 24 runs of 13 system calls, 1.25 times in the middle and 0.84 to 1.77 times at the ends. The
#: OS interrupts a CPU up to a thousand times per second, which a few milliseconds may miss.
AS_OFTEN, TIMER_PER_S = 1.5, 1000.0
#: A longer interruption puts its sample far from the others. More of the time is never taken by
#: shorter ones, whatever a recording states.
LONGEST_UNSEEN_NS, MOST_TAKEN = 10_000.0, 0.2


@dataclass(frozen=True, eq=False)
class Lengthened:
    """Which samples count as `interrupted`, and which met something of the operation's `own`.

    Both have the shape (n,), and no sample is in both.
    """

    interrupted: Bools
    own: Bools


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

    `beside` is what `counted_beside` says. If it is None, all of them count as interrupted. So they
    do if some add far more than others, or if the longest size was hit far more often than its
    length explains: in the recording of a procedure call, one sample in ten of the longest ran at
    half the speed, which is longer than the shortest interruption in samples of that size only.
    """
    none = np.zeros(len(ticks), dtype=np.bool_)
    found = hits.find(cells, ticks, chosen, ticks_in_ns)
    if found is None:
        return Lengthened(none, none)
    if beside is None or not (found.alike and found.steady):
        return Lengthened(found.samples if found.most >= LEAST_HIT else none, none)
    own = _own(cells, found, AS_OFTEN * max(beside, TIMER_PER_S) / (ticks_in_ns * 1e9))
    return Lengthened(found.samples & ~own, own)


def _own(cells: Cells, found: hits.Hits, interruptions: float) -> Bools:
    """As many of the samples that were hit as `interruptions` (per tick) do not explain.

    The shape is (n,). Interruptions and the operation's own delays come independently (Poisson), so
    a known share of the samples that were hit met no interruption. Those look like the others that
    were hit, and evenly spaced ones stand for them.
    """
    own = np.zeros(len(found.samples), dtype=np.bool_)
    of_operation = max(found.per_tick - interruptions, 0.0)
    for column, places in enumerate(cells.by_size):
        hit = places[found.moderately[places]]
        if cells.batch[column] <= 0 or len(hit) == 0:
            continue
        by_own, by_any = of_operation * found.length[column], found.per_tick * found.length[column]
        none_met = -np.expm1(-by_own) * np.exp(by_own - by_any) / -np.expm1(-by_any)
        left = np.floor(np.arange(len(hit) + 1) * none_met + 0.5)
        own[hit[np.diff(left) > 0]] = True
    return own


def unseen(
    recording: Recording, cells: Cells, fit: Fits, aside: Bools, ticks_in_ns: float
) -> float:
    """The largest share of the time of the samples in `fit` that interruptions may have taken.

    The processes count beside which share of the time interruptions take. The samples that were set
    `aside`, shape (n,), explain a part of it; the rest may be in the samples that count. Only short
    interruptions matter: a long one puts a sample far from the others. 0 if the recording does not
    state the share.
    """
    longest = LONGEST_UNSEEN_NS * ticks_in_ns
    shares, gaps = recording.numbers("cpu.taken"), recording.numbers("cpu.gaps_per_s")
    # If all processes counted the same, the recording holds it once.
    shares = shares * len(gaps) if len(shares) == 1 else shares
    gaps = gaps * len(shares) if len(gaps) == 1 else gaps
    if not shares or len(shares) != len(gaps):
        return 0.0
    most = (rate * LONGEST_UNSEEN_NS / 1e9 for rate in gaps)
    short = statistics.median(map(min, shares, most))
    taken = min(max(short, 0.0), MOST_TAKEN)
    usual, where = fit.mean * (fit.count > 0), np.flatnonzero(aside)
    in_place = usual.ravel()[cells.cell[where]]
    added = np.clip(cells.ticks[where] - in_place, 0, longest)[in_place > 0].sum()
    every = float((usual * fit.count).sum() + in_place.sum() + added)
    return max(taken - float(added) / every, 0.0) if every > 0 else 0.0
