"""A unit that is none, or not one of this quantity."""

from __future__ import annotations

from grader.cases.case import Case
from grader.cases.spec import CHOICE
from grader.cases.verdict import Level
from grader.pitfalls.pitfall import Pitfall
from labs.common.units import NAMES


def detect(case: Case) -> str | None:
    if case.submitted is not None:
        return None
    asked = "by number" if case.spec.unit == CHOICE else f"in {case.spec.unit}"
    return f"You gave {case.as_submitted()}; the lab asks for {case.spec.asked}, {asked}."


PITFALL = Pitfall(
    code="unit-unknown",
    level=Level.INTERPRETATION,
    symptom="The figure's unit cannot be converted into the unit that the lab asks for.",
    misconception="A figure without a usable unit says nothing.",
    experiment=f"Give one of {', '.join(NAMES)}; for a ratio, times; for the number of a "
    "conclusion, choice.",
    seen_in="report C: cycles, ns and µs mixed",
    detect=detect,
)
