"""Intervals by drawing clusters anew: what a run's figure might have been, had other processes run.

Percentile intervals, widened for few clusters as in Hesterberg, "What Teachers Should Know About
the Bootstrap", The American Statistician 2015.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

REPLICATES = 2_000

#: Fixed: student, grader and class comparison must see the same interval.
SEED = 20240229


@dataclass(frozen=True, eq=False)
class Resampled:
    """A value with what it came out as from each drawing of clusters.

    `replicate` has the shape (REPLICATES,). It was drawn from so many `clusters`, those of these
    `processes`; `extra_error` is a standard error that drawing does not show.
    """

    value: float
    replicate: Floats
    clusters: int
    processes: tuple[int, ...]
    extra_error: float

    def interval(self) -> tuple[float, float]:
        """The 95 % interval."""
        return interval(self.value, self.replicate, self.clusters, self.extra_error)


def difference(one: Resampled, other: Resampled, times: float) -> tuple[float, float, float]:
    """`one` less `times` the `other`, with its 95 % interval.

    Where both were drawn from the same clusters, each drawing holds the same of them in both, so
    that what moves both alike cancels as it does in the value. Else their errors are taken for
    independent, which is on the safe side: it leaves out what cancels.
    """
    value = one.value - times * other.value
    if (one.clusters, one.processes) == (other.clusters, other.processes):
        together = Resampled(
            value,
            one.replicate - times * other.replicate,
            one.clusters,
            one.processes,
            math.hypot(one.extra_error, times * other.extra_error),
        )
        return value, *together.interval()
    (low, high), (other_low, other_high) = one.interval(), other.interval()
    below = math.hypot(one.value - low, times * (other_high - other.value))
    above = math.hypot(high - one.value, times * (other.value - other_low))
    return value, value - below, value + above


def replicates(sums: Floats, counts: Floats) -> Floats:
    """Means recomputed from clusters drawn with replacement; shape (REPLICATES, columns).

    `sums` and `counts` have the shape (clusters, columns). The same number of clusters is always
    drawn in the same way.
    """
    size = len(sums)
    drawn = np.random.default_rng(SEED).integers(0, size, (REPLICATES, size))
    times = np.zeros((REPLICATES, size))
    np.add.at(times, (np.arange(REPLICATES)[:, None], drawn), 1.0)
    total = times @ counts
    # A replicate may draw only clusters without a steady sample of a batch size: none is lost.
    whole = sums.sum(axis=0) / counts.sum(axis=0)
    return np.where(total > 0, (times @ sums) / np.maximum(total, 1), whole)


def interval(
    value: float, replicate: Floats, clusters_drawn: int, extra_error: float
) -> tuple[float, float]:
    """The widened percentile interval; `extra_error`, a standard error, is added in quadrature."""
    share = _widened_tail(clusters_drawn)
    low, high = np.percentile(replicate, [100 * share, 100 * (1 - share)])
    below = math.hypot(value - float(low), 2 * extra_error)
    above = math.hypot(float(high) - value, 2 * extra_error)
    return value - below, value + above


def _widened_tail(clusters_drawn: int) -> float:
    """The share to cut off each end: Hesterberg's Phi(-sqrt(n / (n - 1)) * t) for n clusters."""
    n = max(clusters_drawn, 2)
    t = student_t(n - 1)
    return 0.5 * math.erfc(math.sqrt(n / (n - 1)) * t / math.sqrt(2))


#: Two-sided 95 % points of Student's t for 1 to 30 degrees of freedom (any statistics table).
_T_TABLE: Sequence[float] = (
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
    2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
    2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
)  # fmt: skip


def student_t(freedom: int) -> float:
    """The two-sided 95 % point of Student's t; beyond the table by its expansion in 1 / freedom."""
    if freedom <= len(_T_TABLE):
        return _T_TABLE[freedom - 1]
    return 1.959964 + 2.372 / freedom + 2.82 / freedom**2
