"""A number that somebody named before the run, such as a prediction, to be drawn into a plot."""

from __future__ import annotations

from dataclasses import dataclass

from labs.common.units import Clock
from labs.plots.style import plain, symbol


@dataclass(frozen=True)
class Mark:
    """A number to be drawn as a labelled line, in `unit`, and what to call it in the plot."""

    value: float
    unit: str
    name: str = "your prediction"

    def into(self, unit: str, clock: Clock) -> float:
        """The number in another unit. Raises ValueError where it cannot be turned into it."""
        return clock.convert(self.value, self.unit, unit)

    def in_key(self) -> str:
        """What the key of a plot calls its line."""
        return f"╌ {self.name}: {plain(self.value)} {symbol(self.unit)}"
