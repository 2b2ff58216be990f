"""The line T(k) = overhead + k * cost of a variant: its cells, the samples that count, and the fit.

The run's line is made from a line for each of its processes.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from labs.analysis import core_clock
from labs.analysis import thresholds as t
from labs.analysis.estimates import Bools, ByProcess, CannotEstimate, Estimate, Floats, student_t
from labs.analysis.thresholds import PARTS
from labs.messages import Option
from labs.recording import declared, run_conditions
from labs.recording.file import Integers, Recording, Samples, memoized, numbered
from labs.recording.run_conditions import preempted
from labs.units import Clock, rounded

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
    additions = _best(recording, run_conditions.ADDITIONS)
    cycle = recording.number("core_cycle_ticks") or 0.0
    if additions is None or not 0 < additions <= run_conditions.MOST_WIDTH:
        return None
    steps = (
        ADDITIONS_IN_ROUND * cycle / additions / max(recording.number("counter.step") or 1.0, 1.0)
    )
    narrow = additions < t.LEAST_ADDITIONS and "x86_64" in recording.conditions.get("os", "x86_64")
    return Core(additions, _best(recording, run_conditions.STORES), narrow, steps)


def _best(recording: Recording, counted: str) -> float | None:
    rounds = np.fromiter(
        itertools.chain(*run_conditions.core_rounds(recording, counted)), np.float64
    )
    return float(np.quantile(rounds, 1 - t.BEST_ROUNDS)) if len(rounds) else None


def kept_samples(
    recording: Recording, samples: Samples, cells: Cells, *, also_shared: bool = False
) -> Kept:
    """Which of `samples`, all of one variant, count; `cells` are their cells.

    With `also_shared`, those that were taken on a shared core count too.
    """
    shared, always = np.zeros(len(samples), dtype=np.bool_), False
    if not also_shared:
        shared, always = _shared(recording, samples, cells.step / samples.clock.coarseness)
    lost = preempted(recording, samples) & ~shared
    chosen = ~shared & ~lost
    low = cells.lower_quartiles(chosen)
    # A cell without a sample counts as infinitely long, and so does a size with few cells.
    length = _median(np.where(np.isnan(low), np.inf, low))
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


def _median(values: Floats) -> Floats:
    """The median along the first axis. Of so few values, `np.median` takes five times as long."""
    ordered = np.sort(values, axis=0)
    middle: Floats = (ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) / 2
    return middle


def _reach(cells: Cells, away: Floats, chosen: Bools, by_chance: Floats) -> Floats:
    """How far from the lower quartile a sample may lie, by batch size, in ticks."""
    near, column = away[chosen], cells.column[chosen]
    usual = np.array(
        [
            float(_median(mine)) if len(mine := near[column == size]) else 0.0
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
        reach[timed] = np.maximum(reach[timed], _median(reach[timed]))
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


# Fit a line in each process, and make the line of the run from them.


@dataclass(frozen=True, eq=False)
class Points:
    """The points of a line in ticks, from the processes that are used; shape (batch sizes,).

    `location` is the mean of the kept samples at a batch size, `uncertainty` its standard error,
    and `residual` the location minus the line. `residual_error` is smaller than `uncertainty`,
    because an effect on all points of a process (its layout, its clock speed) cancels in it.
    """

    batch: Floats
    weight: Floats
    location: Floats
    uncertainty: Floats
    residual: Floats
    residual_error: Floats


@dataclass(frozen=True, eq=False)
class Line(Points):
    """The line of one variant, in ticks.

    `overhead` is the intercept and `cost` the slope. `straight` says whether all points lie on the
    line. `empty` is the empty sample, if batch size 0 was measured. It is not a point of the line,
    because there is no work that could overlap with the readings.

    `set_aside` counts the samples of each process that were set aside, shape (processes,), by
    reason: taken on a "shared" core, "preempted", or "far" from the others. `shared` says that the
    core was shared all the time: a whole core would give this `overhead` and `cost` or less.

    `far_between` says when the far samples were taken: four fifths of them lie between these two
    shares of their process. `drift` is what the figure, overhead or cost, is in the second half of
    each process minus what it is in the first half; None if the halves have too few samples.
    """

    variant: str
    clock: Clock
    overhead: Estimate
    cost: Estimate
    empty: Estimate | None
    straight: bool
    set_aside: Mapping[str, Integers]
    shared: bool
    far_between: tuple[float, float]
    drift: Estimate | None

    def share_set_aside(self, reason: str) -> float:
        """The share of the variant's samples that were set aside for this reason."""
        aside = sum(int(counts.sum()) for counts in self.set_aside.values())
        return float(self.set_aside[reason].sum()) / max(self.cost.n + aside, 1)

    def worst_point(self) -> tuple[int, float]:
        """The point with the largest residual, as a share of its value.

        Returns its index among the batch sizes and that share, which has the sign of the residual.
        """
        size = np.maximum(np.abs(self.location), self.clock.coarseness)
        place = int(np.abs(self.residual / size).argmax())
        return place, float(self.residual[place] / size[place])


