"""A line through the cells of each process, by weighted least squares."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from labs.analysis.arrays import Bools, Floats
from labs.analysis.selection import Cells


@dataclass(frozen=True, eq=False)
class Fits:
    """A line for each process, shape (processes,), through the `mean` ticks of its cells, shape
    (processes, batch sizes). `weight` is 0 where a cell has no sample or is not on the line;
    `variance` is that of a sample of each batch size, within cells."""

    mean: Floats
    count: Floats
    weight: Floats
    variance: Floats
    intercept: Floats
    slope: Floats
    intercept_error: Floats
    slope_error: Floats


def fits(cells: Cells, chosen: Bools) -> Fits:
    """Weighted least squares in each process, through the means of its cells.

    A cell weighs as many samples as it has, over the variance within the cells of its batch size:
    pooled over all processes it is well known, and the fit of a process is as good as can be.
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
    errors = np.sqrt(1 / total + middle**2 / across), np.sqrt(1 / across)
    return Fits(mean, count, weight, variance, intercept, slope, *errors)
