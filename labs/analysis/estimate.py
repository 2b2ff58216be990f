"""A value with its 95 % interval, and the one rule for differences and ratios of two of them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from labs.analysis.processes import ByProcess
from labs.common.advice import Option, advice
from labs.common.units import Clock

#: An interval that reaches farther than this share of its value to either side is not believed.
WIDEST = 0.15


class CannotEstimate(ValueError):
    """The recording does not allow this estimate: why, and what to do."""

    def __init__(self, *parts: str | Option) -> None:
        self.why = advice(*parts)
        super().__init__(str(self.why))


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
