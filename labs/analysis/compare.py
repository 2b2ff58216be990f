"""The one rule for the difference and the ratio of two estimates, and for whether they differ.

Where both come from the same processes, these are compared process by process, and what moved both
cancels. Else the errors of the two are independent, and add in quadrature.
"""

from __future__ import annotations

import math

from labs.analysis import processes
from labs.analysis.estimate import Estimate
from labs.analysis.processes import ByProcess


def difference(one: Estimate, other: Estimate, times: float = 1.0) -> tuple[float, float, float]:
    """`one` less `times` the `other`, both in one unit, with the 95 % interval."""
    if (both := _on_whole_cores(one, other)) is not None:
        left = processes.difference(*both, times)
        if left is not None:
            return left.estimate()
    value = one.value - times * other.value
    below = math.hypot(one.value - one.low, times * (other.high - other.value))
    above = math.hypot(one.high - one.value, times * (other.value - other.low))
    return value, value - below, value + above


def _on_whole_cores(one: Estimate, other: Estimate) -> tuple[ByProcess, ByProcess] | None:
    """What both were made from, where that is known and no core was shared all the time: how much
    that slowed each of them is not known, so that it need not cancel."""
    first, second = one.by_process, other.by_process
    if first is None or second is None or min(first.floor, second.floor) < 1:
        return None
    return first, second


def ratio(one: Estimate, other: Estimate) -> tuple[float, float, float]:
    """`one` divided by the `other`, both in one unit, with the 95 % interval.

    Raises ZeroDivisionError where the other is nothing.
    """
    if (both := _on_whole_cores(one, other)) is not None:
        found = processes.ratio(*both)
        if found is not None:
            return found
    value = one.value / other.value
    _, low, high = difference(
        Estimate(one.value, one.low, one.high, "", "", 0, 0),
        Estimate(other.value, other.low, other.high, "", "", 0, 0),
        value,
    )
    return value, value + low / abs(other.value), value + high / abs(other.value)


def apart(one: Estimate, other: Estimate) -> float:
    """How far `one` lies above the `other`, in units of the 95 % error of the difference.

    Beyond 1, up or down, the two differ: the interval of the difference excludes 0 and that of the
    ratio excludes 1. The two intervals disagree where the core was shared all the time, and perhaps
    not by both alike; the wider one counts. The smaller is divided by the larger, because nothing
    can be said of a ratio to what may be nothing.
    """
    sign = 1.0 if one.value >= other.value else -1.0
    larger, smaller = (one, other) if sign > 0 else (other, one)
    value, low, _ = difference(larger, smaller)
    errors = value / max(value - low, 1e-12)
    if larger.value > 0:
        value, _, high = ratio(smaller, larger)
        errors = min(errors, (1 - value) / max(high - value, 1e-12))
    return sign * errors
