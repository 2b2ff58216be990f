"""The counts that a recording states: switches, events of a run with `--perf`, page faults, trials.

    perf.scope: user mode and OS kernel        what was counted
    perf.absent.cycles: REASON                 why an event was not counted
    perf.count.page-faults.touch.0: 8=8 16=16  event, variant, process: mean count by batch size

Readers of other kits ignore the conditions of `--perf`. Anybody may have written them, so nothing
in them is evidence, and no check reads them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace

from labs.limits import MOST_BATCH_SIZES
from labs.recording.file import MOST_COUNT, Recording, memoized
from labs.units import rounded

# Proof that the timed switches happened: compare the C kernel's claim with the OS's count.

#: How far claim and count may differ: a timer tick or a page fault causes an occasional switch.
SWITCHES_TOLERANCE = 0.02

#: The OS gives a CPU to another program at most this often during a sample.
PREEMPTIONS_PER_S = 2_000

#: Fewer for one operation are told as two counts.
RARE = 0.001

_KINDS = ("voluntary_switches", "involuntary_switches")


@dataclass(frozen=True)
class Switches:
    """The switches of one variant, claimed and counted over the run, and `claim` per operation.

    `edges` is how many more switches may happen at the beginnings of its samples. If variants are
    interleaved, the other task of the previous variant may still have to go to sleep.
    """

    claimed: int
    counted: int
    claim: float
    edges: int = 0

    @property
    def each(self) -> float:
        """How many switches per operation the OS counted."""
        return self.counted / self.claimed * self.claim

    @property
    def rate(self) -> str:
        """How many for one operation, as text: of a rare one, the counts say more than a share."""
        operations = round(self.claimed / self.claim)
        if 0 < self.each < RARE:
            return f"{self.counted:,} of {operations:,}"
        return rounded(self.each)

    @property
    def accounted_for(self) -> bool:
        """Whether the OS counted as many switches as claimed, within the tolerance."""
        more = self.counted - self.claimed
        tolerated = SWITCHES_TOLERANCE * self.claimed
        return -tolerated <= more <= tolerated + self.edges

    def __str__(self) -> str:
        counts = f"{self.claimed:,} switches claimed, {self.counted:,} counted by the OS"
        if self.accounted_for:
            return counts
        return f"{counts}: {self.rate} for one operation, not {self.claim:g}"


def switches_of(recording: Recording, variant: str) -> Switches | None:
    """Claim and count of `variant`; None if it claims no switch, or if there is no count."""
    claim = claim_of(recording, variant)
    claimed, counted = switches(recording, variant)
    if not claim or not claimed or counted is None:
        return None
    # Variants with a second task have a baseline, or they claim switches.
    with_peer = [
        name
        for name in recording.variants
        if claim_of(recording, name) or recording.condition(f"variant.{name}.baseline")
    ]
    mine = recording.rows_of(variant)
    return Switches(claimed, counted, claim, int(mine.sum()) if len(with_peer) > 1 else 0)


def switches(recording: Recording, variant: str | None = None) -> tuple[int | None, int | None]:
    """Switches claimed and counted for `variant`, or over the whole run; None if not recorded.

    The count is the sum of both kinds over all tasks: a task that wakes another can be preempted by
    it, and the OS then counts an involuntary switch. C kernels count each variant's switches around
    its samples. Older recordings have only the counts of the whole run.
    """
    if variant is not None and has_own_count(recording, variant):
        claimed, count = recording.totals(variant, "claimed_switches", "counted_switches")
        return claimed, count
    claimed = recording.total("claimed.switches")
    counted = [
        recording.total(f"task.{task}.{kind}") for task in ("main", "peers") for kind in _KINDS
    ]
    known = [count for count in counted if count is not None]
    return claimed, sum(known) if known else None


def most_preemptions(recording: Recording, variant: str) -> float:
    """How often other programs may have had the CPU during the samples of `variant`."""
    ticks = float(recording.ticks[recording.rows_of(variant)].sum())
    return PREEMPTIONS_PER_S * ticks / recording.clock(variant).frequency_hz


def preemptions_of(recording: Recording, variant: str, seen: Switches) -> int | None:
    """The switches beyond the claim, if the OS took the CPU from a task in its turn each time.

    None if the tasks themselves went to sleep more often than claimed, if there are more than other
    programs can cause, or if the kinds of switches were not counted.
    """
    asleep = recording.total(f"variant.{variant}.voluntary_switches")
    more = seen.counted - seen.claimed
    if asleep is None or more <= 0 or not replace(seen, counted=asleep).accounted_for:
        return None
    return more if more <= most_preemptions(recording, variant) else None


def has_own_count(recording: Recording, variant: str) -> bool:
    """Whether the C kernel counted the switches around the samples of `variant` alone."""
    return bool(recording.condition(f"variant.{variant}.claimed_switches"))


def claim_of(recording: Recording, variant: str) -> float:
    """How many switches one operation of `variant` claims."""
    return recording.number(f"variant.{variant}.switches") or 0.0


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
    def has_faults(self) -> bool:
        """Whether the samples made page faults; a few that the OS makes by itself are none."""
        return self._is_more_than_few(self.faults)

    @property
    def only_read(self) -> bool:
        """Whether all pages are there, and some of them have no memory of their own."""
        if self.there is None:
            return min(self.faults, self.later) >= MOST_FAULTS * self.touched
        missing = self.touched - self.there
        return not self._is_more_than_few(missing) and self._is_more_than_few(self.later)

    def is_each(self, expected: float) -> bool:
        """Whether each page had `expected` page faults; a few that the OS makes make no change."""
        return not self._is_more_than_few(abs(self.faults - expected * self.touched))

    def _is_more_than_few(self, number: float) -> bool:
        return number >= FEW_FAULTS * self.touched or number >= max(IN_SAMPLES * self.samples, 1)


def made_no_page_fault(recording: Recording, variant: str) -> bool:
    """Whether the OS counted the page faults of a variant's touches, and found none."""
    seen = page_faults_of(recording, variant)
    return seen is not None and not seen.has_faults


