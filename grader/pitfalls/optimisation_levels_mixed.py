"""A figure of one optimisation level handed in for another."""

from __future__ import annotations

import shlex

from grader.case import Case
from grader.pitfalls.pitfall import Pitfall
from grader.verdict import Level

#: What a compiler does where no level is named, and what plain -O means.
BY_ITSELF, PLAIN = "-O0", "-O1"


def detect(case: Case) -> str | None:
    stated = case.recording.conditions.get("flags")
    if not case.spec.flags or stated is None:
        return None
    asked, had = level_of(case.spec.flags), level_of(stated)
    if had is None or asked == had:
        return None
    return (
        f"Asked for is {case.spec.asked}, compiled with {asked}; {case.figure.recording} was "
        f"compiled with {had}."
    )


def level_of(flags: str) -> str | None:
    """The optimisation level that these flags ask for, the last of several; None: unreadable."""
    try:
        words = shlex.split(flags)
    except ValueError:
        return None
    levels = [word for word in words if word.startswith("-O")]
    last = levels[-1] if levels else BY_ITSELF
    return PLAIN if last == "-O" else last


PITFALL = Pitfall(
    code="optimisation-levels-mixed",
    level=Level.VALIDITY,
    symptom="The program was compiled at another optimisation level than was asked for.",
    misconception="The level decides which instructions run: figures of two levels are of two "
    "programs, and their difference is not one of arguments.",
    experiment="Run it with the flags asked for, and print the condition flags of both recordings.",
    seen_in="reports A, D and E: no level is stated",
    detect=detect,
)
