"""What a C kernel declares about each of its variants: what the figure is, and how it is measured.

Each variant declares it in its C (kernels_c/declared.h). `--list` shows it before a run, and every
recording states it as `# variant.NAME.estimand: overhead` and the like. A recording is a student's
file: a word that is not known counts as not stated. Older recordings state no estimand at all; what
the C kernels of that time measured stands at the end of this module, and nowhere else.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from labs.recording.file import Recording
from labs.recording.memo import kept

#: No C kernel has more tasks, and none states longer operations: what is more is not believed.
MOST_TASKS = 1_000
MOST_CYCLES = 1_000


class Estimand(str, Enum):
    """What the figure of a variant is, in terms of the line T(k) = overhead + k * cost."""

    COST = "cost"
    OVERHEAD = "overhead"
    FIRST_TIME = "first-time"


class Placement(str, Enum):
    """Where a C kernel puts its tasks; `ANYWHERE`: where `--cpu` says, or where the OS likes."""

    ANYWHERE = "anywhere"
    ONE_CPU = "one-cpu"
    TWO_CPUS = "two-cpus"
    CPUS_IN_TURN = "cpus-in-turn"


@dataclass(frozen=True)
class Declared:
    """What a variant declares.

    An operation takes `operation_cycles` core cycles (0: not known). `other_tasks` is how many
    more tasks take part for the whole run. `traps`: an operation is a system call by the trap
    instruction itself, not by the C library. `unfenced`: the readings do not wait for the work
    between them. `memory`: the figure is the cost of copying, page faults or missing memory, so
    that it depends on what else uses memory.
    """

    estimand: Estimand = Estimand.COST
    operation_cycles: int = 0
    placement: Placement = Placement.ANYWHERE
    other_tasks: int = 0
    traps: bool = False
    unfenced: bool = False
    memory: bool = False


NOTHING_DECLARED = Declared()


def by_words(word_of: Callable[[str], str]) -> Declared | None:
    """What the words say that `word_of` gives for each key; None where they name no estimand."""
    estimand = next((each for each in Estimand if each == word_of("estimand")), None)
    if estimand is None:
        return None
    placements = (each for each in Placement if each == word_of("placement"))
    return Declared(
        estimand,
        _number(word_of("operation_cycles"), MOST_CYCLES),
        next(placements, Placement.ANYWHERE),
        _number(word_of("other_tasks"), MOST_TASKS),
        word_of("traps") == "1",
        word_of("unfenced") == "1",
        word_of("memory") == "1",
    )


@kept
def of_variant(recording: Recording, variant: str) -> Declared:
    """What `variant` declares in `recording`; of an older one, what is known about it."""

    def word_of(key: str) -> str:
        words = set(recording.condition(f"variant.{variant}.{key}"))
        return words.pop() if len(words) == 1 else ""

    return by_words(word_of) or _before_it_was_declared(recording, variant)


def estimand(recording: Recording, variant: str) -> Estimand:
    """What the figure of `variant` is."""
    return of_variant(recording, variant).estimand


def is_overhead(recording: Recording, variant: str) -> bool:
    """Whether the figure is what the readings cost, and not what they time."""
    return estimand(recording, variant) is Estimand.OVERHEAD


def is_first_time(recording: Recording, variant: str) -> bool:
    """Whether the figure is what the first operation of each process costs more."""
    return estimand(recording, variant) is Estimand.FIRST_TIME


def is_unfenced(recording: Recording, variant: str) -> bool:
    """Whether its readings do not wait for the work between them."""
    return of_variant(recording, variant).unfenced


def placement(recording: Recording, variant: str) -> Placement:
    """Where the C kernel puts the tasks of `variant`."""
    return of_variant(recording, variant).placement


def other_tasks(recording: Recording, variant: str) -> int:
    """How many other tasks take part."""
    return of_variant(recording, variant).other_tasks


def operation_cycles(recording: Recording, variant: str) -> int:
    """How many core cycles an operation takes; 0: not known."""
    return of_variant(recording, variant).operation_cycles


def _number(word: str, most: int) -> int:
    if re.fullmatch("[0-9]{1,4}", word) is None:
        return 0
    return number if (number := int(word)) <= most else 0


# Recordings of the time when C kernels declared nothing.

_TIMERS = frozenset({"timer_overhead"})
_OF_ADDITIONS = frozenset({"timer_overhead", "own_pair"})
_TRAPPING = frozenset({"system_call", "own_call", "first_iteration"})
_PLACING = frozenset(
    {"process_switch", "thread_switch", "switch_footprint", "task_creation"}
    | {"own_switch", "own_footprint", "own_creation"}
)
#: By C kernel: the variants whose figure depends on what else uses memory.
_OF_MEMORY = {
    "first_iteration": re.compile("page-fault|data-cache|instruction-cache|call"),
    "own_first_call": re.compile("own|unprepared"),
    "switch_footprint": re.compile(".+-[0-9]+[km]"),
    "own_footprint": re.compile(".+-[0-9]+[km]"),
    "task_creation": re.compile("fork(-wait)?-[0-9]+[mg]b"),
}


def _before_it_was_declared(recording: Recording, variant: str) -> Declared:
    """What the C kernels were that stated only claims, baselines and `variant.NAME.first`."""
    kernel = recording.kernel
    of_memory = _OF_MEMORY.get(kernel)
    if recording.condition(f"variant.{variant}.first")[:1] == ("1",):
        its_estimand = Estimand.FIRST_TIME
    else:
        its_estimand = Estimand.OVERHEAD if kernel in _TIMERS else Estimand.COST
    return Declared(
        its_estimand,
        1 if kernel in _OF_ADDITIONS else 0,
        _placement_by_name(kernel, variant),
        _other_tasks_by_name(recording, variant),
        kernel in _TRAPPING,
        kernel in _TIMERS and variant == "unfenced",
        of_memory is not None and of_memory.fullmatch(variant) is not None,
    )


def _placement_by_name(kernel: str, variant: str) -> Placement:
    if "two-cpus" in variant:
        return Placement.TWO_CPUS
    if variant.endswith("-in-turn"):
        return Placement.CPUS_IN_TURN
    if kernel not in _PLACING or variant.endswith("-unpinned"):
        return Placement.ANYWHERE
    return Placement.ONE_CPU


def _other_tasks_by_name(recording: Recording, variant: str) -> int:
    """Whoever is not alone exchanged something with one peer, or passed it round a ring."""
    alone = variant.startswith(("self-", "alone-")) or variant.endswith("-alone")
    switches = recording.number(f"variant.{variant}.switches") or 0.0
    if alone or not ("switch" in recording.kernel or switches > 0):
        return 0
    return max(int(min(switches, MOST_TASKS)) - 1, 1)
