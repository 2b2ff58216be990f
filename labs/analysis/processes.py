"""From one value for each process to a mean with its interval, to groups, differences and ratios.

Each process gets its place in memory once, so its samples resemble each other more than samples of
other processes. Therefore the interval of a run comes from the spread of its processes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from labs.analysis.arrays import Bools, Floats
from labs.analysis.student_t import student_t, student_t_array

#: The smallest distance between two groups of processes, as a share of the undisturbed group's
#: mean. The second holds if the undisturbed group is the smaller one. Layout alone causes less.
LEAST_GAP, LEAST_GAP_OF_MINORITY = 0.01, 0.04
#: The cheaper group counts as undisturbed, although it is the smaller one, if it has this share of
#: the processes and at least three.
LEAST_SHARE = 0.4
#: Up to this share of the processes, a cheaper group may be the one that is disturbed.
LONE_SHARE = 0.1
#: How sure it must be (see `two_groups`) that there are two groups: to widen the interval, and to
#: leave out the disturbed group.
PERHAPS, SURE = 0.7, 2.0


@dataclass(frozen=True, eq=False)
class ByProcess:
    """One `value` for each process with its own standard `error`; arrays of shape (processes,).

    `process` holds their numbers in the run `run` (any object). `chosen` marks the undisturbed
    processes, and `sure` says how sure it is that the others are disturbed. `extra` is a standard
    error that the spread does not show (points off the line). If all samples were disturbed, the
    true value may be as low as `floor` times the mean; otherwise `floor` is 1. Interruptions that
    nobody recognised may have added up to `unseen` to the mean.
    """

    run: object
    process: NDArray[np.int64]
    value: Floats
    error: Floats
    chosen: Bools
    sure: float = 0.0
    extra: float = 0.0
    floor: float = 1.0
    unseen: float = 0.0

    def only(self, which: NDArray[np.generic]) -> ByProcess:
        """A subset of the processes: those at these indices, or those that this mask marks."""
        names = ("process", "value", "error", "chosen")
        return replace(self, **{name: getattr(self, name)[which] for name in names})

    def times(self, factor: float) -> ByProcess:
        """Every value times a positive `factor`."""
        value, error = factor * self.value, factor * self.error
        extra, unseen = factor * self.extra, factor * self.unseen
        return replace(self, value=value, error=error, extra=extra, unseen=unseen)

    def estimate(self) -> tuple[float, float, float]:
        """The mean over the undisturbed processes, and the ends of its 95 % interval.

        If it is not sure whether the others are disturbed, the interval spans both possibilities.
        The value then lies between the two means: the surer it is, the nearer to the mean of the
        undisturbed group.
        """
        value, low, high = self._mean(np.ones_like(self.chosen))
        if self.sure >= PERHAPS:
            group = self._mean(self.chosen)
            if self.sure >= SURE:
                value, low, high = group
            else:
                value += min((self.sure - PERHAPS) / 0.8, 1.0) * (group[0] - value)
                low, high = min(low, group[1]), max(high, group[2])
        low, high = low - max(self.unseen, 0.0), high - min(self.unseen, 0.0)
        return value, min(low, self.floor * value) if value > 0 else low, high

    def _mean(self, chosen: Bools) -> tuple[float, float, float]:
        """Mean and 95 % interval of the chosen processes, of which there must be two or more.

        This is a random-effects model. The weight of a process is 1 divided by the sum of two
        variances: its own, and that between processes. The variance between processes is the
        variance of the values minus the mean of their own variances (Hedges & Olkin, "Statistical
        Methods for Meta-Analysis", 1985, ch. 9). The interval uses Student's t and the observed
        spread (Hartung & Knapp, Statistics in Medicine 2001).
        """
        value, error = self.value[chosen], self.error[chosen]
        own = np.maximum(error, 1e-9 * max(float(np.abs(value).max()), 1e-9)) ** 2
        freedom = len(value) - 1
        between = max(float(value.var(ddof=1) - own.mean()), 0.0) if freedom else 0.0
        weight = 1 / (own + between)
        weight /= weight.sum()
        mean = float(weight @ value)
        spread = math.sqrt(float(weight @ (value - mean) ** 2) / max(freedom, 1))
        half = math.hypot(student_t(freedom) * spread, 2 * self.extra)
        return mean, mean - half, mean + half


def two_groups(value: Floats, error: Floats) -> tuple[Bools, float]:
    """Look for two groups of processes: the undisturbed one, and how sure it is that there are two.

    `value` and `error` have the shape (processes,), and so has the mask that is returned. How sure
    it is has no unit; compare it with PERHAPS and SURE. If there is one group, it is 0.

    There are two measures, and the larger one counts. The first compares the gap between two
    neighbouring values with t times the spread of the undisturbed group. It recognises disturbed
    processes that also differ among themselves. The second compares the part of the total spread
    that lies between two groups with what the best cut of a single group would explain (Engelman &
    Hartigan, JASA 1969). It recognises groups that both have a spread.
    """
    count = len(value)
    everyone = np.ones(count, dtype=np.bool_)
    order = np.argsort(value)
    value, own = value[order], float(np.median(error)) if count else 0.0
    if count < 3 or value[0] <= 0:
        return everyone, 0.0
    cut = np.arange(1, count)
    lower_undisturbed = (2 * cut > count) | (cut >= max(3, LEAST_SHARE * count))
    size = np.where(lower_undisturbed, cut, count - cut)
    lower_mean, upper_mean, lower_within, upper_within = _on_both_sides(value)
    least = np.where(2 * size > count, LEAST_GAP, LEAST_GAP_OF_MINORITY)
    least *= np.where(lower_undisturbed, lower_mean, upper_mean)
    possible = (lower_undisturbed | (cut <= LONE_SHARE * count)) & (
        upper_mean - lower_mean >= least
    )
    # By chance, values can lie closer together than their own errors allow.
    group_within = np.where(lower_undisturbed, lower_within, upper_within)
    spread = np.maximum(np.sqrt(group_within / np.maximum(size - 1, 1)), max(own, 1e-12))
    gap = value[1:] - value[:-1]
    by_gap = np.where(gap >= least, gap / (student_t_array(size - 1) * spread), 0.0)
    within = np.maximum(lower_within + upper_within, max((count - 2) * own**2, 1e-12))
    total = float(np.sum((value - value.mean()) ** 2))
    by_chance = -math.log(1 - 2 / math.pi) + 2.4 / (count - 2)
    beyond = (np.log(np.maximum(total / within, 1.0)) - by_chance) * math.sqrt(count - 2)
    # 16 % of single groups reach 0.45 in units of t, which counts as 1; 1 % of them reach 1.35.
    by_spread = 1 + (beyond / student_t(count - 2) - 0.45) / 0.9
    sure = np.where(possible, np.maximum(by_gap, by_spread), 0.0)
    place = int(sure.argmax())
    if not sure[place] > 0:
        return everyone, 0.0
    best = np.zeros(count, dtype=np.bool_)
    best[order[: cut[place]] if lower_undisturbed[place] else order[cut[place] :]] = True
    return best, float(sure[place])


def _on_both_sides(value: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """For each cut of ascending values: the means of the lower and upper part, and both sums of
    squares about these means; each has the shape (values - 1,)."""
    cut, middle = np.arange(1, len(value)), float(value.mean())
    away = value - middle
    sums, squares = np.cumsum(away), np.cumsum(away**2)
    lower, upper = sums[:-1] / cut, (sums[-1] - sums[:-1]) / cut[::-1]
    lower_within = np.maximum(squares[:-1] - cut * lower**2, 0.0)
    upper_within = np.maximum(squares[-1] - squares[:-1] - cut[::-1] * upper**2, 0.0)
    return middle + lower, middle + upper, lower_within, upper_within


def _in_common(one: ByProcess, other: ByProcess) -> tuple[ByProcess, ByProcess] | None:
    """The values of both in their common processes; None if fewer than two of these are chosen."""
    if one.run is not other.run:
        return None
    _, mine, its = np.intersect1d(one.process, other.process, return_indices=True)
    one, other = one.only(mine), other.only(its)
    left = one.chosen & other.chosen if one.sure >= SURE else one.chosen
    return (replace(one, chosen=left), other) if left.sum() >= 2 else None


def difference(one: ByProcess, other: ByProcess, times: float = 1.0) -> ByProcess | None:
    """`one` minus `times` the `other`, process by process; None if they share too few processes.

    An effect that moves both in a process cancels in the difference and in its interval. So do the
    interruptions that nobody recognised: they took the same share of the time of both.
    """
    if (both := _in_common(one, other)) is None:
        return None
    one, other = both
    error = np.hypot(one.error, times * other.error)
    extra = math.hypot(one.extra, times * other.extra)
    value, unseen = one.value - times * other.value, one.unseen - times * other.unseen
    return replace(one, value=value, error=error, extra=extra, unseen=unseen)


def ratio(one: ByProcess, other: ByProcess) -> tuple[float, float, float] | None:
    """`one` divided by the `other`: value and the ends of its 95 % interval.

    None if they share too few processes, or if the mean of `other` is 0. The value is the ratio of
    the means. Its error is that of one - ratio * other, process by process, divided by the mean of
    the other (the delta method, Cochran, "Sampling Techniques", ch. 6).
    """
    both = _in_common(one, other)
    if both is None or abs(bottom := both[1].estimate()[0]) < 1e-12:
        return None
    value = both[0].estimate()[0] / bottom
    left = difference(*both, times=value)
    if left is None:
        return None
    middle, low, high = replace(left, floor=1.0).estimate()
    low, high = value + (low - middle) / abs(bottom), value + (high - middle) / abs(bottom)
    return value, min(low, one.floor * value), max(high, value / other.floor)
