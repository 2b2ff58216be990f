"""The line T(k) = overhead + k * cost of one variant: one line a process, and the run's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from labs.analysis import core_clock, selection, shared_core
from labs.analysis.estimate import CannotEstimate, Estimate, Floats, student_t
from labs.analysis.fits import Fits, fits
from labs.analysis.processes import PERHAPS, SURE, Bools, ByProcess, apart, ratio
from labs.analysis.selection import FEWEST, Cells
from labs.analysis.shared_core import Shared
from labs.common.units import Clock
from labs.recording import declared
from labs.recording.file import Integers, Recording, Samples
from labs.recording.memo import memoized

#: How far from the line a point may lie, as a share of its size, and still be said to be on it.
LINE_TOLERANCE = 0.02
#: Parts in time, where a single process has to stand for several.
PARTS = 20
#: A process that kept a smaller share of samples than this, of what the others kept, is left out.
LEAST_KEPT = 0.1
#: A misfit widens the interval from this multiple on of what chance makes of it (F, 2 or 3 points).
MISFIT = 3.0
#: The place of code and stack changes what an operation costs by this factor at most.
MOST_BY_PLACE = 1.5


@dataclass(frozen=True, eq=False)
class Differ:
    """That the processes of a run fall into two groups: those numbered `others` took `factor` times
    as long. `siblings` tells whether other variants of the run "move" with the groups as well, or
    one of them does "stay"; "none": there is none. The core was `whole` where rounds tell so.
    """

    others: tuple[int, ...]
    factor: float
    siblings: str
    whole: bool


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


@dataclass(frozen=True, eq=False)
class _Fitted:
    """The lines of all processes of a variant; `usable` ones have a line of their own.

    `parts` stand for processes where there is one process only.
    """

    samples: Samples
    parts: Integers | None
    cells: Cells
    fit: Fits
    usable: Bools
    shared: Shared
    hit: Bools
    chosen: Bools

    def groups(self, about_overhead: bool) -> tuple[Bools, float]:
        """The undisturbed ones of the usable processes, and how sure it is that others differ."""
        fit, usable = self.fit, self.usable
        if self.parts is not None:
            return np.ones(int(usable.sum()), dtype=np.bool_), 0.0
        if about_overhead:
            return apart(fit.intercept[usable], fit.intercept_error[usable])
        return apart(fit.slope[usable], fit.slope_error[usable])


@memoized
def _fitted(recording: Recording, variant: str, one_speed: bool) -> _Fitted:
    as_read = recording.samples(variant)
    samples = core_clock.at_one_speed(as_read, recording) if one_speed else as_read
    parts = _parts(samples)
    # The clock steps as it was read: at one speed its steps are of several lengths.
    cells = selection.cells_of(samples, parts, selection.step_of(as_read))
    sizes = int((cells.batch > 0).sum())
    if sizes < 2:
        raise CannotEstimate(
            f"{variant}: a line needs two batch sizes above 0, this recording has {sizes}; "
            "measure with --batch K1,K2,..."
        )
    shared = shared_core.find(recording, samples, cells, declared.is_overhead(recording, variant))
    even, every = selection.at_one_level(cells), ~shared.while_shared
    hit = selection.interrupted(cells, even, every, samples.clock.ticks_in("ns"))
    chosen = selection.near(cells, even, every & ~hit)
    fit = fits(cells, chosen)
    enough = fit.count.sum(axis=1)
    usable = ((fit.weight > 0).sum(axis=1) >= 2) & (enough >= LEAST_KEPT * np.median(enough))
    sizes_left = fit.count[usable].sum(axis=0)[cells.batch > 0] >= FEWEST
    if usable.sum() < 2 or sizes_left.sum() < 2:
        raise CannotEstimate(
            f"{variant}: {int(chosen.sum())} samples are too few for {cells.shape[1]} batch sizes; "
            "raise --samples"
        )
    return _Fitted(samples, parts, cells, fit, usable, shared, hit, chosen)


@memoized
def fit_line(recording: Recording, variant: str, *, one_speed: bool = False) -> Line:
    """The line through all batch sizes above 0 of `variant`, in ticks.

    With `one_speed`, in ticks as they would be had the core run at the run's median speed all the
    time: for figures in core cycles.

    Raises CannotEstimate where there are fewer than two batch sizes or too few samples, KeyError
    where the recording has no such variant.
    """
    fitted = _fitted(recording, variant, one_speed)
    cells, fit, usable = fitted.cells, fitted.fit, fitted.usable
    about_overhead = declared.is_overhead(recording, variant)
    group, sure = _groups(recording, variant, one_speed, fitted)
    siblings = "none"
    if sure >= PERHAPS:
        siblings = _siblings(recording, variant, one_speed, usable, group)
    differ = None
    if sure >= SURE and not fitted.shared.always:
        decides = (fit.intercept if about_overhead else fit.slope)[usable]
        numbers = tuple(cells.processes[usable][~group].tolist())
        factor = float(decides[~group].mean() / decides[group].mean())
        differ = Differ(numbers, factor, siblings, fitted.shared.evidence)
    # Rounds that show a whole core leave no neighbour; nor does a sibling that was not slowed. But
    # a place in memory does not make so much: tasks on two CPUs, say, where others had one.
    by_place = differ is None or abs(np.log(max(differ.factor, 1e-9))) < np.log(MOST_BY_PLACE)
    if (fitted.shared.evidence or siblings == "stay") and by_place:
        group, sure = np.ones_like(group), 0.0
    left = usable.copy()
    left[usable] = group | (sure < SURE)

    def by_process(value: Floats, error: Floats, extra: float = 0.0) -> ByProcess:
        """What these processes give: one value each; shape (all processes,)."""
        run = recording.__dict__.setdefault("run", object())
        which = cells.processes[usable], value[usable], error[usable]
        return ByProcess(run, *which, group, sure, extra, fitted.shared.floor)

    on_line = np.flatnonzero((cells.batch > 0) & (fit.count[left].sum(axis=0) >= FEWEST))
    k = cells.batch[on_line].astype(np.float64)
    count, mean = fit.count[left][:, on_line], fit.mean[left][:, on_line]
    own = fit.intercept[left][:, None] + fit.slope[left][:, None] * k
    measured, weight = count > 0, fit.weight[left].sum(axis=0)[on_line]
    number = np.maximum(measured.sum(axis=0), 1)
    location = np.where(measured, mean, 0).sum(axis=0) / number
    # The residuals' own error, not that of the points: what moves all points of a process alike
    # (its layout, the clock speed that it met) cancels in them.
    off = np.where(measured, mean - own, 0)
    residual, spread = off.sum(axis=0) / number, _error(off, measured, number)
    allowed = 1.5 * student_t(int(left.sum()) - 1) * spread + LINE_TOLERANCE * np.abs(location)
    extra = _misfit(k, weight, residual, spread)
    method = f"of the line T(k) = overhead + k * cost over k = {', '.join(f'{x:.0f}' for x in k)}"
    processes = int(left.sum()) if fitted.parts is None else 1
    n = int(fit.count[left].sum())

    def estimate(what: ByProcess, method: str) -> Estimate:
        return Estimate(*what.estimate(), "ticks", method, n, processes, what)

    overheads = by_process(fit.intercept, fit.intercept_error, float(extra[0]))
    costs = by_process(fit.slope, fit.slope_error, float(extra[1]))
    in_operations = ratio(overheads, costs) or (0.0, -np.inf, np.inf)
    empty = None
    if cells.batch[0] == 0 and fit.count[usable, 0].min() > 0:
        error = np.sqrt(fit.variance[0] / np.maximum(fit.count[:, 0], 1))
        empty = estimate(by_process(fit.mean[:, 0], error), "mean of the empty interval (k = 0)")
        empty = replace(empty, n=int(fit.count[left, 0].sum()))
    reasons = {
        "shared": fitted.shared.while_shared,
        "interrupted": fitted.hit,
        "far": ~fitted.shared.while_shared & ~fitted.hit & ~fitted.chosen,
        "process": fitted.chosen & ~left[cells.row],
    }
    of_process, rows = fitted.samples.process, len(recording.processes)
    return Line(
        variant,
        fitted.samples.clock,
        estimate(overheads, f"intercept {method}"),
        estimate(costs, f"slope {method}"),
        Estimate(*in_operations, "operations", "intercept divided by slope", n, processes),
        empty,
        k,
        location,
        _error(mean, measured, number),
        residual,
        bool(np.all(np.abs(residual) <= allowed)),
        {why: np.bincount(of_process[which], minlength=rows) for why, which in reasons.items()},
        fitted.shared.always,
        differ,
    )


def _groups(
    recording: Recording, variant: str, one_speed: bool, fitted: _Fitted
) -> tuple[Bools, float]:
    """As `_Fitted.groups`. A core that ran at another speed is no disturbance: a cost is compared
    between processes as if all had run at one."""
    about_overhead = declared.is_overhead(recording, variant)
    if not (one_speed or about_overhead):
        judged = _fitted(recording, variant, True)
        if np.array_equal(judged.usable, fitted.usable):
            return judged.groups(about_overhead)
    return fitted.groups(about_overhead)


def _parts(samples: Samples) -> Integers | None:
    """Parts in time that stand for processes where there is one process only; shape (n,)."""
    if len(samples) == 0 or (samples.process != samples.process[0]).any():
        return None
    place = np.argsort(np.argsort(samples.sample, kind="stable"), kind="stable")
    return (place * PARTS // len(samples)).astype(np.int64)


def _error(values: Floats, measured: Bools, number: Integers) -> Floats:
    """The standard error of each column's mean over the processes that measured it."""
    away = np.where(measured, values - np.where(measured, values, 0).sum(axis=0) / number, 0)
    error: Floats = np.sqrt((away**2).sum(axis=0) / np.maximum(number - 1, 1) / number)
    return error


