"""Figures that an older version of the kit gave for its own recordings keep their points."""

from __future__ import annotations

import dataclasses

import pytest

from grader.cases.case import Case
from grader.cases.verdict import Outcome
from grader.figures import figure_named
from grader.judging.check import check, open_case
from labs.course.figures import Figure
from labs.recording.file import Recording, read
from testing.paths import FIXTURES

RECORDING = "recordings/own.csv"
FOLDER = FIXTURES / "honest_runs" / "06-process-and-thread-switch-no-pinning"


def outcome(value: float, run: Recording) -> tuple[Outcome, str]:
    spec = figure_named("switch-own-hand-over")
    source = (FOLDER / RECORDING).with_suffix(".c").read_text(encoding="utf-8")
    verdict = check(spec, Figure(spec.id, value, "ns", RECORDING), run, source)
    return verdict.outcome, verdict.reason


def test_a_figure_of_an_older_kit_passes_and_is_told_from_one_of_today() -> None:
    # Three of ten processes were slower; the older kit took all ten.
    passed, reason = outcome(26596.1, read(FOLDER / RECORDING))
    assert passed is Outcome.PASSED
    assert "An earlier version of the kit may compute" in reason
    assert "this version gives" in reason
    passed, reason = outcome(24665.9, read(FOLDER / RECORDING))
    assert passed is Outcome.PASSED
    assert "earlier" not in reason


@pytest.mark.parametrize("value", [15000.0, 45000.0])
def test_a_figure_that_no_process_gave_fails(value: float) -> None:
    assert outcome(value, read(FOLDER / RECORDING))[0] is Outcome.FAILED


def test_a_recording_of_this_kit_gets_no_such_allowance() -> None:
    run = read(FOLDER / RECORDING)
    with_width = dataclasses.replace(run, conditions={**run.conditions, "core_width": "4 4"})
    assert outcome(26596.1, with_width)[0] is Outcome.FAILED


def test_a_figure_in_the_core_cycles_of_an_older_kit_is_known() -> None:
    """One of its five processes measured its clock badly, so its cycle was 2.4 % too long."""
    folder = FIXTURES / "pitfalls" / "no-figure" / "near"
    run, source = (
        read(folder / RECORDING),
        (folder / RECORDING).with_suffix(".c").read_text("utf-8"),
    )
    spec = figure_named("timer-own-addition")

    def of_older_kit(value: float) -> bool:
        case = open_case(spec, Figure(spec.id, value, "cycles", RECORDING), run, source)
        assert isinstance(case, Case)
        return case.right_in_older_kit

    assert of_older_kit(0.981023347)
    assert not of_older_kit(0.95)
