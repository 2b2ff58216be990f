"""A value that two slips explain alike: the grader names both, and what tells them apart."""

from __future__ import annotations

from grader.cases.case import Case
from grader.cases.verdict import Finding, Level
from grader.pitfalls.pitfall import MistakeKind, Pitfall

#: A factor between two clocks is some number between a half and four. So is the quotient of many
#: pairs of numbers in a recording: the digits alone do not tell a clock from such a pair.
OF_CLOCKS = ("cycles-for-ticks", "nominal-clock", "ticks-for-nanoseconds")
OF_NUMBERS = (MistakeKind.CONTENTS, MistakeKind.REDUCTION)


def _needs_explanations(case: Case) -> str | None:
    """The explanations of a case show it, not the case: see `of_both`."""
    return None


def of_both(found: list[tuple[Pitfall, Finding]]) -> Finding | None:
    """The finding if a clock and a number of the recording explain the figure alike."""
    clock = next((each for each in found if each[0].code in OF_CLOCKS), None)
    number = next((each for each in found if each[0].explains in OF_NUMBERS), None)
    if clock is None or number is None:
        return None
    return PITFALL.finding(
        f"{number[1].evidence} Or: {_without_full_stop(clock[0].symptom).lower()}."
    )


def _without_full_stop(sentence: str) -> str:
    return sentence.removesuffix(".")


PITFALL = Pitfall(
    code="one-of-two-slips",
    level=Level.INTERPRETATION,
    symptom="Two slips lead to this number.",
    misconception="That a number fits does not make it the cause.",
    experiment="Compute both to six digits: your figure is the one of them.",
    seen_in="a percentile that was 2.6 times the figure, on a counter of 2.6 GHz",
    detect=_needs_explanations,
)
