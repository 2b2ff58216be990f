"""Which samples were taken while something else used the same physical core.

The other hardware thread of a core takes half of it: on one machine a procedure call took 2.4 times
as long, a system call 1.4 times, and a chain of dependent additions no longer at all. Each process
therefore counts, in rounds spread over its samples, how many independent additions the core does in
a cycle (kernels_c/core_rounds.h): 4 on that machine, and about 2 while the core was shared. Where a
recording has no such rounds and the timer is what is measured, stretches of time tell.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from labs.analysis.arrays import Bools, Floats
from labs.analysis.fits import fits
from labs.analysis.processes import SURE, apart
from labs.analysis.selection import Cells, near
from labs.recording import core_width
from labs.recording.file import Recording, Samples

#: A core that does less than this share of the additions that it can do is shared.
WHOLE = 0.9
#: A run that reached this share of the remembered width had the whole core for a while: beside
#: another thread it reached 0.69 at most.
UNSHARED = 0.8
#: A core that never does more additions in a cycle gives no evidence.
LEAST_WIDTH = 1.8
#: Independent additions in a round (kernels_c/core_rounds.h), and how many steps of the counter
#: they must take at least. A round is known to within a step. So the widths of two equal rounds of
#: n steps differ by (n - 1) / (n + 1) at most: 0.92 for 24, which is still a whole core.
ADDITIONS, LEAST_STEPS = 16_384, 24
#: Where its width is halved, no operation was seen to take more than 2.4 times as long.
WORST_POWER = 1.5
#: No core is shared by more hardware threads.
MOST_THREADS = 8
#: So many processes at least, each with such a share of its samples, must have had the whole core.
FEWEST_PROCESSES, LEAST_SHARE = 2, 0.1
#: Samples in one stretch of time, and how far groups of stretches must be apart for their spread.
STRETCH, APART = 50, 5.0


@dataclass(frozen=True, eq=False)
class Shared:
    """Which samples to set aside, shape (n,), and whether rounds (`evidence`) tell so.

    Where the core was shared `always`, none is: a sample then took at most 1 / `floor` times as
    long as it would have on a whole core.
    """

    while_shared: Bools
    evidence: bool
    always: bool = False
    floor: float = 1.0


def find(recording: Recording, samples: Samples, cells: Cells, about_overhead: bool) -> Shared:
    """What the recording says of `samples`, which are of one variant, and of their `cells`."""
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
    """For each sample the width of the core in the rounds before and after it, whichever was less,
    as a share of what the core can do; None where the recording does not tell. Shape (n,).

    It does not where a round lasts few steps of the counter, which are `coarser` by this factor
    than it declares: an emulator's clock of microseconds makes widths of its own.
    """
    widths = core_width.widths(recording)
    after = [_whole_numbers(text) for text in recording.condition("core_width.after")]
    count = len(recording.processes)
    # What is alike in all processes stands in the recording once.
    widths = widths * count if len(widths) == 1 else widths
    after = after * count if len(after) == 1 else after
    if not len(widths) == len(after) == count or any(
        len(one) != len(other) or not one for one, other in zip(widths, after, strict=True)
    ):
        return None
    reached = core_width.reached(recording) or 0.0
    best = max(reached, recording.number("core_width.best") or 0.0)
    # A round whose chain of additions was interrupted shows too great a width: one such run
    # left 4.77 in the memory where the core does 3.97.
    if reached >= UNSHARED * best:
        best = reached
    if not LEAST_WIDTH <= best <= core_width.MOST_WIDTH:
        return None
    round_ticks = ADDITIONS * (recording.number("core_cycle_ticks") or 0.0) / best
    if round_ticks < LEAST_STEPS * coarser * (recording.number("counter.step") or 1.0):
        return None
    least = np.ones(len(samples))
    by_process = np.argsort(samples.process.astype(np.int16), kind="stable")
    ends = np.cumsum(np.bincount(samples.process, minlength=count))
    for width, place, mine in zip(widths, after, np.split(by_process, ends[:-1]), strict=True):
        following = np.searchsorted(place, samples.sample[mine])
        around = np.array([width[0], *width, width[-1]])
        least[mine] = np.minimum(around[:-1], around[1:])[following] / best
    return least


def _whole_numbers(text: str) -> list[int]:
    """Ascending whole numbers; none where the text is anything else."""
    try:
        found = [int(word) for word in text.split() if len(word) < 12]
    except ValueError:
        return []
    return found if found == sorted(found) else []


def _slow_stretches(samples: Samples, cells: Cells) -> Bools:
    """Samples of stretches of time that a neighbour lengthened by a constant, shape (n,).

    Only what comes or goes within a process is a neighbour: processes that differ from first to
    last have another layout, and a trend makes no groups.
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
    fit = fits(cells, near(cells, cells.ticks, ~none))
    if cells.shape[0] < 4 or not ((fit.weight > 0).sum(axis=1) >= 2).all():
        return none
    kept, sure = apart(fit.intercept, fit.intercept_error)
    if sure < SURE:
        return none
    fast, slow = fit.intercept[kept], fit.intercept[~kept]
    if slow.mean() - fast.mean() < APART * max(fast.std(), slow.std() / 2):
        return none
    number = np.repeat(np.arange(len(last)), last)
    both = np.minimum(
        np.bincount(number[kept], minlength=len(last)),
        np.bincount(number[~kept], minlength=len(last)),
    )
    found: Bools = ~kept[stretch]
    return found if (both >= 2).any() else none
