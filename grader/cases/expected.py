"""The values that are right for a figure, with their intervals, computed from its recording.

A figure may differ from them as far as the interval of its recording reaches, and as far as
rounding to two digits changes it. A relation between figures is right if it follows from their
recordings or from the student's own figures: a mistake in one of those has already cost its points
there.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from grader.cases.spec import CHOICE, RELATIONS, FigureSpec, Quantity
from labs.analysis import compare, core_clock, processes
from labs.analysis.estimate import Estimate
from labs.analysis.processes import ByProcess
from labs.common.units import Clock, UnknownUnit, canonical, rounded
from labs.recording import declared, proof
from labs.recording.file import Recording
from labs.results.result import Result, result_of

#: A figure may always be rounded to so many significant digits, however narrow the interval is.
SIGNIFICANT_DIGITS = 2


@dataclass(frozen=True)
class Expected:
    """A right value for the figure, with its 95 % interval, in `unit`.

    `words` is its text for a reader; if it is empty, we write value and interval in this unit.
    `by_process` holds the values of the processes, if known, because a relation compares process by
    process. `older_range` is the range of values that an older kit may have given for its own
    recording.
    """

    value: float
    low: float
    high: float
    unit: str
    words: str = ""
    by_process: ByProcess | None = field(default=None, repr=False, compare=False)
    older_range: tuple[float, float] | None = field(default=None, repr=False, compare=False)

    def admits(self, value: float, factor: float = 1.0) -> bool:
        """Whether `value` agrees with this one times `factor`, within interval and rounding."""
        middle = self.value * factor
        slack = _rounding(middle) if self.unit != CHOICE else 1e-9
        low, high = sorted((self.low * factor, self.high * factor))
        return bool(min(low, middle - slack) <= value <= max(high, middle + slack))

    def admits_from_older_kit(self, value: float) -> bool:
        """Whether an older kit may have given `value` for the same recording."""
        return self.older_range is not None and self.older_range[0] <= value <= self.older_range[1]

    def in_words(self) -> str:
        """The value and its interval as text; a count has no interval."""
        if self.words:
            return self.words
        if self.low == self.high:
            return f"{rounded(self.value)} {self.unit}"
        return (
            f"{rounded(self.value)} {self.unit} "
            f"(95 % interval {rounded(self.low)} to {rounded(self.high)})"
        )


def expected_from_recording(
    spec: FigureSpec, results: Mapping[str, Result], unit: str
) -> list[Expected]:
    """The right values for a figure that was given in `unit`, from the results by variant.

    The list is empty if the recording gives no figure.
    """
    first = results[spec.variant]
    if spec.quantity is Quantity.STEP:
        step = first.clock.step / first.clock.ticks_in(spec.unit)
        return [Expected(step, step, step, spec.unit)]
    if spec.quantity is Quantity.SWITCHES:
        return _switches_per_operation(spec, first)
    if any(results[name].estimate is None for name in spec.variants):
        return []
    if spec.quantity in RELATIONS:
        alternatives = [_operands(results[name]) for name in spec.variants]
        most = min(len(each) for each in alternatives)
        operands = [tuple(each[i] for each in alternatives) for i in range(most)]
        found = [value for each in operands for value in _relation_of(spec, each, first.clock)]
        found = [_with_older_range(each, first.recording) for each in found]
        return list(dict.fromkeys(found))
    return list(_values_in_units(spec, first, unit))


def expected_from_figures(
    spec: FigureSpec,
    accepted: Sequence[Sequence[Expected]],
    given: Sequence[float | None],
    clock: Clock,
    shown: Sequence[Estimate | None] = (),
) -> list[Expected]:
    """The right values for a relation between figures with these accepted and submitted values.

    Times must be in ns; `clock` converts them into the unit asked for. `shown` are the estimates as
    their runs show them, because the student compares these. The accepted ones may have wider
    intervals, which hold at every clock speed of the run.
    """
    found: list[Expected] = []
    if all(accepted):
        found += _relation_of(spec, tuple(_as_estimate(each[0]) for each in accepted), clock)
    values = [value for value in given if value is not None]
    if len(values) == len(given):
        exact = tuple(Estimate(value, value, value, "ns", "", 0, 0) for value in values)
        found += _relation_of(spec, exact, clock)
    seen = tuple(each for each in shown if each is not None)
    if spec.quantity is Quantity.CHOICE and seen and len(seen) == len(shown):
        found += _relation_of(spec, seen, clock)
    return list(dict.fromkeys(found))


def _as_estimate(expected: Expected) -> Estimate:
    value, low, high = expected.value, expected.low, expected.high
    return Estimate(value, low, high, expected.unit, "", 0, 0, expected.by_process)


def _switches_per_operation(spec: FigureSpec, result: Result) -> list[Expected]:
    """The switches that the OS counted, divided by the operations that the C kernel states."""
    seen = proof.of_variant(result.recording, result.variant)
    return [] if seen is None else [Expected(seen.each, seen.each, seen.each, spec.unit)]


def _operands(result: Result) -> list[Estimate]:
    """The values, in ns, that count as this result in a relation.

    For a timer they are its overhead and the time of its empty region. For a cost they are its time
    and the time of its core cycles.
    """
    assert result.estimate is not None  # the caller has checked this
    line = result.line
    if declared.is_overhead(result.recording, result.variant) and line is not None:
        found = [line.overhead.into("ns", result.clock)]
        return found if line.empty is None else [*found, line.empty.into("ns", result.clock)]
    if result.net is None:
        return [result.estimate]
    found = [result.net.net.into("ns", result.clock)]
    if result.clock.core_cycle_ticks is not None:
        in_cycles = result_of(result.recording, result.variant, "cycles").estimate
        if in_cycles is not None:
            found.append(in_cycles.into("ns", result.clock))
    return found


def _values_in_units(spec: FigureSpec, result: Result, unit: str) -> Iterator[Expected]:
    """The right values, from the unit asked for and from `unit`: their intervals may differ."""
    for into in dict.fromkeys((spec.unit, _canonical_or(unit, spec.unit))):
        try:
            again = result_of(result.recording, result.variant, into)
            factor = again.clock.ticks_in(into) / again.clock.ticks_in(spec.unit)
        except ValueError:  # core cycles of unknown length: use the other unit
            continue
        for estimate in _estimates_of(spec.quantity, again, into):
            words, inside = _text_of_run(spec, again, estimate), estimate.times(factor)
            value, low, high = inside.value, inside.low, inside.high
            found = Expected(value, low, high, spec.unit, words, inside.by_process)
            yield _with_older_range(found, result.recording)


def _text_of_run(spec: FigureSpec, result: Result, estimate: Estimate) -> str:
    """How the student's run shows this value; '' if it shows another value.

    The interval that a run shows covers the clock speeds of the last hour. The interval that we
    judge by does not, and two intervals for one value would confuse a reader. A time is shown in
    the unit asked for, unless ticks or core cycles are involved.
    """
    if not {result.unit, spec.unit} & {"ticks", "cycles"}:
        estimate = estimate.into(spec.unit, result.clock)
        result = result_of(result.recording, result.variant, spec.unit)
    shown = result.estimate
    if shown is None or not math.isclose(shown.value, estimate.value, rel_tol=1e-9):
        return ""
    return result.value_as_text()


def _estimates_of(quantity: Quantity, result: Result, unit: str) -> Iterator[Estimate]:
    """The estimates of `quantity` in `unit`: none, one, or for an overhead two."""
    line = result.line
    if result.estimate is None:
        return
    if quantity is Quantity.WHOLE:
        if result.net is not None:
            yield result.net.whole.into(unit, result.clock)
    elif quantity is Quantity.OVERHEAD and line is not None:
        yield line.overhead.into(unit, result.clock)
        if line.empty is not None:
            yield line.empty.into(unit, result.clock)
    elif result.net is None or unit == "cycles":
        yield result.estimate
    else:
        # Whether a figure follows from its run does not depend on the clock speeds of other runs.
        net = result.net.net.into(unit, result.clock)
        yield _at_speeds_of_the_run(net, result.recording)


def _at_speeds_of_the_run(estimate: Estimate, recording: Recording) -> Estimate:
    """The estimate of a time with an interval that holds at every clock speed of its own run.

    A student who converts core cycles into a time by hand uses one of these speeds.
    """
    lengths = core_clock.lengths(recording)
    if not lengths:
        return estimate
    mean = sum(lengths) / len(lengths)
    at_speeds = [estimate.value * length / mean for length in lengths]
    return replace(estimate, low=min(estimate.low, *at_speeds), high=max(estimate.high, *at_speeds))


def _with_older_range(found: Expected, recording: Recording) -> Expected:
    """`found` with its `older_range`, if an older kit made the recording.

    An older kit did not detect shared cores, and it used other limits to set processes aside. Its
    figure is between the lowest and the highest value of a process, or it is at most a quarter of
    the present interval outside that interval.
    """
    each = found.by_process
    if each is None or recording.condition("core_width"):
        return found
    margin = (found.high - found.low) / 4
    low, high = float(each.value.min()), float(each.value.max())
    return replace(
        found, older_range=(min(low, found.low - margin), max(high, found.high + margin))
    )


def _canonical_or(unit: str, otherwise: str) -> str:
    try:
        return canonical(unit)
    except UnknownUnit:
        return otherwise


def _relation_of(spec: FigureSpec, operands: tuple[Estimate, ...], clock: Clock) -> list[Expected]:
    """The right values of the choice, ratio or difference of `operands`; empty if there is none."""
    if spec.quantity is Quantity.CHOICE:
        return [
            Expected(number, number, number, CHOICE, f"{number} ({choice.text})")
            for number, choice in enumerate(spec.choices, start=1)
            if choice.holds(operands)
        ]
    first, second = operands[:2]
    if spec.quantity is Quantity.RATIO:
        if second.value <= 0:
            return []
        return [Expected(*compare.ratio(first, second), spec.unit)]
    value, low, high = compare.difference(first, second)
    left = None
    if first.by_process and second.by_process:
        left = processes.difference(first.by_process, second.by_process)
    # The difference of the two values by hand weights processes differently, and is right too.
    by_hand = first.value - second.value
    low, high = min(low, by_hand), max(high, by_hand)
    between = replace(first, value=value, low=low, high=high, by_process=left)
    try:
        inside = between.into(spec.unit, clock)
    except ValueError:
        return []
    inside = inside.times(1 / spec.divisor)
    value, low, high = inside.value, inside.low, inside.high
    return [Expected(value, low, high, spec.unit, by_process=inside.by_process)]


def _rounding(value: float) -> float:
    """Half a unit of the last digit that is kept, and a little more for rounding errors."""
    if value == 0 or not math.isfinite(value):
        return 1e-12
    magnitude = math.floor(math.log10(abs(value)))
    return float(0.5 * 10.0 ** (magnitude - SIGNIFICANT_DIGITS + 1)) + 1e-9 * abs(value)
