"""A value with its 95 % interval, in a unit, and how two of them compare."""

from __future__ import annotations

import functools
import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from labs.analysis.thresholds import (
    BETWEEN_RUNS,
    FEWEST_FOR_RANGE,
    FEWEST_PAIRS,
    MOST_BY_SHARING,
    SURE,
    WIDEST,
)
from labs.messages import Option, advice
from labs.units import Clock

# Types of the arrays in the analysis.
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


class CannotEstimate(ValueError):
    """The recording does not allow this estimate. `why` says the reason and what to do.

    `sentence` does so of a `variant`, with a value for each `{name}` in it.
    """

    def __init__(self, variant: str, sentence: str, **values: Option | str) -> None:
        self.why = advice("{names}: {brief}", names=variant, brief=advice(sentence, **values))
        super().__init__(str(self.why))


@dataclass(frozen=True)
class Estimate:
    """A value with its 95 % interval, all in `unit`, from `n` samples of `processes` processes.

    `method` says how the value was computed. The counts `n` and `processes` do not include samples
    and processes that were set aside. `by_process` holds the values of the processes, if known.
    With `at_most`, the core was shared all the time, so a whole core would give this or less.
    """

    value: float
    low: float
    high: float
    unit: str
    method: str
    n: int
    processes: int
    by_process: ByProcess | None = field(default=None, repr=False, compare=False)
    at_most: bool = False

    @property
    def half_width(self) -> float:
        """Half of the interval's width, in `unit`."""
        return (self.high - self.low) / 2

    def is_believable(self, widest: float = WIDEST) -> bool:
        """Whether half of the interval is at most the share `widest` of the value."""
        return self.half_width <= widest * abs(self.value)

    def times(self, factor: float) -> Estimate:
        """The estimate times a positive `factor`."""
        value, low, high = (each * factor for each in (self.value, self.low, self.high))
        by_process = self.by_process.times(factor) if self.by_process else None
        return replace(self, value=value, low=low, high=high, by_process=by_process)

    def into(self, unit: str, clock: Clock) -> Estimate:
        """The same estimate in another unit.

        Raises units.UnknownUnit for an unknown unit, and ValueError if `unit` is core cycles and
        their length is not known.
        """
        return replace(self.times(clock.ticks_in(self.unit) / clock.ticks_in(unit)), unit=unit)

    def of_any_run(self) -> Estimate:
        """The estimate with the interval in which another run would land under these conditions.

        Runs differ by a little that no process of a single run shows.
        """
        half = math.hypot(self.half_width, BETWEEN_RUNS * self.value)
        middle = (self.low + self.high) / 2
        return replace(self, low=middle - half, high=middle + half)

    def contains(self, value: float, *, slack: float = 0.0) -> bool:
        """Whether `value` lies in the interval widened by `slack`, in `unit`, on both sides."""
        return self.low - slack <= value <= self.high + slack


# The difference and the ratio of two estimates, and whether the two differ.
#
# Estimates from the same processes are compared process by process, so an effect that moves both
# cancels. The errors of other estimates are independent and add in quadrature.
#
# Two programs whose processes took turns are compared process by process, too. What else ran on the
# core, and how fast its clock was, met only one process of some pairs. So some differences are far
# from the others, and only their order counts. All pairs do: to leave out what was taken on a
# shared core takes more from one program than from the other, and equal ones would differ. The
# intervals are those of 99.8 %: such a comparison is asked for again and again, and 1 false alarm
# in 100 would be too many.


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
        left = difference_by_process(one.by_process, other.by_process, times)
    if left is not None:
        value, low, high = left.estimate()
    else:
        value = one.value - times * other.value
        low = value - math.hypot(one.value - lowest(one), times * (other.high - other.value))
        high = value + math.hypot(one.high - one.value, times * (other.value - lowest(other)))
    return replace(one, value=value, low=low, high=high, by_process=left, method="difference")


