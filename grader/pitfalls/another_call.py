"""Another system call than the one that is asked for, or one that is asked to do nothing."""

from __future__ import annotations

from grader.cases.case import Case
from grader.cases.verdict import Level
from grader.facts import own_call, watched
from grader.pitfalls.pitfall import Pitfall
from labs.common.units import rounded


def detect(case: Case) -> str | None:
    code = own_call.measured(case)
    other = own_call.other_call(case, code) if code is not None else None
    if other is not None:
        return f"Your variant {case.spec.variant} is made with {other}."
    operations, made = watched.seen(case, "operations"), watched.seen(case, "system_calls")
    if case.spec.variant not in own_call.ASKED or not operations or not made:
        return None
    if made == operations:
        return None
    return (
        f"For one {case.spec.variant} of your C, the OS kernel got {rounded(made / operations, 3)} "
        "system calls."
    )


PITFALL = Pitfall(
    code="another-call",
    level=Level.VALIDITY,
    symptom="Your C does not time the one call that the lab asks for.",
    misconception="Each call costs the way into the OS kernel and back, plus its own work. The "
    "name of a variant does not show which call it makes.",
    experiment="Run your program under strace -c, which lists each call by name.",
    seen_in="trials of lab 08: the number of another call that also returns 0",
    detect=detect,
    yields_to=("library-call-beside-trap",),
    in_own_c=True,
)
