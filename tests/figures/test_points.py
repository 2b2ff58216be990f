"""Figures of every lab: their points, their units, and intervals that are too wide."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest

from grader.evidence import caveats
from grader.evidence.caveats import WITH_INTERVAL, caveat_of_width, compared_with
from grader.figures import LABS, figure_named
from grader.figures.case import Case
from grader.figures.expected import Expected
from grader.figures.lab_08_five_reports_on_trial import TRIALS
from grader.figures.spec import CHOICE, RELATIONS, TIMES, FigureSpec, Quantity
from grader.figures.verdict import Finding, Level, Outcome, Verdict
from grader.judging import lab_folder
from grader.judging.check import check, judge, open_case, open_relation
from grader.judging.lab_folder import check_folder
from grader.judging.points import CENTRAL_OF_OWN_C, is_central, is_far, points_by_level
from grader.judging.presentation import as_html, as_text
from grader.pitfalls import CATALOGUE, pitfall_named
from grader.pitfalls.samples_and_intervals import interval_as_wide_as_value
from labs.analysis import confidence
from labs.analysis.confidence import Estimate
from labs.course.figures import Figure
from labs.recording.declared import Estimand
from labs.recording.file import Recording, read
from labs.results.result import result_of
from labs.units import NAMES, Amount, Clock
from support.honest_cases import honest, honest_case, judged, opened
from support.honest_cases import judged as judged_value
from support.paths import FIXTURES
from support.submitted_figures import Clocked, figure, recording

# Points: the mistake that a figure is about costs half of them, and a recording alone little.


FIGURES = [spec for specs in LABS.values() for spec in specs]
JUDGED = [spec for spec in FIGURES if not spec.demonstrates]
WRONG = sorted((FIXTURES / "pitfalls").glob("*/wrong*"))


def finding(code: str) -> Finding:
    return pitfall_named(code).finding("evidence")


def kept(spec: FigureSpec, *codes: str) -> float:
    levels = points_by_level(spec, [finding(code) for code in codes])
    assert all(0 <= got <= most for got, most in levels.values())
    return sum(got for got, _ in levels.values())


def test_the_mistake_that_a_figure_is_about_costs_at_least_half() -> None:
    for spec in JUDGED:
        assert kept(spec, spec.central) <= spec.max_points / 2, spec.id


def test_each_mistake_in_own_c_costs_at_least_half() -> None:
    for spec in [spec for spec in JUDGED if spec.own]:
        for code in CENTRAL_OF_OWN_C:
            assert kept(spec, code) <= spec.max_points / 2, (spec.id, code)


def test_a_mistake_in_own_c_is_central_to_figures_of_own_c_only() -> None:
    spec = figure_named("call-args0")
    for code in CENTRAL_OF_OWN_C:
        assert kept(spec, code) > spec.max_points / 2, code


def test_the_repaired_figure_of_a_trial_is_about_the_mistake_of_its_report() -> None:
    for trial in TRIALS:
        assert figure_named(f"{trial.name}-repaired").central == trial.code


def test_a_recording_alone_earns_at_most_a_quarter() -> None:
    for spec in FIGURES:
        assert spec.points.get(Level.PROVENANCE, 0.0) <= spec.max_points / 4, spec.id


def test_every_finding_costs_something() -> None:
    """A figure failed with all of its points if it had none of the level of the finding."""
    for spec in JUDGED:
        for pitfall in CATALOGUE:
            assert kept(spec, pitfall.code) < spec.max_points, (spec.id, pitfall.code)


def test_a_slip_that_the_figure_is_not_about_costs_its_level_only() -> None:
    spec = figure_named("system-call-getppid")
    assert (kept(spec, "unit-slip"), kept(spec, "too-few-samples")) == (3, 3)
    assert kept(spec, spec.central) == 2
    assert kept(spec, spec.central, "unit-slip") == 2
    assert kept(spec, spec.central, "unit-slip", "too-few-samples") == 1


def verdicts_of(folder: Path) -> list[Verdict]:
    handed_in = json.loads((folder / "figures.json").read_text(encoding="utf-8"))
    verdicts = lab_folder.check_folder(folder, lab_folder.lab_of(folder))
    return [each for each in verdicts if each.figure in handed_in]


@pytest.mark.slow
def test_no_fixture_of_a_central_mistake_keeps_more_than_half() -> None:
    """Over all fixtures of the pitfalls; at least one figure of each lab is among them."""
    labs, of_own_c = set(), set()
    for folder in WRONG:
        for verdict in verdicts_of(folder):
            spec = figure_named(verdict.figure)
            codes = {each.code for each in verdict.findings if is_central(spec, each.code)}
            if codes and not spec.demonstrates:
                assert verdict.points <= spec.max_points / 2, (folder, verdict)
                labs.add(spec.lab)
                of_own_c |= codes
    assert labs == set(LABS)
    # A wait that polls, a call that fails each time, more work in the region.
    assert of_own_c > {"wait-with-an-end", "failing-call-timed", "more-than-the-operation"}
    assert len(of_own_c & CENTRAL_OF_OWN_C) >= 20


def test_central_mistakes_without_a_fixture_are_found_too() -> None:
    """Made by hand on the honest run: a whole sample, or what was timed with nothing subtracted."""
    for name in ("first-iteration-page-fault", "system-call-floor", "footprint-processes-8-0"):
        spec, result = figure_named(name), honest_case(figure_named(name)).result
        assert result.line is not None and result.net is not None, name
        value = result.line.location[-1] / result.clock.ticks_in(spec.unit)
        if spec.central == "touching-counted-as-switch":
            value = result.net.unsubtracted.into(spec.unit, result.clock).value
        verdict = judged_value(spec, float(value), spec.unit)
        assert [each.code for each in verdict.findings] == [spec.central], name
        assert 0 < verdict.points <= spec.max_points / 2, name


def verdict_with(points: float, outcome: Outcome = Outcome.FAILED) -> Verdict:
    return Verdict("timer-step", outcome, points, 4.0, "A reason.")


def test_most_of_the_points_are_called_partly_right() -> None:
    for points, outcome, words in (
        (3, Outcome.FAILED, "partly right, 3 of 4"),
        (2.5, Outcome.FAILED, "partly right, 2.5 of 4"),
        (2, Outcome.FAILED, "failed, 2 of 4"),
        (0, Outcome.FAILED, "failed, 0 of 4"),
        (4, Outcome.PASSED, "passed, 4 of 4"),
    ):
        verdict = verdict_with(points, outcome)
        assert f"timer-step: {words} points" in as_text(verdict)
        assert words in as_html(verdict)
        assert verdict.as_json()["outcome"] == outcome.value


# A figure of a run with a wide interval passes within it, and the verdict says how wide it is.


FIGURE = "system-call-getppid"


def a_run() -> Recording:
    calls = {"getppid": Clocked(60.0, 300.0), "loop": Clocked(60.0, 3.0)}
    return recording(calls, kernel="system_call", extra={"variant.getppid.baseline": "loop"})


def a_wide_run() -> Recording:
    """Half of the processes take 1.46 times as long as in `a_run`, the others 0.54 times."""
    run = a_run()
    times = np.where(run.process % 2, 1.46, 0.54)
    conditions = {k: v for k, v in run.conditions.items() if k != "samples.sha256"}
    ticks = np.rint(run.ticks * times).astype(np.int64)
    return dataclasses.replace(run, conditions=conditions, ticks=ticks)


def judged_at(value: float, run: Recording, widest: float = 0.15) -> Verdict:
    spec = dataclasses.replace(figure_named(FIGURE), widest=widest)
    return check(spec, figure(FIGURE, value, "ns"), run)


def test_within_a_wide_interval_it_passes_and_the_verdict_says_how_wide() -> None:
    for value in (114.0, 150.0, 80.0):
        verdict = judged_at(value, a_wide_run())
        assert verdict.outcome is Outcome.PASSED, value
        assert verdict.points == verdict.max_points, value
        assert "Half of the interval's width is 35 % of the value" in verdict.reason, value
        assert "Beyond 15 %, do not believe the value" in verdict.reason, value
        assert verdict.praise == caveats.WIDE_PRAISE.text, value
        assert verdict.look_next.startswith("Measure again, or longer: "), value


def test_what_to_measure_is_written_as_in_the_cell_that_measures() -> None:
    for own, written in ((False, "within="), (True, "--within ")):
        spec = figure_named(FIGURE)
        case = open_case(spec, figure(FIGURE, 114.0, "ns"), a_wide_run(), None)
        assert isinstance(case, Case), own
        asked = dataclasses.replace(case, spec=dataclasses.replace(spec, own=own))
        found = caveats.look_next_if_wide(asked)
        assert written in found and ("--" in found) == own


def test_outside_a_wide_interval_it_fails_as_ever() -> None:
    for value in (20.0, 65.0, 200.0):
        verdict = judged_at(value, a_wide_run())
        assert verdict.outcome is Outcome.FAILED, value
        assert "reaches" not in verdict.reason, value
        assert not verdict.praise, value


def test_a_narrow_interval_is_no_matter() -> None:
    verdict = judged_at(114.2, a_run())
    assert verdict.outcome is Outcome.PASSED
    assert "reaches" not in verdict.reason
    assert verdict.praise and verdict.praise != caveats.WIDE_PRAISE.text


def test_each_figure_has_its_own_limit() -> None:
    assert "reaches" not in judged_at(80.0, a_wide_run(), widest=0.4).reason
    assert (
        "Beyond 15 %, do not believe the value. Beyond 20 %, the limit for this figure, the grader "
        "passes any value within the interval."
    ) in judged_at(80.0, a_wide_run(), widest=0.2).reason


def test_without_a_warning_of_the_run_it_says_what_helps_anyway() -> None:
    assert judged_at(114.2, a_run(), widest=1e-6).look_next.startswith(
        "Measure again, or for longer. "
    )


def test_figures_that_are_noisy_by_nature_have_a_wider_limit() -> None:
    for wide in ("footprint-processes-8-256k", "creation-fork-64mb", "first-iteration-call"):
        assert figure_named(wide).widest > figure_named(FIGURE).widest == 0.15


NUMBERS = [
    spec
    for specs in LABS.values()
    for spec in specs
    if spec.quantity in WITH_INTERVAL and not spec.of and not spec.demonstrates
]


def of_width(spec: FigureSpec, share: float, *, value: float | None = None) -> Case:
    """The honest case, with half of its interval this share of what it is compared with."""
    case = honest_case(spec)
    assert case.expected is not None
    value = case.expected.value if value is None else value
    size = compared_with(case, dataclasses.replace(case.expected, value=value)).size
    low, high = value - share * size, value + share * size
    expected = Expected(value, low, high, spec.unit)
    # Of an overhead, the step of the clock is no excuse here.
    results = {
        name: dataclasses.replace(each, estimate=dataclasses.replace(each.estimate, high=1e9))
        for name, each in case.results.items()
        if each.estimate is not None
    }
    return dataclasses.replace(
        case, submitted=value, accepted_values=(expected,), results={**case.results, **results}
    )


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("spec", NUMBERS, ids=lambda spec: spec.id)
def test_an_interval_as_wide_as_its_value_shows_no_figure(spec: FigureSpec, sign: int) -> None:
    """For costs, overheads, ratios and differences, and below zero too."""
    expected = honest_case(spec).expected
    assert expected is not None
    value = sign * expected.value
    found = interval_as_wide_as_value.find(of_width(spec, 0.51, value=value))
    assert found is not None and found.level is Level.SUFFICIENCY
    assert interval_as_wide_as_value.find(of_width(spec, 0.49, value=value)) is None


@pytest.mark.parametrize("name", ["call-per-argument", "first-call-own"])
def test_what_may_be_nothing_is_compared_with_what_it_was_taken_from(name: str) -> None:
    spec = figure_named(name)
    near_nothing = of_width(spec, 0.1, value=0.001)
    assert near_nothing.expected is not None
    assert near_nothing.expected.low < 0 < near_nothing.expected.high
    assert interval_as_wide_as_value.find(near_nothing) is None
    assert "does not distinguish the figure from zero" in caveat_of_width(near_nothing)
    assert interval_as_wide_as_value.find(of_width(spec, 0.6, value=0.001)) is not None
    at_once = dataclasses.replace(spec, may_be_nothing=False)
    assert (
        interval_as_wide_as_value.find(dataclasses.replace(near_nothing, spec=at_once)) is not None
    )


def test_what_is_told_from_nothing_is_not_said_to_be_nothing() -> None:
    case = honest_case(figure_named("call-per-argument"))
    assert case.expected is not None and case.expected.low > 0
    assert "nothing" not in caveat_of_width(case)


def test_a_cost_with_an_interval_from_below_zero_loses_sufficiency() -> None:
    """5.85 cycles with an interval from -1.5 to 12.8 passed, as far below what a clock can tell."""
    folder = FIXTURES / "pitfalls" / "interval-as-wide-as-value" / "wrong"
    verdicts = {each.figure: each for each in check_folder(folder, "04-procedure-call")}
    verdict = verdicts["call-args0"]
    assert verdict.outcome is Outcome.FAILED
    assert verdict.levels[Level.SUFFICIENCY] == (0, 1)
    assert not verdict.praise


def test_the_run_warns_of_such_an_interval_before_it_is_handed_in() -> None:
    folder = FIXTURES / "pitfalls" / "interval-as-wide-as-value"
    for kind, warned in (("wrong", True), ("near", False)):
        result = result_of(read(folder / kind / "recordings" / "call.csv"), "args0", "cycles")
        symptoms = [each.symptom for each in result.warnings if each.code == "not-believable"]
        assert ["so do not hand it in" in each for each in symptoms] == [warned]


def test_first_times_within_a_step_of_the_clock_are_not_told_to_be_measured_longer() -> None:
    for half, narrower in ((0.5, False), (5.0, True)):
        case = honest_case(figure_named("first-call-own"))
        result = case.results["own"]
        step = result.clock.coarseness / result.clock.ticks_in(result.unit)
        assert result.estimate is not None, half
        close = dataclasses.replace(result.estimate, value=0.0, low=-half * step, high=half * step)
        results = {**case.results, "own": dataclasses.replace(result, estimate=close)}
        said = caveats.look_next_if_wide(dataclasses.replace(case, results=results))
        assert (said != caveats.WITHIN_A_STEP) == narrower


@pytest.mark.parametrize(("step", "found"), [(2, True), (200, False)])
def test_an_overhead_within_a_step_of_its_clock_is_as_good_as_the_clock(
    step: int, found: bool
) -> None:
    case = of_width(figure_named("timer-overhead-fenced"), 0.6)
    result = case.result
    clock = dataclasses.replace(result.clock, step=step)
    half = 100 / clock.ticks_in(result.unit)
    assert result.estimate is not None
    value = result.estimate.value
    wide = dataclasses.replace(result.estimate, low=value - half, high=value + half)
    results = {**case.results, "fenced": dataclasses.replace(result, clock=clock, estimate=wide)}
    case = dataclasses.replace(case, results=results)
    assert (interval_as_wide_as_value.find(case) is not None) == found
    cost = dataclasses.replace(case.spec, estimand=Estimand.COST)
    assert interval_as_wide_as_value.find(dataclasses.replace(case, spec=cost)) is not None


# Every relation of every lab, handed in with its unit and with each wrong one. The figures and
# recordings are those of honest runs, saved under fixtures/honest.


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
    for rule in (confidence.difference, confidence.ratio, confidence.separation):
        with pytest.raises(ValueError, match="cannot compare us with ns"):
            rule(one, other)


# A conclusion drawn before its evidence was measured anew is not right for being old.


CHOICES = [spec for specs in LABS.values() for spec in specs if spec.quantity is Quantity.CHOICE]


def test_an_old_conclusion_is_judged_by_what_the_figures_say_now() -> None:
    for spec in CHOICES:
        for number in range(1, len(spec.choices) + 1):
            old = replace(honest(spec.id), value=float(number), when="2001-01-01T00:00:00+00:00")
            verdict = judge(spec, opened(spec, old), old)
            is_right = number == honest(spec.id).value
            assert (verdict.outcome is Outcome.PASSED) == is_right, (spec.id, number)
            assert is_right or (verdict.findings and not verdict.praise), (spec.id, number)


def test_far_is_far_from_every_value_that_is_accepted() -> None:
    for given, accepted, far in (
        (10.0, (4.0,), True), (10.0, (5.0,), False), (10.0, (20.0,), False), (10.0, (22.0,), True),
        (10.0, (4.0, 5.0), False), (10.0, (40.0, 0.0), True), (10.0, (0.0, 9.0), False),
    ):  # fmt: skip
        values = [SimpleNamespace(value=each) for each in accepted]
        case = SimpleNamespace(
            right=False,
            submitted=given,
            accepted_values=values,
            spec=SimpleNamespace(quantity=Quantity.COST),
        )
        assert is_far(cast(Case, case), ()) is far, (given, accepted)
