"""The figures of a class, without names: `class.csv` in the folder of a lab.

    figure,kernel,variant,flags,machine,unit,count,quarter,median,three_quarters
    timer-overhead-fenced,timer_overhead,fenced,,all,ns,212,14.1,16.4,20.9
    timer-overhead-fenced,timer_overhead,fenced,,"x86-64, Intel, virtual",ns,80,15.2,16.0,18.3

`grader report` writes it. There is one row for each figure and kind of machine, and one for `all`
machines. A row sums up `count` accepted figures in `unit`: a quarter of them is below `quarter`,
half below `median`, and three quarters below `three_quarters`. A row sums up at least FEWEST_RUNS
figures, so that nobody's own figure can be read from it. They come from as many runs: a run that
several students handed in counts once. `kernel`, `variant` and `flags` say which run gives the
figure; they are empty where it is not the result of one variant.
"""

from __future__ import annotations

import csv
import io
import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path

from labs import limits
from labs.files import read_bounded, write_atomically
from labs.recording.run_conditions import SEVERAL, UNKNOWN
from labs.units import rounded

CLASS_FILE = "class.csv"
#: The machine of the row about all machines together.
ALL_MACHINES = "all"
FEWEST_RUNS = 5
_MOST_ROWS, _LONGEST_CELL = 2_000, 100


class BadClassFigures(ValueError):
    """The file cannot be read; the message says what is wrong and what to do."""


@dataclass(frozen=True)
class ClassFigure:
    """One row: the `count` figures of a class on one kind of machine, in `unit`."""

    figure: str
    kernel: str
    variant: str
    flags: str
    machine: str
    unit: str
    count: int
    quarter: float
    median: float
    three_quarters: float

    @property
    def middle_half(self) -> str:
        """From where to where half of the figures lie."""
        return f"{rounded(self.quarter)} to {rounded(self.three_quarters)}"


def rows_of(
    figure: str, run: tuple[str, str, str], unit: str, by_machine: Mapping[str, Sequence[float]]
) -> list[ClassFigure]:
    """The rows of a figure with these values; `run` is C kernel, variant and flags, or empty."""
    known = {each: some for each, some in by_machine.items() if each not in (SEVERAL, UNKNOWN)}
    every = [value for some in by_machine.values() for value in some]
    return [
        ClassFigure(
            figure, *run, machine, unit, len(values),
            *statistics.quantiles(values, n=4, method="inclusive"),
        )
        for machine, values in {ALL_MACHINES: every, **known}.items()
        if len(values) >= FEWEST_RUNS
    ]  # fmt: skip


_COLUMNS = [each.name for each in fields(ClassFigure)]
_NUMBERS = _COLUMNS[_COLUMNS.index("quarter") :]


def write_class(path: Path, rows: Iterable[ClassFigure]) -> None:
    """Write the file. Raises files.CannotWrite."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for row in rows:
        writer.writerow([_as_text(getattr(row, name)) for name in _COLUMNS])
    write_atomically(path, text.getvalue().encode())


def _as_text(value: object) -> str:
    """Numbers with four digits: more would only help to recognise somebody's."""
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def read_class(path: Path) -> tuple[ClassFigure, ...]:
    """The rows of the file. Raises FileNotFoundError if there is none, and BadClassFigures."""
    try:
        content = read_bounded(path, limits.MOST_JSON_BYTES)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise BadClassFigures(error.strerror or str(error)) from error
    try:
        lines = list(csv.reader(io.StringIO(content.decode("utf-8-sig"), newline="")))
    except (UnicodeDecodeError, csv.Error) as error:
        raise BadClassFigures(f"{path.name} is no table: {error}; {_REMEDY}") from error
    if not lines or lines[0] != _COLUMNS:
        raise BadClassFigures(
            f"{path.name} does not begin with the columns {', '.join(_COLUMNS)}; {_REMEDY}"
        )
    if len(lines) > _MOST_ROWS:
        raise BadClassFigures(f"{path.name} has more than {_MOST_ROWS:,} rows; {_REMEDY}")
    return tuple(_row(line, number, path.name) for number, line in enumerate(lines[1:], start=2))


_REMEDY = "ask your instructor for the file again"


def _row(line: list[str], number: int, name: str) -> ClassFigure:
    try:
        stated = dict(zip(_COLUMNS, line, strict=True))
        if any(len(text) > _LONGEST_CELL or not text.isprintable() for text in line):
            raise ValueError("a text is too long, or cannot be printed")
        values = [float(stated[column]) for column in _NUMBERS]
        if not all(map(math.isfinite, values)) or sorted(values) != values:
            raise ValueError("its numbers do not ascend")
        figure, kernel, variant, flags, machine, unit, count, *_ = line
        return ClassFigure(figure, kernel, variant, flags, machine, unit, int(count), *values)
    except ValueError as error:
        raise BadClassFigures(f"{name}, line {number}: {error}; {_REMEDY}") from error
