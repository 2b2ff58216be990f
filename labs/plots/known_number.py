"""A number known before the run, such as a prediction, that a plot shows as a labelled line."""

from __future__ import annotations

from dataclasses import dataclass

from labs.common.units import Clock
from labs.plots.style import axis_number, symbol


@dataclass(frozen=True)
class Mark:
    """A number in `unit` that a plot shows as a line with the label `name`."""

    value: float
    unit: str
    name: str = "your prediction"

    def into(self, unit: str, clock: Clock) -> float:
        """The number in another unit. Raises ValueError if it cannot be converted."""
        return clock.convert(self.value, self.unit, unit)

    @property
    def at_start(self) -> str:
        """Its name as a sentence begins with it."""
        return f"{self.name[0].upper()}{self.name[1:]}"

    def of(self, variant: str) -> str:
        """The beginning of a sentence on this number of `variant`: Your prediction for fork."""
        return f"{self.at_start} for {variant}"

    def key_text(self) -> str:
        """The text for this line in the key of a plot."""
        return f"╌ {self.name}: {axis_number(self.value)} {symbol(self.unit)}"
