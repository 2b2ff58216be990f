"""Figures of runs whose interval is too wide to believe a value.

Such a figure passes if it lies within its interval: the machine was busy, and the student did
nothing wrong. The verdict says how wide the interval is and how to make it narrower. It does not
praise anything that so wide an interval cannot show.
"""

from __future__ import annotations

from grader.cases.case import Case
from grader.cases.expected import Expected
from grader.cases.spec import CHOICE
from labs.common.units import rounded

PRAISE = "Your figure is one that this run allows."
#: The run's own warning, which knows how long to measure.
WARNING = "not-believable"
AGAIN = "measure again, or longer"


def width(expected: Expected) -> float:
    """Half the width of the 95 % interval as a share of its value; 0 if there is no interval."""
    if expected.unit == CHOICE or expected.high <= expected.low:
        return 0.0
    return (expected.high - expected.low) / 2 / max(abs(expected.value), 1e-12)


def caveat(case: Case) -> str:
    """A sentence on the width of this figure's interval; '' if it is narrow enough."""
    shown = case.matching_value
    if shown is None or width(shown) <= case.spec.widest:
        return ""
    return (
        f"The interval reaches {rounded(100 * width(shown), 2)} % of the value to either side. "
        f"Beyond {rounded(100 * case.spec.widest)} %, do not believe the value; the grader then "
        "passes any value within the interval."
    )


def look_next(case: Case) -> str:
    """How to make the interval narrower, from the run's own warning if it has one."""
    advices = (
        warning.try_this
        for each in case.others or (case,)
        for result in each.results.values()
        for warning in result.warnings
        if warning.code == WARNING
    )
    advice = next(advices, AGAIN)
    return f"{advice[0].upper()}{advice[1:]}. Is the interval narrower then?"
