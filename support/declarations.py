"""What the C kernels declare, for recordings that a test makes up."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from labs.recording.declared import Estimand, Placement
from labs.recording.file import Recording

#: Values that are not stated.
_USUAL = ("0", Placement.ANYWHERE.value)
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


def as_declared(made: Recording, kernel: str = "") -> Recording:
    """The recording with what the C kernel declares of its variants, where it does not say so yet.

    With `kernel`, it becomes a recording of that C kernel, and declares what that one does.
    """
    stated = dict(made.conditions)
    for variant in made.variants:
        for key, value in _of_variant(made, kernel or made.kernel, variant).items():
            name = f"variant.{variant}.{key}"
            if kernel:
                stated.pop(name, None)
            if value not in _USUAL and name not in stated:
                stated[name] = value
    return replace(made, kernel=kernel or made.kernel, conditions=MappingProxyType(stated))


def _of_variant(made: Recording, kernel: str, variant: str) -> Mapping[str, str]:
    estimand = Estimand.OVERHEAD if kernel in _TIMERS else Estimand.COST
    if made.condition(f"variant.{variant}.first")[:1] == ("1",):
        estimand = Estimand.FIRST_TIME
    of_memory = _OF_MEMORY.get(kernel)
    return {
        "estimand": estimand.value,
        "operation_cycles": f"{kernel in _OF_ADDITIONS:d}",
        "placement": _placement(kernel, variant).value,
        "other_tasks": str(_other_tasks(made, kernel, variant)),
        "traps": f"{kernel in _TRAPPING:d}",
        "unfenced": f"{kernel in _TIMERS and variant == 'unfenced':d}",
        "memory": f"{of_memory is not None and of_memory.fullmatch(variant) is not None:d}",
    }


def _placement(kernel: str, variant: str) -> Placement:
    if "two-cpus" in variant:
        return Placement.TWO_CPUS
    if variant.endswith("-in-turn"):
        return Placement.CPUS_IN_TURN
    if kernel not in _PLACING or variant.endswith("-unpinned"):
        return Placement.ANYWHERE
    return Placement.ONE_CPU


def _other_tasks(made: Recording, kernel: str, variant: str) -> int:
    """A variant that is not alone exchanges something with one peer or with a ring of peers."""
    alone = variant.startswith(("self-", "alone-")) or variant.endswith("-alone")
    switches = made.number(f"variant.{variant}.switches") or 0.0
    if alone or not ("switch" in kernel or switches > 0):
        return 0
    return max(int(min(switches, 1_000)) - 1, 1)
