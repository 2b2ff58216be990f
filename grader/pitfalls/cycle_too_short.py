"""A walk that goes round a small part of its set, which a cache holds."""

from __future__ import annotations

from grader.cases.case import Case
from grader.cases.verdict import Level
from grader.facts.memory import ladders
from grader.pitfalls.pitfall import Live, Pitfall


def detect(case: Case) -> str | None:
    for name in case.spec.variants:
        walk = ladders.walk_of(case.recording, name)
        if walk is None or walk.whole is not False:
            continue
        return (
            f"Over all processes, the sets of {name} have {walk.nodes:,} cache lines, and the "
            f"walks go round {walk.walked:,} of them."
        )
    return None


PITFALL = Pitfall(
    code="cycle-too-short",
    level=Level.VALIDITY,
    symptom="The working set is far smaller than it claims to be.",
    misconception="A random order need not visit everything. If each line leads to any other one, "
    "the walk soon comes back to a line where it has been.",
    experiment="Follow your order from line 0, and count the lines until one comes back.",
    seen_in="common where each pointer of a chain is drawn by itself, or a shuffle ends in "
    "several cycles",
    detect=detect,
    broken=(Live("cycle_too_short", "ladder-memory"),),
)
