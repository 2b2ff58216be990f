"""An operation, or a timer, whose cost is negative."""

from __future__ import annotations

from grader.cases.case import Case
from grader.cases.spec import Quantity
from grader.cases.verdict import Level
from grader.pitfalls.pitfall import Live, Pitfall
from labs.analysis.estimate import Estimate
from labs.common.units import rounded

#: A net cost may come out a little below nothing where the operation is nothing; by this share of
#: what was timed it may not.
CLEARLY_LESS = 0.2
#: Where an operation costs next to nothing, every fortieth line falls by more than its interval
#: allows. So many halves of the interval it does not fall by chance.
BY_CHANCE = 2.0


def detect(case: Case) -> str | None:
    if not case.spec.is_time or case.spec.quantity is Quantity.DIFFERENCE:
        return None
    if case.figure.value < 0 and not case.right:
        return f"You gave {case.as_submitted()}, which is below zero."
    line, net = case.result.line, case.result.net
    if line is not None and line.straight and _falls(line.cost):
        return (
            f"Your line falls as the work grows: its slope is {rounded(line.cost.value)} ticks "
            "an operation."
        )
    if net is None or net.baseline is None or net.net.high >= 0:
        return None
    if net.net.value > -CLEARLY_LESS * abs(net.unsubtracted.value):
        return None
    return (
        f"Your recording gives {rounded(net.net.value)} ticks: one operation as timed takes "
        f"{rounded(net.unsubtracted.value)}, and the {net.baseline_variant} subtracted from it "
        f"takes {rounded(net.times * net.baseline.value / net.parts)}."
    )


def _falls(cost: Estimate) -> bool:
    return cost.value + BY_CHANCE * cost.half_width < 0


PITFALL = Pitfall(
    code="less-than-nothing",
    level=Level.VALIDITY,
    symptom="No operation takes a negative time.",
    misconception="Something was subtracted that was not in the sample, such as an overhead that "
    "this run did not measure.",
    experiment="Print the value before the subtraction, and next to it the value that is "
    "subtracted.",
    seen_in="report A: 28.5 cycles of one machine subtracted on all; calls come out at -3.9",
    detect=detect,
    yields_to=(
        "baseline-does-it-too",
        "tracer-stops-it",
        "stale-constant",
        "clocks-of-two-processes",
        "fewer-switches-than-claimed",
        "lock-convoy",
        "never-slept",
        "own-semaphore",
        "work-optimised-away",
    ),
    broken=(Live("overhead_for_every_call", "call-args0"),),
)
