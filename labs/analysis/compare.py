"""The one rule for the difference and the ratio of two estimates.

Where both come from the same processes, these are compared process by process, and what moved both
cancels. Else the errors of the two are independent, and add in quadrature.
"""

from __future__ import annotations

import math

from labs.analysis import processes
from labs.analysis.estimate import Estimate


def difference(one: Estimate, other: Estimate, times: float = 1.0) -> tuple[float, float, float]:
    """`one` less `times` the `other`, both in one unit, with the 95 % interval."""
    if one.by_process and other.by_process:
        left = processes.difference(one.by_process, other.by_process, times)
        if left is not None:
            return left.estimate()
    value = one.value - times * other.value
    below = math.hypot(one.value - one.low, times * (other.high - other.value))
    above = math.hypot(one.high - one.value, times * (other.value - other.low))
    return value, value - below, value + above


def ratio(one: Estimate, other: Estimate) -> tuple[float, float, float]:
    """`one` divided by the `other`, both in one unit, with the 95 % interval.

    Raises ZeroDivisionError where the other is nothing.
    """
    if one.by_process and other.by_process:
        found = processes.ratio(one.by_process, other.by_process)
        if found is not None:
            return found
    value = one.value / other.value
    _, low, high = difference(
        Estimate(one.value, one.low, one.high, "", "", 0, 0),
        Estimate(other.value, other.low, other.high, "", "", 0, 0),
        value,
    )
    return value, value + low / abs(other.value), value + high / abs(other.value)
