"""One value a process: their mean with its interval, their groups, differences and ratios.

A process draws its place in memory once, so that its samples resemble each other more than those
of another process do. The interval of a run therefore comes from the spread of its processes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from labs.analysis.arrays import Bools, Floats
from labs.analysis.student import student_t, students_t

#: Two groups of processes are apart by this share of the undisturbed one at least, and by the
#: second where that one is the smaller of the two: layout alone does less.
LEAST_GAP, LEAST_GAP_OF_MINORITY = 0.01, 0.04
#: A smaller group of cheaper processes counts as the undisturbed one from this share on, and three.
LEAST_SHARE = 0.4
#: A share of cheaper processes so small that they can be the ones which differ.
LONE = 0.1
#: How sure it must be (see `apart`) that there are groups: to widen the interval, and to leave the
#: disturbed one out.
PERHAPS, SURE = 0.7, 2.0


@dataclass(frozen=True, eq=False)
class ByProcess:
    """One `value` for each process, with its own standard `error`; arrays of shape (processes,).

    `process` holds their numbers in the run `run` (any object). `chosen` are the undisturbed ones,
    and `sure` says how sure it is that the others are disturbed. `extra` is a standard error that
    the spread does not show (points off the line). The true value may be as low as `floor` times
    the mean, where all samples were disturbed.
    """

    run: object
    process: NDArray[np.int64]
    value: Floats
    error: Floats
    chosen: Bools
    sure: float = 0.0
    extra: float = 0.0
    floor: float = 1.0

    def only(self, which: NDArray[np.generic]) -> ByProcess:
        """The processes at these places, or where this mask is set."""
        names = ("process", "value", "error", "chosen")
        return replace(self, **{name: getattr(self, name)[which] for name in names})

    def times(self, factor: float) -> ByProcess:
        """Every value times a positive `factor`."""
        value, error = factor * self.value, factor * self.error
        return replace(self, value=value, error=error, extra=factor * self.extra)

    def estimate(self) -> tuple[float, float, float]:
        """The mean over the undisturbed processes, and its 95 % interval.

        Where it cannot be told whether the others are disturbed, the interval spans both readings,
        and the value moves from one to the other as it becomes surer.
        """
        value, low, high = self._mean(np.ones_like(self.chosen))
        if self.sure >= PERHAPS:
            group = self._mean(self.chosen)
            if self.sure >= SURE:
                value, low, high = group
            else:
                value += min((self.sure - PERHAPS) / 0.8, 1.0) * (group[0] - value)
                low, high = min(low, group[1]), max(high, group[2])
        return value, min(low, self.floor * value) if value > 0 else low, high

    def _mean(self, chosen: Bools) -> tuple[float, float, float]:
        """Mean and 95 % interval of the chosen processes, of which there are two or more.

        Weights by random effects: one over the variance between processes and a process's own.
        Between them it is the variance of the values less the mean of their own (Hedges & Olkin,
        "Statistical Methods for Meta-Analysis", 1985, ch. 9). Student's t for the spread that the
        processes show (Hartung & Knapp, Statistics in Medicine 2001).
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


def apart(value: Floats, error: Floats) -> tuple[Bools, float]:
    """The undisturbed processes of a run, and how sure it is that the others are another group.

    Two measures, of which the surer one counts: the gap between two neighbours against what the
    undisturbed group by itself would reach (t times its spread), for others that differ among
    themselves; and how much of the spread of all lies between two groups, against what the best
    cut of a single group explains (Engelman & Hartigan, JASA 1969), for groups that each spread.
    """
    count = len(value)
    everyone = np.ones(count, dtype=np.bool_)
    order = np.argsort(value)
    value, own = value[order], float(np.median(error)) if count else 0.0
    if count < 3 or value[0] <= 0:
        return everyone, 0.0
    cut = np.arange(1, count)
    lower_is_it = (2 * cut > count) | (cut >= max(3, LEAST_SHARE * count))
    size = np.where(lower_is_it, cut, count - cut)
    lower_mean, upper_mean, lower_within, upper_within = _on_both_sides(value)
    least = np.where(2 * size > count, LEAST_GAP, LEAST_GAP_OF_MINORITY)
    least *= np.where(lower_is_it, lower_mean, upper_mean)
    possible = (lower_is_it | (cut <= LONE * count)) & (upper_mean - lower_mean >= least)
    # Values may lie closer together by chance than their own errors allow.
    group_within = np.where(lower_is_it, lower_within, upper_within)
    spread = np.maximum(np.sqrt(group_within / np.maximum(size - 1, 1)), max(own, 1e-12))
    gap = value[1:] - value[:-1]
    by_gap = np.where(gap >= least, gap / (students_t(size - 1) * spread), 0.0)
    within = np.maximum(lower_within + upper_within, max((count - 2) * own**2, 1e-12))
    total = float(np.sum((value - value.mean()) ** 2))
    by_chance = -math.log(1 - 2 / math.pi) + 2.4 / (count - 2)
    beyond = (np.log(np.maximum(total / within, 1.0)) - by_chance) * math.sqrt(count - 2)
    # Of single groups 16 % reach 0.45 in units of t, which counts as 1, and 1 % reach 1.35.
    by_spread = 1 + (beyond / student_t(count - 2) - 0.45) / 0.9
    sure = np.where(possible, np.maximum(by_gap, by_spread), 0.0)
    place = int(sure.argmax())
    if not sure[place] > 0:
        return everyone, 0.0
    best = np.zeros(count, dtype=np.bool_)
    best[order[: cut[place]] if lower_is_it[place] else order[cut[place] :]] = True
    return best, float(sure[place])


def _on_both_sides(value: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Of ascending values, for each place to cut them: the mean of the lower and of the upper
    ones, and the sum of squares about either mean; each of shape (values - 1,)."""
    cut, middle = np.arange(1, len(value)), float(value.mean())
    away = value - middle
    sums, squares = np.cumsum(away), np.cumsum(away**2)
    lower, upper = sums[:-1] / cut, (sums[-1] - sums[:-1]) / cut[::-1]
    lower_within = np.maximum(squares[:-1] - cut * lower**2, 0.0)
    upper_within = np.maximum(squares[-1] - squares[:-1] - cut[::-1] * upper**2, 0.0)
    return middle + lower, middle + upper, lower_within, upper_within


def _in_common(one: ByProcess, other: ByProcess) -> tuple[ByProcess, ByProcess] | None:
    """The values of both in the processes that they share; None where these are too few."""
    if one.run is not other.run:
        return None
    _, mine, its = np.intersect1d(one.process, other.process, return_indices=True)
    one, other = one.only(mine), other.only(its)
    left = one.chosen & other.chosen if one.sure >= SURE else one.chosen
    return (replace(one, chosen=left), other) if left.sum() >= 2 else None


def difference(one: ByProcess, other: ByProcess, times: float = 1.0) -> ByProcess | None:
    """`one` less `times` the `other`, process by process; None where they share no processes.

    What moves both in a process cancels in the difference as it does in its interval.
    """
    if (both := _in_common(one, other)) is None:
        return None
    one, other = both
    error = np.hypot(one.error, times * other.error)
    extra = math.hypot(one.extra, times * other.extra)
    return replace(one, value=one.value - times * other.value, error=error, extra=extra)


def ratio(one: ByProcess, other: ByProcess) -> tuple[float, float, float] | None:
    """`one` divided by the `other`, with its 95 % interval; None where they share no processes.

    The ratio of the means; its error is that of one - ratio * other, process by process, divided by
    the mean of the other (the delta method, Cochran, "Sampling Techniques", ch. 6).
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