def _misfit(k: Floats, weight: Floats, residual: Floats, error: Floats) -> Floats:
    """Standard errors of intercept and slope from the misfit beyond what sampling explains.

    The residuals' mean square, less the part that their own `error` accounts for, is taken for
    scatter of the points about the line and carried through the fit.
    """
    freedom = len(k) - 2
    seen, expected = float(weight @ residual**2), float(weight @ error**2)
    if freedom < 1 or seen <= MISFIT * expected:
        return np.zeros(2)
    design = np.stack([np.ones_like(k), k], axis=1) * np.sqrt(weight)[:, None]
    errors: Floats = np.sqrt(
        np.diag(np.linalg.inv(design.T @ design)) * (seen - expected) / freedom
    )
    return errors


def _siblings(
    recording: Recording, variant: str, one_speed: bool, usable: Bools, group: Bools
) -> str:
    """Whether all other variants of the run "move" with these groups of processes, or one does
    "stay"; "none" where there is none.

    What else runs on the core slows every operation; the place of code and stack one of them. A
    baseline decides nothing: an empty loop needs so little of a core that it may be slowed or not.
    """
    every = np.flatnonzero(usable)
    baselines = {
        name
        for each in recording.variants
        for name in recording.condition(f"variant.{each}.baseline")
    }
    gaps = {}
    for name in (variant, *(set(recording.variants) - {variant} - baselines)):
        try:
            slope = _fitted(recording, name, one_speed).fit.slope
        except CannotEstimate:
            continue
        if len(slope) == len(usable):
            gaps[name] = float(slope[every[~group]].mean() / slope[every[group]].mean()) - 1
    own = gaps.pop(variant)
    if not gaps:
        return "none"
    return "stay" if any(abs(gap) < abs(own) / 3 for gap in gaps.values()) else "move"