def page_faults_of(recording: Recording, variant: str) -> PageFaults | None:
    """The counts of a variant; None if the recording states none."""
    keys = ("touched", "faults", "later_faults", "there")
    touched, faults, later, there = recording.totals(variant, *keys)
    if not touched or faults is None or later is None:
        return None
    samples = int((recording.rows_of(variant) & (recording.batch > 0)).sum())
    return PageFaults(variant, touched, faults, later, samples, there)


# What a process that times nothing saw of the operations of a student's C.
#
# `kernels_c/trials/trials.c` makes these trials, and a recording states what they saw under keys
# such as `variant.NAME.trial.steps`. A trial that could not be made is left out.

#: A key under which a trial is stated.
TRIAL_KEY = re.compile(r"variant\.[a-z0-9_-]+\.trial\.[a-z_]+")
#: The least core cycles that a wrong prediction of a branch costs.
CYCLES_OF_A_MISS = 15
#: Fewer misses in an operation are those of its loops' ends, also with other input.
FEWEST_MISSED = 8


@dataclass(frozen=True)
class Trials:
    """What the trials of one variant saw; None where nothing was seen.

    `steps` are the instructions of an operation, if each operation takes the same way through them;
    a predictor that has not seen this way is wrong at `missed` of its branches. When `put_back`
    words had again the contents that only the first operations changed, an operation took another
    way, through `fresh_steps` instructions (None: too many to count). `calls` of the OS kernel are
    made between the readings. `counter_whole` says whether a sample holds more than 32 bits of the
    counter, and `dropped` whether the C took another one in place of a very long one. The samples
    used `lines` cache lines, and `lines_before` in their first half; `lines_filled` of the
    program's lines hold something. The OS kernel counted `writes`, and `bytes_written` by them.
    """

    steps: int | None = None
    missed: int | None = None
    put_back: int | None = None
    fresh_steps: int | None = None
    counter_whole: int | None = None
    calls: int | None = None
    dropped: int | None = None
    lines: int | None = None
    lines_before: int | None = None
    lines_filled: int | None = None
    writes: int | None = None
    bytes_written: int | None = None

    @property
    def ways(self) -> str:
        """By how many instructions the ways with new and with used input differ, as text."""
        if self.steps is None or self.fresh_steps is None:
            return ""
        return f" ({self.fresh_steps:,} instructions, later {self.steps:,})"

    @property
    def walk_is_short(self) -> bool:
        """Whether the samples come back to less than half of the lines that hold something."""
        if self.lines is None or self.lines_filled is None:
            return False
        return self.lines == self.lines_before and 2 * self.lines < self.lines_filled

    @property
    def sends_nothing(self) -> bool:
        """Whether there are writes, and none of them moves a byte."""
        return bool(self.writes) and self.bytes_written == 0

    def is_learnt(self, cycles: float) -> bool:
        """Whether an operation of so many core cycles is too fast to hold the misses of new
        input."""
        if self.missed is None or self.missed < FEWEST_MISSED:
            return False
        return cycles < CYCLES_OF_A_MISS * self.missed


@memoized
def trials_of(recording: Recording, variant: str) -> Trials:
    """What the trials of `variant` saw."""
    stated = {each.name: f"variant.{variant}.trial.{each.name}" for each in fields(Trials)}
    numbers = {name: recording.number(key) for name, key in stated.items()}
    return Trials(**{name: int(each) for name, each in numbers.items() if each is not None})