@memoized
def fit_line(recording: Recording, variant: str, *, one_speed: bool = False) -> Line:
    """The line through all batch sizes above 0 of `variant`, in ticks.

    With `one_speed`, the ticks are converted to the run's median clock speed. This is for figures
    in core cycles.

    Raises CannotEstimate if there are fewer than two batch sizes or too few samples, and KeyError
    if the recording has no such variant. docs/measuring.md derives the method.
    """
    as_read = recording.samples(variant)
    samples = core_clock.at_one_speed(as_read, recording) if one_speed else as_read
    # The step must come from the ticks as read: after conversion to one speed, steps differ.
    cells = cells_of(samples, step_of(as_read))
    _demand_steps(variant, cells)
    if (sizes := int((cells.batch > 0).sum())) < 2:
        raise CannotEstimate(
            variant,
            "a line needs samples of two batch sizes above 0, these have {sizes}; measure with "
            "{option}, and with more samples ({also})",
            sizes=str(sizes),
            option=Option("batch", ("K1", "K2", "...")),
            also=Option("samples"),
        )
    kept = kept_samples(recording, samples, cells)
    fit = _fit(cells, kept)
    points = _points(cells, fit)
    if kept.shared.any() and _too_little(fit, points):
        # Too little of the run is left, so it counts as shared all the time.
        kept = replace(kept_samples(recording, samples, cells, also_shared=True), always=True)
        fit = _fit(cells, kept)
        points = _points(cells, fit)
    if _too_little(fit, points):
        raise CannotEstimate(
            variant,
            "other programs had the CPU during {lost} of {every} samples, and too few are left; "
            "measure again when the machine is quieter"
            if 2 * kept.preempted.sum() > len(samples)
            else "{samples} samples are too few for {sizes} batch sizes; raise {option}",
            samples=str(int(fit.count.sum())),
            sizes=str(cells.shape[1]),
            lost=f"{int(kept.preempted.sum()):,}",
            every=f"{len(samples):,}",
            option=Option("samples"),
        )
    return _line(recording, samples, cells, kept, fit, points)


def _too_little(fit: _Fit, points: Points) -> bool:
    """Whether a line cannot be made from what is left: of two processes, and of two sizes."""
    return bool(fit.used.sum() < 2 or len(points.batch) < 2)


def _line(
    recording: Recording, samples: Samples, cells: Cells, kept: Kept, fit: _Fit, points: Points
) -> Line:
    one_process = bool((samples.process == samples.process[0]).all())
    overhead, cost, empty = _estimates(recording, cells, fit, points, kept.always, one_process)
    if recording.conditions.get("turns"):
        every = _fit(cells, kept_samples(recording, samples, cells, also_shared=True))
        also = _estimates(recording, cells, every, points, kept.always, one_process)
        overhead, cost = (_beside_every(*each) for each in ((overhead, also[0]), (cost, also[1])))
    aside = kept.shared | kept.preempted
    far = np.where(aside, 0.0, 1 - kept.weight * fit.used[cells.row])
    place = samples.sample - samples.sample.min()
    place = place / max(place.max(), 1)
    first, last = np.quantile(place[far > 0], (0.1, 0.9)) if far.any() else (0.0, 1.0)
    about_overhead = declared.is_overhead(recording, samples.variant)
    return Line(
        **vars(points),
        variant=samples.variant,
        clock=samples.clock,
        overhead=overhead,
        cost=cost,
        empty=empty,
        straight=_is_straight(points, int(fit.used.sum()), cells.step),
        set_aside={
            why: np.bincount(samples.process, less, len(recording.processes)).round().astype(int)
            for why, less in (("shared", kept.shared), ("preempted", kept.preempted), ("far", far))
        },
        shared=kept.always,
        far_between=(float(first), float(last)),
        drift=None if one_process else _drift(cells, kept, place > 0.5, about_overhead),
    )


