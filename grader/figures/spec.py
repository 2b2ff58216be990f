"""What is asked of a figure, and how many points it is worth."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from grader.verdict import Level


class Quantity(str, Enum):
    """What a figure is, in terms of the line T(k) = overhead + k * cost."""

    OVERHEAD = "overhead"
    COST = "cost"
    STEP = "step of the clock"
    RATIO = "ratio of two overheads"


#: The unit of a ratio.
TIMES = "times"


@dataclass(frozen=True)
class FigureSpec:
    """One figure of a lab.

    `asked` is the question in words. `variants` must be in the recording; a ratio is the first over
    the second. `unit` is the one asked for; any unit of time that is declared will do. With `own`
    the C kernel is the student's, `kernel` its name.
    """

    id: str
    lab: str
    asked: str
    kernel: str
    variants: tuple[str, ...]
    quantity: Quantity
    unit: str
    points: Mapping[Level, float] = field(
        default_factory=lambda: dict.fromkeys(Level, 1.0), compare=False
    )
    own: bool = False
    praise: str = ""
    look_next: str = ""

    @property
    def max_points(self) -> float:
        """The points of all levels together."""
        return sum(self.points.values())

    @property
    def variant(self) -> str:
        """The variant that the figure is about; of a ratio, the one above the line."""
        return self.variants[0]
