"""A call by the trap instruction, while the earlier call of the library still runs too."""

from __future__ import annotations

from grader.cases.case import Case
from grader.cases.verdict import Level
from grader.facts import own_call
from grader.pitfalls.pitfall import Pitfall


def detect(case: Case) -> str | None:
    code = own_call.measured(case)
    if code is None or not own_call.made_by_hand(case, code):
        return None
    beside = own_call.of_library(case, code)
    if not beside:
        return None
    return (
        f"What your C times makes a call by hand and also calls {beside[0]}(), which the built "
        "program takes from the C library."
    )


PITFALL = Pitfall(
    code="library-call-beside-trap",
    level=Level.VALIDITY,
    symptom="A function of the C library runs beside your own call.",
    misconception="A repair replaces the mistake. If both run, the figure is the sum of both.",
    experiment="Delete the line with the library's call, and measure again: by how much does the "
    "figure fall?",
    seen_in="trials of lab 08: the trap in a new line, and report B's line above it",
    detect=detect,
    in_own_c=True,
)
