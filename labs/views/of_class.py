"""What a view of published figures shows of the student's own class, if `class.csv` is there.

The file lies next to the notebook, which is the current folder. See `labs.course.class_figures`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from labs.common.units import NANOSECONDS, rounded
from labs.course import class_figures
from labs.course.class_figures import ALL, BadClassFigures, ClassFigure
from labs.plots.rows import Dot, Group, Row
from labs.plots.series import LOOKS
from labs.plots.style import GREEN, symbol
from labs.recording.machine_kind import kind_of
from labs.results.result import Result

KEY = ("■ your class: median, and the middle half as a bar", GREEN)
_LOOK = LOOKS[2]


@dataclass(frozen=True)
class OfClass:
    """The class's figures that are the same as the student's, in the unit of the view.

    `trouble` is a sentence if the file cannot be read.
    """

    figures: tuple[ClassFigure, ...] = ()
    unit: str = "ns"
    trouble: str = ""

    @property
    def groups(self) -> tuple[Group, ...]:
        """The rows for the plot; no group without figures."""
        rows = tuple(
            Row(
                f"{each.variant}, all machines"
                if each.machine == ALL
                else f"{each.variant}, machines like yours: {each.machine}",
                (Dot(each.median, _LOOK, each.quarter, each.three_quarters),),
                f"{rounded(each.median)} ({_half(each)}) {symbol(self.unit)}",
                GREEN,
            )
            for each in self.figures
        )
        return (Group("your class", rows),) if rows else ()

    @property
    def key(self) -> list[tuple[str, str]]:
        """The entry of the plot's key."""
        return [KEY] if self.figures else []

    @property
    def sentences(self) -> list[str]:
        """What the plot shows of the class."""
        sign = symbol(self.unit)
        found = [
            f"In your class, the median of {each.count:,} accepted figures of {each.kernel} "
            f"{each.variant} is {rounded(each.median)} {sign}, and half of them lie from "
            f"{_half(each)} {sign} ({_of(each)})."
            for each in self.figures
        ]
        return [*found, self.trouble] if self.trouble else found

    @property
    def table_rows(self) -> list[tuple[str, str, str, str, str]]:
        """The rows for the table of the view."""
        return [
            (
                "your class",
                f"{each.kernel} {each.variant} ({each.count:,} figures)",
                _of(each),
                rounded(each.median, 4),
                f"middle half: {_half(each)}",
            )
            for each in self.figures
        ]


def of_class(own: Sequence[Result], unit: str) -> OfClass:
    """The class's figures for the variants of `own`: on all machines, and on those of its kind."""
    try:
        known = class_figures.read(Path(class_figures.FILE_NAME))
    except FileNotFoundError:
        return OfClass()
    except BadClassFigures as error:
        return OfClass(trouble=f"The figures of your class cannot be read: {error}.")
    found = [
        same
        for result in own
        for row in known
        if _is_of(row, result) and (same := _in_unit(row, unit)) is not None
    ]
    return OfClass(tuple(found), unit)


def _is_of(row: ClassFigure, result: Result) -> bool:
    recording = result.recording
    flags = " ".join(recording.condition("flags")).split()
    return (
        (row.kernel, row.variant) == (recording.kernel, result.variant)
        and (not row.flags or row.flags in flags)
        and row.machine in (ALL, kind_of(recording.conditions))
    )


def _in_unit(row: ClassFigure, unit: str) -> ClassFigure | None:
    """The row in `unit`; None if its own unit has no fixed relation to it."""
    if row.unit == unit:
        return row
    if row.unit not in NANOSECONDS or unit not in NANOSECONDS:
        return None
    factor = NANOSECONDS[row.unit] / NANOSECONDS[unit]
    return replace(
        row,
        unit=unit,
        quarter=row.quarter * factor,
        median=row.median * factor,
        three_quarters=row.three_quarters * factor,
    )


def _of(row: ClassFigure) -> str:
    return "all machines" if row.machine == ALL else f"machines like yours: {row.machine}"


def _half(row: ClassFigure) -> str:
    return f"{rounded(row.quarter)} to {rounded(row.three_quarters)}"
