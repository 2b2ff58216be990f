"""Every relation of every lab, handed in with its unit and with each wrong one.

The figures and recordings are those of honest runs, saved under fixtures/honest.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from grader.cases.case import Case
from grader.cases.spec import CHOICE, RELATIONS, TIMES
from grader.cases.verdict import Finding, Outcome
from grader.figures import LABS, FigureSpec, figure_named
from grader.judging.check import judge, open_relation
from labs.analysis import estimates
from labs.analysis.estimates import Estimate
from labs.course.figures import Figure
from labs.units import NAMES, Amount, Clock
from testing.honest_cases import honest, honest_case, judged, opened

RELATED = [spec for specs in LABS.values() for spec in specs if spec.quantity in RELATIONS]
IN_TIME = [spec for spec in RELATED if spec.is_time]
#: Of every relation of figures, each figure in each unit.
OPERANDS = [(spec, name, unit) for spec in IN_TIME for name in spec.of for unit in NAMES]


def related(spec: FigureSpec, figure: Figure, of: dict[str, Figure]) -> Case | Finding:
    cases = {name: opened(figure_named(name), of[name]) for name in spec.of}
    return open_relation(spec, figure, cases)


def clock_of(spec: FigureSpec) -> Clock:
    return honest_case(spec).result.clock


def in_its_unit(spec: FigureSpec) -> float:
    """The honest value in the unit that the lab asks for."""
    return Amount(honest(spec.id).value, honest(spec.id).unit).into(spec.unit, clock_of(spec)).value


@pytest.mark.parametrize("unit", NAMES)
@pytest.mark.parametrize("spec", IN_TIME, ids=lambda spec: spec.id)
def test_converted_it_passes_and_with_the_same_number_in_another_unit_it_fails(
    spec: FigureSpec, unit: str
) -> None:
    value, clock = in_its_unit(spec), clock_of(spec)
    converted = Amount(value, spec.unit).into(unit, clock).value
    verdict = judged(spec, converted, unit)
    assert verdict.outcome is Outcome.PASSED, verdict
    if not 0.9 < converted / value < 1.1:  # here the two units are nearly the same
        verdict = judged(spec, value, unit)
        assert verdict.outcome is Outcome.FAILED, verdict


@pytest.mark.parametrize("spec", IN_TIME, ids=lambda spec: spec.id)
@pytest.mark.parametrize("factor", [1e-6, 1e-3, 1e3, 1e6])
def test_a_thousand_times_too_much_or_too_little_fails(spec: FigureSpec, factor: float) -> None:
    assert judged(spec, in_its_unit(spec) * factor, spec.unit).outcome is Outcome.FAILED


@pytest.mark.parametrize(
    "spec", [spec for spec in RELATED if not spec.is_time], ids=lambda spec: spec.id
)
def test_a_ratio_and_a_conclusion_have_no_unit_of_time(spec: FigureSpec) -> None:
    for unit in (*NAMES, TIMES, CHOICE):
        verdict = judged(spec, honest(spec.id).value, unit)
        expected = Outcome.PASSED if unit == spec.unit else Outcome.FAILED
        assert verdict.outcome is expected, (unit, verdict)


@pytest.mark.parametrize(
    ("spec", "name", "unit"), OPERANDS, ids=[f"{s.id}-{n}-{unit}" for s, n, unit in OPERANDS]
)
def test_the_unit_of_a_figure_that_it_refers_to_does_not_matter(
    spec: FigureSpec, name: str, unit: str
) -> None:
    """The relation follows from the figures as submitted: no recording is asked here."""
    of = {each: honest(each) for each in spec.of}
    case = opened(figure_named(name), of[name])
    assert isinstance(case, Case)
    of[name] = replace(
        of[name],
        value=Amount(of[name].value * 3, of[name].unit).into(unit, case.result.clock).value,
        unit=unit,
    )
    in_ns = {}
    for each in spec.of:
        operand = opened(figure_named(each), of[each])
        assert isinstance(operand, Case) and operand.submitted is not None
        amount = Amount(of[each].value, of[each].unit)
        in_ns[each] = amount.into("ns", operand.result.clock).value
    difference = (in_ns[spec.of[0]] - in_ns[spec.of[1]]) / spec.divisor
    for given, outcome in (("ns", Outcome.PASSED), ("us", Outcome.FAILED)):
        figure = replace(honest(spec.id), value=difference, unit=given)
        assert judge(spec, related(spec, figure, of), figure).outcome is outcome


def test_estimates_in_unlike_units_are_never_compared() -> None:
    one, other = (Estimate(5.0, 4.0, 6.0, unit, "", 9, 3) for unit in ("us", "ns"))
    for rule in (estimates.difference, estimates.ratio, estimates.separation):
        with pytest.raises(ValueError, match="cannot compare us with ns"):
            rule(one, other)
