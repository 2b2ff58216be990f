"""What is asked of a figure, how many points it is worth, and how a conclusion is decided."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum

from grader.figures.verdict import Level
from labs.analysis.confidence import Estimate, side
from labs.analysis.thresholds import WIDEST
from labs.course import figures, guide
from labs.recording.declared import Estimand


@dataclass(frozen=True)
class Praise:
    """What is said of a figure that has passed.

    `by` names the checks behind the `text`: codes of pitfalls, which were looked for and not found,
    and names of facts (`grader.evidence.borne_out`), which the recording must show. If one of the
    facts is not shown, the sentence is not said.
    """

    text: str
    by: tuple[str, ...]


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

#: The units of figures that are no length of time.
TIMES, CHOICE = figures.TIMES, figures.CHOICE

#: The unit of a quantity that has but one.
UNIT_OF = {
    Quantity.SWITCHES: TIMES,
    Quantity.RATIO: TIMES,
    Quantity.CHOICE: CHOICE,
}

Estimates = tuple[Estimate, ...]
#: The number of the one conclusion that the estimates bear out. They are in the order of the
#: figure's operands.
Decide = Callable[[Estimates], int]


@dataclass(frozen=True)
class Choice:
    """One of the conclusions to choose from.

    If a known fact speaks against it, and no estimate does, `known` states that fact.
    """

    text: str
    known: str = ""


@dataclass(frozen=True)
class FigureSpec:
    """One figure of a lab.

    `asked` is the question as text. The recording must have the `variants`; pitfalls compare them
    with the variants `compare_with` if the recording has these. A ratio is the first variant
    divided by the second; a difference is the first minus the second, divided by `divisor`. A
    relation `of` other figures has no recording of its own, and only its interpretation is judged;
    `compare_with` are then figures that a student might take instead. The recordings of those
    figures are its evidence, and a mistake in one of them does not count again. `unit` is the
    requested unit (a count, a ratio and a conclusion have their own), but any declared unit of time
    is accepted. If `own` is set, the C kernel is the student's and `kernel` is its name. `flags` is
    the requested optimisation level, such as `-O0`.

    `grader.figures` fills in `lab`, from the module that lists the figure, and what a conclusion
    does not state: its `choices`, from the guide of the lab, and what is `central` to conclusions.

    If `hides_variants` is set, the student chooses what to measure, and no finding names it.

    `changed_from` are figures of the same lab, of which one was measured again with one thing
    changed: this figure is of the second run. `demonstrates` is the code of a pitfall: the figure
    is right if its recording makes exactly that mistake, because lab 08 asks students to repeat
    published mistakes. `estimand` is what the variants measure, as the released C kernel declares
    it. A recording states it too, but a pitfall must not depend on what a submission calls itself.
    If half of the interval's width is more than the share `widest` of the value, it is too wide to
    believe: the figure passes within it, and the verdict says so. If the figure is a difference, or
    the rest of something, it `may_be_nothing`: its interval is then compared with what it was taken
    from. So may what a conclusion is about: next to a loop, an inlined procedure may cost less than
    none. `central` is the code of the pitfall that this figure is about: making that mistake costs
    at least half of the points. If the figure is `own`, so does each mistake in what the C does
    (`grader.judging.check`). Provenance has at most a quarter of them. A figure that has passed
    gets its `praise` if the recording shows the facts among the `checks` behind it (with commas,
    beside `central`). Of several, each with all of its checks, it gets the first that is so. A
    value within 5 % of the right one is accepted, however narrow the interval is. If that would
    hide the mistake that the lab is about, the figure is exact, and the sentence `why_exact`
    says why.

    A conclusion is the number of one of the `choices`, and `decide` says which one is right. The
    estimates are compared in the unit `compared_in` of the lab, or in ns if these are core cycles
    and the recording has none. `look_at` is what a student should look at after a wrong answer.
    `which_is_larger` says that the question is which of the two operands is larger, if either is.
    """

    id: str
    asked: str
    kernel: str = ""
    variants: tuple[str, ...] = ()
    unit: str = ""
    quantity: Quantity = Quantity.COST
    points: Mapping[Level, float] = field(default_factory=dict, compare=False)
    own: bool = False
    estimand: Estimand = Estimand.COST
    flags: str = ""
    compare_with: tuple[str, ...] = ()
    of: tuple[str, ...] = ()
    changed_from: tuple[str, ...] = ()
    divisor: float = 1.0
    choices: tuple[Choice, ...] = ()
    decide: Decide | None = None
    compared_in: str = "ns"
    look_at: str = ""
    which_is_larger: bool = False
    demonstrates: str = ""
    praise: str | Mapping[str, str] = field(default="", compare=False)
    checks: str = ""
    look_next: str = ""
    hides_variants: bool = False
    widest: float = WIDEST
    may_be_nothing: bool = False
    central: str = "figure-not-from-recording"
    why_exact: str = ""
    lab: str = ""

    def __post_init__(self) -> None:
        usual = {Level.INTERPRETATION: 2.0} if self.of else dict.fromkeys(Level, 1.0)
        object.__setattr__(self, "points", self.points or usual)
        object.__setattr__(self, "unit", self.unit or UNIT_OF[self.quantity])

    @property
    def praises(self) -> tuple[Praise, ...]:
        """What may be said of a figure that has passed, in the order of the search."""
        stated = self.praise
        if isinstance(stated, str):
            checks = ", ".join(filter(None, (self.central, self.checks)))
            stated = {stated: checks} if stated else {}
        return tuple(Praise(text, tuple(by.split(", "))) for text, by in stated.items())

    @property
    def max_points(self) -> float:
        """The points of all levels together."""
        return sum(self.points.values())

    @property
    def variant(self) -> str:
        """The variant that the figure is about; for a ratio or difference, the first."""
        return self.variants[0]

    @property
    def is_time(self) -> bool:
        """Whether the figure is a length of time: no ratio, count, step or choice."""
        return self.unit not in (TIMES, CHOICE) and self.quantity is not Quantity.STEP

    @property
    def of_overhead(self) -> bool:
        """Whether the figure is the overhead of readings, and not the cost of an operation."""
        return self.estimand is Estimand.OVERHEAD

    @property
    def shown_run(self) -> tuple[str, str, str]:
        """C kernel, variant and flags of the run that shows the figure as its result.

        Empty texts if it is not the result of one variant, or if students must find out which.
        """
        shows = self.quantity in (Quantity.OVERHEAD, Quantity.COST)
        if not shows or self.hides_variants or self.demonstrates:
            return "", "", ""
        return self.kernel, self.variant, self.flags

    @property
    def operands(self) -> tuple[str, ...]:
        """The operands of a relation: figure ids, or variants of its recording."""
        return self.of or self.variants


# Which conclusion the data bear out: always exactly one, by the rule that the labs teach.
#
# The rule is `labs.analysis.confidence.side`, which students apply as `lab.compare(one, other)`, or
# `lab.compare(one, other, times=0.5)` for a share. If it finds two results not distinguishable, the
# data do not decide, and that is the one right conclusion.


def choices_of(lab: str, figure: str) -> tuple[Choice, ...]:
    """The conclusions of a figure, as the lab's guide lists them."""
    return tuple(map(Choice, guide.of_lab(lab).choices[figure]))


def by_side(
    first: int, second: int, *, more: int, less: int, undecided: int, times: float = 1.0
) -> Decide:
    """A conclusion for each side of `times` the `second` operand on which the `first` may lie."""
    numbers = {1: more, -1: less, 0: undecided}

    def decide(estimates: Estimates) -> int:
        return numbers[side(estimates[first], estimates[second], times)]

    return decide
