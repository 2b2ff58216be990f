"""Loads that do not wait for each other: the time for each is throughput, and no latency."""

from __future__ import annotations

from grader.cases.case import Case
from grader.cases.verdict import Level
from grader.facts.memory import ladders
from grader.pitfalls.pitfall import Live, Pitfall


def detect(case: Case) -> str | None:
    for name in case.spec.variants:
        walk = ladders.walk_of(case.recording, name)
        if walk is None or walk.chained is not False:
            continue
        return (
            f"Of {walk.samples:,} samples of {name}, {walk.right:,} ended at the cache line to "
            "which the loaded addresses lead."
        )
    return None


PITFALL = Pitfall(
    code="loads-overlap",
    level=Level.VALIDITY,
    symptom="Your loads do not use the addresses that were loaded before.",
    misconception="The time of many loads, divided by their number, need not be what one load "
    "takes. A core makes several loads at once if it knows their addresses.",
    experiment="Let each load give the address of the next one, and check where the walk ends.",
    seen_in="common where a loop reads at places that it computes",
    detect=detect,
    broken=(Live("loads_overlap", "ladder-memory"),),
)
