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
    """What a figure is: a part of the line T(k) = overhead + k * cost, a count, or a relation.

    A cost is the slope minus the baseline that the C kernel names. If an operation has several
    parts, it is the cost of one part, such as half a round trip. `WHOLE` is the slope itself. The
    last three are relations between variants of one recording or between other figures.
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

    `holds` says whether the recordings support it. Its argument is the estimates, in ns, in the
    order of the relation's operands. Two neighbouring choices may both hold if a measurement is on
    the limit between them. `known` is shown to a student who chooses this one wrongly. It states a
    known fact, if that decides and no estimate does.
    """

    text: str
    holds: Callable[[tuple[Estimate, ...]], bool]
    known: str = ""


@dataclass(frozen=True)
class FigureSpec:
    """One figure of a lab.

    `asked` says what is asked. The recording must have the `variants`. If it also has those in
    `beside`, pitfalls compare the figure with them. A ratio is the first variant divided by the
    second. A difference is the first minus the second, divided by `divisor`.

    A relation `of` other figures has no recording of its own. Their recordings are its evidence,
    and a mistake in one of them does not cost points again. `unit` is the unit asked for; a student
    may give any other unit of time. `own` says that the student wrote the C kernel, and `kernel` is
    its name. `flags` is the optimisation level asked for, such as `-O0`.

    `shows` is the code of a pitfall. Such a figure is right if its recording makes this mistake:
    lab 08 asks students to repeat published mistakes. `estimand` is what the variants measure, as
    the released C kernel declares it. A recording declares it too, but a pitfall must not depend on
    what a submission states about itself. `widest` limits the interval: one that reaches farther to
    either side than this share of its value is too wide to believe. Then the figure passes if it is
    within the interval, and the verdict says so.
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
        """The variant that the figure is about; for a relation, the first one."""
        return self.variants[0]

    @property
    def is_time(self) -> bool:
        """Whether the figure is a length of time: no ratio, count, step or choice."""
        return self.unit not in (TIMES, CHOICE) and self.quantity is not Quantity.STEP

    @property
    def of_overhead(self) -> bool:
        """Whether the figure is the cost of the readings, and not of the work between them."""
        return self.estimand is Estimand.OVERHEAD

    @property
    def operands(self) -> tuple[str, ...]:
        """The operands of a relation: figure ids, or variants of its recording."""
        return self.of or self.variants


class RelationFields(TypedDict, total=False):
    """The fields of a FigureSpec that a relation may set; the defaults are those of FigureSpec."""

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
    """A figure that follows from other figures of the lab; only its interpretation gives points.

    `beside` names figures that a student might take instead of those in `of`.
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
