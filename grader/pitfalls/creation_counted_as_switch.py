"""Making and ending a task inside the sample, called a switch."""

from __future__ import annotations

from grader.cases.case import Case
from grader.cases.verdict import Level
from grader.facts import switch_counts
from grader.pitfalls.pitfall import Live, Pitfall

CODE = "creation-counted-as-switch"


def detect(case: Case) -> str | None:
    seen = switch_counts.shown_by(case, CODE)
    shown = switch_counts.created_inside(case, seen) if seen is not None else None
    return None if shown is None else f"Your measurement of a switch shows {shown}."


PITFALL = Pitfall(
    code=CODE,
    level=Level.VALIDITY,
    symptom="The sample also creates and ends tasks, which is not a switch.",
    misconception="A fork copies page tables, and its child faults pages in. Both cost more than "
    "a switch, and no mean of them can be subtracted exactly.",
    experiment="Make the other task before the first reading, and count page faults again.",
    seen_in="report A: fork and exit inside; 35,000 to 52,000 cycles a switch",
    detect=detect,
    broken=(Live("fork_inside", "process-switch-pipe-pinned"),),
)