def _need_one_unit(one: Estimate, other: Estimate) -> None:
    if one.unit != other.unit:
        raise ValueError(f"cannot compare {one.unit} with {other.unit}: convert one of them first")


def lowest(estimate: Estimate) -> float:
    """How low the value may be on a whole core."""
    by_sharing = MOST_BY_SHARING if estimate.at_most and estimate.low > 0 else 1.0
    return estimate.low / by_sharing


def ratio(one: Estimate, other: Estimate) -> tuple[float, float, float]:
    """`one` divided by the `other`: value and the ends of its 95 % interval.

    Raises ValueError if their units differ, and ZeroDivisionError if the value of `other` is 0.
    """
    _need_one_unit(one, other)
    if one.by_process and other.by_process:
        found = ratio_by_process(one.by_process, other.by_process)
        if found is not None:
            return found
    value = one.value / other.value
    if (one.at_most or other.at_most) and min(lowest(one), lowest(other)) > 0:
        # By sharing, a value may be several times too large: too far for the straight line below.
        less = math.hypot(one.value / lowest(one) - 1, other.high / other.value - 1)
        more = math.hypot(one.high / one.value - 1, other.value / lowest(other) - 1)
        return value, value / (1 + less), value * (1 + more)
    left, right = (replace(each, by_process=None) for each in (one, other))
    _, low, high = difference(left, right, value)
    return value, value + low / abs(other.value), value + high / abs(other.value)


def separation(one: Estimate, other: Estimate) -> float:
    """How far `one` lies above the `other`, in half-widths of the difference's 95 % interval.

    Above 1 or below -1 the two differ.
    """
    value, low, high = difference(one, other)
    return value / max(value - low if value >= 0 else high - value, 1e-12)


def side(one: Estimate, other: Estimate, times: float = 1.0) -> int:
    """On which side of `times` the `other` the data show `one`: 1 above, -1 below, 0 neither.

    This is the one rule for every conclusion. `times` must be positive.
    """
    apart = separation(one, other.times(times))
    return (apart > 1) - (apart < -1)


# Means, differences and ratios from one value for each process.
#
# Each process gets its place in memory once, so its samples resemble each other more than samples
# of other processes. Therefore the interval of a run comes from the spread of its processes.


@dataclass(frozen=True, eq=False)
class ByProcess:
    """One `value` for each process with its own standard `error`; arrays of shape (processes,).

    `process` holds their numbers in the run `run` (any object), and runs whose processes took turns
    have the same `turns`, which is '' for other runs. `extra` is a standard error that the spread
    does not show (points off the line). `every` has the values of every process where processes
    took turns: those on a shared core too. With `paired`, each value is a difference of two values
    of its process, and with `programs` of two processes of different programs.
    """

    run: object
    process: NDArray[np.int64]
    value: Floats
    error: Floats
    extra: float = 0.0
    paired: bool = False
    turns: str = ""
    programs: bool = False
    every: ByProcess | None = None

    def times(self, factor: float) -> ByProcess:
        """Every value times a positive `factor`."""
        value, error, extra = factor * self.value, factor * self.error, factor * self.extra
        every = self.every.times(factor) if self.every else None
        return replace(self, value=value, error=error, extra=extra, every=every)

    def estimate(self) -> tuple[float, float, float]:
        """The mean of the processes, of which there must be two or more, with its 95 % interval.

        The interval is that of Student's t. If the values are paired, it does not reach beyond the
        lowest and the highest of them: of six processes or more, all lie on one side of the truth
        in 1 of 32 runs at most (the sign test).

        Of two programs it is the median, with its 99.8 % interval (that of the sign test).
        """
        value = self.value
        count, mean = len(value), float(value.mean())
        if self.programs:
            ordered, outside = np.sort(value).tolist(), beyond_median(count, SURE)
            mean, low, high = statistics.median(ordered), ordered[outside], ordered[-1 - outside]
        else:
            half = student_t(count - 1) * float(value.std(ddof=1)) / math.sqrt(count)
            low, high = mean - half, mean + half
        if self.paired and not self.programs and count >= FEWEST_FOR_RANGE:
            low, high = max(low, float(value.min())), min(high, float(value.max()))
        misfit = 2 * self.extra
        return mean, mean - math.hypot(mean - low, misfit), mean + math.hypot(high - mean, misfit)


