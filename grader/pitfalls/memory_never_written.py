"""Loads from memory that nobody has written to: they all come from one page of zeros."""

from __future__ import annotations

from grader.cases.case import Case
from grader.cases.verdict import Level
from grader.facts.memory import ladders
from grader.pitfalls.pitfall import Live, Pitfall


def detect(case: Case) -> str | None:
    for name in case.spec.variants:
        walk = ladders.walk_of(case.recording, name)
        if walk is None or walk.written is not False:
            continue
        claimed, resident = f"{walk.set_kb >> 10:,}", f"{(walk.resident_kb or 0) >> 10:,}"
        return (
            f"Over all processes, {name} claims {claimed} MB, of which the OS counted {resident} "
            "MB as resident."
        )
    return None


PITFALL = Pitfall(
    code="memory-never-written",
    level=Level.VALIDITY,
    symptom="Nobody wrote to the memory that you loaded from.",
    misconception="A page gets memory of its own with the first write. Until then all reads find "
    "one page of zeros, which stays in the first cache.",
    experiment="Write one byte to each page before the first sample, and measure again.",
    seen_in="common where a large array is allocated and only read",
    detect=detect,
    broken=(Live("never_written", "ladder-memory"),),
)
