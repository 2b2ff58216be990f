"""Conclusions about which of two things is dearer, judged by the student's own estimates.

Two estimates are distinguishable by the rule of `labs.analysis.compare`, which students apply as
`lab.compare`. At the edge two conclusions are right: that they differ, and that they are not
distinguishable. So nobody fails because of a little noise.
"""

from __future__ import annotations

from collections.abc import Callable

from labs.analysis.compare import separation
from labs.analysis.estimate import Estimate

Estimates = tuple[Estimate, ...]

#: In units of the error of the difference: certainly apart, certainly not.
EDGE_FROM, EDGE_TO = 0.7, 1.5


def dearer(first: int, second: int) -> Callable[[Estimates], bool]:
    """Whether operand number `first`, from 0, costs more than operand number `second`."""
    return lambda estimates: separation(estimates[first], estimates[second]) > EDGE_FROM


def not_distinguishable(first: int, second: int) -> Callable[[Estimates], bool]:
    """Whether this data cannot say which of the two operands costs more."""
    return lambda estimates: abs(separation(estimates[first], estimates[second])) < EDGE_TO


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
