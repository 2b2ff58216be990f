"""A ratio whose two operands are exchanged."""

from __future__ import annotations

from grader.cases.case import Case
from grader.cases.digits import OF_USUAL_SLIPS, is_number
from grader.cases.spec import Quantity
from grader.cases.verdict import Level
from grader.pitfalls.pitfall import MistakeKind, Pitfall
from labs.common.units import rounded


def detect(case: Case) -> str | None:
    if case.spec.quantity is not Quantity.RATIO or case.right or case.expected is None:
        return None
    if not any(
        each.value and is_number(case, 1 / each.value, OF_USUAL_SLIPS)
        for each in case.accepted_values
    ):
        return None
    over, under = case.spec.operands[:2]
    return (
        f"You gave {rounded(case.submitted or 0)}; in your recording {over} takes "
        f"{rounded(case.expected.value)} times as long as {under}, not the other way round."
    )


PITFALL = Pitfall(
    code="ratio-upside-down",
    level=Level.INTERPRETATION,
    symptom="The ratio is upside down.",
    misconception="You did not first read off the table which of the two costs more.",
    experiment="Say 'A takes so many times as long as B', and divide A by B.",
    seen_in="report A: its conclusion says the opposite of its table",
    detect=detect,
    explains=MistakeKind.RELATION,
)
