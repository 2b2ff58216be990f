"""A line through the cells of each process, by weighted least squares."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from labs.analysis.arrays import Bools, Floats
from labs.analysis.cells import Cells


@dataclass(frozen=True, eq=False)
class Fits:
    """A line for each process through the mean ticks of its cells.

    `intercept`, `slope` and their standard errors have the shape (processes,). `mean`, `count` (the
    samples of a cell) and `weight` have the shape (processes, batch sizes). The weight of a cell is
    0 if it has no sample or its batch size is 0. `variance`, of shape (batch sizes,), is the
    variance of a single sample within the cells of a batch size.
    """

    mean: Floats
    count: Floats
    weight: Floats
    variance: Floats
    intercept: Floats
    slope: Floats
    intercept_error: Floats
    slope_error: Floats


def fits(cells: Cells, chosen: Bools) -> Fits:
    """Weighted least squares in each process, through the means of its cells, in ticks.

    `chosen`, shape (n,), marks the samples that count. The weight of a cell is its number of
    samples divided by the variance of a sample of its batch size. This variance is pooled over all
    processes, because a single process has too few samples to know it well.
    """
    count = cells.sums(None, chosen)
    mean = cells.sums(cells.ticks, chosen) / np.maximum(count, 1)
    from_mean = (cells.ticks - mean[cells.row, cells.column]) ** 2
    freedom = np.maximum((count - (count > 0)).sum(axis=0), 1)
    variance = cells.sums(from_mean, chosen).sum(axis=0) / freedom + (0.1 * cells.step) ** 2
    weight, k = np.where(cells.batch > 0, count / variance, 0.0), cells.batch.astype(np.float64)
    total = np.maximum(weight.sum(axis=1), 1e-300)
    middle = weight @ k / total
    away = k - middle[:, None]
    across = np.maximum((weight * away**2).sum(axis=1), 1e-300)
    slope = (weight * away * mean).sum(axis=1) / across
    intercept = (weight * mean).sum(axis=1) / total - slope * middle
    # Batches of one size do not show where a line begins: its error can be infinite.
    with np.errstate(over="ignore"):
        errors = np.sqrt(1 / total + middle**2 / across), np.sqrt(1 / across)
    return Fits(mean, count, weight, variance, intercept, slope, *errors)
