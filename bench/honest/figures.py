"""What an honest student hands in: figures read off a run, and conclusions drawn from them."""

from __future__ import annotations

import random

from grader.figures.expected import compared_as, known
from grader.figures.spec import CHOICE, RELATIONS, TIMES, FigureSpec, Quantity
from labs.analysis.confidence import Estimate
from labs.recording import counts
from labs.recording.file import Recording
from labs.results.result import Result, naive_estimate, naive_value, result_of
from labs.units import NANOSECONDS


class CannotMeasure(RuntimeError):
    """This machine cannot show a figure: no run gives one, or it is a ratio to nothing."""


def read_off(spec: FigureSpec, recording: Recording, chance: random.Random) -> tuple[float, str]:
    """The figure, as somebody reads it off the run: rounded, in a unit that is declared."""
    if spec.demonstrates:
        return naive_value(result_of(recording, spec.variant)), spec.unit
    unit = spec.unit
    if spec.is_time and spec.unit == "ns":
        unit = chance.choice(["ns", "ns", "us", "ticks"])
    value = _value(spec, result_of(recording, spec.variant, unit if spec.is_time else "ns"))
    if spec.unit == CHOICE:
        return value, unit
    return float(f"{value:.{chance.choice([3, 3, 4, 6])}g}"), unit


def _value(spec: FigureSpec, result: Result) -> float:
    recording = result.recording
    if spec.quantity is Quantity.STEP:
        return float(result.clock.step)
    if spec.quantity is Quantity.SWITCHES:
        seen = counts.switches_of(recording, spec.variant)
        return seen.each if seen is not None else 0.0
    if spec.quantity in RELATIONS:
        unit = spec.unit if spec.is_time else "ns"
        results = [result_of(recording, name, unit) for name in spec.variants]
        if spec.quantity is Quantity.CHOICE:
            results = [compared_as(spec, each) for each in results]
        return concluded(spec, tuple(map(_of, results)))[0]
    if spec.quantity is Quantity.WHOLE and result.net is not None:
        return result.net.whole.into(result.unit, result.clock).value
    return _of(result).value


def _of(result: Result) -> Estimate:
    if result.estimate is None:
        raise CannotMeasure(f"{result.variant}: {result.no_figure}")
    return result.estimate


def estimate_of(spec: FigureSpec, recording: Recording) -> Estimate:
    """What a conclusion is drawn from: the estimate in ns; of a mere count a value without."""
    if spec.demonstrates:
        return naive_estimate(result_of(recording, spec.variant))
    if spec.unit in (TIMES, CHOICE) or spec.quantity is Quantity.STEP:
        value = _value(spec, result_of(recording, spec.variant))
        return Estimate(value, value, value, spec.unit, "", 0, 0)
    return _of(result_of(recording, spec.variant))


def concluded(spec: FigureSpec, operands: tuple[Estimate, ...]) -> tuple[float, str]:
    """Value and unit of the relation `spec` between `operands`. Raises CannotMeasure."""
    if spec.quantity is Quantity.CHOICE:
        number = known(spec)
        if number is None:
            assert spec.decide is not None  # every conclusion has facts or a rule
            number = spec.decide(operands)
        return float(number), CHOICE
    first, second = operands[:2]
    if spec.quantity is Quantity.RATIO:
        if second.value <= 0:
            raise CannotMeasure(f"{spec.id}: {second.value:g} ns has no multiple")
        return float(f"{first.value / second.value:.4g}"), spec.unit
    if first.unit != second.unit:
        raise CannotMeasure(f"{spec.id}: {first.unit} minus {second.unit} has no unit")
    return _in_unit((first.value - second.value) / spec.divisor, first.unit, spec.unit), spec.unit


def _in_unit(value: float, unit: str, into: str) -> float:
    """`value` in another unit of fixed length. Raises CannotMeasure if one has none."""
    if unit == into:
        return value
    if not {unit, into} <= set(NANOSECONDS):
        raise CannotMeasure(f"{unit} cannot be converted to {into} without a clock")
    return value * NANOSECONDS[unit] / NANOSECONDS[into]
