"""The view of what working sets add to a switch, with the size of all sets together."""

from __future__ import annotations

import re

from labs.common.table import Table
from labs.common.units import NAMES, rounded
from labs.results.compared import compared
from labs.results.result import Result
from labs.views.gather import (
    Runs,
    refused,
    results_of_kernel,
    runs_of,
    value_cells,
    why_no_figure,
    with_warnings,
)

_RING = re.compile(r"(processes|threads)-(\d{1,3})-(0|\d+[km])")
_EXAMPLE = 'lab.measure("switch_footprint", ["processes-8-0", "processes-8-64k"], unit="us")'


@with_warnings
def set_sizes(run: Runs) -> Table:
    """For each ring: its sets, all of them together, a switch, and what the sets add to it.

    What sets add is the difference to the ring of as many tasks without a set, with its interval.
    Raises Refused if the run has no ring.
    """
    every_run = runs_of([run])
    found = {
        result.variant: result
        for result in results_of_kernel(every_run, "switch_footprint", "views.set_sizes", _EXAMPLE)
        if _RING.fullmatch(result.variant)
    }
    if not found:
        raise refused("this run has no ring of tasks", f"Measure one: {_EXAMPLE}.")
    rows = [_row(result, found) for result in sorted(found.values(), key=_place)]
    header = (
        "tasks",
        "set of each",
        "all sets together",
        "one switch",
        "from",
        "to (95 %)",
        "the sets add",
        "why not",
    )
    unit = NAMES[every_run[0].unit]
    return Table(
        f"What working sets add to a switch, in {unit}", header, tuple(rows)
    ).without_empty()


def _row(result: Result, found: dict[str, Result]) -> tuple[str, ...]:
    kind, tasks, size = _parts(result)
    return (
        f"{tasks} {kind}",
        _in_kib(size),
        _in_kib(tasks * size),
        *value_cells(result),
        _added(result, found.get(f"{kind}-{tasks}-0"), f"{kind}-{tasks}-0") if size else "",
        why_no_figure(result),
    )


def _added(result: Result, without: Result | None, name: str) -> str:
    """'1.71 (1.5 to 1.9)': the difference to the ring `name`, without a set; '' without a figure.

    Without that ring, what to measure.
    """
    if without is None:
        return f"unknown: measure {name} in the same run"
    if result.estimate is None or without.estimate is None:
        return ""
    difference = compared(result, without)
    low, high = difference.difference_interval
    shown = f"{rounded(difference.difference)} ({rounded(low)} to {rounded(high)})"
    if difference.side > 0:
        return shown
    if difference.side < 0:
        return f"less than without: {shown}"
    why = difference.doubt()
    if why:
        return f"not distinguishable from 0: {shown}; {why}"
    return f"not distinguishable from 0: {shown}"


def _parts(result: Result) -> tuple[str, int, int]:
    """Kind and number of the tasks, and the bytes of each set."""
    match = _RING.fullmatch(result.variant)
    assert match is not None
    size = int(match[3].rstrip("km")) << {"k": 10, "m": 20}.get(match[3][-1], 0)
    return match[1], int(match[2]), size


def _place(result: Result) -> tuple[str, int, int]:
    return _parts(result)


def _in_kib(size: int) -> str:
    return f"{size >> 10:,} KiB"
