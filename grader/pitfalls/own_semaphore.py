"""A task that raises and lowers the same semaphore, and so waits for nobody."""

from __future__ import annotations

from grader.cases.case import Case
from grader.cases.verdict import Level
from grader.facts import switch_counts
from grader.pitfalls.pitfall import Live, Pitfall

CODE = "own-semaphore"


def detect(case: Case) -> str | None:
    seen = switch_counts.shown_by(case, CODE)
    if seen is None:
        return None
    return (
        f"{seen.as_text()}. Between the readings your C posts and waits for one and the same "
        "semaphore."
    )


PITFALL = Pitfall(
    code=CODE,
    level=Level.VALIDITY,
    symptom="The task takes the semaphore that it has just posted itself.",
    misconception="Post and wait make a handoff only with two semaphores, one for each "
    "direction. With a single one, the task that posts takes its own post.",
    experiment="Use one semaphore for each direction, and compare the count with the claim.",
    seen_in="a semaphore benchmark: 0.97 µs a switch, 938 switches in 1.03 million operations",
    detect=detect,
    broken=(Live("same_semaphore", "thread-switch-condvar"),),
)
