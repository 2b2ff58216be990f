"""From one value for each process to a mean with its interval, to differences and ratios.

Each process gets its place in memory once, so its samples resemble each other more than samples of
other processes. Therefore the interval of a run comes from the spread of its processes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from labs.analysis.arrays import Floats
from labs.analysis.student_t import student_t
from labs.analysis.thresholds import FEWEST_FOR_RANGE


@dataclass(frozen=True, eq=False)
class ByProcess:
    """One `value` for each process with its own standard `error`; arrays of shape (processes,).

    `process` holds their numbers in the run `run` (any object). `extra` is a standard error that
    the spread does not show (points off the line). With `paired`, each value is a difference of two
    values of its process.
    """

    run: object
    process: NDArray[np.int64]
    value: Floats
    error: Floats
    extra: float = 0.0
    paired: bool = False

    def times(self, factor: float) -> ByProcess:
        """Every value times a positive `factor`."""
        value, error, extra = factor * self.value, factor * self.error, factor * self.extra
        return replace(self, value=value, error=error, extra=extra)

    def estimate(self) -> tuple[float, float, float]:
        """The mean of the processes, of which there must be two or more, with its 95 % interval.

        The interval is that of Student's t. If the values are paired, it does not reach beyond the
        lowest and the highest of them: of six processes or more, all lie on one side of the truth
        in 1 of 32 runs at most (the sign test).
        """
        value = self.value
        count, mean = len(value), float(value.mean())
        half = student_t(count - 1) * float(value.std(ddof=1)) / math.sqrt(count)
        low, high = mean - half, mean + half
        if self.paired and count >= FEWEST_FOR_RANGE:
            low, high = max(low, float(value.min())), min(high, float(value.max()))
        misfit = 2 * self.extra
        return mean, mean - math.hypot(mean - low, misfit), mean + math.hypot(high - mean, misfit)


def difference(one: ByProcess, other: ByProcess, times: float = 1.0) -> ByProcess | None:
    """`one` minus `times` the `other`, process by process.

    None if they are of two runs, or have fewer than two processes in common. An effect that moves
    both in a process cancels in the difference and in its interval.
    """
    if one.run is not other.run:
        return None
    process, mine, its = np.intersect1d(one.process, other.process, return_indices=True)
    if len(process) < 2:
        return None
    value = one.value[mine] - times * other.value[its]
    error = np.hypot(one.error[mine], times * other.error[its])
    extra = math.hypot(one.extra, times * other.extra)
    return ByProcess(one.run, process, value, error, extra, paired=times > 0)


def ratio(one: ByProcess, other: ByProcess) -> tuple[float, float, float] | None:
    """`one` divided by the `other`: value and the ends of its 95 % interval.

    None as in `difference`, or if the mean of `other` is 0. The value is the ratio of the means.
    Its error is that of one - ratio * other, process by process, divided by the mean of the other
    (the delta method, Cochran, "Sampling Techniques", ch. 6).
    """
    nothing = difference(one, other, 0.0), difference(other, one, 0.0)
    if nothing[0] is None or nothing[1] is None:
        return None
    top, bottom = (each.estimate()[0] for each in nothing)  # type: ignore[union-attr]
    if abs(bottom) < 1e-12:
        return None
    left = difference(one, other, top / bottom)
    assert left is not None  # they have processes in common
    middle, low, high = left.estimate()
    value = (top + middle) / bottom
    return value, value - (high - low) / 2 / abs(bottom), value + (high - low) / 2 / abs(bottom)
