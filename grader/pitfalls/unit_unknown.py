"""A unit that is none, or not one of this quantity."""

from __future__ import annotations

from grader.case import Case
from grader.pitfalls.pitfall import Pitfall
from grader.verdict import Level
from labs.units import NAMES


def detect(case: Case) -> str | None:
    if case.given is not None:
        return None
    return f"You gave {case.as_submitted()}; asked is {case.spec.asked} in {case.spec.unit}."


PITFALL = Pitfall(
    code="unit-unknown",
    level=Level.INTERPRETATION,
    symptom="The figure's unit cannot be turned into the one asked for.",
    misconception="A figure without a usable unit says nothing.",
    experiment=f"Give one of {', '.join(NAMES)}; for a ratio, times.",
    seen_in="report C: cycles, ns and µs mixed",
    detect=detect,
)
