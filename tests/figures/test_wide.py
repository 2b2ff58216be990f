"""A figure of a run with a wide interval passes within it, and the verdict says how wide it is."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from grader.cases.case import Case
from grader.cases.expected import Expected
from grader.cases.verdict import Level, Outcome, Verdict
from grader.facts import caveats
from grader.facts.caveats import WITH_INTERVAL, caveat_of_width, compared_with
from grader.figures import LABS, FigureSpec, figure_named
from grader.judging.check import check, open_case
from grader.judging.lab_folder import check_folder
from grader.pitfalls.samples_and_intervals import interval_as_wide_as_value
from labs.recording.declared import Estimand
from labs.recording.file import Recording, read
from labs.results.result import result_of
from testing.honest_cases import honest_case
from testing.paths import FIXTURES
from testing.submitted_figures import Clocked, figure, recording

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


def judged(value: float, run: Recording, widest: float = 0.15) -> Verdict:
    spec = dataclasses.replace(figure_named(FIGURE), widest=widest)
    return check(spec, figure(FIGURE, value, "ns"), run)


@pytest.mark.parametrize("value", [114.0, 150.0, 80.0])
def test_within_a_wide_interval_it_passes_and_the_verdict_says_how_wide(value: float) -> None:
    verdict = judged(value, a_wide_run())
    assert verdict.outcome is Outcome.PASSED
    assert verdict.points == verdict.max_points
    assert "Half of the interval's width is 35 % of the value" in verdict.reason
    assert "Beyond 15 %, do not believe the value" in verdict.reason
    assert verdict.praise == caveats.WIDE_PRAISE.text
    assert verdict.look_next.startswith("Measure again, or longer: ")


@pytest.mark.parametrize(("own", "written"), [(False, "within="), (True, "--within ")])
def test_what_to_measure_is_written_as_in_the_cell_that_measures(own: bool, written: str) -> None:
    spec = figure_named(FIGURE)
    case = open_case(spec, figure(FIGURE, 114.0, "ns"), a_wide_run(), None)
    assert isinstance(case, Case)
    asked = dataclasses.replace(case, spec=dataclasses.replace(spec, own=own))
    found = caveats.look_next_if_wide(asked)
    assert written in found and ("--" in found) == own


@pytest.mark.parametrize("value", [20.0, 65.0, 200.0])
def test_outside_a_wide_interval_it_fails_as_ever(value: float) -> None:
    verdict = judged(value, a_wide_run())
    assert verdict.outcome is Outcome.FAILED
    assert "reaches" not in verdict.reason
    assert not verdict.praise


def test_a_narrow_interval_is_no_matter() -> None:
    verdict = judged(114.2, a_run())
    assert verdict.outcome is Outcome.PASSED
    assert "reaches" not in verdict.reason
    assert verdict.praise and verdict.praise != caveats.WIDE_PRAISE.text


def test_each_figure_has_its_own_limit() -> None:
    assert "reaches" not in judged(80.0, a_wide_run(), widest=0.4).reason
    assert (
        "Beyond 15 %, do not believe the value. Beyond 20 %, the limit for this figure, the grader "
        "passes any value within the interval."
    ) in judged(80.0, a_wide_run(), widest=0.2).reason


def test_without_a_warning_of_the_run_it_says_what_helps_anyway() -> None:
    assert judged(114.2, a_run(), widest=1e-6).look_next.startswith(
        "Measure again, or for longer. "
    )


@pytest.mark.parametrize(
    "wide", ["footprint-processes-8-256k", "creation-fork-64mb", "first-iteration-call"]
)
def test_figures_that_are_noisy_by_nature_have_a_wider_limit(wide: str) -> None:
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
        assert ["hand in none this wide" in each for each in symptoms] == [warned]


@pytest.mark.parametrize(("half", "narrower"), [(0.5, False), (5.0, True)])
def test_first_times_within_a_step_of_the_clock_are_not_told_to_be_measured_longer(
    half: float, narrower: bool
) -> None:
    case = honest_case(figure_named("first-call-own"))
    result = case.results["own"]
    step = result.clock.coarseness / result.clock.ticks_in(result.unit)
    assert result.estimate is not None
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
