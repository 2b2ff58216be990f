"""One submitted figure beside what its recording says: what every pitfall looks at.

Pure: a recording and a figure go in; the results are reduced by the same functions of `labs` that
drew the student's plot.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from grader.figures.spec import TIMES, FigureSpec, Quantity
from labs.figures import Figure
from labs.recording import Recording
from labs.result import Result, result_of
from labs.units import UnknownUnit, canonical, rounded

#: How far a figure may lie from what its recording gives, beside the interval: as much as rounding
#: to two significant digits may change it.
SIGNIFICANT_DIGITS = 2


@dataclass(frozen=True)
class Expected:
    """What the recording gives for the figure: value and 95 % interval, in `unit`."""

    value: float
    low: float
    high: float
    unit: str

    def admits(self, value: float, factor: float = 1.0) -> bool:
        """Whether `value` is this, times `factor`, within interval and rounding."""
        middle = self.value * factor
        slack = _rounding(middle)
        low, high = sorted((self.low * factor, self.high * factor))
        return min(low, middle - slack) <= value <= max(high, middle + slack)

    def in_words(self) -> str:
        """The value and its interval, for a reader; a count has no interval."""
        if self.low == self.high:
            return f"{rounded(self.value)} {self.unit}"
        return (
            f"{rounded(self.value)} {self.unit} "
            f"(95 % interval {rounded(self.low)} to {rounded(self.high)})"
        )


def is_meant(value: float, number: float) -> bool:
    """Whether `value` is just this `number` of the recording, to three digits.

    Closer than `Expected.admits`: a mean or a minimum that happens to lie near something else must
    not pass for it.
    """
    return abs(value - number) <= 0.005 * abs(number)


@dataclass(frozen=True, eq=False)
class Case:
    """A figure, the recording it names, and what that recording gives.

    `given` is the submitted value in the unit asked for, None where its unit cannot be turned into
    it. `accepted` are the values that are right: of an overhead both the intercept and the empty
    interval. It is empty where the recording allows no figure.
    """

    spec: FigureSpec
    figure: Figure
    recording: Recording
    results: Mapping[str, Result]
    given: float | None
    accepted: tuple[Expected, ...]

    @property
    def expected(self) -> Expected | None:
        """The first of the accepted values, which is the one to show."""
        return self.accepted[0] if self.accepted else None

    @property
    def right(self) -> bool:
        """Whether the submitted value is one of the accepted ones."""
        return self.given is not None and any(each.admits(self.given) for each in self.accepted)

    def is_times(self, factor: float) -> bool:
        """Whether the submitted value is an accepted one times `factor`."""
        return self.given is not None and any(
            each.admits(self.given, factor) for each in self.accepted
        )

    @property
    def result(self) -> Result:
        """The result of the variant that the figure is about."""
        return self.results[self.spec.variant]

    def as_submitted(self) -> str:
        """The figure as the student gave it."""
        return f"{rounded(self.figure.value, 6)} {self.figure.unit}"


def make_case(spec: FigureSpec, figure: Figure, recording: Recording) -> Case:
    """The case of `figure`, which `spec` asks for, by `recording`.

    Raises KeyError where the recording lacks a variant that the figure needs, BadRecording where it
    does not describe its clock.
    """
    time_unit = "ns" if spec.unit in (TIMES, "cycles", "ticks") else spec.unit
    results = {name: result_of(recording, name, time_unit) for name in spec.variants}
    accepted = tuple(_accepted(spec, results))
    return Case(spec, figure, recording, results, _given(spec, figure, results), accepted)


def _given(spec: FigureSpec, figure: Figure, results: Mapping[str, Result]) -> float | None:
    """The submitted value in the unit asked for."""
    if spec.unit == TIMES:
        return figure.value if figure.unit in (TIMES, "x", "×", "1") else None
    try:
        unit = canonical(figure.unit)
        return results[spec.variant].clock.convert(figure.value, unit, spec.unit)
    except (UnknownUnit, ValueError):
        return None


def _accepted(spec: FigureSpec, results: Mapping[str, Result]) -> list[Expected]:
    first = results[spec.variant]
    if spec.quantity is Quantity.STEP:
        step = first.clock.step / first.clock.ticks_in(spec.unit)
        return [Expected(step, step, step, spec.unit)]
    if any(result.estimate is None for result in results.values()):
        return []
    if spec.quantity is Quantity.RATIO:
        return _ratios(spec, results)
    line = first.line
    assert line is not None  # there is an estimate
    wanted = [line.cost] if spec.quantity is Quantity.COST else [line.overhead]
    if spec.quantity is Quantity.OVERHEAD and line.empty is not None:
        wanted.append(line.empty)
    found = []
    for each in wanted:
        try:
            estimate = each.into(spec.unit, first.clock)
        except ValueError:  # core cycles of unknown length: ask in ns instead
            continue
        found.append(Expected(estimate.value, estimate.low, estimate.high, spec.unit))
    return found


def _ratios(spec: FigureSpec, results: Mapping[str, Result]) -> list[Expected]:
    """The ratio by the intercepts, and by the empty intervals."""
    pairs = []
    over, under = (results[name] for name in spec.variants)
    if over.line is not None and under.line is not None:
        pairs.append((over.line.overhead, under.line.overhead))
        if over.line.empty is not None and under.line.empty is not None:
            pairs.append((over.line.empty, under.line.empty))
    found = []
    for above, below in pairs:
        a, b = above.into("ns", over.clock), below.into("ns", under.clock)
        if b.value <= 0:
            continue
        value = a.value / b.value
        # Relative half-widths of independent estimates add in quadrature.
        relative = math.hypot(a.half_width / max(abs(a.value), 1e-12), b.half_width / b.value)
        found.append(Expected(value, value * (1 - relative), value * (1 + relative), spec.unit))
    return found


def _rounding(value: float) -> float:
    """Half a unit of the last digit that is kept, and a hair for the arithmetic."""
    if value == 0 or not math.isfinite(value):
        return 1e-12
    magnitude = math.floor(math.log10(abs(value)))
    return float(0.5 * 10.0 ** (magnitude - SIGNIFICANT_DIGITS + 1)) + 1e-9 * abs(value)
