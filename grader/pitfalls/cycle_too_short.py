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
        nodes, walked = ladders.per_process(case.recording, walk.nodes, walk.walked)
        return (
            f"The set of {name} has {nodes} cache lines, and the walk goes round {walked} of them "
            "(mean of the processes)."
        )
    return None


PITFALL = Pitfall(
    code="cycle-too-short",
    level=Level.VALIDITY,
    symptom="The walk does not go round its whole set.",
    misconception="A random order need not visit everything. A shuffle often makes several cycles, "
    "and the walk goes round one of them. Lines drawn one by one lead back even sooner.",
    experiment="Follow your order from line 0, and count the lines until one comes back.",
    seen_in="common where each pointer of a chain is drawn by itself, or a shuffle ends in "
    "several cycles",
    detect=detect,
    broken=(Live("cycle_too_short", "ladder-memory"),),
)
