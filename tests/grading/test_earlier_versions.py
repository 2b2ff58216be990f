"""What earlier versions of the kit wrote is still read, by the same functions as today's.

`tests/fixtures/earlier` has a folder for each state of the form, named after its day: a lab folder
as that version made it, with figures, predictions and a recording.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.cases.verdict import Outcome
from grader.judging.lab_folder import check_folder
from labs.course import figures, predictions
from labs.recording.file import FORMAT_VERSION, read
from labs.results.result import result_of
from testing.paths import FIXTURES

LAB, FIGURE = "01-timer-overhead", "timer-overhead-fenced"
FOLDERS = sorted((FIXTURES / "earlier").glob(f"*/{LAB}"))


def test_there_is_one_of_the_first_version() -> None:
    assert FOLDERS[0].parent.name == "2026-11-20"
    assert FORMAT_VERSION == "1", "a new form needs a folder of the form before it"


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda each: each.parent.name)
def test_its_figure_passes_by_its_recording(folder: Path) -> None:
    (verdict,) = [each for each in check_folder(folder, LAB) if each.figure == FIGURE]
    assert verdict.outcome is Outcome.PASSED
    assert verdict.findings == ()
    (stated,) = figures.read(folder).values()
    assert isinstance(stated, figures.Figure) and stated.recording is not None
    run = read(folder / stated.recording)
    estimate = result_of(run, "fenced", "ns").estimate
    assert estimate is not None
    assert estimate.low <= stated.value <= estimate.high


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda each: each.parent.name)
def test_its_prediction_is_there(folder: Path) -> None:
    (made,) = predictions.read(folder)[FIGURE]
    assert (made.value, made.unit, made.because, made.sure) == (20, "ns", "two readings", 0.6)
