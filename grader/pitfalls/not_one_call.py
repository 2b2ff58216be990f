"""A procedure that is not called, calls others, or does more than the one addition."""

from __future__ import annotations

from grader.cases.case import Case
from grader.cases.verdict import Level
from grader.facts import watched
from grader.pitfalls.pitfall import Pitfall
from labs.common.units import rounded

#: An addition, its return, and what a compiler without optimisation puts around them, are fewer
#: instructions than this.
MOST_INSIDE = 24

#: Where C kernels read clock_gettime, the second reading is itself up to this many calls, and what
#: they do is counted too.
CALLS_OF_CLOCK = 4


def detect(case: Case) -> str | None:
    operations, calls = watched.seen(case, "operations"), watched.seen(case, "calls")
    if case.spec.kernel != "own_procedure" or not operations or calls is None:
        return None
    if traps := watched.seen(case, "traps"):
        each = rounded(traps / operations, 2)
        return f"For one operation, the run saw {each} system calls between the readings."
    if _reads_a_clock(case) and operations <= calls <= operations + CALLS_OF_CLOCK:
        return None
    if calls != operations:
        made = "no call" if calls == 0 else f"{rounded(calls / operations, 3)} calls"
        return f"For one operation, the run saw {made} between the readings."
    inside = (watched.seen(case, "inside") or 0) / operations
    loops, products = watched.seen(case, "loops"), watched.seen(case, "products")
    if not loops and not products and inside <= MOST_INSIDE:
        return None
    does = "goes through a loop and " if loops else ""
    does += (
        f"multiplies or divides {rounded(products / operations, 2)} times and " if products else ""
    )
    return f"Each call of your procedure {does}takes {rounded(inside, 3)} instructions."


def _reads_a_clock(case: Case) -> bool:
    """Whether the run read clock_gettime, a function, in place of a counter."""
    return any(name.startswith("clock_") for name in case.recording.condition("counter"))


PITFALL = Pitfall(
    code="not-one-call",
    level=Level.VALIDITY,
    symptom="Your C does not time one call that adds one.",
    misconception="Work in the procedure, or accesses to memory without a call, cost cycles as a "
    "call does. The figure then shows this work.",
    experiment="Look at the disassembly of own: is there one call, and what does the called code "
    "do?",
    seen_in="benchmarks of calls whose procedures do work, so that they are not left out",
    detect=detect,
    yields_to=("work-optimised-away",),
    in_own_c=True,
)
