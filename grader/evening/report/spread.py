"""How the numbers of a class spread: for each figure, by the kind of machine.

Only numbers in the unit that the lab asks for are compared: a core cycle has no fixed length.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from grader.cases.spec import CHOICE, FigureSpec
from grader.cases.verdict import Outcome
from grader.evening.report.graded import GradedFigure
from grader.evening.report.graded_class import GradedClass
from grader.figures import LABS
from labs.common.units import NANOSECONDS, rounded

#: At most this many kinds of machine have a row of their own.
MOST_KINDS = 7
OTHERS = "other machines"
#: No figure of a lab is closer to 0 or farther from it: what is, was not measured.
_SMALLEST, _LARGEST = 1e-15, 1e15


@dataclass(frozen=True)
class OfKind:
    """The numbers from one kind of machine, in ascending order: accepted ones, and the others.

    `of_runs` has one accepted number of each run: several students may have handed in the same one.
    It leaves out those of shared cores, which are upper limits and no values.
    """

    machine: str
    accepted: tuple[float, ...]
    others: tuple[float, ...]
    of_runs: tuple[float, ...]

    @property
    def summary(self) -> tuple[str, str, str]:
        """Of the accepted numbers: the median, the middle half and the range, as text."""
        if not self.accepted:
            return ("", "", "")
        low, middle, high = np.quantile(self.accepted, (0.25, 0.5, 0.75))
        return (
            rounded(float(middle)),
            f"{rounded(float(low))} to {rounded(float(high))}",
            f"{rounded(self.accepted[0])} to {rounded(self.accepted[-1])}",
        )


@dataclass(frozen=True)
class Spread:
    """The numbers of one figure in `unit`; `left_out` have another one or are beyond measuring."""

    figure: str
    asked: str
    unit: str
    kinds: tuple[OfKind, ...]
    left_out: int = 0

    @property
    def accepted(self) -> tuple[float, ...]:
        """The accepted numbers of all machines."""
        return tuple(value for kind in self.kinds for value in kind.accepted)

    @property
    def of_runs(self) -> tuple[float, ...]:
        """One accepted number of each run, from all machines."""
        return tuple(value for kind in self.kinds for value in kind.of_runs)


@dataclass(frozen=True)
class Chosen:
    """One conclusion of a figure: how many chose it last, and for how many of them it was right."""

    number: int
    text: str
    count: int
    right: int


@dataclass(frozen=True)
class Conclusions:
    """The conclusions of one figure, in their order, and how many students needed how many tries.

    `tries` has (tries, students whose answer was right, all students).
    """

    figure: str
    asked: str
    chosen: tuple[Chosen, ...]
    tries: tuple[tuple[int, int, int], ...]


def specs_of(lab: str) -> dict[str, FigureSpec]:
    """What the lab asks of each figure, by id; empty for a lab that the kit does not know."""
    return {spec.id: spec for spec in LABS.get(lab, ())}


def spreads_of_class(graded: GradedClass) -> tuple[Spread, ...]:
    """The spread of every figure that is a number, and that anybody handed in."""
    specs = specs_of(graded.lab)
    found = []
    for figure in graded.figures:
        spec = specs.get(figure)
        handed_in = [each for _, each in graded.verdicts_on(figure) if each.value is not None]
        if handed_in and not (spec and spec.unit == CHOICE):
            unit = spec.unit if spec else _usual_unit(handed_in)
            found.append(_spread(figure, spec.asked if spec else "", unit, handed_in))
    return tuple(each for each in found if each.unit != CHOICE)


def _usual_unit(handed_in: list[GradedFigure]) -> str:
    return Counter(each.unit for each in handed_in).most_common(1)[0][0]


def _spread(figure: str, asked: str, unit: str, handed_in: list[GradedFigure]) -> Spread:
    """The spread in `unit`; what was accepted comes first, and the most frequent machine."""
    kinds: dict[str, _Numbers] = {}
    left_out = 0
    seen: set[str] = set()
    for each in handed_in:
        value = number_in(each, unit)
        if value is None:
            left_out += 1
            continue
        numbers = kinds.setdefault(each.machine, _Numbers())
        if each.outcome is not Outcome.PASSED:
            numbers.others.append(value)
            continue
        numbers.accepted.append(value)
        if seen.isdisjoint(each.runs) and not each.at_most:
            numbers.of_runs.append(value)
        seen.update(each.runs)
    rows = [numbers.of_kind(machine) for machine, numbers in kinds.items()]
    rows.sort(key=lambda row: (-len(row.accepted) - len(row.others), row.machine))
    if len(rows) > MOST_KINDS:
        rest = _Numbers()
        for row in rows[MOST_KINDS - 1 :]:
            rest.accepted += row.accepted
            rest.others += row.others
            rest.of_runs += row.of_runs
        rows = [*rows[: MOST_KINDS - 1], rest.of_kind(OTHERS)]
    return Spread(figure, asked, unit, tuple(rows), left_out)


@dataclass
class _Numbers:
    """The numbers of one kind of machine, while they are gathered."""

    accepted: list[float] = field(default_factory=list)
    others: list[float] = field(default_factory=list)
    of_runs: list[float] = field(default_factory=list)

    def of_kind(self, machine: str) -> OfKind:
        parts = (self.accepted, self.others, self.of_runs)
        return OfKind(machine, *(tuple(sorted(values)) for values in parts))


def number_in(figure: GradedFigure, unit: str) -> float | None:
    """The number of a figure in `unit`; None if it has another unit or is beyond measuring."""
    if figure.value is None:
        return None
    if unit in NANOSECONDS:
        value = figure.value / NANOSECONDS[unit] if figure.unit == "ns" else None
    else:
        value = figure.value if figure.unit == unit else None
    if value is None or not (value == 0 or _SMALLEST <= abs(value) <= _LARGEST):
        return None
    return value


def conclusions_of_class(graded: GradedClass) -> tuple[Conclusions, ...]:
    """Every figure of the lab that is a conclusion, and that anybody handed in."""
    found = []
    for figure, spec in specs_of(graded.lab).items():
        verdicts = [each for _, each in graded.verdicts_on(figure) if each.unit == CHOICE]
        if spec.unit != CHOICE or not verdicts:
            continue
        right = [each for each in verdicts if each.outcome is Outcome.PASSED]
        last = Counter(each.value for each in verdicts)
        last_right = Counter(each.value for each in right)
        chosen = tuple(
            Chosen(number, choice.text, last[float(number)], last_right[float(number)])
            for number, choice in enumerate(spec.choices, start=1)
        )
        tries = Counter(each.tries or 1 for each in verdicts)
        tries_right = Counter(each.tries or 1 for each in right)
        counted = tuple((count, tries_right[count], tries[count]) for count in sorted(tries))
        found.append(Conclusions(figure, spec.asked, chosen, counted))
    return tuple(found)