def _beside_every(each: Estimate, every: Estimate) -> Estimate:
    """The estimate that also knows the values of every process, those on a shared core too."""
    assert each.by_process is not None  # `_estimates` gives all of them
    return replace(each, by_process=replace(each.by_process, every=every.by_process))


def _estimates(
    recording: Recording, cells: Cells, fit: _Fit, points: Points, shared: bool, one_process: bool
) -> tuple[Estimate, Estimate, Estimate | None]:
    """The intercept, the slope and the empty sample, which is None if there is none."""
    used, run = fit.used, recording.__dict__.setdefault("run", object())
    # Parts of one process are no processes that took turns.
    turns = "" if one_process else recording.conditions.get("turns", "")

    def estimate(value: Floats, error: Floats, method: str, n: float, extra: float) -> Estimate:
        each = ByProcess(run, cells.processes[used], value[used], error[used], extra, turns=turns)
        count = 1 if one_process else int(used.sum())
        return Estimate(*each.estimate(), "ticks", method, round(n), count, each, shared)

    n, (of_intercept, of_slope) = float(fit.count[used].sum()), _misfit(points).tolist()
    sizes = ", ".join(f"{k:.0f}" for k in points.batch)
    method = f"of the line T(k) = overhead + k * cost over k = {sizes}"
    overhead = estimate(fit.intercept, fit.intercept_error, f"intercept {method}", n, of_intercept)
    cost = estimate(fit.slope, fit.slope_error, f"slope {method}", n, of_slope)
    count = fit.count[:, 0]
    if cells.batch[0] > 0 or not count[used].all():
        return overhead, cost, None
    error, name = (
        np.sqrt(fit.variance[0] / np.maximum(count, 1)),
        "mean of the empty sample (k = 0)",
    )
    return overhead, cost, estimate(fit.mean[:, 0], error, name, float(count[used].sum()), 0.0)


def _drift(cells: Cells, kept: Kept, late: Bools, about_overhead: bool) -> Estimate | None:
    """The figure in the second half of each process minus that in the first half, in ticks.

    `late`, shape (n,), marks the samples of the second halves. None if fewer than two processes
    have enough samples in both halves.
    """
    number = np.arange(2 * len(cells.processes))
    fit = _fit(replace(cells, row=2 * cells.row + late, processes=number), kept)
    value, error = fit.slope, fit.slope_error
    if about_overhead:
        value, error = fit.intercept, fit.intercept_error
    both = fit.used[::2] & fit.used[1::2]
    if both.sum() < 2:
        return None
    gained, errors = (value[1::2] - value[::2])[both], np.hypot(error[1::2], error[::2])[both]
    each = ByProcess(None, cells.processes[both], gained, errors)
    n, method = round(float(fit.count.sum())), "second half of each process minus its first half"
    return Estimate(*each.estimate(), "ticks", method, n, int(both.sum()))


def _demand_steps(variant: str, cells: Cells) -> None:
    """Raises CannotEstimate if the clock is too coarse to tell anything about these samples."""
    ticks, longest = cells.ticks, cells.ticks[cells.column == len(cells.batch) - 1]
    if not len(ticks):
        return  # that there are too few is said elsewhere
    alike = len(ticks) > 1 and bool((ticks == ticks[0]).all())
    # A shorter sample still tells how often it sees the clock advance, if it does so at all.
    seldom = longest.mean() < cells.step and (longest > 0).sum() < t.FEWEST_SAMPLES
    if alike or seldom:
        raise CannotEstimate(
            variant,
            "all {samples} samples are {ticks} ticks long, so this clock cannot distinguish them; "
            "use larger batch sizes ({option}), or a finer clock"
            if alike
            else "even the longest samples hardly ever last a step of this clock ({step} ticks); "
            "use larger batch sizes ({option}), or a finer clock",
            samples=f"{len(ticks):,}",
            ticks=rounded(float(ticks[0])),
            step=rounded(cells.step),
            option=Option("batch", ...),
        )


@dataclass(frozen=True, eq=False)
class _Fit:
    """A line for each process through the mean ticks of its cells.

    `intercept`, `slope`, their standard errors and `used` (whether the process has enough samples)
    have the shape (processes,). `mean`, `count` (each sample as much as it counts) and `weight` (0
    at batch size 0) have the shape (processes, batch sizes). `variance`, shape (batch sizes,), is
    that of a sample within its cell.
    """

    mean: Floats
    count: Floats
    weight: Floats
    variance: Floats
    intercept: Floats
    slope: Floats
    intercept_error: Floats
    slope_error: Floats
    used: Bools


