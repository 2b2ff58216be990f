"""A value with its 95 % interval, in a unit."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from labs.analysis.processes import ByProcess
from labs.common.advice import Option, advice
from labs.common.units import Clock

#: A value is not believable if half of its interval exceeds this share of the value.
WIDEST = 0.15
#: From this share on, the interval is as wide as the value and holds half of it: no figure is
#: shown. Not even a factor of two, the smallest slip that people make, would be noticed.
AS_WIDE_AS_VALUE = 0.5


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
        """Half of the interval's width, in `unit`."""
        return (self.high - self.low) / 2

    def is_believable(self, widest: float = WIDEST) -> bool:
        """Whether half of the interval is at most the share `widest` of the value."""
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
        """The same estimate in another unit.

        Raises units.UnknownUnit for an unknown unit, and ValueError if `unit` is core cycles and
        their length is not known.
        """
        return replace(self.times(clock.ticks_in(self.unit) / clock.ticks_in(unit)), unit=unit)

    def contains(self, value: float, *, slack: float = 0.0) -> bool:
        """Whether `value` lies in the interval widened by `slack`, in `unit`, on both sides."""
        return self.low - slack <= value <= self.high + slack
