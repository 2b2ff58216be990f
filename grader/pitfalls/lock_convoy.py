"""A lock without a handoff: its exchanges are not switches."""

from __future__ import annotations

from grader.cases.case import Case
from grader.cases.verdict import Level
from grader.facts import switch_counts
from grader.pitfalls.pitfall import Live, Pitfall

CODE = "lock-convoy"


def detect(case: Case) -> str | None:
    seen = switch_counts.shown_by(case, CODE)
    return None if seen is None else f"{seen.as_text()}, with both tasks on one CPU."


PITFALL = Pitfall(
    code=CODE,
    level=Level.VALIDITY,
    symptom="Most of the switches that the run claims never happened.",
    misconception="A lock does not hand over the turn: the task that unlocks it may take it "
    "again at once, while the other still waits for the CPU.",
    experiment="Make the turn a variable and sleep until it is yours; then count again.",
    seen_in="report D: mutex and a shared variable, 3,323 ns a thread switch",
    detect=detect,
    broken=(Live("bare_mutex", "thread-switch-condvar"),),
)
