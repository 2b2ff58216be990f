"""The one conclusion that the recordings bear out, by the rule of the figure.

The student compares the estimates that the runs show, and so does this module. The values that the
student handed in do not matter: they have no intervals.
"""

from __future__ import annotations

from collections.abc import Sequence

from grader.cases.expected import Expected
from grader.cases.spec import CHOICE, FigureSpec
from labs.results.at_one_clock import may_be_the_clock
from labs.results.naive import naive_estimate
from labs.results.result import Result, result_of


def conclusion(
    spec: FigureSpec, operands: Sequence[Result], naive: Sequence[bool] = ()
) -> list[Expected]:
    """The one conclusion that these results bear out; empty if one of them gives no figure.

    `naive` marks the operands that repeat a mistake; their naive value counts. Where known facts
    speak against all conclusions but one, this one is right. The last conclusion is that the data
    do not decide. It is right too where the clock speeds of two runs may explain what they show.
    """
    number = known(spec)
    if number is None:
        shown = [
            naive_estimate(each) if as_read else compared_as(spec, each).estimate
            for each, as_read in zip(operands, naive or [False] * len(operands), strict=True)
        ]
        estimates = tuple(each for each in shown if each is not None)
        if spec.decide is None or len(estimates) < len(shown):
            return []
        number = spec.decide(estimates)
        if not any(naive) and _may_be_the_clock(spec, operands):
            number = len(spec.choices)
    text = f"{number} ({spec.choices[number - 1].text})"
    return [Expected(number, number, number, CHOICE, text)]


def _may_be_the_clock(spec: FigureSpec, operands: Sequence[Result]) -> bool:
    """Whether the clock speeds of the two runs alone may lead to the conclusion of the data."""
    if len(operands) != 2 or spec.decide is None:
        return False
    first, second = (compared_as(spec, each) for each in operands)
    return may_be_the_clock(first, second, spec.decide)


def known(spec: FigureSpec) -> int | None:
    """The conclusion that known facts decide; None if the data decide."""
    open_ones = [n for n, each in enumerate(spec.choices, start=1) if not each.known]
    return open_ones[0] if len(open_ones) == 1 else None


def compared_as(spec: FigureSpec, result: Result) -> Result:
    """The result of an operand in the unit in which the lab compares it, if the run has that."""
    unknown = spec.compared_in == "cycles" and result.clock.core_cycle_ticks is None
    if result.unit == spec.compared_in or unknown:
        return result
    return result_of(result.recording, result.variant, spec.compared_in)
