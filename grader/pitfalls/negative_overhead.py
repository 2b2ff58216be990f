"""A timer that costs less than nothing."""

from __future__ import annotations

from grader.case import Case
from grader.figures.spec import Quantity
from grader.pitfalls.pitfall import Pitfall
from grader.verdict import Level
from labs.units import rounded


def detect(case: Case) -> str | None:
    if not case.spec.is_time or case.spec.quantity is Quantity.DIFFERENCE:
        return None
    if case.figure.value < 0 and case.right:
        return None
    if case.figure.value < 0:
        return f"You gave {case.as_submitted()}: less than nothing."
    line = case.result.line
    if line is not None and line.cost.high < 0:
        return f"Your line falls with the work: {rounded(line.cost.value)} ticks an operation."
    return None


PITFALL = Pitfall(
    code="less-than-nothing",
    level=Level.VALIDITY,
    symptom="No operation takes a negative time.",
    misconception="Something was subtracted that was not in the interval, such as an overhead from "
    "another machine.",
    experiment="Print the value before anything is subtracted, and beside it what is subtracted.",
    seen_in="report A: 28.5 cycles of one machine subtracted on all; calls come out at -3.9",
    detect=detect,
)
