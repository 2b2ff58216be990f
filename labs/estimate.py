"""Reduce a recording to a figure with an interval: the line T(k) = overhead + k * cost.

Every measurement of the kit is that line, k operations between two readings of a clock: its
intercept is what the timer costs, its slope what the operation costs.

Method, for one variant:

0. *Neighbours.* Samples that were interrupted are set aside where they are many
   (labs.interruptions), and those taken while a neighbour slowed the machine: stretches of time
   where the timer is what is measured (labs.stretches), else processes (labs.slow_processes).
1. *Location of each batch size.* The mean of the samples that lie near the median (labs.fence). A
   median would do for a fine counter, but of a counter that steps by 26 ticks it can only be a
   multiple of 26 (or half of it); a mean of samples whose phase is random is true below the step
   (dithering: Widrow & Kollar, "Quantization Noise", ch. 4).
2. *Line.* Least squares through those means, each weighted by its own uncertainty.
3. *Interval.* Bootstrap over clusters, 2,000 replicates (labs.bootstrap). A cluster is one process,
   because samples of one process share their layout in memory and vary less than processes do
   (Kalibera & Jones, "Rigorous Benchmarking in Reasonable Time", ISMM 2013). With few processes
   each is cut into blocks in time, so that drift is seen.
4. *Is it a line?* Points that miss it by more than their uncertainty and 2 % of their size say that
   the model does not hold: then there is no figure. A smaller misfit widens the interval.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from labs import bootstrap, core_clock, declared, fence, interruptions, slow_processes, stretches
from labs.bootstrap import Resampled
from labs.kept import kept
from labs.recording import Recording, Samples
from labs.stretches import Stretches
from labs.units import Clock

Floats = NDArray[np.float64]

#: From this many processes on, each process is a cluster; below it, blocks in time are.
PROCESSES_AS_CLUSTERS = 5
BLOCKS = 20

#: How far from the line a point may lie, as a share of its size, and still be said to be on it.
LINE_TOLERANCE = 0.02


class CannotEstimate(ValueError):
    """The recording does not allow this estimate: why, and what to do."""


@dataclass(frozen=True)
class Estimate:
    """A value with its 95 % interval, all in `unit`, from `n` samples of `processes` processes."""

    value: float
    low: float
    high: float
    unit: str
    method: str
    n: int
    processes: int

    @property
    def half_width(self) -> float:
        """Half of the interval, in the unit of the value."""
        return (self.high - self.low) / 2

    def into(self, unit: str, clock: Clock) -> Estimate:
        """The same estimate in another unit."""
        factor = clock.ticks_in(self.unit) / clock.ticks_in(unit)
        return Estimate(
            self.value * factor,
            self.low * factor,
            self.high * factor,
            unit,
            self.method,
            self.n,
            self.processes,
        )

    def contains(self, value: float, *, slack: float = 0.0) -> bool:
        """Whether `value` lies in the interval, widened by `slack` on both sides."""
        return self.low - slack <= value <= self.high + slack


@dataclass(frozen=True, eq=False)
class Line:
    """The line of one variant, in ticks.

    `batch`, `location` (mean ticks of the steady samples at that batch size), `uncertainty` (its
    standard error) and `residual` (location less the line) have the shape (batch sizes,). `empty`
    is the interval with nothing in it, where batch size 0 was measured: it is not on the line's
    list, because work that is not there cannot overlap with the reading. `interrupted` is the share
    of samples set aside because so many were interrupted, `stretches` tells which of the others
    were because the machine was slower meanwhile. `ratio` is the intercept in
    operations (unit "operations"): where the operation takes one core cycle, it is in core cycles
    and does not depend on the clock speed that the core had. `slope` is the cost as each drawing of
    clusters gave it.
    """

    variant: str
    clock: Clock
    overhead: Estimate
    cost: Estimate
    empty: Estimate | None
    batch: Floats
    location: Floats
    uncertainty: Floats
    residual: Floats
    straight: bool
    interrupted: float
    stretches: Stretches
    ratio: Estimate
    slope: Resampled

    def worst(self) -> tuple[int, float]:
        """The point that lies farthest off the line for its size: its place among the batch sizes,
        and by which share of its size."""
        size = np.maximum(np.abs(self.location), self.clock.coarseness)
        place = int(np.abs(self.residual / size).argmax())
        return place, float(self.residual[place] / size[place])


@kept
def fit_line(recording: Recording, variant: str, *, one_speed: bool = False) -> Line:
    """The line through all batch sizes above 0 of `variant`, in ticks.

    With `one_speed`, in ticks as they would be had the core run at the run's median speed all the
    time: for figures in core cycles.

    Raises CannotEstimate where there are fewer than two batch sizes or too few samples, KeyError
    where the recording has no such variant.
    """
    every = recording.samples(variant)
    at_one_speed = core_clock.at_one_speed(every, recording)
    hit = interruptions.find(at_one_speed)
    if hit.any():
        every, at_one_speed = every.only(~hit), at_one_speed.only(~hit)
    if one_speed:
        every = at_one_speed
    # A neighbour adds to every interval, which an intercept shows and a slope does not, and slows
    # every operation, which a slope shows.
    if declared.is_overhead(recording, variant):
        found = stretches.find(every)
    else:
        found = slow_processes.find(at_one_speed)
    samples = every.only(found.undisturbed)
    batches = np.unique(samples.batch)
    on_line = batches[batches > 0]
    if len(on_line) < 2:
        raise CannotEstimate(
            f"{variant}: a line needs two batch sizes above 0, this recording has {len(on_line)}; "
            "measure with --batch K1,K2,..."
        )
    cluster = clusters(samples)
    steady = fence.steady(samples)
    near, of_cluster = samples.only(steady), cluster[steady]
    tables = [_tabulate(near, of_cluster, size) for size in batches.tolist()]
    sums = np.stack([table[0] for table in tables], axis=1)
    counts = np.stack([table[1] for table in tables], axis=1)
    if sums.shape[0] < 2 or counts.sum(axis=0).min() < 5:
        raise CannotEstimate(
            f"{variant}: {len(samples)} samples are too few for {len(batches)} batch sizes; "
            "raise --samples"
        )
    whole = sums.sum(axis=0) / counts.sum(axis=0)
    replicate = bootstrap.replicates(sums, counts)
    uncertainty = replicate.std(axis=0, ddof=1) * math.sqrt(len(sums) / (len(sums) - 1))

    chosen = batches > 0
    k = on_line.astype(np.float64)
    floor = max(uncertainty[chosen].max(), 1e-9) * 1e-3
    weight = 1.0 / (uncertainty[chosen] ** 2 + floor**2 + (0.001 * whole[chosen]) ** 2)
    solve = _least_squares(k, weight)
    overhead, cost = solve @ whole[chosen]
    spread = replicate[:, chosen] @ solve.T
    design = np.stack([np.ones_like(k), k], axis=1)
    residual = whole[chosen] - design @ np.array([overhead, cost])
    # The residuals' own uncertainty, not that of the points: what moves all points of a process
    # alike (its layout, the clock speed it met) cancels in them.
    residual_error = (replicate[:, chosen] - spread @ design.T).std(axis=0, ddof=1)
    # Three standard errors where they are well known, more where they come from few clusters.
    errors = 1.5 * bootstrap.student_t(len(sums) - 1)
    allowed = errors * residual_error + LINE_TOLERANCE * np.abs(whole[chosen])
    excess = _excess_misfit(residual, residual_error, weight, solve)

    measured_in = tuple(np.unique(samples.process).tolist())
    processes = len(measured_in)
    n = len(samples)
    estimates = [
        Estimate(
            float(value),
            *bootstrap.interval(float(value), spread[:, i], len(sums), float(excess[i])),
            "ticks",
            f"{what} of the line T(k) = overhead + k * cost over k = "
            f"{', '.join(str(size) for size in on_line.tolist())}",
            n,
            processes,
        )
        for i, (value, what) in enumerate([(overhead, "intercept"), (cost, "slope")])
    ]
    # Where the slope is nothing, so is the ratio's meaning; result and warnings look at the slope.
    safe = np.where(np.abs(spread[:, 1]) > 1e-12, spread[:, 1], 1e-12)
    in_operations = float(overhead / (cost if abs(cost) > 1e-12 else 1e-12))
    extra = math.hypot(excess[0], excess[1] * in_operations) / max(abs(float(cost)), 1e-12)
    ratio = Estimate(
        in_operations,
        *bootstrap.interval(in_operations, spread[:, 0] / safe, len(sums), extra),
        "operations",
        "intercept divided by slope",
        n,
        processes,
    )
    empty = None
    if batches[0] == 0:
        empty = Estimate(
            float(whole[0]),
            *bootstrap.interval(float(whole[0]), replicate[:, 0], len(sums), 0.0),
            "ticks",
            "mean of the empty interval (k = 0)",
            int(counts[:, 0].sum()),
            processes,
        )
    return Line(
        variant,
        samples.clock,
        estimates[0],
        estimates[1],
        empty,
        k,
        whole[chosen],
        uncertainty[chosen],
        residual,
        bool(np.all(np.abs(residual) <= allowed)),
        float(hit.mean()),
        found,
        ratio,
        Resampled(float(cost), spread[:, 1], len(sums), measured_in, float(excess[1])),
    )


def clusters(samples: Samples) -> NDArray[np.int64]:
    """Which cluster each sample belongs to, numbered from 0; shape (n,).

    One a process from PROCESSES_AS_CLUSTERS processes on; below, blocks in time within a process.
    """
    processes, index = np.unique(samples.process, return_inverse=True)
    if len(processes) >= PROCESSES_AS_CLUSTERS:
        return index.astype(np.int64)
    blocks = -(-BLOCKS // max(len(processes), 1))
    result = np.zeros(len(samples), dtype=np.int64)
    for number in range(len(processes)):
        mine = np.flatnonzero(index == number)
        order = np.argsort(samples.sample[mine], kind="stable")
        block = np.arange(len(mine)) * blocks // max(len(mine), 1)
        result[mine[order]] = number * blocks + block
    return np.unique(result, return_inverse=True)[1].astype(np.int64)


def _tabulate(samples: Samples, cluster: NDArray[np.int64], size: int) -> tuple[Floats, Floats]:
    """Sum and count of the samples of one batch size in each cluster."""
    mine = samples.batch == size
    width = int(cluster.max()) + 1
    sums = np.bincount(cluster[mine], weights=samples.ticks[mine], minlength=width)
    counts = np.bincount(cluster[mine], minlength=width)
    return sums.astype(np.float64), counts.astype(np.float64)


def _least_squares(k: Floats, weight: Floats) -> Floats:
    """The matrix, shape (2, batch sizes), that takes locations to intercept and slope."""
    design = np.stack([np.ones_like(k), k], axis=1)
    weighted = design * weight[:, None]
    solution: Floats = np.linalg.solve(design.T @ weighted, weighted.T).astype(np.float64)
    return solution


def _excess_misfit(residual: Floats, error: Floats, weight: Floats, solve: Floats) -> Floats:
    """Standard errors of intercept and slope from the misfit beyond what sampling explains.

    The residuals' mean square, less the part that their standard `error` accounts for, is taken
    for scatter of the points about the line and carried through the fit.
    """
    freedom = len(residual) - 2
    if freedom < 1:
        return np.zeros(2)
    seen = float(np.sum(weight * residual**2)) / freedom
    expected = float(np.sum(weight * error**2)) / freedom
    excess = max(seen - expected, 0.0)
    variance = (solve**2) @ (excess / weight)
    errors: Floats = np.sqrt(variance)
    return errors
