"""Figures of runs whose interval is too wide for a figure that one would rely on.

Such a figure is right within its interval, and passes: the machine was busy, and the student did
nothing wrong. The verdict says how wide the interval is, and what makes it narrower; it praises
nothing that so wide an interval cannot show.
"""

from __future__ import annotations

import math

from grader.case import Case
from grader.expected import Expected
from grader.figures.spec import CHOICE
from labs.units import rounded

PRAISE = "Your figure is one that this run allows."

#: More processes than so many times as many are no advice.
MOST_TIMES = 20


def width(expected: Expected) -> float:
    """The width of the 95 % interval as a share of its value; 0 where it has none."""
    if expected.unit == CHOICE or expected.high <= expected.low:
        return 0.0
    return (expected.high - expected.low) / max(abs(expected.value), 1e-12)


def caveat(case: Case) -> str:
    """How wide the interval of this figure is, as a sentence; '' where it is narrow enough."""
    shown = case.admitted_by
    if shown is None or width(shown) <= case.spec.widest:
        return ""
    return (
        f"The interval is {rounded(100 * width(shown), 2)} % of its value wide, and more than "
        f"{rounded(100 * case.spec.widest)} % is too wide to rely on: within it, any value passes."
    )


def look_next(case: Case) -> str:
    """What makes the interval narrower."""
    cases = case.others or (case,)
    lines = [result.line for each in cases for result in each.results.values()]
    if any(line is not None and line.shared for line in lines):
        return (
            "Measure again when nothing else runs on this machine: other work used the same core "
            "during the whole run. Is the interval narrower?"
        )
    shown = case.admitted_by
    times = 2 if shown is None else math.ceil((width(shown) / case.spec.widest) ** 2)
    longer = f"with {times} times as many processes" if times <= MOST_TIMES else "for longer"
    return f"Measure again, or {longer}: is the interval narrower?"
