"""The clock is read before the work is done: unfenced readings, work that does not show."""

from __future__ import annotations

from grader.cases.case import Case
from grader.cases.spec import Quantity
from grader.cases.verdict import Level
from grader.facts.c.readings import subtracted_constant
from grader.pitfalls.pitfall import Live, Pitfall
from grader.pitfalls.stale_constant import too_little_left
from labs.common.units import rounded

#: A dependent addition takes one core cycle; an emulator or a hypervisor may blur that.
LEAST_CYCLES, MOST_CYCLES = 0.5, 2.0

#: The C kernel that a student writes around dependent additions.
OWN = "own_pair"


def detect(case: Case) -> str | None:
    if not case.spec.of_overhead and case.spec.kernel != OWN:
        return None
    if case.source is not None and subtracted_constant(case.source) is None:
        evidence = too_little_left(case)
        if evidence is not None:
            return evidence
    for name, result in case.results.items():
        line = result.line
        if line is None:
            continue
        if not line.straight:
            worst, _ = line.worst_point()
            return (
                f"Your samples of {name} do not grow with the work: at k = "
                f"{line.batch[worst]:.0f} the mean lies "
                f"{rounded(float(line.residual[worst]))} ticks off the line through all "
                "batch sizes."
            )
        if line.clock.step > line.location.max():
            continue  # a counter that sees nothing of such samples says nothing of their order
        cycle = line.clock.core_cycle_ticks
        if case.spec.quantity is Quantity.COST and case.spec.kernel == OWN and cycle:
            cost = line.cost
            # The interval counts: a coarse counter knows a cycle only roughly.
            if cost.high < LEAST_CYCLES * cycle or cost.low > MOST_CYCLES * cycle:
                return (
                    f"Your {name} pair sees {rounded(cost.value / cycle)} core cycles for an "
                    "addition that waits for the one before and so takes one."
                )
    return None


PITFALL = Pitfall(
    code="clock-read-too-early",
    level=Level.VALIDITY,
    symptom="The readings do not enclose the work.",
    misconception="A processor executes out of order: an unfenced reading does not wait for the "
    "work that stands before it.",
    experiment="Put a fence before the second reading, and double the work: does the sample "
    "double?",
    seen_in="report A: rdtsc without a fence around a few cycles of work",
    detect=detect,
    yields_to=("digits-lost", "timestamps-in-double", "not-one-chain", "end-not-read"),
    broken=(Live("no_fence", "timer-overhead-fenced"),),
)
