"""Samples that lie on no line: they do not grow in proportion to the work."""

from __future__ import annotations

from grader.cases.case import Case
from grader.cases.spec import Quantity
from grader.cases.verdict import Level
from grader.pitfalls.pitfall import Live, Pitfall
from labs.common.units import rounded


def detect(case: Case) -> str | None:
    if case.spec.quantity is Quantity.SWITCHES:
        return None  # a count, whatever the samples are
    for name in case.spec.variants:
        line = case.results[name].line
        if line is None or line.straight:
            continue
        worst, share = line.worst_point()
        return (
            f"In your samples of {name} the mean at k = {line.batch[worst]:.0f} lies "
            f"{rounded(100 * share)} % off the line through all batch sizes."
        )
    return None


PITFALL = Pitfall(
    code="not-on-a-line",
    level=Level.VALIDITY,
    symptom="Twice the work does not take twice the time.",
    misconception="One operation has a cost only if every further one takes as long. Otherwise "
    "work is left out or shared, or the sample holds something else.",
    experiment="Draw the mean against k, and see which batch size leaves the line.",
    seen_in="report A: creation, which happens once, divided by a loop of exchanges",
    detect=detect,
    yields_to=("clock-read-too-early", "clocks-of-two-processes", "more-between-the-readings"),
    broken=(Live("narrow_counter", "system-call-getppid"),),
)
