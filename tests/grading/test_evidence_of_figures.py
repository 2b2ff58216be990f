"""What a verdict tells of a figure: the run's own words, and where a wrong one comes from."""

from __future__ import annotations

from dataclasses import replace

import pytest

from grader.cases.verdict import Outcome, Verdict
from grader.figures import figure_named
from grader.judging.check import check
from labs.course.figures import Figure
from labs.recording.file import Recording, read
from labs.results.result import result_of
from testing.paths import FIXTURES
from testing.submitted_figures import FENCED, MONOTONIC, figure, recording

HONEST = FIXTURES / "honest"
CREATED = "2026-03-01T10:00:00+00:00"
GETPPID = "system-call-getppid"


@pytest.fixture(scope="module")
def calls() -> Recording:
    return read(HONEST / "03-system-call" / "recordings" / "calls.csv")


def evidence(figure_id: str, given: Figure, run: Recording) -> str:
    verdict = check(figure_named(figure_id), given, run)
    assert verdict.outcome is Outcome.FAILED
    return verdict.findings[0].evidence


def judged(figure_id: str, value: float, unit: str, run: Recording) -> Verdict:
    return check(figure_named(figure_id), figure(figure_id, value, unit), run)


@pytest.mark.parametrize(("unit", "told_in"), [("ns", "ns"), ("us", "ns"), ("cycles", "cycles")])
def test_the_interval_is_the_one_that_the_run_shows(
    calls: Recording, unit: str, told_in: str
) -> None:
    shown = result_of(calls, "getppid", unit).estimate
    assert shown is not None
    verdict = judged(GETPPID, shown.value, unit, calls)
    assert verdict.outcome is Outcome.PASSED
    assert result_of(calls, "getppid", "ns").value_as_text() in verdict.reason
    wrong = evidence(GETPPID, figure(GETPPID, shown.value * 1.3, unit), calls)
    assert result_of(calls, "getppid", told_in).value_as_text() in wrong


def test_the_value_of_another_variant_is_told_by_its_name(calls: Recording) -> None:
    floor = result_of(calls, "invalid", "ns").estimate
    assert floor is not None
    text = evidence(GETPPID, figure(GETPPID, floor.value, "ns"), calls)
    assert text.endswith("What you gave is the cost of invalid.")
    text = evidence(GETPPID, figure(GETPPID, floor.value * 0.77, "ns"), calls)
    assert "What you gave" not in text


def test_a_run_measured_anew_is_told_as_such() -> None:
    run = recording({"fenced": FENCED, "monotonic": MONOTONIC}, extra={"created": CREATED})
    given = figure("timer-overhead-fenced", 31.7, "ns")
    for when, anew in (("2026-03-01T09:59:00+00:00", True), ("2026-03-01T10:01:00+00:00", False)):
        text = evidence("timer-overhead-fenced", replace(given, when=when), run)
        assert text.endswith("hand the figure in again.") is anew


def test_a_value_where_a_conclusion_is_asked_is_told_how_to_be_given() -> None:
    run = read(HONEST / "04-procedure-call" / "recordings" / "o2.csv")
    verdict = judged("call-inlined", 0.2, "cycles", run)
    assert verdict.findings[0].code == "unit-unknown"
    assert verdict.findings[0].evidence.endswith("by number.")
    assert verdict.findings[0].experiment.endswith("choice.")
