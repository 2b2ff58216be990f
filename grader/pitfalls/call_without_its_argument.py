"""A system call that is not given the argument it takes."""

from __future__ import annotations

from grader.cases.case import Case
from grader.cases.verdict import Level
from grader.facts import c_source, traps
from grader.facts.sources import own_source
from grader.pitfalls.pitfall import Live, Pitfall


def detect(case: Case) -> str | None:
    source = own_source(case) if case.spec.kernel in traps.KERNELS else None
    calls = c_source.calls_without_argument(source) if source is not None else []
    if not calls:
        return None
    ignored = (each.replace(" ", "") for each in c_source.results_ignored(source or ""))
    unseen = ", and does not look at its result" if calls[0] in ignored else ""
    return (
        f"Your C calls {calls[0]} and gives it no argument{unseen}. Your "
        f"{traps.with_floor(case, case.spec.variant)}."
    )


PITFALL = Pitfall(
    code="call-without-its-argument",
    level=Level.VALIDITY,
    symptom="The call takes an argument, and gets none.",
    misconception="It then takes what a register happens to hold. A refused call takes time as "
    "well, but not the time of one that works.",
    experiment="Print the result of one call, and errno, before timing many.",
    seen_in="report A: setuid() without its argument, 35 to 1,200 cycles",
    detect=detect,
    broken=(Live("setuid_without_argument", "system-call-setuid"),),
)
