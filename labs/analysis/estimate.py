"""A value with its 95 % interval, and the one rule for differences and ratios of two of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from labs.common.units import Clock

if TYPE_CHECKING:
    from labs.analysis.processes import ByProcess

Floats = NDArray[np.float64]

#: An interval that reaches farther than this share of its value to either side is not believed.
WIDEST = 0.15


class CannotEstimate(ValueError):
    """The recording does not allow this estimate: why, and what to do."""


@dataclass(frozen=True)
class Estimate:
    """A value with its 95 % interval, all in `unit`, from `n` samples of `processes` processes.

    Both counts leave out what was set aside. `by_process` is what it was made from, where known.
    """

    value: float
    low: float
    high: float
    unit: str
    method: str
    n: int
    processes: int
    by_process: ByProcess | None = field(default=None, repr=False, compare=False)

    @property
    def half_width(self) -> float:
        """Half of the interval, in the unit of the value."""
        return (self.high - self.low) / 2

    def is_believable(self, widest: float = WIDEST) -> bool:
        """Whether the interval is narrow enough for the value to be one."""
        return self.half_width <= widest * abs(self.value)

    def times(self, factor: float) -> Estimate:
        """The estimate times a positive `factor`."""
        return replace(
            self,
            value=self.value * factor,
            low=self.low * factor,
            high=self.high * factor,
            by_process=self.by_process.times(factor) if self.by_process else None,
        )

    def into(self, unit: str, clock: Clock) -> Estimate:
        """The same estimate in another unit."""
        return replace(self.times(clock.ticks_in(self.unit) / clock.ticks_in(unit)), unit=unit)

    def contains(self, value: float, *, slack: float = 0.0) -> bool:
        """Whether `value` lies in the interval, widened by `slack` on both sides."""
        return self.low - slack <= value <= self.high + slack


#: Two-sided 95 % points of Student's t for 1 to 30 degrees of freedom (any statistics table).
_T_TABLE: Sequence[float] = (
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
    2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
    2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
)  # fmt: skip


def student_t(freedom: int) -> float:
    """The two-sided 95 % point of Student's t; beyond the table by its expansion in 1 / freedom."""
    if freedom <= len(_T_TABLE):
        return _T_TABLE[max(freedom, 1) - 1]
    return 1.959964 + 2.372 / freedom + 2.82 / freedom**2


def students_t(freedom: NDArray[np.int64]) -> Floats:
    """As `student_t`, for many at once."""
    table = np.array(_T_TABLE)[np.clip(freedom, 1, len(_T_TABLE)) - 1]
    beyond = np.maximum(freedom, 1).astype(np.float64)
    expansion = 1.959964 + 2.372 / beyond + 2.82 / beyond**2
    return np.where(freedom <= len(_T_TABLE), table, expansion)
