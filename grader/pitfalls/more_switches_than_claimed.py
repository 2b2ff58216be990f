"""More switches than are claimed, where nothing shows why."""

from __future__ import annotations

from grader.cases.case import Case
from grader.cases.verdict import Level
from grader.facts import switch_counts
from grader.pitfalls.pitfall import Pitfall
from labs.common.units import rounded

CODE = switch_counts.MORE


def detect(case: Case) -> str | None:
    seen = switch_counts.shown_by(case, CODE)
    if seen is None:
        return None
    return (
        f"{seen.as_text()}: {rounded(seen.each, 2)} for one operation, not {seen.claim:g}. Either "
        "a task is woken before it can go on, or it wakes by itself."
    )


PITFALL = Pitfall(
    code=CODE,
    level=Level.VALIDITY,
    symptom="The OS switched far more often than the run claims.",
    misconception="A handoff is one switch only if the woken task has all that it needs.",
    experiment="Count how often a wait ends without the turn. If it never does, a lock was still "
    "held.",
    seen_in="a condition-variable benchmark: 200,000 switches claimed, 340,000 counted",
    detect=detect,
)
