"""Creation alone, handed in as the cost of a task from its creation to its end."""

from __future__ import annotations

from grader.cases.case import Case
from grader.cases.digits import is_number
from grader.cases.spec import Quantity
from grader.cases.verdict import Level
from grader.facts import creations
from grader.facts.c import calls, parts
from grader.facts.sources import own_source
from grader.pitfalls import child_left_behind
from grader.pitfalls.pitfall import Live, MistakeKind, Pitfall
from labs.common.units import rounded
from labs.results.result import result_of

_AWAITS = ("wait", "waitpid", "waitid", "wait3", "wait4", "pthread_join", "ended", "joined")


def detect(case: Case) -> str | None:
    if case.spec.kernel not in creations.KERNELS or case.spec.quantity is not Quantity.COST:
        return None
    if case.right or not case.accepted_values:
        return _by_source(case)
    return _by_value(case)


def _by_value(case: Case) -> str | None:
    asked = case.spec.variant
    alone = asked.replace("-wait", "")
    if alone == asked or alone not in case.recording.variants:
        return None
    result = case.results.get(alone) or result_of(case.recording, alone, "ns")
    if result.estimate is None:
        return None
    value = result.estimate.into(case.spec.unit, result.clock).value
    if not is_number(case, value):
        return None
    return (
        f"You gave {case.as_submitted()}: in your recording that is {alone}, which is creation "
        f"only; {asked} takes {rounded(case.accepted_values[0].value)} {case.spec.unit}."
    )


def _by_source(case: Case) -> str | None:
    source = own_source(case)
    if source is None or not parts.has_region(source) or child_left_behind.detect(case):
        return None
    timed = parts.timed(source)
    created = calls.creation(timed)
    if created is None or calls.called(timed, _AWAITS):
        return None
    return (
        f"Between its two readings your C calls {created} and waits for nothing, so "
        f"{case.as_submitted()} do not include the end of the task."
    )


PITFALL = Pitfall(
    code="creation-without-its-end",
    level=Level.INTERPRETATION,
    symptom="Only the creation was counted, not the task's end.",
    misconception="A call that creates a task returns before the new task has done anything. The "
    "task still has to run, to end and to be waited for.",
    experiment="Time both in one run, and look at what lies between them.",
    seen_in="report A: fork alone, beside tools that print fork, exit and wait",
    detect=detect,
    explains=MistakeKind.CONTENTS,
    shows_in_recording=True,
    broken=(Live("fork_without_wait", "creation-fork-wait"),),
)
