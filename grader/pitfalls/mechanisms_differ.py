"""A ratio of two mechanisms where two address spaces were to be compared."""

from __future__ import annotations

from collections.abc import Iterator

from grader.cases.case import Case
from grader.cases.digits import OF_USUAL_SLIPS, is_number
from grader.cases.spec import Quantity
from grader.cases.verdict import Level
from grader.pitfalls.pitfall import MistakeKind, Pitfall


def detect(case: Case) -> str | None:
    if case.spec.quantity is not Quantity.RATIO or case.right:
        return None
    for over, under in _pairs(case):
        ratios = [a / b for a in _values(over) for b in _values(under)]
        if any(is_number(case, ratio, OF_USUAL_SLIPS) for ratio in ratios):
            return (
                f"You gave {case.as_submitted()}: that is {over.spec.id} over {under.spec.id}. "
                f"The lab asks for {case.spec.asked}."
            )
    return None


def _pairs(case: Case) -> Iterator[tuple[Case, Case]]:
    """The right pair, with one of its two figures replaced by another figure."""
    if len(case.others) < 2:
        return
    over, under = case.others[:2]
    for other in case.compare_with:
        yield over, other
        yield other, under


def _values(case: Case) -> list[float]:
    """What the figure is by its recording and as it was handed in, above nothing."""
    values = [each.value for each in case.accepted_values]
    values += [case.submitted] if case.submitted is not None else []
    return [value for value in values if value > 0]


PITFALL = Pitfall(
    code="mechanisms-differ",
    level=Level.INTERPRETATION,
    symptom="Two mechanisms are compared, not a process with a thread.",
    misconception="A pipe and a mutex do different work in the OS kernel: their ratio says "
    "nothing about address spaces.",
    experiment="Exchange a byte by pipe between threads as well, and divide by that.",
    seen_in="report D: a pipe between processes against a mutex between threads",
    detect=detect,
    explains=MistakeKind.RELATION,
)
