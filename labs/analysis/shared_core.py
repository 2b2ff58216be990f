"""Which samples were taken while another program used the same physical core.

If the other hardware thread of a core is busy, it takes about half of the core. On one machine a
procedure call then took 2.4 times as long, a system call 1.4 times, and a chain of dependent
additions no longer at all. Therefore each process measures the width of the core: it counts how
many independent additions the core does in a cycle, in rounds spread over its samples
(kernels_c/core_rounds.h). On that machine there were 4, and about 2 while the core was shared. If a
recording has no such rounds and the timer is what is measured, slow stretches of time show it.

A thread that often waits for memory hides from the additions. On another machine snprintf() took
151 cycles alone, and 220 to 300 while the core was shared. In 20 % of the rounds in which it was
slow, the core did more than nine tenths of its additions. It did more than nine tenths of its
stores in 7 % (24,000 rounds).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from labs.analysis.arrays import Bools, Floats
from labs.analysis.cells import Cells
from labs.analysis.fits import fits
from labs.analysis.outliers import near_median
from labs.analysis.processes import SURE, two_groups
from labs.recording import core_rounds
from labs.recording.file import Recording, Samples

#: A core is shared if it does less than this share of the additions that it can do.
WHOLE = 0.9
#: A run that reached this share of what is remembered had the whole core for a while. Next to
#: another thread it reached 0.69 of the additions at most, and 0.85 of the stores.
UNSHARED = {core_rounds.ADDITIONS: 0.8, core_rounds.STORES: 0.9}
#: A core that never does more of them in a cycle gives no evidence.
LEAST = {core_rounds.ADDITIONS: 1.8, core_rounds.STORES: 0.9}
#: The independent additions in a round, or the stores (kernels_c/core_rounds.h), and the smallest
#: number of counter steps that a round must take. A round is known to within a step. So the widths
#: of two equal rounds of n steps differ by (n - 1) / (n + 1) at most: 0.92 for 24, a whole core.
OF_A_ROUND, LEAST_STEPS = 16_384, 24
#: An operation takes at most (1 / width) to this power times as long. With half the width, no
#: operation took more than 2.4 times as long; with three quarters of the stores, one took 1.6.
WORST_POWER = 1.7
#: The largest number of hardware threads in a core.
MOST_THREADS = 8
#: At least so many processes must have had the whole core, each for such a share of its samples.
FEWEST_PROCESSES, LEAST_SHARE = 2, 0.1
#: The samples in one stretch of time, and the least distance between two groups of stretches, as a
#: multiple of their spread.
STRETCH, STRETCHES_APART = 50, 5.0


@dataclass(frozen=True, eq=False)
class Shared:
    """Which samples to set aside, and whether the core was shared all the time.

    `while_shared`, shape (n,), marks the samples to set aside. `evidence` says whether the rounds
    of the recording show this. If the core was shared `always`, no sample is set aside: then each
    took at most 1 / `floor` times as long as it would have taken on a whole core.
    """

    while_shared: Bools
    evidence: bool
    always: bool = False
    floor: float = 1.0


def find(recording: Recording, samples: Samples, cells: Cells, about_overhead: bool) -> Shared:
    """Which of `samples`, all of one variant, were taken while the core was shared.

    `cells` are the cells of these samples. `about_overhead` says that the variant measures the
    overhead of the timer; only then slow stretches of time can replace missing rounds.
    """
    none = np.zeros(len(samples), dtype=np.bool_)
    least = _least_width(recording, samples, cells.step / samples.clock.coarseness)
    if least is None:
        return Shared(_slow_stretches(samples, cells) if about_overhead else none, evidence=False)
    shared = least < WHOLE
    rows = len(recording.processes)
    every, left = (
        np.bincount(samples.process[which], minlength=rows) for which in (~none, ~shared)
    )
    whole = left >= np.maximum(LEAST_SHARE * every, 1)
    if whole.sum() < min(FEWEST_PROCESSES, (every > 0).sum()):
        width = max(float(np.median(least)), 1 / MOST_THREADS)
        return Shared(none, True, True, width**WORST_POWER)
    return Shared(shared | ~whole[samples.process], evidence=True)


def _least_width(recording: Recording, samples: Samples, coarser: float) -> Floats | None:
    """The width of the core at each sample, as a share of what the core can do; shape (n,).

    The core has the width that its additions show, or its stores if they show less. None if the
    recording has no usable rounds of additions. `coarser` is the real step of the counter divided
    by the step that it declares.
    """
    additions = _least_share(recording, samples, core_rounds.ADDITIONS, coarser)
    if additions is None:
        return None
    stores = _least_share(recording, samples, core_rounds.STORES, coarser)
    return additions if stores is None else np.minimum(additions, stores)


def _least_share(
    recording: Recording, samples: Samples, counted: str, coarser: float
) -> Floats | None:
    """What was `counted` in a cycle at each sample, as a share of the most; shape (n,).

    This is the smaller share of the round before the sample and the round after it. None if the
    recording has no usable rounds, or if a round takes too few steps of the counter: an emulator
    that counts microseconds would give arbitrary shares.
    """
    widths = core_rounds.by_round(recording, counted)
    around = core_rounds.around(recording, samples, widths)
    if around is None:
        return None
    best = _best(recording, counted)
    if not LEAST[counted] <= best <= core_rounds.MOST_WIDTH:
        return None
    round_ticks = OF_A_ROUND * (recording.number("core_cycle_ticks") or 0.0) / best
    if round_ticks < LEAST_STEPS * coarser * (recording.number("counter.step") or 1.0):
        return None
    least: Floats = np.minimum(*around) / best
    return least


def _best(recording: Recording, counted: str) -> float:
    """The most that the core can do in a cycle; 0 if the recording does not tell."""
    reached = core_rounds.reached(recording, counted) or 0.0
    remembered = recording.number(f"{counted}.best") or 0.0
    # Older kits timed a chain of additions whose code was not in the caches yet, so the width was
    # too large: one run made the kit remember 4.77 for a core that does 3.97.
    return reached if reached >= UNSHARED[counted] * remembered else remembered


def _slow_stretches(samples: Samples, cells: Cells) -> Bools:
    """The samples in stretches of time that a neighbour lengthened by a constant, shape (n,).

    A neighbour must come or go within a process. A process that is slower from its first sample to
    its last has another layout, and a trend makes no groups.
    """
    none = np.zeros(len(samples), dtype=np.bool_)
    order = np.lexsort((samples.sample, samples.process))
    count = np.bincount(samples.process)
    count = count[count > 0]
    place = np.arange(len(samples)) - np.repeat(np.cumsum(count) - count, count)
    last = np.maximum(count // STRETCH, 1)
    within = np.minimum(place // STRETCH, np.repeat(last - 1, count))
    stretch = np.empty(len(samples), dtype=np.int64)
    stretch[order] = within + np.repeat(np.cumsum(last) - last, count)
    cells = cells.with_rows(stretch)
    fit = fits(cells, near_median(cells, cells.ticks, ~none))
    if cells.shape[0] < 4 or not ((fit.weight > 0).sum(axis=1) >= 2).all():
        return none
    kept, sure = two_groups(fit.intercept, fit.intercept_error)
    if sure < SURE:
        return none
    fast, slow = fit.intercept[kept], fit.intercept[~kept]
    if slow.mean() - fast.mean() < STRETCHES_APART * max(fast.std(), slow.std() / 2):
        return none
    number = np.repeat(np.arange(len(last)), last)
    both = np.minimum(
        np.bincount(number[kept], minlength=len(last)),
        np.bincount(number[~kept], minlength=len(last)),
    )
    found: Bools = ~kept[stretch]
    return found if (both >= 2).any() else none
