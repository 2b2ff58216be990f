"""The values that a recording accepts for a figure, with their intervals."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace

from grader.cases.expected import COUNT_MARGIN, Expected, Range
from grader.cases.from_relation import COMMON, length_of, related
from grader.cases.spec import RELATIONS, FigureSpec, Quantity
from labs.analysis import core_clock
from labs.analysis.estimate import Estimate
from labs.analysis.line import Line
from labs.common.units import UnknownUnit, canonical
from labs.recording import declared, proof
from labs.recording.file import Recording
from labs.results.naive import naive_estimate
from labs.results.result import Result, result_of, sensible

#: A printed end of an interval may differ from the end by this share of the half-width. Where it
#: differs more, the unit is too large for the digits that are printed.
MOST_ROUNDED_AWAY = 0.06

#: An empty sample may differ by this share from the intercept, even if both are known better.
MOST_BETWEEN_OVERHEADS = 0.25


def values_by_recording(
    spec: FigureSpec, results: Mapping[str, Result], unit: str
) -> list[Expected]:
    """The right values of a figure that was submitted in `unit`, from `results` by variant.

    Empty if the recording gives no figure.
    """
    first = results[spec.variant]
    if spec.quantity is Quantity.STEP:
        step = first.clock.step / first.clock.ticks_in(spec.unit)
        one = length_of(unit, spec.unit, first.clock)
        return [Expected(step, step, step, spec.unit, one=one)]
    if spec.quantity is Quantity.SWITCHES:
        return _switches(spec, first)
    if not spec.demonstrates and any(results[name].estimate is None for name in spec.variants):
        return []
    if spec.quantity in RELATIONS:
        return _of_variants(spec, [results[name] for name in spec.variants], unit)
    found = list(_accepted_estimates(spec, first, unit))
    if spec.demonstrates and not found:
        # A repeated mistake may leave no estimate; its author reports the mean of all samples.
        value = naive_estimate(result_of(first.recording, first.variant, spec.unit)).value
        one = length_of(unit, spec.unit, first.clock)
        found = [Expected(value, value, value, spec.unit, one=one)]
    return found


def _of_variants(spec: FigureSpec, results: list[Result], unit: str) -> list[Expected]:
    """The right values of a relation between variants of one recording."""
    first = results[0]
    alternatives = [_alternatives(each) for each in results]
    most = min(len(each) for each in alternatives)
    operands = [tuple(each[i] for each in alternatives) for i in range(most)]
    # A student relates the estimates that the run shows.
    shown = (each.estimate.into(COMMON, each.clock) for each in results if each.estimate)
    operands.append(tuple(shown))
    found = [each for pair in operands for each in related(spec, pair, first.clock, unit)]
    return list(dict.fromkeys(found))


def _switches(spec: FigureSpec, result: Result) -> list[Expected]:
    """The switches that the OS counted, divided by the operations that the C kernel states."""
    seen = proof.of_variant(result.recording, result.variant)
    if seen is None:
        return []
    shown = (max(0.0, seen.each - COUNT_MARGIN), seen.each + COUNT_MARGIN)
    return [Expected(seen.each, seen.each, seen.each, spec.unit, shown=shown)]


def _alternatives(result: Result) -> list[Estimate]:
    """The values that count as this result in a relation, in ns.

    A timer has its intercept and its empty sample. A cost has its value as a time, and its value in
    core cycles converted to a time.
    """
    assert result.estimate is not None  # the caller has seen to it
    line = result.line
    if declared.is_overhead(result.recording, result.variant) and line is not None:
        return [each.into("ns", result.clock) for each in _overheads(line)]
    if result.net is None:
        return [result.estimate]
    found = [result.net.net.into("ns", result.clock)]
    if result.clock.core_cycle_ticks is not None:
        in_cycles = result_of(result.recording, result.variant, "cycles").estimate
        if in_cycles is not None:
            found.append(in_cycles.into("ns", result.clock))
    return found


def _overheads(line: Line) -> list[Estimate]:
    """What a timer costs: the intercept, and the empty sample if it tells the same.

    Work may overlap with a clock that does not wait for it. Then a pair adds less to a sample with
    work than it takes by itself, and the figure is the one that the run shows, the intercept.
    """
    beside, empty = line.overhead, line.empty
    if empty is None:
        return [beside]
    meet = beside.low <= empty.high and empty.low <= beside.high
    near = abs(empty.value - beside.value) <= MOST_BETWEEN_OVERHEADS * abs(beside.value)
    return [beside, empty] if meet or near else [beside]


def _accepted_estimates(spec: FigureSpec, result: Result, unit: str) -> Iterator[Expected]:
    """The estimates in the requested unit and in the submitted one: their intervals may differ."""
    for into in dict.fromkeys((spec.unit, _canonical_or(unit, spec.unit))):
        try:
            again = result_of(result.recording, result.variant, into)
            factor = again.clock.ticks_in(into) / again.clock.ticks_in(spec.unit)
        except ValueError:  # core cycles of unknown length: another unit will do
            continue
        one = length_of(unit, spec.unit, again.clock)
        for estimate in _estimates_of_quantity(spec.quantity, again, into):
            inside = estimate.times(factor)
            yield Expected(
                inside.value,
                inside.low,
                inside.high,
                spec.unit,
                _text_of_run(spec, again, estimate),
                inside.by_process,
                _shown(again, estimate, factor),
                one,
            )


def _shown(result: Result, estimate: Estimate, factor: float) -> Range | None:
    """The interval that the run prints for this value; None if the run shows another value.

    `factor` converts from the unit of `result`. The ends are the printed ones and the exact ones,
    whichever lie farther out.
    """
    shown = result.estimate
    if shown is None or not math.isclose(shown.value, estimate.value, rel_tol=1e-9):
        return None
    ends = [shown.low, shown.high]
    for end, text in zip((shown.low, shown.high), sensible(shown)[1:], strict=True):
        printed = float(text.replace(",", ""))
        if abs(printed - end) <= MOST_ROUNDED_AWAY * shown.half_width:
            ends.append(printed)
    return min(ends) * factor, max(ends) * factor


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
        yield from (each.into(unit, result.clock) for each in _overheads(line))
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


def _canonical_or(unit: str, otherwise: str) -> str:
    try:
        return canonical(unit)
    except UnknownUnit:
        return otherwise
