"""A conclusion that the student's own figures contradict."""

from __future__ import annotations

from grader.cases.case import Case
from grader.cases.spec import Quantity
from grader.cases.verdict import Level
from grader.pitfalls.pitfall import MistakeKind, Pitfall
from labs.common.units import rounded
from labs.results.result import Result


def detect(case: Case) -> str | None:
    if case.spec.quantity is not Quantity.CHOICE or case.right or case.submitted is None:
        return None
    chosen, choices = case.submitted, case.spec.choices
    if chosen not in range(1, len(choices) + 1):
        return f"You chose {rounded(chosen)}; there are the conclusions 1 to {len(choices)}."
    choice = choices[int(chosen) - 1]
    if choice.known:
        return (
            f'You named "{choice.text}". What speaks against that figure is something else: '
            f"{choice.known}."
        )
    measured = ", ".join(_named_value(name, case.results[name]) for name in case.spec.operands)
    numbers = sorted({int(each.value) for each in case.accepted_values})
    holds = " or ".join(map(str, numbers)) or "none of them"
    return (
        f'You concluded: "{choice.text}". Your data give {measured}: that bears out choice {holds}.'
    )


def _named_value(name: str, result: Result) -> str:
    """Name and value, without the interval: three of them would hide the sentence."""
    estimate = result.estimate
    return f"{name} {rounded(estimate.value)} {result.unit}" if estimate else f"no {name}"


PITFALL = Pitfall(
    code="conclusion-against-table",
    level=Level.INTERPRETATION,
    symptom="The conclusion says something else than the figures.",
    misconception="What one expected is easily read into a table that says the opposite.",
    experiment="Compare both by lab.compare, and read the sentence aloud.",
    seen_in="report A: it concludes that a thread switch costs more; its table says less, on all "
    "four machines",
    detect=detect,
    explains=MistakeKind.RELATION,
    yields_to=("trend-inside-the-noise",),
)
