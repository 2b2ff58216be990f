"""A signal sent while the lock is held: more switches than are claimed."""

from __future__ import annotations

from grader.cases.case import Case
from grader.cases.verdict import Level
from grader.facts import switch_counts
from grader.pitfalls.pitfall import Live, Pitfall
from labs.common.units import rounded

CODE = "signal-under-the-lock"


def detect(case: Case) -> str | None:
    seen = switch_counts.shown_by(case, CODE)
    if seen is None:
        return None
    return f"{seen.as_text()}: {rounded(seen.each, 2)} for one operation, not {seen.claim:g}."


PITFALL = Pitfall(
    code=CODE,
    level=Level.VALIDITY,
    symptom="The OS switched far more often than the run claims, so the divisor is too small.",
    misconception="A task that is woken while the lock is held runs, blocks on the lock, and "
    "then needs another switch.",
    experiment="Unlock first and signal afterwards, then count again.",
    seen_in="a condition-variable benchmark: 200,000 switches claimed, 340,000 counted",
    detect=detect,
    yields_to=("not-woken",),
    broken=(Live("signal_inside", "thread-switch-condvar"),),
)
