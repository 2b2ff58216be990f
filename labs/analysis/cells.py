"""The samples of one variant as cells: a row for each process, a column for each batch size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from labs.analysis.arrays import Bools, Floats
from labs.recording.distinct import TABLE_SIZE, distinct
from labs.recording.file import Integers, Numbers, Samples

#: How the steps of a clock are recognised. A level is a value near which samples gather, and it
#: needs this share of a batch size's samples. All samples must lie at most OFF_STEP ticks from a
#: multiple of the step, and the step must be at least SHORTEST_STEP times OFF_STEP.
COMMON_LEVEL, OFF_STEP, SHORTEST_STEP = 0.1, 1.0, 8.0


@dataclass(frozen=True, eq=False)
class Cells:
    """The samples of one variant by process and batch size. A cell is one process and one size.

    `ticks`, `sample` (its number), `row` (the index of its process in `processes`) and `column`
    (the index of its batch size in `batch`) have the shape (n,). `by_size` holds, for each batch
    size, the indices of its samples. `step` is the step of the counter in ticks, as the counter
    declares it or as the samples show it.
    """

    ticks: Floats
    sample: Integers
    row: Integers
    column: Integers
    processes: Integers
    batch: Integers
    by_size: tuple[Integers, ...]
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

    def with_rows(self, row: Integers) -> Cells:
        """The same samples with other rows than processes.

        `row`, shape (n,), numbers the rows from 0 without a gap.
        """
        return replace(self, row=row, processes=np.arange(int(row.max(initial=-1)) + 1))

    def sums(self, weight: Floats | None, chosen: Bools) -> Floats:
        """The sum of `weight` over the chosen samples of each cell; None sums 1 for each sample.

        `weight` and `chosen` have the shape (n,), and the result has the shape `self.shape`.
        """
        mine = chosen if weight is None else np.where(chosen, weight, 0.0)
        found = np.bincount(self.cell, mine, self.shape[0] * self.shape[1])
        return found.astype(np.float64).reshape(self.shape)

    def quantiles(self, ticks: Floats, chosen: Bools, percent: Sequence[float]) -> Floats:
        """Percentiles of the chosen samples by batch size, of shape (percentiles, batch sizes).

        NaN for a batch size without a chosen sample. `ticks` and `chosen` have the shape (n,).
        """
        found = np.full((len(percent), len(self.batch)), np.nan)
        for column, places in enumerate(self.by_size):
            mine = ticks[places][chosen[places]]
            if len(mine):
                found[:, column] = _percentiles(mine, percent)
        return found


def _percentiles(values: Floats, percent: Sequence[float]) -> Floats:
    """The same as np.percentile, which takes longer for a few hundred values than the whole fit."""
    place = np.array(percent) / 100 * (len(values) - 1)
    lower = place.astype(np.int64)
    upper = np.minimum(lower + 1, len(values) - 1)
    ordered = np.partition(values, sorted({*lower.tolist(), *upper.tolist()}))
    found: Floats = ordered[lower] + (place - lower) * (ordered[upper] - ordered[lower])
    return found


def cells_of(samples: Samples, rows: Integers | None = None, step: float | None = None) -> Cells:
    """The cells of these samples.

    `rows`, shape (n,), replaces the processes, and `step`, in ticks, replaces the step that the
    samples show.
    """
    process = samples.process if rows is None else rows
    processes, row = _numbered(process)
    batch, column = _numbered(samples.batch)
    by_size = np.argsort(column.astype(np.int16 if len(batch) < 2**15 else int), kind="stable")
    ends = np.cumsum(np.bincount(column, minlength=len(batch)))[:-1]
    return Cells(
        samples.ticks.astype(np.float64),
        samples.sample,
        row,
        column,
        processes,
        batch,
        tuple(np.split(by_size, ends)),
        step_of(samples) if step is None else step,
    )


def _numbered(values: Integers) -> tuple[Integers, Integers]:
    """The distinct values in ascending order, and the index of each of `values` among them."""
    found = distinct(values)
    if values.max(initial=0) >= TABLE_SIZE:
        return found, np.searchsorted(found, values)
    place = np.zeros(TABLE_SIZE, dtype=np.int64)
    place[found] = np.arange(len(found))
    return found, place[values]


def step_of(samples: Samples) -> float:
    """The step of the clock in ticks: the declared step, or a longer one if the samples show it.

    The samples show a longer step by their greatest common divisor. They also show it if each lies
    next to a multiple of a step that is no whole number of ticks. For example, an emulator may
    count microseconds and declare 62.5 MHz.
    """
    ticks = samples.ticks[:1000]
    shown = float(np.gcd.reduce(ticks.astype(np.int64), initial=0))
    return max(samples.clock.coarseness, shown, _step_between(ticks, samples.batch[:1000]))


def _step_between(ticks: Numbers, batch: Integers) -> float:
    """The step in ticks, if all samples lie within a tick or two of its multiples; else 0."""
    gaps = []
    for size in distinct(batch):
        mine = np.sort(ticks[batch == size]).astype(np.float64)
        level = np.cumsum(np.diff(mine, prepend=mine[:1]) > 2 * OFF_STEP + 1)
        common = np.bincount(level) >= max(COMMON_LEVEL * len(mine), 2)
        means = np.bincount(level, mine) / np.bincount(level)
        gaps += np.diff(means[common]).tolist()
    step = min(gaps, default=0.0)
    if step < SHORTEST_STEP * OFF_STEP:
        return 0.0
    for value in np.unique(ticks).tolist():  # a longer sample gives a more precise step
        if (number := round(value / step)) > 0:
            if abs(value - number * step) > OFF_STEP + 0.5 * number:
                return 0.0
            step = value / number
    return step if np.all(np.abs(ticks - step * np.round(ticks / step)) <= 2 * OFF_STEP) else 0.0