@functools.cache
def beyond_median(count: int, sure: float) -> int:
    """How many of `count` sorted values at either end lie outside the interval of their median.

    It holds the true median with the probability `sure`, and reaches from one of the values to
    another: how many of them lie below the median is binomial (Hahn & Meeker, "Statistical
    Intervals", ch. 5). It is 0 also where even all values are too few for `sure`.
    """
    outside, below = 0, 1 + count
    while below <= (1 - sure) / 2 * 2**count:
        outside += 1
        below += math.comb(count, outside + 1)
    return outside


def difference_by_process(one: ByProcess, other: ByProcess, times: float = 1.0) -> ByProcess | None:
    """`one` minus `times` the `other`, process by process.

    None if they are of two runs that did not take turns, or have fewer than two processes in
    common, of two programs FEWEST_PAIRS. An effect that moves both in a process cancels in the
    difference and in its interval.
    """
    if one.run is not other.run and one.turns != (other.turns or None):
        return None
    programs = one.run is not other.run or one.programs or other.programs
    every = one.every and other.every and difference_by_process(one.every, other.every, times)
    if programs and every:
        return every
    process, mine, its = np.intersect1d(one.process, other.process, return_indices=True)
    if len(process) < (FEWEST_PAIRS if programs else 2):
        return None
    value = one.value[mine] - times * other.value[its]
    error = np.hypot(one.error[mine], times * other.error[its])
    extra = math.hypot(one.extra, times * other.extra)
    return replace(one, process=process, value=value, error=error, extra=extra, paired=times > 0,
                   programs=programs, every=every)  # fmt: skip


def ratio_by_process(one: ByProcess, other: ByProcess) -> tuple[float, float, float] | None:
    """`one` divided by the `other`: value and the ends of its 95 % interval.

    None as in `difference`, or if the mean of `other` is 0. The value is the ratio of the means.
    Its error is that of one - ratio * other, process by process, divided by the mean of the other
    (the delta method, Cochran, "Sampling Techniques", ch. 6).

    Of two programs it is the median of the ratios of the pairs, each of which is above 1 exactly
    where its difference is above 0; None if a value of `other` is not above 0.
    """
    mine, its = difference_by_process(one, other, 0.0), difference_by_process(other, one, 0.0)
    if mine is None or its is None:
        return None
    top, bottom = mine.estimate()[0], its.estimate()[0]
    if abs(bottom) < 1e-12:
        return None
    if mine.programs:
        if its.value.min() <= 0:
            return None
        extra = math.hypot(mine.extra, top / bottom * its.extra) / bottom
        return replace(mine, value=mine.value / its.value, extra=extra).estimate()
    left = difference_by_process(one, other, top / bottom)
    assert left is not None  # they have processes in common
    middle, low, high = left.estimate()
    value, half = (top + middle) / bottom, (high - low) / 2 / abs(bottom)
    return value, value - half, value + half


# Student's t: the number of standard errors that a 95 % interval reaches to either side.

#: Two-sided 95 % points of Student's t for 1 to 30 degrees of freedom (any statistics table).
_T_TABLE: Sequence[float] = (
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
    2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
    2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
)  # fmt: skip


def student_t(freedom: int) -> float:
    """The two-sided 95 % point of Student's t for `freedom` degrees of freedom.

    Beyond the table this is an expansion in 1 / freedom.
    """
    if freedom <= len(_T_TABLE):
        return _T_TABLE[max(freedom, 1) - 1]
    return 1.959964 + 2.372 / freedom + 2.82 / freedom**2
