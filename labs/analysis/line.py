"""The line T(k) = overhead + k * cost of one variant, made from the lines of its processes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from labs.analysis.arrays import Bools, Floats
from labs.analysis.estimate import Estimate
from labs.analysis.outliers import FEWEST_SAMPLES
from labs.analysis.process_lines import ProcessLines, process_lines
from labs.analysis.processes import ByProcess, ratio
from labs.analysis.stack_effect import StackEffect
from labs.analysis.student_t import student_t
from labs.analysis.undisturbed_processes import TwoGroups, undisturbed
from labs.common.units import Clock
from labs.recording.file import Integers, Recording
from labs.recording.memo import memoized

#: A point counts as on the line if its residual is at most this share of its value.
LINE_TOLERANCE = 0.02
#: A misfit widens the interval if it is this many times what chance causes (an F test; a line has
#: few points).
MISFIT = 3.0


@dataclass(frozen=True, eq=False)
class Line:
    """The line of one variant, in ticks.

    `overhead` is the intercept and `cost` the slope. `ratio` is the intercept divided by the slope,
    in operations. `batch`, `location` (mean ticks of the steady samples at that batch size),
    `uncertainty` (its standard error) and `residual` (location minus the line) have the shape
    (batch sizes,). `straight` says whether all points lie on the line.

    `empty` is the empty sample, if batch size 0 was measured. It is not a point of the line,
    because there is no work that could overlap with the readings.

    `set_aside` counts the samples of each process that were set aside, shape (processes,), by
    reason: "shared" core, "interrupted", "far" from the others, or of a "process" that differs.
    `shared` says whether the core was shared all the time, as far as the recording shows.
    `two_groups` describes two groups of processes, if there are two. `by_stack` says how the cost
    depends on the place of the stack in a cache line, if it does.
    """

    variant: str
    clock: Clock
    overhead: Estimate
    cost: Estimate
    ratio: Estimate
    empty: Estimate | None
    batch: Floats
    location: Floats
    uncertainty: Floats
    residual: Floats
    straight: bool
    set_aside: Mapping[str, Integers]
    shared: bool
    two_groups: TwoGroups | None
    by_stack: StackEffect | None

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
    lines = process_lines(recording, variant, one_speed)
    found = undisturbed(recording, variant, one_speed, lines)
    fit, usable, counted = lines.fit, lines.usable, found.counted
    points = _points(lines, counted)
    run = recording.__dict__.setdefault("run", object())

    def by_process(value: Floats, error: Floats, extra: float = 0.0) -> ByProcess:
        """The values and errors of the usable processes; both arguments have one per process."""
        which = lines.cells.processes[usable], value[usable], error[usable]
        unseen = lines.unseen * abs(float(value[counted].mean()))
        return ByProcess(run, *which, found.group, found.sure, extra, lines.shared.floor, unseen)

    processes = int(counted.sum()) if lines.parts is None else 1
    n = int(fit.count[counted].sum())

    def estimate(what: ByProcess, method: str, n: int = n) -> Estimate:
        return Estimate(*what.estimate(), "ticks", method, n, processes, what)

    extra = _misfit(points)
    overheads = by_process(fit.intercept, fit.intercept_error, float(extra[0]))
    costs = by_process(fit.slope, fit.slope_error, float(extra[1]))
    in_operations = ratio(overheads, costs) or (0.0, -np.inf, np.inf)
    empty = None
    if lines.cells.batch[0] == 0 and fit.count[usable, 0].min() > 0:
        error = np.sqrt(fit.variance[0] / np.maximum(fit.count[:, 0], 1))
        empties = by_process(fit.mean[:, 0], error)
        of_these = int(fit.count[counted, 0].sum())
        empty = estimate(empties, "mean of the empty sample (k = 0)", of_these)
    sizes = ", ".join(f"{k:.0f}" for k in points.batch)
    method = f"of the line T(k) = overhead + k * cost over k = {sizes}"
    return Line(
        variant=variant,
        clock=lines.samples.clock,
        overhead=estimate(overheads, f"intercept {method}"),
        cost=estimate(costs, f"slope {method}"),
        ratio=Estimate(*in_operations, "operations", "intercept divided by slope", n, processes),
        empty=empty,
        batch=points.batch,
        location=points.location,
        uncertainty=points.uncertainty,
        residual=points.residual,
        straight=_is_straight(points, int(counted.sum())),
        set_aside=_set_aside(lines, counted, len(recording.processes)),
        shared=lines.shared.always,
        two_groups=found.two_groups,
        by_stack=found.by_stack,
    )


@dataclass(frozen=True, eq=False)
class _Points:
    """The points of a line, from the processes that count, in ticks; shape (batch sizes,).

    The fields are those of `Line`. `residual_error` is the standard error of the residuals. It is
    smaller than `uncertainty`, because an effect on all points of a process (its layout, its clock
    speed) cancels in the residuals.
    """

    batch: Floats
    weight: Floats
    location: Floats
    uncertainty: Floats
    residual: Floats
    residual_error: Floats


def _points(lines: ProcessLines, counted: Bools) -> _Points:
    """The points from the processes that are `counted`, at the sizes with enough samples."""
    fit, batch = lines.fit, lines.cells.batch
    on_line = np.flatnonzero((batch > 0) & (fit.count[counted].sum(axis=0) >= FEWEST_SAMPLES))
    k = batch[on_line].astype(np.float64)
    mean = fit.mean[counted][:, on_line]
    own = fit.intercept[counted][:, None] + fit.slope[counted][:, None] * k
    measured = fit.count[counted][:, on_line] > 0
    number = np.maximum(measured.sum(axis=0), 1)
    off = np.where(measured, mean - own, 0)
    return _Points(
        batch=k,
        weight=fit.weight[counted].sum(axis=0)[on_line],
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


def _is_straight(points: _Points, processes: int) -> bool:
    """Whether chance and the tolerance together explain every residual."""
    by_chance = 1.5 * student_t(processes - 1) * points.residual_error
    allowed = by_chance + LINE_TOLERANCE * np.abs(points.location)
    return bool(np.all(np.abs(points.residual) <= allowed))


def _misfit(points: _Points) -> Floats:
    """The standard errors of intercept and slope that come from a misfit of the line; shape (2,).

    The mean square of the residuals is larger than their own errors explain. The difference counts
    as scatter of the points about the line, and is propagated through the fit.
    """
    k, weight = points.batch, points.weight
    freedom = len(k) - 2
    seen = float(weight @ points.residual**2)
    expected = float(weight @ points.residual_error**2)
    if freedom < 1 or seen <= MISFIT * expected:
        return np.zeros(2)
    design = np.stack([np.ones_like(k), k], axis=1) * np.sqrt(weight)[:, None]
    errors: Floats = np.sqrt(
        np.diag(np.linalg.inv(design.T @ design)) * (seen - expected) / freedom
    )
    return errors


def _set_aside(lines: ProcessLines, counted: Bools, processes: int) -> dict[str, Integers]:
    """How many samples of each process do not count, by reason; each has the shape (processes,)."""
    shared, hit, chosen = lines.shared.while_shared, lines.hit, lines.chosen
    reasons = {
        "shared": shared,
        "interrupted": hit,
        "far": ~shared & ~hit & ~chosen,
        "process": chosen & ~counted[lines.cells.row],
    }
    of_process = lines.samples.process
    return {
        why: np.bincount(of_process[which], minlength=processes) for why, which in reasons.items()
    }
