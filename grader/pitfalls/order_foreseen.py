"""A walk in an order that a prefetcher foresees: its loads find their lines in a cache."""

from __future__ import annotations

from grader.cases.case import Case
from grader.cases.verdict import Level
from grader.facts.memory import ladders
from grader.pitfalls.pitfall import Live, Pitfall
from labs.analysis import compare
from labs.analysis.estimate import Estimate
from labs.common.units import rounded


def detect(case: Case) -> str | None:
    for name in filter(ladders.unforeseen, case.spec.variants):
        walk = ladders.walk_of(case.recording, name)
        if walk is None or not walk.foreseen:
            continue
        same, walked = ladders.per_process(case.recording, walk.same_hops, walk.walked)
        counted = (
            f"{name}: on average, {same} of {walked} hops are as long as one of the four before."
        )
        return " ".join(filter(None, (counted, _gained(case, name, walk))))
    return None


def _gained(case: Case, name: str, walk: ladders.Walk) -> str:
    """What the same run shows: whether a load costs less than in an order of other hops; or ''."""
    mine = _figure(case, name)
    for other in filter(ladders.unforeseen, case.recording.variants):
        beside, figure = ladders.walk_of(case.recording, other), _figure(case, other)
        if mine is None or figure is None or beside is None:
            continue
        if beside.foreseen is not False or beside.set_kb != walk.set_kb:
            continue
        costs, others = (f"{rounded(each.value)} {case.spec.unit}" for each in (mine, figure))
        if compare.side(mine, figure) < 0:
            return (
                f"A load costs {costs} here and {others} in {other}: your order makes loads "
                "cheaper."
            )
        return (
            f"A load costs {costs} here and {others} in {other}: on this machine your order gains "
            "nothing, another may foresee it."
        )
    return ""


def _figure(case: Case, name: str) -> Estimate | None:
    """The figure of a variant of the run, in the unit of the figure handed in."""
    result = case.results.get(name)
    if result is None or result.estimate is None:
        return None
    return result.estimate.into(case.spec.unit, result.clock)


PITFALL = Pitfall(
    code="order-foreseen",
    level=Level.VALIDITY,
    symptom="A prefetcher may foresee your loads.",
    misconception="If hops repeat, the hardware may ask for a line before the load does. Such an "
    "order is no evidence of what memory costs.",
    experiment="Let the hops differ, and compare both orders in one run.",
    seen_in="common in walks through an array; lat_mem_rd of lmbench without its option -t",
    detect=detect,
    yields_to=("cycle-too-short",),
    in_own_c=True,
    broken=(Live("order_foreseen", "ladder-memory"),),
)
