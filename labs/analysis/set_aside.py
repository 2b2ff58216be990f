"""Which samples of a variant count, and which are set aside: shared, preempted, or far away.

They are sorted into cells first: a row for each process, a column for each batch size.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from labs.analysis import thresholds as t
from labs.analysis.confidence import Bools, Floats
from labs.analysis.cpu_core import core_of
from labs.analysis.thresholds import PARTS
from labs.recording import run_conditions
from labs.recording.file import Integers, Recording, Samples, numbered
from labs.recording.run_conditions import preempted

# Sort the samples of a variant into cells: a row for each process, a column for each batch size.


@dataclass(frozen=True, eq=False)
class Cells:
    """The samples of one variant by process and batch size. A cell is one process and one size.

    `ticks`, `row` (the index of its process in `processes`) and `column` (the index of its batch
    size in `batch`) have the shape (n,). `step` is the step of the counter in ticks, as the counter
    declares it or as the samples show it.
    """

    ticks: Floats
    row: Integers
    column: Integers
    processes: Integers
    batch: Integers
    step: float

    @property
    def shape(self) -> tuple[int, int]:
        """The number of processes and the number of batch sizes."""
        return len(self.processes), len(self.batch)

    @cached_property
    def cell(self) -> Integers:
        """The number of the cell of each sample, counted row by row; shape (n,)."""
        number: Integers = self.row * self.shape[1] + self.column
        return number

    def sums(self, weight: Floats) -> Floats:
        """The sum of `weight`, shape (n,), over each cell; the result has the shape `shape`."""
        found = np.bincount(self.cell, weight, self.shape[0] * self.shape[1])
        return found.astype(np.float64).reshape(self.shape)

    def lower_quartiles(self, chosen: Bools) -> Floats:
        """The lower quartile of the chosen samples of each cell, NaN without one; shape `shape`."""
        # One sort of integers is enough: the upper bits hold the cell, the lower bits the ticks.
        eighths = np.clip(self.ticks[chosen] * 8, 0, 2.0**43).astype(np.int64)
        cell = self.cell[chosen]
        ordered = np.sort((cell << 44) | eighths) & ((1 << 44) - 1)
        count = np.bincount(cell, minlength=self.shape[0] * self.shape[1])
        place = np.minimum(np.cumsum(count) - count + (count - 1) // 4, max(len(ordered) - 1, 0))
        found = np.full(len(count), np.nan)
        found[count > 0] = ordered[place[count > 0]] / 8
        return found.reshape(self.shape)


def cells_of(samples: Samples, step: float) -> Cells:
    """The cells of these samples, seen by a counter with this `step` in ticks.

    If all samples come from one process, parts of it in time stand for processes.
    """
    process = samples.process
    if len(process) and (process == process[0]).all():
        place = np.argsort(np.argsort(samples.sample, kind="stable"), kind="stable")
        process = place * PARTS // len(process)
    processes, row = numbered(process)
    batch, column = numbered(samples.batch)
    return Cells(samples.ticks.astype(np.float64), row, column, processes, batch, step)


def step_of(samples: Samples) -> float:
    """The step of the clock in ticks: the declared step, or a longer one if the samples show it.

    They show it by their greatest common divisor. They also show it if all of them lie next to the
    multiples of a step that is no whole number of ticks. For example, an emulator may count
    microseconds and declare 62.5 MHz. Some processors count 100 MHz and state more: the OS reads
    20, 21, 29, 30 or 31 ns. There, the multiples of a long sample are not known well enough.
    """
    ticks = np.unique(samples.ticks[:1000])
    shown = float(np.gcd.reduce(ticks.astype(np.int64), initial=0))
    # A level is a run of values that lie next to one another.
    first = np.flatnonzero(np.diff(ticks, prepend=-np.inf) > 2)
    count = np.diff(first, append=len(ticks))
    if len(first) > 1 and np.max(ticks[first + count - 1] - ticks[first]) <= 2:
        means = np.add.reduceat(ticks, first) / count
        least = float(np.diff(means).min())
        step = means[-1] / round(means[-1] / least)  # the longest gives it most precisely
        if np.all(np.abs(ticks - step * np.round(ticks / step)) <= 2):
            shown = max(shown, step)
        else:
            shown = max(shown, _step_of_short(ticks.astype(np.float64), means, least))
    return max(float(samples.clock.coarseness), shown)


def _step_of_short(ticks: Floats, levels: Floats, least: float) -> float:
    """The step next to whose multiples all short ones of `ticks` lie; 0 if there is none.

    `least` is the least distance of two `levels`, which is within 2 ticks of the step.
    """
    short = ticks[ticks <= t.SHORT_STEPS * least]
    if len(short) < t.FEWEST_LEVELLED or least < t.LEAST_LEVEL:
        return 0.0
    longest = float(levels[levels <= short[-1]][-1])
    steps = longest / np.arange(np.ceil(longest / (least + 2)), longest / (least - 2))
    beside = np.abs(short[:, None] - steps * np.round(short[:, None] / steps))
    fitting = steps[(beside <= 2).all(axis=0)]
    return float(fitting[0]) if len(fitting) else 0.0


# Decide which samples count.
#
# Three things lengthen a sample and are not the operation's cost. Another program can use the same
# physical core for a while: the other hardware thread of a core takes about half of it. Another
# program can have the CPU itself in the middle of a long sample, which the C kernel knows from the
# CPU time of its tasks. An interruption, which is rare, puts a sample far from the others. What the
# operation itself does now and then belongs to its cost, and stays.


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


def kept_samples(
    recording: Recording, samples: Samples, cells: Cells, *, also_shared: bool = False
) -> Kept:
    """Which of `samples`, all of one variant, count; `cells` are their cells.

    With `also_shared`, those that were taken on a shared core count too.
    """
    shared, always = np.zeros(len(samples), dtype=np.bool_), False
    if not also_shared:
        shared, always = _shared(recording, samples, cells.step / samples.clock.coarseness)
    lost = preempted(recording, samples.variant) & ~shared
    chosen = ~shared & ~lost
    low = cells.lower_quartiles(chosen)
    # A cell without a sample counts as infinitely long, and so does a size with few cells.
    length = median(np.where(np.isnan(low), np.inf, low))
    beyond = np.nan_to_num(cells.ticks - low.ravel()[cells.cell])
    tick_s = 1 / samples.clock.frequency_hz
    gaps = run_conditions.gaps_per_cpu_s(recording)
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
        # So weighted, the far samples are the share that interruptions alone do not explain.
        stay = (1 - explained) * (1 - share) / (1 - share + share * explained)
        weight[own] = stay[cells.column[own]]
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
        (run_conditions.ADDITIONS, core.additions),
        (run_conditions.STORES, core.stores),
    ):
        around = run_conditions.rounds_around(
            recording, samples, run_conditions.core_rounds(recording, counted)
        )
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


def median(values: Floats) -> Floats:
    """The median along the first axis. Of so few values, `np.median` takes five times as long."""
    ordered = np.sort(values, axis=0)
    middle: Floats = (ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) / 2
    return middle


def _reach(cells: Cells, away: Floats, chosen: Bools, by_chance: Floats) -> Floats:
    """How far from the lower quartile a sample may lie, by batch size, in ticks."""
    near, column = away[chosen], cells.column[chosen]
    usual = np.array(
        [
            float(median(mine)) if len(mine := near[column == size]) else 0.0
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
        reach[timed] = np.maximum(reach[timed], median(reach[timed]))
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
    # Quantiles that are delays: what lies between two of them would make any two delays alike.
    usual = np.array([np.quantile(each, 0.5, method="lower") for each in delays])
    most = np.array([np.quantile(each, 0.9, method="higher") for each in delays])
    first, last = sizes[0], sizes[-1]
    longer = usual[-1] >= usual[0] * np.sqrt(length[last] / max(length[first], 1e-9))
    unlike = (most > t.DELAYS_ALIKE * usual).any() or usual.max() > t.DELAYS_ALIKE * usual.min()
    if longer or unlike or (usual <= 0).any():
        return none
    limit = np.zeros(cells.shape[1])
    limit[sizes] = t.DELAYS_ALIKE * most
    found: Bools = far & (beyond > 0) & (beyond <= limit[cells.column])
    return found
