"""Fewer switches than are claimed, where nothing shows why."""

from __future__ import annotations

from grader.cases.case import Case
from grader.cases.verdict import Level
from grader.facts import switch_counts
from grader.pitfalls.pitfall import Pitfall

CODE = switch_counts.FEWER


def detect(case: Case) -> str | None:
    seen = switch_counts.shown_by(case, CODE)
    if seen is None:
        return None
    return (
        f"{seen.as_text()}. Either a task goes on without waiting for the other, or the work is "
        "done by tasks whose switches are not counted here."
    )


PITFALL = Pitfall(
    code=CODE,
    level=Level.VALIDITY,
    symptom="The OS did not count most of the switches that the run claims.",
    misconception="An exchange need not be a switch: the OS switches only where a task sleeps or "
    "loses its CPU.",
    experiment="Let each task note which task ran before it. If it finds itself, nobody waited.",
    seen_in="benchmarks of handoffs that nobody counted",
    detect=detect,
)
