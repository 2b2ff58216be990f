"""Points: the mistake that a figure is about costs half of them, and a recording alone little."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from grader.cases.spec import FigureSpec
from grader.cases.verdict import Finding, Level, Outcome, Verdict
from grader.figures import LABS, figure_named
from grader.figures.trials import TRIALS
from grader.judging import lab_folder
from grader.judging.check import CENTRAL_OF_OWN_C, is_central, points_by_level
from grader.judging.presentation import as_html, as_text
from grader.pitfalls import CATALOGUE, pitfall_named
from testing.honest_cases import honest_case
from testing.honest_cases import judged as judged_value
from testing.paths import FIXTURES

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


def judged(folder: Path) -> list[Verdict]:
    handed_in = json.loads((folder / "figures.json").read_text(encoding="utf-8"))
    verdicts = lab_folder.check_folder(folder, lab_folder.lab_of(folder))
    return [each for each in verdicts if each.figure in handed_in]


def test_no_fixture_of_a_central_mistake_keeps_more_than_half() -> None:
    """Over all fixtures of the pitfalls; at least one figure of each lab is among them."""
    labs, of_own_c = set(), set()
    for folder in WRONG:
        for verdict in judged(folder):
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


@pytest.mark.parametrize(
    "name", ["first-iteration-page-fault", "system-call-floor", "footprint-processes-8-0"]
)
def test_central_mistakes_without_a_fixture_are_found_too(name: str) -> None:
    """Made by hand on the honest run: a whole sample, or what was timed with nothing subtracted."""
    spec, result = figure_named(name), honest_case(figure_named(name)).result
    assert result.line is not None and result.net is not None
    value = result.line.location[-1] / result.clock.ticks_in(spec.unit)
    if spec.central == "touching-counted-as-switch":
        value = result.net.unsubtracted.into(spec.unit, result.clock).value
    verdict = judged_value(spec, float(value), spec.unit)
    assert [each.code for each in verdict.findings] == [spec.central]
    assert 0 < verdict.points <= spec.max_points / 2


def verdict_with(points: float, outcome: Outcome = Outcome.FAILED) -> Verdict:
    return Verdict("timer-step", outcome, points, 4.0, "A reason.")


@pytest.mark.parametrize(
    ("points", "outcome", "words"),
    [
        (3, Outcome.FAILED, "partly right, 3 of 4"),
        (2.5, Outcome.FAILED, "partly right, 2.5 of 4"),
        (2, Outcome.FAILED, "failed, 2 of 4"),
        (0, Outcome.FAILED, "failed, 0 of 4"),
        (4, Outcome.PASSED, "passed, 4 of 4"),
    ],
)
def test_most_of_the_points_are_called_partly_right(
    points: float, outcome: Outcome, words: str
) -> None:
    verdict = verdict_with(points, outcome)
    assert f"timer-step: {words} points" in as_text(verdict)
    assert words in as_html(verdict)
    assert verdict.as_json()["outcome"] == outcome.value
