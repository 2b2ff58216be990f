"""A value that two slips explain alike: the grader names both, and how to decide between them."""

from __future__ import annotations

from dataclasses import replace

from grader.cases.case import Case
from grader.cases.verdict import Finding, Level
from grader.pitfalls.pitfall import MistakeKind, Pitfall

#: A factor between two clocks is some number between a half and four. So is the quotient of many
#: pairs of numbers in a recording: the digits alone do not tell a clock from such a pair.
OF_CLOCKS = (
    "cycles-for-nanoseconds",
    "cycles-for-ticks",
    "nominal-clock",
    "ticks-for-nanoseconds",
)
MERE_FACTORS = (*OF_CLOCKS, "half-or-double")
#: Numbers that a run makes of several: another row may hold the same.
OF_SEVERAL = ("arithmetic-slip", "loop-counted-along", "minimum-taken")
OF_NUMBERS = (MistakeKind.CONTENTS, MistakeKind.REDUCTION)


def _needs_explanations(case: Case) -> str | None:
    """The explanations of a case show it, not the case: see `of_both`."""
    return None


def of_both(case: Case, found: list[tuple[Pitfall, Finding]]) -> Finding | None:
    """The finding if a clock and a number of the recording explain the figure.

    A value that is a number of the recording, and is only near what a clock makes of the right one,
    is that number.
    """
    clock = next((each for each in found if each[0].code in OF_CLOCKS), None)
    number = next((each for each in found if each[0].explains in OF_NUMBERS), None)
    if clock is None or number is None:
        return None
    return (
        PITFALL.finding(_or(number[1].evidence, clock[0])) if _fits(case, clock[0]) else number[1]
    )


def of_factor(case: Case, factor: Pitfall, what_it_is: str) -> Finding | None:
    """The finding if a mere factor explains a figure that is also a known number elsewhere."""
    if not _fits(case, factor):
        return None
    return PITFALL.finding(_or(f"You gave {case.as_submitted()}. {what_it_is}", factor))


def of_number(case: Case, number: Finding, what_it_is: str) -> Finding:
    """The finding if a number of several others is also a known number elsewhere."""
    evidence = number.evidence.split(" It should be ")[0]
    return PITFALL.finding(f"{evidence} Or: {what_it_is[0].lower()}{what_it_is[1:]}")


def _or(evidence: str, other: Pitfall) -> str:
    symptom = other.symptom.removesuffix(".")
    return f"{evidence} Or: {symptom[0].lower()}{symptom[1:]}."


def _fits(case: Case, factor: Pitfall) -> bool:
    """Whether the factor explains the figure to all its digits, without the interval's help."""
    exact = tuple(replace(each, low=each.value, high=each.value) for each in case.accepted_values)
    return factor.find(replace(case, accepted_values=exact)) is not None


PITFALL = Pitfall(
    code="one-of-two-slips",
    level=Level.INTERPRETATION,
    symptom="Two slips lead to this number.",
    misconception="A number can fit without being the cause.",
    experiment="Compute both to six digits: your figure is only one of them.",
    seen_in="a percentile that was 2.6 times the figure, on a counter of 2.6 GHz",
    detect=_needs_explanations,
)
