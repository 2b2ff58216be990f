"""The counts that a recording states: events of a run with `--perf`, and page faults of any run.

    perf.scope: user mode and OS kernel        what was counted
    perf.absent.cycles: REASON                 why an event was not counted
    perf.count.page-faults.touch.0: 8=8 16=16  event, variant, process: mean count by batch size

Readers of other kits ignore the conditions of `--perf`. Anybody may have written them, so nothing
in them is evidence, and no check reads them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from labs.limits import MOST_BATCH_SIZES
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


# The page faults that the OS counted in the samples of a variant, and in later writes.
#
# C kernels with `kernels_c/faults.h` count them around each timed region, so each variant has its
# own count. The counts are sums over all processes of the recording.

#: From so many page faults for each page on, the pages were missing; below, they were not.
MOST_FAULTS, FEW_FAULTS = 0.9, 0.05
#: The OS makes a page fault of its own in one sample of fifty. If so many samples have one, it is
#: the same page each time, however many pages there are.
IN_SAMPLES = 0.5


@dataclass(frozen=True)
class PageFaults:
    """The counts of one variant: `touched` pages, page faults in the samples, and `later` ones.

    The later ones come from writes to the same pages after each sample. `there` is the pages that
    were in the page table before these writes; None if the run did not ask.
    """

    variant: str
    touched: int
    faults: int
    later: int
    samples: int
    there: int | None = None

    @property
    def each(self) -> float:
        """Page faults for each page that a sample touched."""
        return self.faults / self.touched

    @property
    def later_each(self) -> float:
        """Page faults of the later write to each of these pages."""
        return self.later / self.touched

    @property
    def has_faults(self) -> bool:
        """Whether the samples made page faults; a few that the OS makes by itself are none."""
        return self._is_more_than_few(self.faults)

    @property
    def only_read(self) -> bool:
        """Whether all pages are there, and some of them have no memory of their own."""
        if self.there is None:
            return min(self.each, self.later_each) >= MOST_FAULTS
        missing = self.touched - self.there
        return not self._is_more_than_few(missing) and self._is_more_than_few(self.later)

    def is_each(self, expected: float) -> bool:
        """Whether each page had `expected` page faults; a few that the OS makes make no change."""
        return not self._is_more_than_few(abs(self.faults - expected * self.touched))

    def _is_more_than_few(self, number: float) -> bool:
        return number >= FEW_FAULTS * self.touched or number >= max(IN_SAMPLES * self.samples, 1)


def page_faults_of(recording: Recording, variant: str) -> PageFaults | None:
    """The counts of a variant; None if the recording states none."""
    keys = ("touched", "faults", "later_faults")
    touched, faults, later = (recording.total(f"variant.{variant}.{key}") for key in keys)
    if not touched or faults is None or later is None:
        return None
    samples = int((recording.rows_of(variant) & (recording.batch > 0)).sum())
    there = recording.total(f"variant.{variant}.there")
    return PageFaults(variant, touched, faults, later, samples, there)
