"""A working set that is there and not used: nothing is driven out of a cache."""

from __future__ import annotations

from grader.cases.case import Case
from grader.cases.verdict import Level
from grader.facts.memory import working_sets
from grader.pitfalls.pitfall import Live, Pitfall
from labs.common.units import rounded


def detect(case: Case) -> str | None:
    if case.spec.kernel not in working_sets.KERNELS:
        return None
    for name in case.spec.variants:
        least = working_sets.least_cycles(name)
        reading = working_sets.reading(case, name) if least else None
        if reading is None or reading.high >= least:
            continue
        lines = working_sets.bytes_of(name) // working_sets.LINE_BYTES
        return (
            f"With one process alone, your set of {lines:,} cache lines costs "
            f"{rounded(reading.value, 2)} core cycles a round; reading all of it takes at least "
            f"{least:,.0f}."
        )
    return None


PITFALL = Pitfall(
    code="working-set-not-touched",
    level=Level.VALIDITY,
    symptom="The working set is not used.",
    misconception="Memory that no task reads takes no place in a cache, and the compiler leaves "
    "out a loop whose result nobody needs.",
    experiment="Double the set: one task alone must take twice as long to use it.",
    seen_in="common where a buffer is allocated to measure its effect",
    detect=detect,
    broken=(Live("working_set_untouched", "footprint-processes-8-256k"),),
)
