"""The line T(k) = overhead + k * cost of a variant, made from a line for each process."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from labs.analysis import cpu_core
from labs.analysis import thresholds as t
from labs.analysis.confidence import Bools, ByProcess, CannotEstimate, Estimate, Floats, student_t
from labs.analysis.set_aside import Cells, Kept, cells_of, kept_samples, median, step_of
from labs.messages import Option
from labs.recording import declared
from labs.recording.file import Integers, Recording, Samples, memoized
from labs.units import Clock, rounded


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
    samples = cpu_core.at_one_speed(as_read, recording) if one_speed else as_read
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
        used=((weight > 0).sum(axis=1) >= 2) & (enough >= t.LEAST_KEPT * median(enough)),
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
