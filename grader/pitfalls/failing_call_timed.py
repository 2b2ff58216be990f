"""A system call that seems to fail at once, and whose result is not checked."""

from __future__ import annotations

from grader.cases.case import Case
from grader.cases.verdict import Level
from grader.facts import traps, watched
from grader.facts.c import calls, parts
from grader.facts.sources import own_source
from grader.pitfalls.pitfall import Live, Pitfall

#: A call that is refused at the door costs little more than one that does not exist.
TIMES_FLOOR = 1.25


def detect(case: Case) -> str | None:
    refused, operations = watched.seen(case, "failed"), watched.seen(case, "operations")
    if refused and operations:
        return (
            f"The run watched {operations:.0f} operations of your C: the OS kernel refused "
            f"{refused:.0f} calls in them."
        )
    source = own_source(case) if case.spec.kernel in traps.KERNELS else None
    ignored = calls.results_ignored(parts.whole(source))
    least = traps.floor(case)
    if not ignored or least is None:
        return None
    for name, _, _ in traps.claiming(case):
        own = traps.cost(case, name)
        if name != traps.FLOOR and own is not None and own < TIMES_FLOOR * least:
            return (
                f"Your variant {traps.with_floor(case, name)}. Your C does not check the result of "
                f"{ignored[0]}."
            )
    return None


PITFALL = Pitfall(
    code="failing-call-timed",
    level=Level.VALIDITY,
    symptom="The call seems to be refused at once.",
    misconception="A call that fails takes time too, and the loop does not stop. Only the result "
    "shows whether the call worked.",
    experiment="Compare each result with the value that it must have, and stop at the first that "
    "differs.",
    seen_in="reports A and C: no result is checked",
    detect=detect,
    yields_to=(
        "wrong-registers",
        "call-without-its-argument",
        "library-call-not-system-call",
        "vdso-not-system-call",
    ),
    broken=(Live("failed_open", "system-call-read0"),),
)
