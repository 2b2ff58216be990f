"""The line T(k) = overhead + k * cost of one variant, made from the lines of its processes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from labs.analysis.arrays import Bools, Floats
from labs.analysis.estimate import Estimate
from labs.analysis.process_lines import ProcessLines, process_lines
from labs.analysis.processes import ByProcess, ratio
from labs.analysis.selection import FEWEST
from labs.analysis.student import student_t
from labs.analysis.undisturbed import Differ, undisturbed
from labs.common.units import Clock
from labs.recording.file import Integers, Recording
from labs.recording.memo import memoized

#: How far from the line a point may lie, as a share of its size, and still be said to be on it.
LINE_TOLERANCE = 0.02
#: A misfit widens the interval from this multiple on of what chance makes of it (F, 2 or 3 points).
MISFIT = 3.0


@dataclass(frozen=True, eq=False)
class Line:
    """The line of one variant, in ticks.

    `batch`, `location` (mean ticks of the steady samples at that batch size), `uncertainty` (its
    standard error) and `residual` (location less the line) have the shape (batch sizes,). `empty`
    is the interval with nothing in it, where batch size 0 was measured: it is not on the line's
    list, because work that is not there cannot overlap with the reading. `ratio` is the intercept
    in operations. `set_aside` counts the samples of each process of the run that were set aside, by
    reason: "shared" core, "interrupted", "far" from the others, "process" that differs. The core
    was `shared` all the time, as far as can be told, or not. `differ`: whether processes do.
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
    differ: Differ | None

    def share_aside(self, reason: str) -> float:
        """The share of the variant's samples that were set aside for this reason."""
        aside = sum(int(counts.sum()) for counts in self.set_aside.values())
        return float(self.set_aside[reason].sum()) / max(self.cost.n + aside, 1)

    def worst(self) -> tuple[int, float]:
        """The point that lies farthest off the line for its size: its place among the batch sizes,
        and by which share of its size."""
        size = np.maximum(np.abs(self.location), self.clock.coarseness)
        place = int(np.abs(self.residual / size).argmax())
        return place, float(self.residual[place] / size[place])


@memoized
def fit_line(recording: Recording, variant: str, *, one_speed: bool = False) -> Line:
    """The line through all batch sizes above 0 of `variant`, in ticks.

    With `one_speed`, in ticks as they would be had the core run at the run's median speed all the
    time: for figures in core cycles.

    Raises CannotEstimate where there are fewer than two batch sizes or too few samples, KeyError
    where the recording has no such variant.
    """
    lines = process_lines(recording, variant, one_speed)
    count = undisturbed(recording, variant, one_speed, lines)
    fit, usable, counted = lines.fit, lines.usable, count.counted
    points = _points(lines, counted)
    run = recording.__dict__.setdefault("run", object())

    def by_process(value: Floats, error: Floats, extra: float = 0.0) -> ByProcess:
        """What these processes give: one value each; shape (all processes,)."""
        which = lines.cells.processes[usable], value[usable], error[usable]
        return ByProcess(run, *which, count.group, count.sure, extra, lines.shared.floor)

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
        empty = estimate(empties, "mean of the empty interval (k = 0)", of_these)
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
        differ=count.differ,
    )


@dataclass(frozen=True, eq=False)
class _Points:
    """What the counted processes measured at each batch size that is on the line, in ticks.

    As in `Line`. `residual_error` is the residuals' own standard error: what moves all points of a
    process alike (its layout, the clock speed that it met) cancels in them. All have the shape
    (batch sizes,).
    """

    batch: Floats
    weight: Floats
    location: Floats
    uncertainty: Floats
    residual: Floats
    residual_error: Floats


def _points(lines: ProcessLines, counted: Bools) -> _Points:
    """The points of the processes that are `counted`, at the sizes with samples enough."""
    fit, batch = lines.fit, lines.cells.batch
    on_line = np.flatnonzero((batch > 0) & (fit.count[counted].sum(axis=0) >= FEWEST))
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
    """The standard error of each column's mean over the processes that measured it."""
    away = np.where(measured, values - np.where(measured, values, 0).sum(axis=0) / number, 0)
    error: Floats = np.sqrt((away**2).sum(axis=0) / np.maximum(number - 1, 1) / number)
    return error


def _is_straight(points: _Points, processes: int) -> bool:
    """Whether no point lies farther off the line than chance and the tolerance explain."""
    by_chance = 1.5 * student_t(processes - 1) * points.residual_error
    allowed = by_chance + LINE_TOLERANCE * np.abs(points.location)
    return bool(np.all(np.abs(points.residual) <= allowed))


def _misfit(points: _Points) -> Floats:
    """Standard errors of intercept and slope from the misfit beyond what sampling explains.

    The residuals' mean square, less the part that their own error accounts for, is taken for
    scatter of the points about the line and carried through the fit.
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
    """How many samples of each process do not count, by reason; each of shape (processes,)."""
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
