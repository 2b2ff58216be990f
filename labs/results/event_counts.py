"""How often an event happens in one operation: the slope of the line through its counts.

Reading a count is a system call, and both readings around a sample are counted with it. This adds
the same to samples of every batch size, so it is in the intercept, as the overhead of a clock is.
The counts come from a run with `--perf`, and help to explain a figure. No figure, warning or grade
depends on them.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from labs.html import Table
from labs.recording.counts import absent, counted, scope
from labs.recording.file import Recording


@dataclass(frozen=True)
class PerOperation:
    """Events of one operation: the median of the processes, the lowest and the highest of them.

    The baseline of the variant is subtracted. `whole` is the mean count of a sample of `batch`
    operations as it was read, with the readings themselves.
    """

    event: str
    value: float
    low: float
    high: float
    processes: int
    batch: int
    whole: float


def per_operation(recording: Recording, variant: str) -> tuple[PerOperation, ...]:
    """The events of one operation of `variant`; those without a line are left out."""
    baseline = "".join(recording.condition(f"variant.{variant}.baseline")[:1])
    times = recording.number(f"variant.{variant}.baseline_times")
    parts = recording.number(f"variant.{variant}.parts")
    of_baseline = {each.event: each for each in counted(recording, baseline)} if baseline else {}
    found = []
    for event in counted(recording, variant):
        slopes = [_slope(cells) for cells in event.processes]
        if baseline:
            cells_of = of_baseline[event.event].processes if event.event in of_baseline else ()
            # Process n of both is the same process, so what it had in addition is in both.
            slopes = [
                slope - (times if times is not None else 1.0) * less
                for slope, less in zip(slopes, map(_slope, cells_of), strict=False)
                if slope is not None and less is not None
            ]
        each_part = (slope / (parts or 1.0) for slope in slopes if slope is not None)
        values = [value for value in each_part if math.isfinite(value)]
        if not values:
            continue
        batch = max(event.processes[0])
        whole = statistics.fmean(each[batch] for each in event.processes if batch in each)
        middle, low, high = statistics.median(values), min(values), max(values)
        found.append(PerOperation(event.event, middle, low, high, len(values), batch, whole))
    return tuple(found)


def _slope(cells: Mapping[int, float]) -> float | None:
    """The slope by least squares; None if there is only one batch size."""
    if len(cells) < 2:
        return None
    return statistics.linear_regression(list(cells), list(cells.values())).slope


# The counts as a table for each variant, and as JSON.

_OTHER_CLOCK = "its samples read another clock, or other programs had the hardware counters"


def table_of(recording: Recording, variant: str) -> Table | None:
    """The events of one operation of `variant`; None if none was counted."""
    counts = per_operation(recording, variant)
    if not counts:
        return None
    caption = f"Events of {variant}"
    if scope(recording) == "user mode":
        caption = f"Events of {variant}, in user mode only"
    return Table(
        caption,
        ("event", "in one operation", "lowest to highest process", "in one sample, as read"),
        tuple(_row(each) for each in counts),
    )


def _row(each: PerOperation) -> tuple[str, ...]:
    between = f"{_shown(each.low)} to {_shown(each.high)} ({each.processes} processes)"
    whole = f"{_shown(each.whole)} (k = {each.batch})"
    return each.event, _shown(each.value), between, whole


def _shown(count: float) -> str:
    return f"{count:,.0f}" if abs(count) >= 1000 else f"{count:.2f}".replace("-0.00", "0.00")


def lines_of_absent(recording: Recording) -> list[str]:
    """One line for each reason, with the events that were not counted because of it."""
    by_reason: dict[str, list[str]] = {}
    for event, why in absent(recording).items():
        by_reason.setdefault(why, []).append(event)
    return [f"not counted: {', '.join(events)}: {why}" for why, events in by_reason.items()]


def as_lines(recording: Recording, variants: Sequence[str], width: int | None = None) -> list[str]:
    """The tables of these variants, and what was not counted, for a terminal of this width."""
    lines = []
    for name in variants:
        table = table_of(recording, name)
        if table is not None:
            lines += ["", table.as_text(width)]
        elif scope(recording):  # other variants were counted
            lines.append(f"not counted: {name}: {_OTHER_CLOCK}")
    return lines + lines_of_absent(recording)


def as_json(recording: Recording, variant: str) -> dict[str, Any]:
    """What was counted for `variant`, and why other events were not."""
    return {
        "scope": scope(recording) or None,
        "events": {
            each.event: {
                "per_operation": each.value,
                "lowest_and_highest": [each.low, each.high],
                "processes": each.processes,
                "sample": {"batch": each.batch, "count": each.whole},
            }
            for each in per_operation(recording, variant)
        },
        "absent": absent(recording),
    }
