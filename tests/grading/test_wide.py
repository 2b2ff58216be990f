"""A figure of a run with a wide interval passes within it, and the verdict says how wide it is."""

from __future__ import annotations

import dataclasses

import pytest

from grader.cases.verdict import Outcome, Verdict
from grader.figures import figure_named
from grader.judging.check import check
from labs.recording.file import Recording
from testing.submitted_figures import Clocked, figure, recording

FIGURE = "system-call-getppid"
#: Rounds that found half of the core in use by something else, all the time.
SHARED = {"core_width": "2 2 2", "core_width.after": "-9 90 190", "core_width.best": "4"}


def a_run(each_process: dict[str, str] | None = None, **options: int) -> Recording:
    calls = {"getppid": Clocked(60.0, 300.0), "loop": Clocked(60.0, 3.0)}
    conditions = {"variant.getppid.baseline": "loop"}
    return recording(
        calls, kernel="system_call", extra=conditions, each_process=each_process, **options
    )


def judged(value: float, run: Recording, widest: float = 0.15) -> Verdict:
    spec = dataclasses.replace(figure_named(FIGURE), widest=widest)
    return check(spec, figure(FIGURE, value, "ns"), run)


@pytest.mark.parametrize("value", [114.0, 60.0, 41.0])
def test_within_a_wide_interval_it_passes_and_the_verdict_says_how_wide(value: float) -> None:
    verdict = judged(value, a_run(SHARED))
    assert verdict.outcome is Outcome.PASSED
    assert verdict.points == verdict.max_points
    assert "The interval reaches 32 % of the value to either side" in verdict.reason
    assert "Beyond 15 %, do not believe the value" in verdict.reason
    assert verdict.praise != figure_named(FIGURE).praise
    assert verdict.look_next.startswith("Measure again, or longer: ")


@pytest.mark.parametrize("value", [20.0, 140.0, 200.0])
def test_outside_a_wide_interval_it_fails_as_ever(value: float) -> None:
    verdict = judged(value, a_run(SHARED))
    assert verdict.outcome is Outcome.FAILED
    assert "reaches" not in verdict.reason
    assert not verdict.praise


def test_a_narrow_interval_is_no_matter() -> None:
    verdict = judged(114.2, a_run())
    assert verdict.outcome is Outcome.PASSED
    assert "reaches" not in verdict.reason
    assert verdict.praise == figure_named(FIGURE).praise


def test_each_figure_has_its_own_limit() -> None:
    assert "reaches" not in judged(60.0, a_run(SHARED), widest=0.4).reason


def test_without_a_warning_of_the_run_it_says_what_helps_anyway() -> None:
    assert judged(114.2, a_run(), widest=1e-6).look_next.startswith("Measure again, or longer. ")


@pytest.mark.parametrize(
    "wide", ["footprint-processes-8-256k", "creation-fork-64mb", "first-iteration-call"]
)
def test_figures_that_are_noisy_by_nature_have_a_wider_limit(wide: str) -> None:
    assert figure_named(wide).widest > figure_named(FIGURE).widest == 0.15
