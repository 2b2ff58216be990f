"""Which samples were taken while another program used the same physical core.

If the other hardware thread of a core is busy, it takes about half of the core. On one machine a
procedure call then took 2.4 times as long, a system call 1.4 times, and a chain of dependent
additions no longer at all. Therefore each process measures the width of the core: it counts how
many independent additions the core does in a cycle, in rounds spread over its samples
(kernels_c/core_rounds.h). On that machine there were 4, and about 2 while the core was shared. If a
recording has no such rounds and the timer is what is measured, slow stretches of time show it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from labs.analysis.arrays import Bools, Floats
from labs.analysis.cells import Cells
from labs.analysis.fits import fits
from labs.analysis.processes import SURE, two_groups
from labs.analysis.selection import near_median
from labs.recording import core_width
from labs.recording.file import Recording, Samples

#: A core is shared if it does less than this share of the additions that it can do.
WHOLE = 0.9
#: A run that reached this share of the remembered width had the whole core for a while. Next to
#: another thread it reached 0.69 at most.
UNSHARED = 0.8
#: A core that never does more additions in a cycle gives no evidence.
LEAST_WIDTH = 1.8
#: The independent additions in a round (kernels_c/core_rounds.h), and the smallest number of
#: counter steps that a round must take. A round is known to within a step. So the widths of two
#: equal rounds of n steps differ by (n - 1) / (n + 1) at most: 0.92 for 24, still a whole core.
ADDITIONS, LEAST_STEPS = 16_384, 24
#: An operation takes at most (1 / width) to this power times as long. With half the width, no
#: operation took more than 2.4 times as long.
WORST_POWER = 1.5
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

    This is the smaller width of the round before the sample and the round after it. None if the
    recording has no usable rounds, or if a round takes too few steps of the counter: an emulator
    that counts microseconds would give arbitrary widths. `coarser` is the real step of the counter
    divided by the step that it declares.
    """
    widths = core_width.widths(recording)
    after = [_whole_numbers(text) for text in recording.condition("core_width.after")]
    count = len(recording.processes)
    # If all processes have the same values, the recording holds them once.
    widths = widths * count if len(widths) == 1 else widths
    after = after * count if len(after) == 1 else after
    if not len(widths) == len(after) == count or any(
        len(one) != len(other) or not one for one, other in zip(widths, after, strict=True)
    ):
        return None
    reached = core_width.reached(recording) or 0.0
    best = max(reached, recording.number("core_width.best") or 0.0)
    # If the chain of additions in a round was interrupted, the width is too large: one such run
    # made the kit remember 4.77 for a core that does 3.97.
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
    """Ascending whole numbers from a text; none if the text is anything else."""
    try:
        found = [int(word) for word in text.split() if len(word) < 12]
    except ValueError:
        return []
    return found if found == sorted(found) else []


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
