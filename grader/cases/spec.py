"""What is asked of a figure, and how many points it is worth."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, TypedDict

from grader.cases.verdict import Level
from labs.analysis.estimate import WIDEST, Estimate
from labs.recording.declared import Estimand

if TYPE_CHECKING:
    from typing_extensions import Unpack


class Quantity(str, Enum):
    """What a figure is, in terms of the line T(k) = overhead + k * cost, and of what is counted.

    A cost is net of the baseline that its C kernel names, and a part of an operation where that has
    several (half a round trip); `WHOLE` is the slope itself. The last three are relations, between
    variants of one recording or between other figures.
    """

    OVERHEAD = "overhead"
    COST = "cost"
    WHOLE = "operation as timed"
    STEP = "step of the clock"
    SWITCHES = "switches that the OS counted for one operation"
    RATIO = "ratio"
    DIFFERENCE = "difference"
    CHOICE = "conclusion"


RELATIONS = frozenset({Quantity.RATIO, Quantity.DIFFERENCE, Quantity.CHOICE})

#: The units of a ratio or a count, and of a choice among conclusions.
TIMES = "times"
CHOICE = "choice"


@dataclass(frozen=True)
class Choice:
    """One of the conclusions to choose from.

    `holds` says whether the recordings bear it out: it is given the estimates, in ns, in the order
    of the relation's operands. Two neighbouring choices may both hold where a measurement lies on
    the edge between them. `known` is for whoever chooses it wrongly: what is known of it, where
    that decides and no estimate does.
    """

    text: str
    holds: Callable[[tuple[Estimate, ...]], bool]
    known: str = ""


@dataclass(frozen=True)
class FigureSpec:
    """One figure of a lab.

    `asked` is the question in words. `variants` must be in the recording; those `beside` them
    are compared with where they are there; a ratio is the first over the second, a difference
    the first less the second, by `divisor`. A relation `of` other figures has no recording of its
    own: theirs are its evidence, and a mistake in one of them is not held against it again. `unit`
    is the one asked for; any unit of time that is declared will do. With `own` the C kernel is the
    student's, `kernel` its name. `flags` is the optimisation level asked for, such as `-O0`. A
    figure that `shows` a pitfall, by its code, is right where its recording makes just that
    mistake: lab 08 asks for published mistakes to be made again. `estimand` is what its variants
    measure, as the released C kernel declares it: a recording says it too, but a pitfall must not
    depend on what a submission calls itself. An interval that reaches farther than the share
    `widest` of its value to either side is too wide to believe: the figure passes within it, and
    the verdict says so.
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
    estimand: Estimand = Estimand.COST
    flags: str = ""
    beside: tuple[str, ...] = ()
    of: tuple[str, ...] = ()
    divisor: float = 1.0
    choices: tuple[Choice, ...] = ()
    shows: str = ""
    praise: str = ""
    look_next: str = ""
    widest: float = WIDEST

    @property
    def max_points(self) -> float:
        """The points of all levels together."""
        return sum(self.points.values())

    @property
    def variant(self) -> str:
        """The variant that the figure is about; of a relation, the first."""
        return self.variants[0]

    @property
    def is_time(self) -> bool:
        """Whether the figure is a length of time: no ratio, count, step or choice."""
        return self.unit not in (TIMES, CHOICE) and self.quantity is not Quantity.STEP

    @property
    def of_overhead(self) -> bool:
        """Whether it is about what readings cost, and not about what they time."""
        return self.estimand is Estimand.OVERHEAD

    @property
    def operands(self) -> tuple[str, ...]:
        """What a relation relates: figure ids, or variants of its recording."""
        return self.of or self.variants


class RelationFields(TypedDict, total=False):
    """Fields of a FigureSpec that a relation may have; unasked they are as there."""

    divisor: float
    choices: tuple[Choice, ...]
    beside: tuple[str, ...]
    praise: str
    look_next: str
    widest: float


def relation(
    id: str,
    lab: str,
    asked: str,
    of: tuple[str, ...],
    quantity: Quantity,
    unit: str,
    *,
    points: float = 2.0,
    **fields: Unpack[RelationFields],
) -> FigureSpec:
    """A figure that follows from other figures of the lab: only its interpretation is judged.

    Figures `beside` them are those that one might take instead, looked at where they are there.
    """
    return FigureSpec(
        id=id,
        lab=lab,
        asked=asked,
        kernel="",
        variants=(),
        quantity=quantity,
        unit=unit,
        points={Level.INTERPRETATION: points},
        of=of,
        **fields,
    )
