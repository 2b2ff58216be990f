"""The data of a plot as a table: of samples, of the line, and of figures side by side."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from labs.analysis.arrays import Floats
from labs.common.table import Table
from labs.common.units import NAMES, canonical, rounded
from labs.recording.file import Recording
from labs.results.result import Result, sensible

#: The headers of the two ends of an interval.
_ENDS = ("from", "to (95 %)")
#: Those of the quartiles, and the one of a narrow table.
_QUARTILES_HEADER = ("lower quartile", "median", "upper quartile")
_MEDIAN_HEADER = "median (quartiles)"


def samples_table(recording: Recording, variant: str, unit: str = "ns") -> Table:
    """The quartiles of the samples at each batch size, and of the warm-up, in `unit`."""
    steady, warm = recording.samples(variant), recording.samples(variant, warmup=True)
    per_unit = steady.clock.ticks_in(unit)
    rows = [
        _distribution(f"k = {k:,}", steady.ticks[steady.batch == k] / per_unit)
        for k in np.unique(steady.batch).tolist()
    ]
    if len(warm):
        rows.append(_distribution("warm-up", warm.ticks / per_unit))
    return Table(
        f"Samples of {recording.kernel} {variant}, in {NAMES[canonical(unit)]}",
        (
            "batch",
            "samples",
            "lowest",
            *_QUARTILES_HEADER,
            "highest",
        ),
        tuple(rows),
    )


def _distribution(name: str, values: Floats) -> tuple[str, ...]:
    quantiles = np.percentile(values, [0, 25, 50, 75, 100]).tolist()
    return (name, f"{len(values):,}", *(rounded(value) for value in quantiles))


def line_table(result: Result) -> Table:
    """Mean, its uncertainty and its residual at each batch size, in the unit of `result`.

    Raises ValueError if there is no line.
    """
    line = result.line
    if line is None:
        raise ValueError(f"no line to tabulate: {result.no_figure}")
    per_unit = result.clock.ticks_in(result.unit)
    rows = [
        (
            f"k = {k:,.0f}",
            rounded(mean / per_unit, 4),
            rounded(2 * error / per_unit, 2),
            rounded(off / per_unit, 2),
        )
        for k, mean, error, off in zip(
            line.batch, line.location, line.uncertainty, line.residual, strict=True
        )
    ]
    return Table(
        f"The line of {result.recording.kernel} {result.variant}, in {NAMES[result.unit]}",
        ("batch", "mean sample", "2 standard errors", "off the line"),
        tuple(rows),
    )


def names_of(results: Sequence[Result]) -> list[str]:
    """The variant of each result; if several runs have the same one, with the number of the run."""
    every = [result.variant for result in results]
    return [
        f"{name}, run {every[: n + 1].count(name)}" if every.count(name) > 1 else name
        for n, name in enumerate(every)
    ]


def estimates_table(results: Sequence[Result]) -> Table:
    """The figure of each variant with its interval, or the reason why it has none."""
    first = results[0]
    rows = []
    for name, result in zip(names_of(results), results, strict=True):
        if result.estimate is None:
            rows.append((name, "none", "", "", f"{result.n:,}", "", result.no_figure))
        else:
            numbers = sensible(result.estimate.into(first.unit, result.clock))
            rows.append((name, *numbers, f"{result.n:,}", result.aside_as_text(), ""))
    return Table(
        f"{first.recording.kernel}: {first.what} in {NAMES[first.unit]}",
        ("variant", first.what, "from", "to (95 %)", "samples", "set aside", "why not"),
        tuple(rows),
    ).without_empty()


def narrowed(table: Table) -> Table:
    """The same table for a phone: a value and the ends of its interval share one column, and so do
    a median and its quartiles."""
    columns: list[tuple[str, tuple[int, ...]]] = []  # a head, and where its parts stand in a row
    n = 0
    while n < len(table.header):
        if table.header[n + 1 : n + 3] == _ENDS:
            columns.append((f"{table.header[n]} (95 %)", (n, n + 1, n + 2)))
        elif table.header[n : n + 3] == _QUARTILES_HEADER:
            columns.append((_MEDIAN_HEADER, (n + 1, n, n + 2)))
        else:
            columns.append((table.header[n], (n,)))
        n += len(columns[-1][1])
    rows = tuple(
        tuple(_with_ends([row[place] for place in places]) for _, places in columns)
        for row in table.rows
    )
    return Table(table.caption, tuple(head for head, _ in columns), rows, table.warnings)


def _with_ends(parts: list[str]) -> str:
    """A cell, or one with its two ends in brackets; a value may have none."""
    return f"{parts[0]} ({parts[1]} to {parts[2]})" if any(parts[1:2]) else parts[0]
