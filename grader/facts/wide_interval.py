"""Figures of runs whose interval is too wide for a figure to be believed.

Such a figure is right within its interval, and passes: the machine was busy, and the student did
nothing wrong. The verdict says how wide the interval is, and what makes it narrower; it praises
nothing that so wide an interval cannot show.
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
    """How far the 95 % interval reaches to either side, as a share of its value; 0: it has none."""
    if expected.unit == CHOICE or expected.high <= expected.low:
        return 0.0
    return (expected.high - expected.low) / 2 / max(abs(expected.value), 1e-12)


def caveat(case: Case) -> str:
    """How wide the interval of this figure is, as a sentence; '' where it is narrow enough."""
    shown = case.admitted_by
    if shown is None or width(shown) <= case.spec.widest:
        return ""
    return (
        f"The interval spans {rounded(100 * width(shown), 2)} % of the value to either side. "
        f"Beyond {rounded(100 * case.spec.widest)} % no value is to be believed, and any within "
        "the interval passes."
    )


def look_next(case: Case) -> str:
    """What makes the interval narrower: as the run's own warning says, where it has one."""
    told = (
        warning.try_this
        for each in case.others or (case,)
        for result in each.results.values()
        for warning in result.warnings
        if warning.code == WARNING
    )
    advice = next(told, AGAIN)
    return f"{advice[0].upper()}{advice[1:]}. Is the interval narrower then?"
