"""The samples of one variant as cells: a row for each process, a column for each batch size."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from labs.analysis.arrays import Bools, Floats
from labs.analysis.thresholds import PARTS
from labs.recording.distinct import numbered
from labs.recording.file import Integers, Samples


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
    microseconds and declare 62.5 MHz.
    """
    ticks = np.unique(samples.ticks[:1000])
    shown = float(np.gcd.reduce(ticks.astype(np.int64), initial=0))
    # A level is a run of values that lie next to one another.
    first = np.flatnonzero(np.diff(ticks, prepend=-np.inf) > 2)
    count = np.diff(first, append=len(ticks))
    if len(first) > 1 and np.max(ticks[first + count - 1] - ticks[first]) <= 2:
        means = np.add.reduceat(ticks, first) / count
        step = float(np.diff(means).min())
        step = means[-1] / round(means[-1] / step)  # the longest gives it most precisely
        if np.all(np.abs(ticks - step * np.round(ticks / step)) <= 2):
            shown = max(shown, step)
    return max(float(samples.clock.coarseness), shown)
