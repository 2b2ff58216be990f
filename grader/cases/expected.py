"""What a recording admits for a figure: the values that are right, with their intervals.

The figure's own tolerance is the interval of its recording, and what rounding to two digits does.
A relation between figures is right by their recordings, and as well by the student's own figures: a
slip in one of those has been told and paid for there.
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

#: How far a figure may lie from what its recording gives, beside the interval: as much as rounding
#: to two significant digits may change it.
SIGNIFICANT_DIGITS = 2


@dataclass(frozen=True)
class Expected:
    """What the recording gives for the figure: value and 95 % interval, in `unit`.

    `words` say it to a reader, where value and interval in this unit do not say it best;
    `by_process` is what it was made from, where known: a relation compares process by process.
    `before` are the ends of what an older kit may have given for its own recording.
    """

    value: float
    low: float
    high: float
    unit: str
    words: str = ""
    by_process: ByProcess | None = field(default=None, repr=False, compare=False)
    before: tuple[float, float] | None = field(default=None, repr=False, compare=False)

    def admits(self, value: float, factor: float = 1.0) -> bool:
        """Whether `value` is this, times `factor`, within interval and rounding."""
        middle = self.value * factor
        slack = _rounding(middle) if self.unit != CHOICE else 1e-9
        low, high = sorted((self.low * factor, self.high * factor))
        return bool(min(low, middle - slack) <= value <= max(high, middle + slack))

    def admitted_before(self, value: float) -> bool:
        """Whether an older kit may have given `value` for the same recording."""
        return self.before is not None and self.before[0] <= value <= self.before[1]

    def in_words(self) -> str:
        """The value and its interval, for a reader; a count has no interval."""
        if self.words:
            return self.words
        if self.low == self.high:
            return f"{rounded(self.value)} {self.unit}"
        return (
            f"{rounded(self.value)} {self.unit} "
            f"(95 % interval {rounded(self.low)} to {rounded(self.high)})"
        )


def of_recording(spec: FigureSpec, results: Mapping[str, Result], unit: str) -> list[Expected]:
    """What `results`, by variant, admit for a figure that was given in `unit`; empty: no figure."""
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
        found = [_of_an_older_kit(each, first.recording) for each in found]
        return list(dict.fromkeys(found))
    return list(_own(spec, first, unit))


def of_relation(
    spec: FigureSpec,
    accepted: Sequence[Sequence[Expected]],
    given: Sequence[float | None],
    clock: Clock,
    shown: Sequence[Estimate | None] = (),
) -> list[Expected]:
    """What figures with these accepted and submitted values admit for the relation between them.

    Times must be in ns; `clock` serves to turn them into the unit asked for. `shown` are the
    estimates as their runs show them: they are what the student compares, and those that are
    accepted may hold at every clock speed of the run as well.
    """
    found: list[Expected] = []
    if all(accepted):
        found += _related(spec, tuple(_as_estimate(each[0]) for each in accepted), clock)
    values = [value for value in given if value is not None]
    if len(values) == len(given):
        exact = tuple(Estimate(value, value, value, "ns", "", 0, 0) for value in values)
        found += _related(spec, exact, clock)
    seen = tuple(each for each in shown if each is not None)
    if spec.quantity is Quantity.CHOICE and seen and len(seen) == len(shown):
        found += _related(spec, seen, clock)
    return list(dict.fromkeys(found))


def _as_estimate(expected: Expected) -> Estimate:
    value, low, high = expected.value, expected.low, expected.high
    return Estimate(value, low, high, expected.unit, "", 0, 0, expected.by_process)


def _switches(spec: FigureSpec, result: Result) -> list[Expected]:
    """Switches counted, divided by the operations that the C kernel says it made."""
    seen = proof.of_variant(result.recording, result.variant)
    return [] if seen is None else [Expected(seen.each, seen.each, seen.each, spec.unit)]


def _alternatives(result: Result) -> list[Estimate]:
    """The values that count as this result in a relation, in ns: of a timer also its empty
    interval, of a cost what its core cycles are as well."""
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


def _own(spec: FigureSpec, result: Result, unit: str) -> Iterator[Expected]:
    """The estimate, in the unit asked for and in the one given: their intervals may differ."""
    for into in dict.fromkeys((spec.unit, _canonical_or(unit, spec.unit))):
        try:
            again = result_of(result.recording, result.variant, into)
            factor = again.clock.ticks_in(into) / again.clock.ticks_in(spec.unit)
        except ValueError:  # core cycles of unknown length: another unit will do
            continue
        for estimate in _wanted(spec.quantity, again, into):
            words, inside = _as_shown(spec, again, estimate), estimate.times(factor)
            value, low, high = inside.value, inside.low, inside.high
            found = Expected(value, low, high, spec.unit, words, inside.by_process)
            yield _of_an_older_kit(found, result.recording)


def _as_shown(spec: FigureSpec, result: Result, estimate: Estimate) -> str:
    """How the student's run shows this value; '' where it shows another.

    The run's interval spans the clock speeds of the last hour, the one that is judged by does not:
    two intervals of one value would be a riddle. A time is told in the unit asked for, unless only
    the clock that was read turns the one given into it.
    """
    if not {result.unit, spec.unit} & {"ticks", "cycles"}:
        estimate = estimate.into(spec.unit, result.clock)
        result = result_of(result.recording, result.variant, spec.unit)
    shown = result.estimate
    if shown is None or not math.isclose(shown.value, estimate.value, rel_tol=1e-9):
        return ""
    return result.value_as_text()


def _wanted(quantity: Quantity, result: Result, unit: str) -> Iterator[Estimate]:
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

    Whoever turns core cycles into a time by hand takes one of these speeds.
    """
    lengths = core_clock.lengths(recording)
    if not lengths:
        return estimate
    mean = sum(lengths) / len(lengths)
    at_speeds = [estimate.value * length / mean for length in lengths]
    return replace(estimate, low=min(estimate.low, *at_speeds), high=max(estimate.high, *at_speeds))


def _of_an_older_kit(found: Expected, recording: Recording) -> Expected:
    """What is found, with what an older kit may have given where one made the recording.

    It knew of no shared core, and drew other limits between the processes that count and those that
    do not. Its figure lies among what the processes give one by one, or next to the interval of
    today: by a quarter of that, on either side.
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
    # The difference of the two values by hand weighs processes otherwise, and is right as well.
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
    """Half a unit of the last digit that is kept, and a hair for the arithmetic."""
    if value == 0 or not math.isfinite(value):
        return 1e-12
    magnitude = math.floor(math.log10(abs(value)))
    return float(0.5 * 10.0 ** (magnitude - SIGNIFICANT_DIGITS + 1)) + 1e-9 * abs(value)
