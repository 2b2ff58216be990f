"""A system call that is not given the argument it takes."""

from __future__ import annotations

from grader.cases.case import Case
from grader.cases.verdict import Level
from grader.facts import traps
from grader.facts.c import calls, parts
from grader.facts.sources import own_source
from grader.pitfalls.pitfall import Live, Pitfall


def detect(case: Case) -> str | None:
    source = own_source(case) if case.spec.kernel in traps.KERNELS else None
    code = parts.whole(source)
    empty = calls.calls_without_argument(code)
    if not empty:
        return None
    ignored = (each.replace(" ", "") for each in calls.results_ignored(code))
    unseen = " and does not check its result" if empty[0] in ignored else ""
    return (
        f"Your C calls {empty[0]} without an argument{unseen}. Your variant "
        f"{traps.with_floor(case, case.spec.variant)}."
    )


PITFALL = Pitfall(
    code="call-without-its-argument",
    level=Level.VALIDITY,
    symptom="The call takes an argument but gets none.",
    misconception="The OS kernel then uses the value that a register happens to hold. A refused "
    "call also takes time, but not the time of a call that works.",
    experiment="Print the result of one call, and errno, before timing many.",
    seen_in="report A: setuid() without its argument, 35 to 1,200 cycles",
    detect=detect,
    broken=(Live("setuid_without_argument", "system-call-setuid"),),
)
