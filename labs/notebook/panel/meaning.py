"""Which settings have a meaning for a variant, from what its C kernel declares.

A setting without one is greyed out, and the words say why. Other words say what leaving a choice
open means for this variant.
"""

from __future__ import annotations

from dataclasses import dataclass

from labs.recording.declared import Estimand, Placement
from labs.run.variants import Listed, Unasked


@dataclass(frozen=True)
class Meaning:
    """Whether a setting has a meaning, and what there is to say about it."""

    usable: bool = True
    words: str = ""


USUAL = Meaning()


def of_variant(variant: Listed | None) -> Meaning:
    """About the variant itself: whether this machine can run it."""
    if variant is None or not variant.missing:
        return USUAL
    # The C kernel's reason may name its options, which a panel does not have.
    why = "" if "--" in variant.missing else f": {variant.missing}"
    return Meaning(words=f"This machine cannot run {variant.name}{why}.")


def of_cpu(variant: Listed | None, *, can_pin: bool) -> Meaning:
    """About the choice of a CPU; `can_pin`: this system can pin a task."""
    if not can_pin:
        return Meaning(False, "This system cannot pin a task to a CPU.")
    if variant is None:
        return USUAL
    name, placement = variant.name, variant.declared.placement
    if placement is Placement.CPUS_IN_TURN:
        return Meaning(
            False,
            f"{name} moves its tasks from one CPU to the next by itself, so there is nothing to "
            "choose.",
        )
    if placement is Placement.ONE_CPU:
        return Meaning(words=f"{name} always pins its tasks. Without a choice: on the lowest CPU.")
    if placement is Placement.TWO_CPUS:
        return Meaning(words=f"{name} always pins its tasks. Without a choice: on the two lowest.")
    return USUAL


def of_peer_cpu(variant: Listed | None, *, can_pin: bool) -> Meaning:
    """About the choice of a CPU for the second task."""
    cpu = of_cpu(variant, can_pin=can_pin)
    if variant is None or not cpu.usable:
        return cpu
    name, declared = variant.name, variant.declared
    if declared.placement is Placement.TWO_CPUS:
        return USUAL
    if declared.other_tasks == 0:
        return Meaning(False, f"{name} has no second task.")
    if declared.placement is Placement.ONE_CPU:
        return Meaning(False, f"{name} keeps both tasks on one CPU, so there is no second one.")
    return Meaning(False, f"{name} leaves it to the OS where the second task runs.")


def of_warmup(variant: Listed | None) -> Meaning:
    """About the samples of warm-up."""
    if variant is not None and variant.declared.estimand is Estimand.FIRST_TIME:
        name = variant.name
        return Meaning(
            words=f"{name} measures first calls. A warm-up would use them up, so 0 is usual."
        )
    return USUAL


def usual_warmup(variant: Listed | None, unasked: Unasked) -> int:
    """The number of warm-up samples of the variant if its C kernel does what it does unasked."""
    first = variant is not None and variant.declared.estimand is Estimand.FIRST_TIME
    return 0 if first else unasked.warmup
