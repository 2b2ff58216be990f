"""A ratio of numbers in different units: ticks of the counter over nanoseconds of a clock."""

from __future__ import annotations

from grader.cases.case import Case
from grader.cases.digits import is_times
from grader.cases.spec import Quantity
from grader.cases.verdict import Level
from grader.pitfalls.pitfall import MistakeKind, Pitfall
from labs.common.units import rounded


def detect(case: Case) -> str | None:
    if case.spec.quantity is not Quantity.RATIO or case.right or case.expected is None:
        return None
    over, under = (case.results[name].clock.frequency_hz for name in case.spec.operands[:2])
    if abs(over / under - 1) <= 0.01 or not is_times(case, over / under):
        return None
    return (
        f"You gave {rounded(case.submitted or 0)}; your recording gives {case.expected.as_text()}. "
        f"The factor between them is that of the two clocks' units, {rounded(under / over)}."
    )


PITFALL = Pitfall(
    code="ratio-of-unlike-units",
    level=Level.INTERPRETATION,
    symptom="The ratio compares numbers of different units.",
    misconception="Each clock counts in ticks of its own; only times can be divided.",
    experiment="Turn both into nanoseconds, then divide.",
    seen_in="report A: cycles of machines with different clocks side by side",
    detect=detect,
    explains=MistakeKind.RELATION,
)
