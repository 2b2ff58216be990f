"""Conclusions about which of two things is dearer, judged by the student's own estimates.

Two estimates are told apart where their difference is more than the errors of both together, taken
as independent: they add in quadrature. On the edge both the conclusion that they differ and the
conclusion that they cannot be told apart are right, so that nobody fails by a hair of noise.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from labs.analysis.estimate import Estimate

Estimates = tuple[Estimate, ...]

#: In units of the two errors together: certainly apart, certainly not. Intervals that just touch
#: are 1 to 1.41 apart.
EDGE_FROM, EDGE_TO = 0.7, 1.5


def apart(first: Estimate, second: Estimate) -> float:
    """How far `first` lies above `second`, in units of their errors together.

    Of each the error on the side of the other: an interval may be longer on one side, and whoever
    looks whether two intervals overlap looks at these sides.
    """
    lower, upper = sorted((first, second), key=lambda each: each.value)
    both = math.hypot(lower.high - lower.value, upper.value - upper.low)
    return (first.value - second.value) / max(both, 1e-12)


def dearer(first: int, second: int) -> Callable[[Estimates], bool]:
    """Whether operand number `first`, from 0, costs more than operand number `second`."""
    return lambda estimates: apart(estimates[first], estimates[second]) > EDGE_FROM


def not_told_apart(first: int, second: int) -> Callable[[Estimates], bool]:
    """Whether this data cannot say which of the two operands costs more."""
    return lambda estimates: abs(apart(estimates[first], estimates[second])) < EDGE_TO


def at_least_times(
    factor: float, over: int, under: int, *, slack: float = 0.1
) -> Callable[[Estimates], bool]:
    """Whether operand `over` costs at least `factor` times `under`, give or take `slack`."""
    return lambda estimates: estimates[over].value >= factor * (1 - slack) * estimates[under].value


def at_most_times(
    factor: float, over: int, under: int, *, slack: float = 0.1
) -> Callable[[Estimates], bool]:
    """Whether operand `over` costs at most `factor` times `under`, give or take `slack`."""
    return lambda estimates: estimates[over].value <= factor * (1 + slack) * estimates[under].value
