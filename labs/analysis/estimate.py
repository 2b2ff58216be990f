"""A value with its 95 % interval, in a unit."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

from labs.analysis.processes import ByProcess
from labs.analysis.thresholds import BETWEEN_RUNS, WIDEST
from labs.common.advice import Option, advice
from labs.common.units import Clock


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
