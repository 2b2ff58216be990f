"""The rule for the difference and the ratio of two estimates, and for whether the two differ.

Estimates from the same processes are compared process by process, so an effect that moves both
cancels. The errors of other estimates are independent and add in quadrature.
"""

from __future__ import annotations

import math

from labs.analysis import processes
from labs.analysis.estimate import Estimate
from labs.analysis.processes import ByProcess


def difference(one: Estimate, other: Estimate, times: float = 1.0) -> tuple[float, float, float]:
    """`one` minus `times` the `other`: value and the ends of its 95 % interval.

    The result is in the unit of both estimates. Raises ValueError if their units differ.
    """
    _need_one_unit(one, other)
    if (both := _on_whole_cores(one, other)) is not None:
        left = processes.difference(*both, times)
        if left is not None:
            return left.estimate()
    value = one.value - times * other.value
    below = math.hypot(one.value - one.low, times * (other.high - other.value))
    above = math.hypot(one.high - one.value, times * (other.value - other.low))
    return value, value - below, value + above


def _need_one_unit(one: Estimate, other: Estimate) -> None:
    if one.unit != other.unit:
        raise ValueError(f"cannot compare {one.unit} with {other.unit}: convert one of them first")


def _on_whole_cores(one: Estimate, other: Estimate) -> tuple[ByProcess, ByProcess] | None:
    """The values of both by process; None if they are unknown, or a core was always shared.

    Nobody knows how much a shared core slowed each of the two, so this effect may not cancel.
    """
    first, second = one.by_process, other.by_process
    if first is None or second is None or min(first.floor, second.floor) < 1:
        return None
    return first, second


def difference_of(one: Estimate, other: Estimate) -> Estimate:
    """`one` minus the `other` as an estimate, which can be compared in its turn."""
    value, low, high = difference(one, other)
    both = _on_whole_cores(one, other)
    left = processes.difference(*both) if both is not None else None
    n, count = one.n + other.n, min(one.processes, other.processes)
    return Estimate(value, low, high, one.unit, "difference", n, count, left)


def ratio(one: Estimate, other: Estimate) -> tuple[float, float, float]:
    """`one` divided by the `other`: value and the ends of its 95 % interval.

    Raises ValueError if their units differ, and ZeroDivisionError if the value of `other` is 0.
    """
    _need_one_unit(one, other)
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


def separation(one: Estimate, other: Estimate) -> float:
    """How far `one` lies above the `other`, in half-widths of the difference's 95 % interval.

    Above 1 or below -1 the two differ: the interval of the difference excludes 0 and the interval
    of the ratio excludes 1. These two intervals can disagree if the core was always shared, because
    that may have slowed the two by different factors; the wider one counts. The ratio's divisor is
    the estimate that is farther from 0, because a divisor near 0 would give no useful ratio.
    """
    sign = 1.0 if one.value >= other.value else -1.0
    larger, smaller = (one, other) if sign > 0 else (other, one)
    value, low, _ = difference(larger, smaller)
    errors = value / max(value - low, 1e-12)
    if larger.value > 0:
        near, far = (smaller, larger) if larger.value >= abs(smaller.value) else (larger, smaller)
        value, _, high = ratio(near, far)
        errors = min(errors, (1 - value) / max(high - value, 1e-12))
    return sign * errors


def side(one: Estimate, other: Estimate, times: float = 1.0) -> int:
    """On which side of `times` the `other` the data show `one`: 1 above, -1 below, 0 neither.

    This is the one rule for every conclusion. `times` must be positive.
    """
    apart = separation(one, other.times(times))
    return (apart > 1) - (apart < -1)
