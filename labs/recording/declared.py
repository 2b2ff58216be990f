"""What a C kernel declares about each of its variants: what the figure is, and how it is measured.

Each variant makes its declarations in C (kernels_c/declared.h). `--list` shows them before a run,
and every recording states them, for example `# variant.NAME.estimand: overhead`. A student may have
written the recording, so we treat an unknown value as missing.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from labs.recording.file import Recording, memoized

#: No C kernel has more tasks or states longer operations, so we do not believe larger numbers.
MOST_TASKS = 1_000
MOST_OPERATION_CYCLES = 1_000


class Estimand(str, Enum):
    """Which part of the line T(k) = overhead + k * cost the figure of a variant is."""

    COST = "cost"
    OVERHEAD = "overhead"
    FIRST_TIME = "first-time"


class Placement(str, Enum):
    """Where a C kernel puts its tasks. `ANYWHERE` is the CPU of `--cpu`, or the OS's choice."""

    ANYWHERE = "anywhere"
    ONE_CPU = "one-cpu"
    TWO_CPUS = "two-cpus"
    CPUS_IN_TURN = "cpus-in-turn"


@dataclass(frozen=True)
class Declared:
    """What a variant declares.

    An operation takes `operation_cycles` core cycles (0: unknown). `other_tasks` is the number of
    further tasks that take part for the whole run. `traps`: an operation makes its system call with
    the trap instruction itself, not through the C library. `unfenced`: the readings do not wait for
    the work between them. `memory`: the figure is the cost of copying, page faults or missing
    memory, so other programs that use memory change it.
    """

    estimand: Estimand = Estimand.COST
    operation_cycles: int = 0
    placement: Placement = Placement.ANYWHERE
    other_tasks: int = 0
    traps: bool = False
    unfenced: bool = False
    memory: bool = False


NOTHING_DECLARED = Declared()


def from_values(value_of: Callable[[str], str]) -> Declared | None:
    """The declarations whose values `value_of` returns by key; None if they name no estimand."""
    estimand = next((each for each in Estimand if each == value_of("estimand")), None)
    if estimand is None:
        return None
    placements = (each for each in Placement if each == value_of("placement"))
    return Declared(
        estimand,
        _number(value_of("operation_cycles"), MOST_OPERATION_CYCLES),
        next(placements, Placement.ANYWHERE),
        _number(value_of("other_tasks"), MOST_TASKS),
        value_of("traps") == "1",
        value_of("unfenced") == "1",
        value_of("memory") == "1",
    )


@memoized
def of_variant(recording: Recording, variant: str) -> Declared:
    """What `variant` declares in `recording`; nothing if it names no estimand."""

    def value_of(key: str) -> str:
        values = set(recording.condition(f"variant.{variant}.{key}"))
        return values.pop() if len(values) == 1 else ""

    return from_values(value_of) or NOTHING_DECLARED


def estimand(recording: Recording, variant: str) -> Estimand:
    """What the figure of `variant` is."""
    return of_variant(recording, variant).estimand


def is_overhead(recording: Recording, variant: str) -> bool:
    """Whether the figure is the cost of the readings and not of the operations between them."""
    return estimand(recording, variant) is Estimand.OVERHEAD


def is_first_time(recording: Recording, variant: str) -> bool:
    """Whether the figure is the extra cost of the first operation of each process."""
    return estimand(recording, variant) is Estimand.FIRST_TIME


def is_unfenced(recording: Recording, variant: str) -> bool:
    """Whether its readings do not wait for the work between them."""
    return of_variant(recording, variant).unfenced


def seen_not_to_wait(recording: Recording, variant: str) -> bool:
    """Whether the run watched a sample whose second reading does not wait for the additions.

    Only C of a student's own is watched (kernels_c/watched_steps.h).
    """
    additions = recording.number(f"variant.{variant}.watched_additions")
    return bool(additions) and recording.number(f"variant.{variant}.watched_end_waits") == 0


def other_tasks(recording: Recording, variant: str) -> int:
    """How many other tasks take part."""
    return of_variant(recording, variant).other_tasks


def chooses_no_cpu(recording: Recording, variant: str) -> bool:
    """Whether several tasks take part and neither the C kernel nor the plan pins them to a CPU."""
    free = of_variant(recording, variant).placement is Placement.ANYWHERE
    pinned = any(cpu != "none" for cpu in recording.condition("cpu.asked"))
    return free and not pinned and other_tasks(recording, variant) > 0


def baselines(recording: Recording) -> set[str]:
    """The variants that another one of the run subtracts."""
    keys = (f"variant.{name}.baseline" for name in recording.variants)
    return {stated for key in keys for stated in recording.condition(key)}


def _number(word: str, most: int) -> int:
    if re.fullmatch("[0-9]{1,4}", word) is None:
        return 0
    return number if (number := int(word)) <= most else 0
