"""A conclusion that the student's own figures contradict."""

from __future__ import annotations

from grader.cases.case import Case
from grader.cases.conclusion import compared_as
from grader.cases.spec import FigureSpec, Quantity
from grader.cases.verdict import Level
from grader.pitfalls.pitfall import MistakeKind, Pitfall
from labs.common.units import rounded
from labs.results.at_one_clock import compared_at_one_clock
from labs.results.digits import rounded_apart
from labs.results.result import Result, sensible


def detect(case: Case) -> str | None:
    """The evidence never says which conclusion is right: the student is to find it in the data."""
    spec, chosen = case.spec, case.submitted
    if spec.quantity is not Quantity.CHOICE or case.right or chosen is None:
        return None
    if chosen not in range(1, len(spec.choices) + 1):
        most = len(spec.choices)
        return f"You chose {rounded(chosen)}. The lab lists the conclusions 1 to {most}."
    choice = spec.choices[int(chosen) - 1]
    if choice.known:
        return (
            f'You named "{choice.text}". Something else speaks against that figure: '
            f"{choice.known}. Look at {spec.look_at}."
        )
    if not case.accepted_values:
        return None  # a measurement without a figure bears out no conclusion
    results = [compared_as(spec, case.results[name]) for name in spec.operands]
    pairs = zip(spec.operands, results, strict=True)
    measured = "; ".join(f"{name} {_value(result)}" for name, result in pairs)
    return (
        f'You concluded: "{choice.text}". Your data give, with 95 % intervals: {measured}.'
        f"{_between(spec, results)} Look at {spec.look_at}."
    )


def _between(spec: FigureSpec, results: list[Result]) -> str:
    """The intervals that decide which of two is larger, as numbers: their own may well overlap."""
    if not spec.which_is_larger or any(each.estimate is None for each in results):
        return ""
    found = compared_at_one_clock(results[0], results[1])
    gap = rounded_apart(found.difference, *found.difference_interval, 0.0)
    shown = f" The first minus the second is {gap[0]} {found.unit} ({gap[1]} to {gap[2]})"
    if found.ratio is None or found.ratio_interval is None:
        return f"{shown}."
    factor = rounded_apart(found.ratio, *found.ratio_interval, 1.0)
    return f"{shown}, and their ratio is {factor[0]} ({factor[1]} to {factor[2]})."


def _value(result: Result) -> str:
    if result.estimate is None:
        return "no figure"
    value, low, high = sensible(result.estimate)
    return f"{value} {result.unit} ({low} to {high})"


PITFALL = Pitfall(
    code="conclusion-against-table",
    level=Level.INTERPRETATION,
    symptom="The conclusion does not agree with the figures.",
    misconception="Readers easily find in a table what they expect.",
    experiment="Print what the evidence names. Which conclusion fits?",
    seen_in="report A: it concludes that a thread switch costs more; its table says less, on all "
    "four machines",
    detect=detect,
    explains=MistakeKind.RELATION,
    yields_to=("trend-inside-the-noise",),
)
