"""Guesses over all labs: which count, how far off they were, and how that is drawn."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from labs.course import comparison, figures, guide, predictions
from labs.course.comparison import Compared
from labs.course.figures import Figure
from labs.notebook import way_through_labs
from labs.plots.calibration_plot import Guess, calibration_picture
from labs.units import factor_text

LAB, ID = "01-timer-overhead", "timer-overhead-fenced"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / LAB).mkdir()
    return tmp_path / LAB


def predicted(folder: Path, *made: tuple[float, bool | None], name: str = ID) -> None:
    """Leave predictions in ns, the oldest first, each with whether it is late."""
    stated = [
        {"value": value, "unit": "ns", "late": late, "when": f"2026-03-{day:02}T09:00:00+00:00"}
        for day, (value, late) in enumerate(made, start=1)
    ]
    path = folder / predictions.FILE_NAME
    known = json.loads(path.read_text()) if path.exists() else {}
    path.write_text(json.dumps({**known, name: stated}))


def test_the_last_one_before_the_recording_is_compared(folder: Path) -> None:
    predicted(folder, (10, False), (40, False), (21, True))
    figures.put(folder, Figure(ID, 20, "ns", None))
    (row,) = comparison.of_labs(folder.parent)
    assert (row.predicted.value, row.versions, row.late) == (40, 3, False)
    assert row.as_text() == "2 times less"
    table = comparison.table((row,))
    assert "before the recording counts" in table.caption
    assert table.rows[0][2] == "40 ns (of 3 versions)"
    assert comparison.calibration((row,)) == (
        "Your one guess so far was off by a factor of 2 (too high).",
    )


def test_a_late_one_is_marked_and_not_counted(folder: Path) -> None:
    predicted(folder, (19, True), (21, True))
    figures.put(folder, Figure(ID, 20, "ns", None))
    (row,) = comparison.of_labs(folder.parent)
    assert (row.predicted.value, row.late) == (21, True)
    assert row.as_text() == "within 10 %, but late: it does not count"
    assert comparison.calibration((row,)) == ()


@pytest.mark.parametrize(
    ("guess", "found", "unit", "told"),
    [
        ((2, "choice"), 2, "choice", "the same conclusion"),
        ((2, "choice"), 1, "choice", "another conclusion"),
        ((0, "ns"), 1, "ns", "these two have no ratio"),
        ((2, "ns"), -1, "ns", "these two have no ratio"),
        ((5e-324, "ns"), 1e300, "s", "these two have no ratio"),
        ((2, "cycles"), 1, "ns", "in another unit"),
        ((2, "times"), 1, "times", "2 times less"),
        ((2, "us"), 1, "ms", "500 times as much"),
    ],
)
def test_what_has_no_factor_is_said_in_words_and_not_counted(
    guess: tuple[float, str], found: float, unit: str, told: str
) -> None:
    predicted = predictions.Prediction(*guess)
    row = Compared(LAB, ID, predicted, 1, Figure(ID, found, unit, None))
    assert row.as_text() == told
    assert bool(comparison.calibration((row,))) == told.endswith(("less", "much"))


def test_a_guide_may_name_the_figure_that_answers(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = {"pair": guide.Asked("What?", "ns", "fenced", ID)}
    mine = guide.Guide({}, (), predictions=asked)
    monkeypatch.setattr(guide, "of_lab", lambda lab: mine)
    predicted(folder, (10, False), name="pair")
    figures.put(folder, Figure(ID, 20, "ns", None))
    (row,) = comparison.of_labs(folder.parent)
    assert row.as_text() == "2 times as much"


def test_a_prediction_without_a_figure_waits_for_none(folder: Path) -> None:
    other = folder.parent / "07-switch-footprint"
    other.mkdir()
    predicted(other, (128, False), name="footprint-bend")
    predicted(folder, (20, False))
    told = [row.as_text() for row in comparison.of_labs(folder.parent)]
    assert told == ["no figure yet", "no figure gives it: compare it in its lab"]


def test_a_prediction_that_its_lab_does_not_ask_for_is_said_to_be_one(folder: Path) -> None:
    predicted(folder, (19, False), name="timer-overhad")
    predicted(folder, (19, False))
    told = {row.id: row.as_text() for row in comparison.of_labs(folder.parent)}
    assert told == {"timer-overhad": "its lab asks for no such prediction", ID: "no figure yet"}


def test_what_is_wrapped_up_is_drawn_with_late_ones_apart(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    predicted(folder, (10, False))
    figures.put(folder, Figure(ID, 20, "ns", None))
    other = folder.parent / "03-system-call"
    other.mkdir()
    predicted(other, (100, True), name="system-call-getppid")
    figures.put(other, Figure("system-call-getppid", 0.3, "us", None))
    way_through_labs.wrap_up(folder.parent)
    shown = capsys.readouterr().out
    assert "Dot plot of 2 predictions" in shown
    assert "1 of 1 guess came within a factor of 2" in shown
    assert "1 prediction was late, and does not count" in shown
    assert "off by a factor of 2 (too low)" in shown


def test_without_a_figure_nothing_is_drawn(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    predicted(folder, (10, False))
    way_through_labs.wrap_up(folder.parent)
    assert "Dot plot" not in capsys.readouterr().out
    with pytest.raises(ValueError, match="no guess"):
        calibration_picture([])


@pytest.mark.parametrize(
    ("factor", "right", "text"),
    [
        (1.05, True, "within 10 %"),
        (2.0, True, "2 times as much"),
        (0.5, True, "2 times less"),
        (2.1, False, "2.1 times as much"),
        (0.25, False, "4 times less"),
        (1e300, False, "more than 1,000,000 times as much"),
    ],
)
def test_a_guess_within_a_factor_of_two_is_right(factor: float, right: bool, text: str) -> None:
    assert Guess("a", factor).right == right
    assert factor_text(factor) == text


def test_the_picture_says_what_it_shows() -> None:
    guesses = [Guess("a", 1.5, 0.6), Guess("b", 8), Guess("c", 0.01, 0.9), Guess("d", 1, 0.5, True)]
    shown = calibration_picture(guesses)
    assert shown.image.startswith(b"\x89PNG")
    assert "1 of 3 guesses came within a factor of 2. Further off: 1 too low and 1 too high." in (
        shown.meaning
    )
    assert "1 prediction was late" in shown.meaning
    assert [row[-1] for row in shown.table.rows] == ["yes", "yes", "yes", "no: late"]
    assert "late" not in calibration_picture(guesses[:3]).meaning


def test_guesses_that_are_far_off_or_many_can_be_drawn() -> None:
    far = [Guess("long-" * 20, 1e-300, 1.0), Guess("", 1e300), Guess("late only", 1, None, True)]
    assert calibration_picture(far).image
    many = [Guess(f"{number:02}", 1.0) for number in range(41)]
    assert "The last 40 are drawn." in calibration_picture(many).kind
