"""The ratio the wrong way up."""

from __future__ import annotations

from grader.cases.case import Case
from grader.cases.spec import Quantity
from grader.cases.verdict import Level
from grader.pitfalls.pitfall import MistakeKind, Pitfall
from labs.common.units import rounded


def detect(case: Case) -> str | None:
    if case.spec.quantity is not Quantity.RATIO or case.right or case.expected is None:
        return None
    if not case.submitted or not any(
        each.accepts(1 / case.submitted) for each in case.accepted_values
    ):
        return None
    over, under = case.spec.operands[:2]
    return (
        f"You gave {rounded(case.submitted)}; in your recording {over} takes "
        f"{rounded(case.expected.value)} times as long as {under}, not the other way round."
    )


PITFALL = Pitfall(
    code="ratio-upside-down",
    level=Level.INTERPRETATION,
    symptom="The ratio stands on its head.",
    misconception="Which of the two is dearer was not read off the table first.",
    experiment="Say the sentence in words, 'A takes so many times as long as B', and divide so.",
    seen_in="report A: its conclusion says the opposite of its table",
    detect=detect,
    explains=MistakeKind.RELATION,
)