def _fit(cells: Cells, kept: Kept) -> _Fit:
    """Least squares in each process, in ticks: a cell weighs as much as its samples count.

    The variance of a sample is pooled over all processes, because a single process has too few
    samples to know it well.
    """
    count = cells.sums(kept.weight)
    mean = cells.sums(kept.weight * cells.ticks) / np.maximum(count, 1e-9)
    from_mean = kept.weight * (cells.ticks - mean.ravel()[cells.cell]) ** 2
    freedom = np.maximum((count - (count > 0)).sum(axis=0), 1)
    variance = cells.sums(from_mean).sum(axis=0) / freedom + (0.1 * cells.step) ** 2
    weight, k = np.where(cells.batch > 0, count, 0.0), cells.batch.astype(np.float64)
    total = np.maximum(weight.sum(axis=1), 1e-9)[:, None]
    middle = (weight @ k)[:, None] / total
    across = np.maximum((weight * (k - middle) ** 2).sum(axis=1), 1e-9)[:, None]
    # How much the mean of each cell counts in the slope and in the intercept.
    in_slope = weight * (k - middle) / across
    in_intercept = weight / total - middle * in_slope
    of_mean, enough = variance / np.maximum(count, 1e-9), count.sum(axis=1)
    return _Fit(
        mean,
        count,
        weight,
        variance,
        intercept=(in_intercept * mean).sum(axis=1),
        slope=(in_slope * mean).sum(axis=1),
        intercept_error=np.sqrt((in_intercept**2 * of_mean).sum(axis=1)),
        slope_error=np.sqrt((in_slope**2 * of_mean).sum(axis=1)),
        used=((weight > 0).sum(axis=1) >= 2) & (enough >= t.LEAST_KEPT * _median(enough)),
    )


def _points(cells: Cells, fit: _Fit) -> Points:
    """The points at the batch sizes with enough samples."""
    used = fit.used
    enough = fit.count[used].sum(axis=0) >= t.FEWEST_SAMPLES
    on_line = np.flatnonzero((cells.batch > 0) & enough)
    k = cells.batch[on_line].astype(np.float64)
    mean = fit.mean[used][:, on_line]
    own = fit.intercept[used][:, None] + fit.slope[used][:, None] * k
    measured = fit.count[used][:, on_line] > 0
    number = np.maximum(measured.sum(axis=0), 1)
    off = np.where(measured, mean - own, 0)
    return Points(
        batch=k,
        weight=fit.weight[used].sum(axis=0)[on_line],
        location=np.where(measured, mean, 0).sum(axis=0) / number,
        uncertainty=_error(mean, measured, number),
        residual=off.sum(axis=0) / number,
        residual_error=_error(off, measured, number),
    )


def _error(values: Floats, measured: Bools, number: Integers) -> Floats:
    """The standard error of the mean of each column, over the processes that measured it."""
    away = np.where(measured, values - np.where(measured, values, 0).sum(axis=0) / number, 0)
    error: Floats = np.sqrt((away**2).sum(axis=0) / np.maximum(number - 1, 1) / number)
    return error


def _is_straight(points: Points, processes: int, step: float) -> bool:
    """Whether chance, the tolerance and the step of the counter explain every residual."""
    by_chance = 1.5 * student_t(processes - 1) * points.residual_error
    allowed = by_chance + t.ON_THE_LINE * np.abs(points.location) + 0.05 * step
    return bool(np.all(np.abs(points.residual) <= allowed))


def _misfit(points: Points) -> Floats:
    """The standard errors of intercept and slope that come from a misfit of the line; shape (2,).

    The mean square of the residuals is larger than their own errors explain. The difference counts
    as scatter of the points about the line, and is propagated through the fit.
    """
    k, weight = points.batch, points.weight
    freedom = len(k) - 2
    seen = float(weight @ points.residual**2)
    expected = float(weight @ points.residual_error**2)
    if freedom < 1 or seen <= t.MISFIT * expected:
        return np.zeros(2)
    design = np.stack([np.ones_like(k), k], axis=1) * np.sqrt(weight)[:, None]
    errors: Floats = np.sqrt(
        np.diag(np.linalg.inv(design.T @ design)) * (seen - expected) / freedom
    )
    return errors
