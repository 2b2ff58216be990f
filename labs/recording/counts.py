"""The counts of events that a run with `--perf` states: read from its conditions, within limits.

    perf.scope: user mode and OS kernel        what was counted
    perf.absent.cycles: REASON                 why an event was not counted
    perf.count.page-faults.touch.0: 8=8 16=16  event, variant, process: mean count by batch size

Readers of other kits ignore these conditions. Anybody may have written them, so nothing here is
evidence, and no check reads it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from labs.common.limits import MOST_BATCH_SIZES
from labs.recording.file import MOST_COUNT, Recording

#: The events in the order in which they are counted and shown (kernels_c/events.h).
EVENTS = (
    "cycles",
    "instructions",
    "branch-misses",
    "L1-dcache-load-misses",
    "cache-misses",
    "dTLB-load-misses",
    "page-faults",
    "context-switches",
)
#: At most so many processes of one event are read.
MOST_COUNTING = 10
#: A reason of more characters is cut off.
MOST_REASON = 300

SCOPE = "perf.scope"
_CELL = re.compile(r"(\d{1,10})=(\d{1,15}(?:\.\d{1,6})?)")


@dataclass(frozen=True)
class Counted:
    """One event of one variant: for each process, the mean count of a sample by batch size."""

    event: str
    variant: str
    processes: tuple[Mapping[int, float], ...]


def absent_key(event: str) -> str:
    """The condition that says why an event was not counted."""
    return f"perf.absent.{event}"


def count_key(event: str, variant: str, process: int) -> str:
    """The condition with the counts of one process."""
    return f"perf.count.{event}.{variant}.{process}"


def as_text(cells: Mapping[int, float]) -> str:
    """The counts of one process as a condition states them."""
    return " ".join(f"{batch}={count:.2f}" for batch, count in sorted(cells.items()))


def counted(recording: Recording, variant: str) -> tuple[Counted, ...]:
    """The events that the recording states for `variant`; unreadable ones are left out."""
    found = []
    for event in EVENTS:
        stated = (
            recording.conditions.get(count_key(event, variant, n)) for n in range(MOST_COUNTING)
        )
        cells = [read for text in stated if text is not None and (read := _cells(text))]
        if cells:
            found.append(Counted(event, variant, tuple(cells)))
    return tuple(found)


def absent(recording: Recording) -> dict[str, str]:
    """Why events were not counted: a reason for each event that has one."""
    stated = {event: recording.conditions.get(absent_key(event), "") for event in EVENTS}
    return {event: why[:MOST_REASON] for event, why in stated.items() if why}


def scope(recording: Recording) -> str:
    """What was counted: what happened in user mode, or also in the OS; '' if that is unknown."""
    known = ("user mode", "user mode and OS kernel")
    stated = recording.conditions.get(SCOPE, "")
    return stated if stated in known else ""


def _cells(text: str) -> dict[int, float] | None:
    """The count of each batch size; None if the text has another form."""
    words = text.split()
    matches = [_CELL.fullmatch(word) for word in words]
    if not words or len(words) > MOST_BATCH_SIZES:
        return None
    cells = {int(each[1]): float(each[2]) for each in matches if each is not None}
    whole = len(cells) == len(words) and all(count <= MOST_COUNT for count in cells.values())
    return cells if whole else None
