"""The values that a recording accepts for a figure, with their intervals.

A figure may lie in the 95 % interval of its recording, or round to the same two digits. A relation
between figures may follow from their recordings or from the student's own figures: a mistake in one
of those figures has already cost its points.
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
from labs.results.naive import naive_estimate
from labs.results.result import Result, result_of

#: A figure outside the interval is right too, if it is the value rounded to so many digits.
SIGNIFICANT_DIGITS = 2


@dataclass(frozen=True)
class Expected:
    """What the recording gives for the figure: value and 95 % interval, in `unit`.

    `words` is the text that a reader sees; if it is empty, value and interval in `unit` are shown.
    `by_process` holds the values of the single processes, if they are known, because a relation
    compares process by process. `before` holds the ends of the range in which an older kit may have
    computed its value.
    """

    value: float
    low: float
    high: float
    unit: str
    words: str = ""
    by_process: ByProcess | None = field(default=None, repr=False, compare=False)
    before: tuple[float, float] | None = field(default=None, repr=False, compare=False)

    def accepts(self, value: float, factor: float = 1.0) -> bool:
        """Whether `value` is this value times `factor`, within interval and rounding."""
        middle = self.value * factor
        slack = _rounding(middle) if self.unit != CHOICE else 1e-9
        low, high = sorted((self.low * factor, self.high * factor))
        return bool(min(low, middle - slack) <= value <= max(high, middle + slack))

    def accepted_by_older_kit(self, value: float) -> bool:
        """Whether an older kit may have computed `value` from the same recording."""
        return self.before is not None and self.before[0] <= value <= self.before[1]

    def as_text(self) -> str:
        """The value and its interval for a reader; a count has no interval."""
        if self.words:
            return self.words
        if self.low == self.high:
            return f"{rounded(self.value)} {self.unit}"
        return (
            f"{rounded(self.value)} {self.unit} "
            f"(95 % interval {rounded(self.low)} to {rounded(self.high)})"
        )


def values_by_recording(
    spec: FigureSpec, results: Mapping[str, Result], unit: str
) -> list[Expected]:
    """The right values of a figure that was submitted in `unit`, from `results` by variant.

    Empty if the recording gives no figure.
    """
    first = results[spec.variant]
    if spec.quantity is Quantity.STEP:
        step = first.clock.step / first.clock.ticks_in(spec.unit)
        return [Expected(step, step, step, spec.unit)]
    if spec.quantity is Quantity.SWITCHES:
        return _switches(spec, first)
    if any(results[name].estimate is None for name in spec.variants):
        return []
    if spec.quantity in RELATIONS:
        alternatives = [_alternatives(results[name]) for name in spec.variants]
        most = min(len(each) for each in alternatives)
        operands = [tuple(each[i] for each in alternatives) for i in range(most)]
        found = [found for each in operands for found in _related(spec, each, first.clock)]
        found = [_with_older_kit(each, first.recording) for each in found]
        return list(dict.fromkeys(found))
    found = list(_accepted_estimates(spec, first, unit))
    if spec.demonstrates and not found:
        # A repeated mistake may leave no estimate; its author reports the mean of all samples.
        value = naive_estimate(result_of(first.recording, first.variant, spec.unit)).value
        found = [Expected(value, value, value, spec.unit)]
    return found


def values_by_relation(
    spec: FigureSpec,
    accepted_values: Sequence[Sequence[Expected]],
    submitted: Sequence[float | None],
    clock: Clock,
) -> list[Expected]:
    """The right values of a relation between figures with these accepted and submitted values.

    Times are in ns; `clock` converts them to the requested unit.
    """
    found: list[Expected] = []
    if all(accepted_values):
        found += _related(spec, tuple(_as_estimate(each[0]) for each in accepted_values), clock)
    values = [value for value in submitted if value is not None]
    if len(values) == len(submitted):
        exact = tuple(Estimate(value, value, value, "ns", "", 0, 0) for value in values)
        found += _related(spec, exact, clock)
    return list(dict.fromkeys(found))


def _as_estimate(expected: Expected) -> Estimate:
    value, low, high = expected.value, expected.low, expected.high
    return Estimate(value, low, high, expected.unit, "", 0, 0, expected.by_process)


def _switches(spec: FigureSpec, result: Result) -> list[Expected]:
    """The switches that the OS counted, divided by the operations that the C kernel states."""
    seen = proof.of_variant(result.recording, result.variant)
    return [] if seen is None else [Expected(seen.each, seen.each, seen.each, spec.unit)]


def _alternatives(result: Result) -> list[Estimate]:
    """The values that count as this result in a relation, in ns.

    A timer has its intercept and its empty sample. A cost has its value as a time, and its value in
    core cycles converted to a time.
    """
    assert result.estimate is not None  # the caller has seen to it
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


def _accepted_estimates(spec: FigureSpec, result: Result, unit: str) -> Iterator[Expected]:
    """The estimates in the requested unit and in the submitted one: their intervals may differ."""
    for into in dict.fromkeys((spec.unit, _canonical_or(unit, spec.unit))):
        try:
            again = result_of(result.recording, result.variant, into)
            factor = again.clock.ticks_in(into) / again.clock.ticks_in(spec.unit)
        except ValueError:  # core cycles of unknown length: another unit will do
            continue
        for estimate in _estimates_of_quantity(spec.quantity, again, into):
            words, inside = _text_of_run(spec, again, estimate), estimate.times(factor)
            value, low, high = inside.value, inside.low, inside.high
            found = Expected(value, low, high, spec.unit, words, inside.by_process)
            yield _with_older_kit(found, result.recording)


def _text_of_run(spec: FigureSpec, result: Result, estimate: Estimate) -> str:
    """The text with which the student's run shows this value; '' if it shows another value.

    The interval that the run shows spans the clock speeds of the last hour, and the interval that
    the grader judges by does not. Two intervals for one value would confuse the student. A time is
    shown in the requested unit, except if one of the two units is ticks or cycles.
    """
    if not {result.unit, spec.unit} & {"ticks", "cycles"}:
        estimate = estimate.into(spec.unit, result.clock)
        result = result_of(result.recording, result.variant, spec.unit)
    shown = result.estimate
    if shown is None or not math.isclose(shown.value, estimate.value, rel_tol=1e-9):
        return ""
    return result.value_as_text()


def _estimates_of_quantity(quantity: Quantity, result: Result, unit: str) -> Iterator[Estimate]:
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
        # Whether a figure follows from its run has nothing to do with other runs' clock speeds.
        net = result.net.net.into(unit, result.clock)
        yield _at_speeds_of_the_run(net, result.recording)


def _at_speeds_of_the_run(estimate: Estimate, recording: Recording) -> Estimate:
    """The estimate, a time, with an interval that holds at every clock speed of its own run.

    A student who converts core cycles to a time by hand uses one of these speeds.
    """
    lengths = core_clock.cycle_lengths(recording)
    if not lengths:
        return estimate
    mean = sum(lengths) / len(lengths)
    at_speeds = [estimate.value * length / mean for length in lengths]
    return replace(estimate, low=min(estimate.low, *at_speeds), high=max(estimate.high, *at_speeds))


def _with_older_kit(found: Expected, recording: Recording) -> Expected:
    """The value with the range of an older kit, if an older kit made the recording.

    The older kit did not detect a shared core, and it left out processes by another rule. Its
    figure lies among the values of the single processes, or within a quarter of the interval's
    width next to the interval.
    """
    each = found.by_process
    if each is None or recording.condition("core_width"):
        return found
    margin = (found.high - found.low) / 4
    low, high = float(each.value.min()), float(each.value.max())
    return replace(found, before=(min(low, found.low - margin), max(high, found.high + margin)))


def _canonical_or(unit: str, otherwise: str) -> str:
    try:
        return canonical(unit)
    except UnknownUnit:
        return otherwise


def _related(spec: FigureSpec, operands: tuple[Estimate, ...], clock: Clock) -> list[Expected]:
    first, second = operands[:2]
    if spec.quantity is Quantity.RATIO:
        if second.value <= 0:
            return []
        return [Expected(*compare.ratio(first, second), spec.unit)]
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
    inside = inside.times(1 / spec.divisor)
    value, low, high = inside.value, inside.low, inside.high
    return [Expected(value, low, high, spec.unit, by_process=inside.by_process)]


def _rounding(value: float) -> float:
    """Half a unit of the last digit that is kept, plus a little for the arithmetic."""
    if value == 0 or not math.isfinite(value):
        return 1e-12
    magnitude = math.floor(math.log10(abs(value)))
    return float(0.5 * 10.0 ** (magnitude - SIGNIFICANT_DIGITS + 1)) + 1e-9 * abs(value)
