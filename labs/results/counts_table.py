"""The events that a run with `--perf` counted, as a table for each variant, and as JSON.

They help to explain a figure. No figure, warning or grade depends on them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from labs.common.table import Table
from labs.languages.words import words
from labs.recording.counts import absent, scope
from labs.recording.file import Recording
from labs.results.counts import PerOperation, per_operation

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
    return [words(f"not counted: {', '.join(events)}: {why}") for why, events in by_reason.items()]


def as_lines(recording: Recording, variants: Sequence[str], width: int | None = None) -> list[str]:
    """The tables of these variants, and what was not counted, for a terminal of this width."""
    lines = []
    for name in variants:
        table = table_of(recording, name)
        if table is not None:
            lines += ["", table.as_text(width)]
        elif scope(recording):  # other variants were counted
            lines.append(words(f"not counted: {name}: {_OTHER_CLOCK}"))
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
