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
    return f"{seen.as_text()}; between the readings one semaphore is posted and waited for."


PITFALL = Pitfall(
    code=CODE,
    level=Level.VALIDITY,
    symptom="The task waits for what it has just given itself.",
    misconception="Post and wait make a hand-over only with two semaphores, one each way: "
    "of a single one the poster takes its own.",
    experiment="Use one semaphore each way, and compare the count with the claim.",
    seen_in="a semaphore benchmark: 0.97 µs a switch, 938 switches in 1.03 million operations",
    detect=detect,
    broken=(Live("same_semaphore", "thread-switch-condvar"),),
)
