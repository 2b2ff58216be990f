"""Creation alone, handed in as the cost of a task from its creation to its end."""

from __future__ import annotations

import re

from grader import creations
from grader.case import Case, is_meant
from grader.figures.spec import Quantity
from grader.pitfalls import child_left_behind
from grader.pitfalls.pitfall import Live, Pitfall, Slip
from grader.verdict import Level
from labs.result import result_of
from labs.units import rounded

_CREATES = re.compile(r"\b(?:fork|vfork|clone|posix_spawnp?|pthread_create)\s*\(")
_AWAITS = re.compile(r"\b(?:wait|waitpid|waitid|wait3|wait4|pthread_join|ended|joined)\s*\(")


def detect(case: Case) -> str | None:
    if case.spec.kernel not in creations.KERNELS or case.spec.quantity is not Quantity.COST:
        return None
    if case.right or not case.accepted:
        return _by_source(case)
    return _by_value(case)


def _by_value(case: Case) -> str | None:
    asked = case.spec.variant
    alone = asked.replace("-wait", "")
    if alone == asked or alone not in case.recording.variants or case.given is None:
        return None
    result = case.results.get(alone) or result_of(case.recording, alone, "ns")
    if result.estimate is None:
        return None
    value = result.estimate.into(case.spec.unit, result.clock).value
    if not is_meant(case.given, value):
        return None
    return (
        f"You gave {case.as_submitted()}: in your recording that is {alone}, creation only; "
        f"{asked} takes {rounded(_value(case))} {case.spec.unit}."
    )


def _value(case: Case) -> float:
    return case.expected.value if case.expected is not None else float("nan")


def _by_source(case: Case) -> str | None:
    source = creations.own_source(case)
    if source is None or not creations.has_region(source) or child_left_behind.detect(case):
        return None
    timed = creations.timed(source)
    created = _CREATES.search(timed)
    if created is None or _AWAITS.search(timed):
        return None
    return (
        f"Between its two readings your C calls {created[0].rstrip('( ')} and waits for nothing: "
        f"{case.as_submitted()} ends before the task does."
    )


PITFALL = Pitfall(
    code="creation-without-its-end",
    level=Level.INTERPRETATION,
    symptom="Only the creation was counted, not the task's end.",
    misconception="Creation returns before the new task has done, or paid for, anything: running, "
    "ending and being waited for come after.",
    experiment="Time both in one run, and look at what lies between them.",
    seen_in="report A: fork alone, beside tools that print fork, exit and wait",
    detect=detect,
    explains=Slip.CONTENTS,
    shows_in_recording=True,
    broken=(Live("fork_without_wait", "creation-fork-wait"),),
)
