"""The view of what a student's C did with its working set: which cache lines it used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from labs.common.table import Table
from labs.common.units import rounded
from labs.results.result import result_of
from labs.views.gather import Runs, refused, runs_of, with_warnings

if TYPE_CHECKING:
    from labs.notebook.run import Run

#: As in kernels_c/own_footprint.h.
_SET, _LINE = 256 << 10, 64
#: No core loads more than four times in a cycle.
_LEAST_CYCLES = 0.25
_VARIANT, _ALONE = "own-256k", "alone-256k"


@with_warnings
def lines_used(run: Runs) -> Table:
    """How many cache lines the run tried, how many of them the C used, and what one costs alone.

    After its last sample the run changes one line after another, and sees whether the sum changes.
    Raises Refused for a run of another C kernel.
    """
    rows = [row for each in runs_of([run]) for row in _rows(each)]
    if not rows:
        raise refused(
            "views.lines_used shows a run of own_footprint", "Run your C: its cell has --save own."
        )
    return Table("Your use of the working set", ("what", "found"), tuple(rows))


def _rows(run: Run) -> list[tuple[str, str]]:
    recording = run.recording
    if recording.kernel != "own_footprint":
        return []
    rows = []
    tried = recording.total(f"variant.{_VARIANT}.lines_tried")
    used = recording.total(f"variant.{_VARIANT}.lines_used")
    if tried and used is not None:
        rows.append(("cache lines changed one at a time, in all processes together", f"{tried:,}"))
        rows.append(("of these, your sum changed with", f"{used:,}"))
    each = _cycles_for_a_line(run)
    if each is not None:
        rows.append(("core cycles for one cache line, one task alone", rounded(each)))
    if rows:
        rows.append(("so your C", verdict(tried, used, each)))
    return rows or [("cache lines", "not tried on this machine")]


def verdict(tried: int | None, used: int | None, cycles: float | None) -> str:
    """What your C did with the set, in words: by the lines that it used, else by what one costs."""
    if tried and used is not None:
        if used == 0:
            return "used none of the lines: your sum changed with none of them"
        every = used == tried
        return "used every line" if every else f"used {used:,} of {tried:,} lines, not every one"
    if cycles is not None and cycles < _LEAST_CYCLES:
        return "read nothing: no core loads a line so fast"
    return "took enough time to have read the set"


def _cycles_for_a_line(run: Run) -> float | None:
    """What one task alone pays for one cache line, in core cycles; None without a figure."""
    if _ALONE not in run.recording.variants:
        return None
    try:
        alone = result_of(run.recording, _ALONE, "cycles").estimate
    except ValueError:
        return None
    return None if alone is None else alone.value / (_SET / _LINE)
