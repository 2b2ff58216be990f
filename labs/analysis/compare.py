"""The rule for the difference and the ratio of two estimates, and for whether the two differ.

Estimates from the same processes are compared process by process, so an effect that moves both
cancels. The errors of other estimates are independent and add in quadrature.
"""

from __future__ import annotations

import math
from dataclasses import replace

from labs.analysis import processes
from labs.analysis.estimate import Estimate


def difference(one: Estimate, other: Estimate, times: float = 1.0) -> tuple[float, float, float]:
    """`one` minus `times` the `other`: value and the ends of its 95 % interval.

    The result is in the unit of both estimates. Raises ValueError if their units differ.
    """
    found = difference_of(one, other, times)
    return found.value, found.low, found.high


def difference_of(one: Estimate, other: Estimate, times: float = 1.0) -> Estimate:
    """`one` minus `times` the `other` as an estimate, which can be compared in its turn."""
    _need_one_unit(one, other)
    left = None
    if one.by_process and other.by_process:
        left = processes.difference(one.by_process, other.by_process, times)
    if left is not None:
        value, low, high = left.estimate()
    else:
        value = one.value - times * other.value
        low = value - math.hypot(one.value - _lowest(one), times * (other.high - other.value))
        high = value + math.hypot(one.high - one.value, times * (other.value - _lowest(other)))
    return replace(one, value=value, low=low, high=high, by_process=left, method="difference")


def _need_one_unit(one: Estimate, other: Estimate) -> None:
    if one.unit != other.unit:
        raise ValueError(f"cannot compare {one.unit} with {other.unit}: convert one of them first")


def _lowest(estimate: Estimate) -> float:
    """How low the value may be on a whole core: if the core was always shared, down to nothing."""
    return min(estimate.low, 0.0) if estimate.at_most else estimate.low


def ratio(one: Estimate, other: Estimate) -> tuple[float, float, float]:
    """`one` divided by the `other`: value and the ends of its 95 % interval.

    Raises ValueError if their units differ, and ZeroDivisionError if the value of `other` is 0.
    """
    _need_one_unit(one, other)
    if one.by_process and other.by_process:
        found = processes.ratio(one.by_process, other.by_process)
        if found is not None:
            return found
    value = one.value / other.value
    left, right = (replace(each, by_process=None) for each in (one, other))
    _, low, high = difference(left, right, value)
    return value, value + low / abs(other.value), value + high / abs(other.value)


def separation(one: Estimate, other: Estimate) -> float:
    """How far `one` lies above the `other`, in half-widths of the difference's 95 % interval.

    Above 1 or below -1 the two differ.
    """
    sign = 1.0 if one.value >= other.value else -1.0
    larger, smaller = (one, other) if sign > 0 else (other, one)
    value, low, _ = difference(larger, smaller)
    return sign * value / max(value - low, 1e-12)


def side(one: Estimate, other: Estimate, times: float = 1.0) -> int:
    """On which side of `times` the `other` the data show `one`: 1 above, -1 below, 0 neither.

    This is the one rule for every conclusion. `times` must be positive.
    """
    apart = separation(one, other.times(times))
    return (apart > 1) - (apart < -1)
