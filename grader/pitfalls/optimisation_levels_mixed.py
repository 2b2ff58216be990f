"""A figure of one optimisation level handed in for another."""

from __future__ import annotations

from grader.cases.case import Case
from grader.cases.verdict import Level
from grader.pitfalls.pitfall import Pitfall
from labs.c_kernels.optimisation import level_of


def detect(case: Case) -> str | None:
    stated = case.recording.conditions.get("flags")
    if not case.spec.flags or stated is None:
        return None
    asked, had = level_of(case.spec.flags), level_of(stated)
    if had is None or asked == had:
        return None
    return (
        f"The lab asks for {case.spec.asked}, compiled with {asked}; {case.figure.recording} was "
        f"compiled with {had}."
    )


PITFALL = Pitfall(
    code="optimisation-levels-mixed",
    level=Level.VALIDITY,
    symptom="The program was compiled at another optimisation level than the lab asks for.",
    misconception="The level decides which instructions run. Figures at two levels come from two "
    "programs, and their difference is not the cost of arguments.",
    experiment="Measure with the flags that the lab asks for, and compare both runs. A recording's "
    "line `# flags` names its level.",
    seen_in="reports A, D and E: no level is stated",
    detect=detect,
)
