"""The right values of a relation: between variants of one recording, or between other figures.

A relation between figures may follow from their recordings or from the student's own figures: a
mistake in one of those figures has already cost its points. Every operand brings its unit and its
clock, and all are converted to ns before they are compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from grader.cases.expected import Expected, Range
from grader.cases.spec import FigureSpec, Quantity
from labs.analysis import compare, processes
from labs.analysis.estimate import Estimate
from labs.common.units import Amount, Clock, UnknownUnit
from labs.results import digits

#: The unit in which operands are compared.
COMMON = "ns"


@dataclass(frozen=True)
class Operand:
    """A figure that a relation refers to.

    `accepted` are its right values, `submitted` is what the student handed in (None if its unit
    cannot be converted), and `shown` is the estimate that its run shows. `clock` converts all of
    them.
    """

    accepted: tuple[Expected, ...]
    submitted: Amount | None
    shown: Estimate | None
    clock: Clock

    def by_recording(self) -> Estimate | None:
        """What the recording gives, in the common unit."""
        if not self.accepted:
            return None
        first = self.accepted[0]
        value, low, high = first.value, first.low, first.high
        return self._common(Estimate(value, low, high, first.unit, "", 0, 0, first.by_process))

    def as_submitted(self) -> Estimate | None:
        """The student's own figure, in the common unit, without an interval."""
        if self.submitted is None:
            return None
        value = self.submitted.value
        return self._common(Estimate(value, value, value, self.submitted.unit, "", 0, 0))

    def as_shown(self) -> Estimate | None:
        """The estimate that the run shows, in the common unit."""
        return self._common(self.shown) if self.shown is not None else None

    def _common(self, estimate: Estimate) -> Estimate | None:
        try:
            return estimate.into(COMMON, self.clock)
        except (UnknownUnit, ValueError):  # a ratio or a count, or cycles of unknown length
            return None


def values_by_relation(spec: FigureSpec, operands: Sequence[Operand], unit: str) -> list[Expected]:
    """The right values of a relation between `operands` that was submitted in `unit`.

    They follow from the recordings, from the student's own figures, or from the estimates that the
    runs show, because these are what the student compares. The intervals of the accepted values can
    be wider: they hold at every clock speed of the run.
    """
    found: list[Expected] = []
    for of in (Operand.by_recording, Operand.as_submitted, Operand.as_shown):
        estimates = [estimate for each in operands if (estimate := of(each)) is not None]
        if len(estimates) == len(operands):
            found += related(spec, tuple(estimates), operands[0].clock, unit)
    return list(dict.fromkeys(found))


def related(
    spec: FigureSpec, operands: tuple[Estimate, ...], clock: Clock, unit: str
) -> list[Expected]:
    """The right values of the relation between `operands`, which must be in the common unit.

    Raises ValueError if one of them is not.
    """
    if units := {each.unit for each in operands} - {COMMON}:
        raise ValueError(f"{spec.id}: an operand is in {' and '.join(sorted(units))}")
    first, second = operands[:2]
    if spec.quantity is Quantity.RATIO:
        if second.value <= 0:
            return []
        found = compare.ratio(first, second)
        return [Expected(*found, spec.unit, shown=digits.printed_interval(*found, 1.0))]
    return _differences(spec, first, second, clock, unit)


def _differences(
    spec: FigureSpec, first: Estimate, second: Estimate, clock: Clock, unit: str
) -> list[Expected]:
    value, low, high = compare.difference(first, second)
    left = None
    if first.by_process and second.by_process:
        left = processes.difference(first.by_process, second.by_process)
    # The difference of the two values by hand gives processes other weights, and is right too.
    by_hand = first.value - second.value
    low, high = min(low, by_hand), max(high, by_hand)
    between = replace(first, value=value, low=low, high=high, by_process=left)
    try:
        inside = between.into(spec.unit, clock)
    except ValueError:
        return []
    printed = digits.printed_interval(inside.value, inside.low, inside.high, 0.0)
    shown: Range = (printed[0] / spec.divisor, printed[1] / spec.divisor)
    inside = inside.times(1 / spec.divisor)
    return [
        Expected(
            inside.value,
            inside.low,
            inside.high,
            spec.unit,
            by_process=inside.by_process,
            shown=shown,
            one=length_of(unit, spec.unit, clock),
        )
    ]


def length_of(unit: str, into: str, clock: Clock) -> float:
    """How long one `unit` is, measured in the unit `into`; 1 if that cannot be converted."""
    try:
        return Amount(1.0, unit).into(into, clock).value
    except (UnknownUnit, ValueError):
        return 1.0
