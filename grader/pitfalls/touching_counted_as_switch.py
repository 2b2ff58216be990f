"""The task's own use of its working set, handed in as a part of the switch."""

from __future__ import annotations

from grader.cases.case import Case
from grader.cases.digits import is_number
from grader.cases.spec import Quantity
from grader.cases.verdict import Level
from grader.facts.memory import working_sets
from grader.pitfalls.pitfall import Live, MistakeKind, Pitfall
from labs.analysis.net_cost import Net, parts_of
from labs.common.units import rounded


def detect(case: Case) -> str | None:
    if case.spec.kernel not in working_sets.KERNELS or case.spec.quantity is not Quantity.COST:
        return None
    if case.right or not case.accepted_values:
        return _nothing_subtracted(case)
    return None if case.result.net is None else _as_timed(case, case.result.net)


def _nothing_subtracted(case: Case) -> str | None:
    name = case.spec.variant
    parts = parts_of(case.recording, name)
    if case.recording.condition(f"variant.{name}.baseline") or parts < 2:
        return None
    return (
        f"Your variant {name} names no baseline: {case.as_submitted()} also holds what each task "
        "does with its pipe and working set."
    )


def _as_timed(case: Case, net: Net) -> str | None:
    if net.baseline is None:
        return None
    per_unit = case.result.clock.ticks_in(case.spec.unit)
    if not is_number(case, net.unsubtracted.value / per_unit):
        return None
    own = net.baseline.value * net.times / net.parts / per_unit
    return (
        f"You gave {case.as_submitted()}, which is a hop as timed. In this hop {rounded(own)} "
        f"{case.spec.unit} are the cost of pipe and working set, which one task alone "
        f"({net.baseline_variant}) pays without any switch."
    )


PITFALL = Pitfall(
    code="touching-counted-as-switch",
    level=Level.INTERPRETATION,
    symptom="The task's own work is counted as the switch's.",
    misconception="A task reads its memory with or without a switch. The switch causes only the "
    "extra cost of this work.",
    experiment="Let one task do the same work alone, in the same run, and subtract that.",
    seen_in="ring benchmarks whose work is part of their result",
    detect=detect,
    explains=MistakeKind.CONTENTS,
    shows_in_recording=True,
    broken=(Live("touching_in_the_switch", "footprint-processes-8-256k"),),
)
