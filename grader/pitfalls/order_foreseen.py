"""A walk in an order that a prefetcher foresees: its loads find their lines in a cache."""

from __future__ import annotations

from grader.cases.case import Case
from grader.cases.verdict import Level
from grader.facts.memory import ladders
from grader.pitfalls.pitfall import Live, Pitfall


def detect(case: Case) -> str | None:
    for name in filter(ladders.unforeseen, case.spec.variants):
        walk = ladders.walk_of(case.recording, name)
        if walk is None or not walk.foreseen:
            continue
        return (
            f"Over all processes, {walk.same_hops:,} of the {walk.walked:,} hops of {name} are as "
            "long as one of the four hops before."
        )
    return None


PITFALL = Pitfall(
    code="order-foreseen",
    level=Level.VALIDITY,
    symptom="A prefetcher can foresee your loads.",
    misconception="It is not enough that each load waits for the one before. If all hops are "
    "equally long, the hardware asks for the next line before the load does.",
    experiment="Walk through the same set in a random order, in the same run.",
    seen_in="common in walks through an array; lat_mem_rd of lmbench without its option -t",
    detect=detect,
    yields_to=("cycle-too-short",),
    in_own_c=True,
    broken=(Live("order_foreseen", "ladder-memory"),),
)
