"""Which samples of a variant count, and why the others do not.

Three things lengthen a sample and are not the operation's cost. Another program can use the same
physical core for a while: the other hardware thread of a core takes about half of it. Another
program can have the CPU itself in the middle of a long sample, which the C kernel knows from the
CPU time of its tasks. And an interruption, which is rare, puts a sample far from the others. What
the operation itself does now and then belongs to its cost, and stays.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from labs.analysis import thresholds as t
from labs.analysis.arrays import Bools, Floats
from labs.analysis.cells import Cells
from labs.recording import core_rounds
from labs.recording.file import Integers, Recording, Samples
from labs.recording.memo import memoized
from labs.recording.preempted import preempted

#: The independent additions of a round (kernels_c/core_rounds.h).
ADDITIONS_IN_ROUND = 16_384


@dataclass(frozen=True, eq=False)
class Kept:
    """How much each sample counts, and why it counts less than 1.

    `weight`, `shared` (taken on a shared core) and `preempted` have the shape (n,). A sample that
    counts less than 1 for none of these reasons was far from the others, or of a batch size that
    says little. `always`
    says that the core was shared all the time. Then no sample is set aside for it, and the cost on
    a whole core is at most what the samples show.
    """

    weight: Floats
    shared: Bools
    preempted: Bools
    always: bool


@dataclass(frozen=True)
class Core:
    """What the core did at its best in a run: additions and stores in a cycle (None: not counted).

    `always_shared` says that it never was a whole core, as far as the run can show. A round took
    `round_steps` steps of the counter.
    """

    additions: float
    stores: float | None
    always_shared: bool
    round_steps: float


@memoized
def core_of(recording: Recording) -> Core | None:
    """The core of a run at its best; None if the recording has no usable rounds.

    The best number is one that some rounds of this run reached. Nothing from outside the run
    decides, so a core that was shared from the first sample to the last shows only by its absolute
    width.
    """
    additions = _best(recording, core_rounds.ADDITIONS)
    cycle = recording.number("core_cycle_ticks") or 0.0
    if additions is None or not 0 < additions <= core_rounds.MOST_WIDTH:
        return None
    steps = (
        ADDITIONS_IN_ROUND * cycle / additions / max(recording.number("counter.step") or 1.0, 1.0)
    )
    narrow = additions < t.LEAST_ADDITIONS and "x86_64" in recording.conditions.get("os", "x86_64")
    return Core(additions, _best(recording, core_rounds.STORES), narrow, steps)


def _best(recording: Recording, counted: str) -> float | None:
    rounds = np.fromiter(itertools.chain(*core_rounds.by_round(recording, counted)), np.float64)
    return float(np.quantile(rounds, 1 - t.BEST_ROUNDS)) if len(rounds) else None


def kept_samples(recording: Recording, samples: Samples, cells: Cells) -> Kept:
    """Which of `samples`, all of one variant, count; `cells` are their cells."""
    shared, always = _shared(recording, samples, cells.step / samples.clock.coarseness)
    lost = preempted(recording, samples) & ~shared
    chosen = ~shared & ~lost
    low = cells.lower_quartiles(chosen)
    # A cell without a sample counts as infinitely long, and so does a size with few cells.
    length = np.median(np.where(np.isnan(low), np.inf, low), axis=0)
    beyond = np.nan_to_num(cells.ticks - low[cells.row, cells.column])
    tick_s = 1 / samples.clock.frequency_hz
    gaps = recording.number("cpu.gaps_per_s")
    rate = t.AS_OFTEN * max(gaps or 0.0, t.TIMER_PER_S)
    # A sample may be a step longer than its reading.
    by_chance = -np.expm1(-rate * tick_s * (length + cells.step))
    reach = _reach(cells, np.abs(beyond), chosen, by_chance)
    far = chosen & (np.abs(beyond) > reach[cells.column])
    every = np.bincount(cells.column[chosen], minlength=len(length))
    share = np.bincount(cells.column[far], minlength=len(length)) / np.maximum(every, 1)
    timed = (cells.batch > 0) & (every > 0)
    # The two shortest sizes count always: a line needs two.
    useless = timed & (share > t.MANY_FAR) & (np.cumsum(timed) > 2)
    weight = (chosen & ~far).astype(np.float64)
    if gaps is not None:
        explained = by_chance / np.maximum(share, 1e-9)
        often = (share >= t.OWN_DELAYS) & (explained < t.MANY_FAR) & (cells.batch > 0)
        own = _own_delays(cells, beyond, far, np.flatnonzero(often), length)
        weight[own] = (1 - explained)[cells.column[own]]
    weight[useless[cells.column]] = 0.0
    return Kept(weight, shared, lost, always)


def _shared(recording: Recording, samples: Samples, coarser: float) -> tuple[Bools, bool]:
    """The samples that were taken on a shared core, shape (n,), and whether it was so always.

    A sample counts as taken on a whole core if the core was whole in the rounds before and after
    it. A process of which too little is left does not count at all, and if too little of the run is
    left, the core was shared always. `coarser` is the real step of the counter divided by the step
    that it declares.
    """
    none = np.zeros(len(samples), dtype=np.bool_)
    core = core_of(recording)
    if core is None or core.round_steps < t.LEAST_STEPS_IN_ROUND * coarser:
        return none, False
    if core.always_shared:
        return none, True
    shared = none
    for counted, best in (
        (core_rounds.ADDITIONS, core.additions),
        (core_rounds.STORES, core.stores),
    ):
        around = core_rounds.around(recording, samples, core_rounds.by_round(recording, counted))
        if best and around is not None:
            shared = shared | (np.minimum(*around) < t.WHOLE_CORE * best)
    every, left = (np.bincount(samples.process[each]) for each in (~none, ~shared))
    left = np.pad(left, (0, len(every) - len(left)))
    whole = left >= np.maximum(t.LEAST_KEPT * every, 1)
    if (
        whole.sum() < min(t.FEWEST_WHOLE, (every > 0).sum())
        or left[whole].sum() < t.LEAST_KEPT * every.sum()
    ):
        return none, True
    return shared | ~whole[samples.process], False


def _reach(cells: Cells, away: Floats, chosen: Bools, by_chance: Floats) -> Floats:
    """How far from the lower quartile a sample may lie, by batch size, in ticks."""
    usual = np.array(
        [
            float(np.median(mine)) if len(mine := away[chosen & (cells.column == size)]) else 0.0
            for size in range(cells.shape[1])
        ]
    )
    reach = np.maximum(t.REACH * usual, t.NEAR_STEPS * cells.step)
    for size in np.flatnonzero(by_chance >= t.MANY_FAR):
        if size > 0:  # most samples were interrupted, so their own spread says nothing
            reach[size] = min(reach[size], reach[size - 1])
    # A delay that all sizes meet alike must be kept at all of them or set aside at all.
    timed = cells.batch > 0
    if timed.any():
        reach[timed] = np.maximum(reach[timed], np.median(reach[timed]))
    return reach


def _own_delays(cells: Cells, beyond: Floats, far: Bools, sizes: Integers, length: Floats) -> Bools:
    """The far samples that the operation itself may have lengthened, shape (n,).

    `sizes` are the batch sizes of which interruptions alone explain less than half of the far
    samples. Something that the operation does now and then adds about the same time to short and
    long samples. A second speed of the core adds in proportion to the length, and the time slices
    of other programs differ among themselves.
    """
    none = np.zeros(len(far), dtype=np.bool_)
    if len(sizes) < 2:
        return none
    delays = [beyond[far & (cells.column == size)] for size in sizes]
    usual, most = (np.array([np.quantile(each, q) for each in delays]) for q in (0.5, 0.9))
    first, last = sizes[0], sizes[-1]
    longer = usual[-1] >= usual[0] * np.sqrt(length[last] / max(length[first], 1e-9))
    if longer or (usual <= 0).any() or (most > t.ALIKE * usual).any():
        return none
    limit = np.zeros(cells.shape[1])
    limit[sizes] = t.ALIKE * usual
    found: Bools = far & (beyond > 0) & (beyond <= limit[cells.column])
    return found
