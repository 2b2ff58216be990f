"""Predictions: their form, how they are compared with what was found, and when they are shown."""

from __future__ import annotations

import asyncio
import json
import os
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from labs import limits, views
from labs.course import figures, guide, lab_names, predicted_and_found, predictions
from labs.course.figures import Figure
from labs.course.guide import Asked, Guide
from labs.course.predicted_and_found import Compared
from labs.course.predictions import RIGHT_WITHIN, Prediction, is_near
from labs.html import Table
from labs.messages import Refused
from labs.notebook import predicting, typed_numbers, way_through_labs
from labs.notebook.predicting import PredictionForm
from labs.notebook.run import Run
from labs.notebook.session import Session
from labs.plots.guesses import Guess, calibration_picture
from labs.recording.file import read
from labs.results.results_compared import Comparison
from labs.results.run_warnings import RunWarning
from labs.units import factor_text
from support import simulate
from support.paths import FIXTURES
from support.simulate import Machine

# Predictions: late ones, those that count, those withdrawn or renamed, and replies that help.


GUIDE = Guide(
    {},
    (),
    predictions={
        "call-cost": Asked("What does a call cost?", "ns", "cold"),
        "switch-ratio": Asked("How many times more?", "times", "pairs"),
    },
)


def predict(folder: Path, name: str, value: Any, unit: str = "ns", **more: Any) -> str:
    """The message about a prediction, as text."""
    return repr(predicting.prediction(folder, GUIDE, name, Prediction(value, unit, **more)))


def record(folder: Path, name: str) -> Path:
    path = folder / "recordings" / f"{name}.csv"
    path.parent.mkdir(exist_ok=True)
    path.write_text("")
    return path


def test_a_prediction_after_its_recording_is_kept_as_a_late_one(tmp_path: Path) -> None:
    assert "Prediction stored: call-cost = 20 ns" in predict(tmp_path, "call-cost", 20)
    predict(tmp_path, "call-cost", 30)
    record(tmp_path, "cold")
    said = predict(tmp_path, "call-cost", 300)
    assert "late prediction stored: call-cost = 300 ns" in said
    assert "recordings/cold.csv exists already" in said
    assert "your earlier one of 30 ns counts" in said
    assert "This prediction is late" not in predict(tmp_path, "switch-ratio", 2, "times"), (
        "not run yet"
    )
    stored = json.loads((tmp_path / predictions.FILE_NAME).read_text())
    assert [each["late"] for each in stored["call-cost"]] == [False, False, True]
    counts = predictions.counting(predictions.read(tmp_path)["call-cost"])
    assert counts is not None and counts.value == 30


def test_a_stored_prediction_is_recalled_next_to_what_was_found(tmp_path: Path) -> None:
    def recalled(name: str, found: Comparison | None = None) -> str:
        return repr(predicting.recalled(tmp_path, GUIDE, name, found))

    assert "you stored no prediction switch-ratio" in recalled("switch-ratio")
    predict(tmp_path, "switch-ratio", 0.7, "times")
    assert recalled("switch-ratio") == "Note: you predicted 0.7 times (switch-ratio)"
    found = Comparison("threads", "processes", "us", -1.0, (-1.2, -0.8), 0.5, (0.42, 0.58), True)
    said = recalled("switch-ratio", found)
    assert "you predicted 0.7 times" in said
    assert "You found 0.50 (0.42 to 0.58) times: threads divided by processes." in said
    unknown = replace(found, ratio=None, ratio_interval=None)
    assert "no ratio: processes may be 0" in recalled("switch-ratio", unknown)
    record(tmp_path, "cold")
    predict(tmp_path, "call-cost", 20)
    assert "late: it does not count" in recalled("call-cost")
    with pytest.raises(Refused):
        recalled("switch-cost")


def test_any_number_of_late_ones_leaves_the_one_that_counts(tmp_path: Path) -> None:
    predict(tmp_path, "call-cost", 20)
    record(tmp_path, "cold")
    for value in range(limits.MOST_VERSIONS + 3):
        predictions.put(tmp_path, "call-cost", Prediction(value, "ns"), "cold")
    versions = predictions.read(tmp_path)["call-cost"]
    assert len(versions) == limits.MOST_VERSIONS
    counts = predictions.counting(versions)
    assert counts is not None and counts.value == 20
    assert versions[-1].value == limits.MOST_VERSIONS + 2


def test_if_all_are_late_none_counts(tmp_path: Path) -> None:
    record(tmp_path, "cold")
    assert "does not count in your calibration" in predict(tmp_path, "call-cost", 300)
    versions = predictions.read(tmp_path)["call-cost"]
    assert predictions.counting(versions) is None
    assert predictions.shown(versions) == (versions[-1], True)


def test_a_cell_that_runs_again_changes_nothing(tmp_path: Path) -> None:
    predict(tmp_path, "call-cost", 20, because="two loads", sure=0.5)
    before = (tmp_path / predictions.FILE_NAME).read_bytes()
    record(tmp_path, "cold")
    said = predict(tmp_path, "call-cost", 20, because="two loads", sure=0.5)
    assert said.startswith("Prediction kept")
    assert (tmp_path / predictions.FILE_NAME).read_bytes() == before


def test_one_may_be_certain(tmp_path: Path) -> None:
    predict(tmp_path, "call-cost", 20, because="two loads", sure=1)
    assert [each.sure for each in predictions.read(tmp_path)["call-cost"]] == [1]


def test_a_stored_sureness_beyond_certain_is_left_out(tmp_path: Path) -> None:
    stated = [{"value": 20, "unit": "ns", "sure": sure} for sure in (0, 0.7, 1, 70, -0.1)]
    (tmp_path / predictions.FILE_NAME).write_text(json.dumps({"call-cost": stated}))
    kept = [each.sure for each in predictions.read(tmp_path)["call-cost"]]
    assert kept == [0, 0.7, 1, None, None]


@pytest.mark.parametrize("late", [False, True])
def test_the_plot_draws_the_one_that_counts(tmp_path: Path, late: bool) -> None:
    made = [Prediction(5, "ns", late=late), Prediction(7, "ns", late=late)]
    stated = [{"value": each.value, "unit": "ns", "late": each.late} for each in made]
    stated.append({"value": 9, "unit": "ns", "late": True})
    (tmp_path / predictions.FILE_NAME).write_text(json.dumps({"timer-overhead-fenced": stated}))
    mark = Session("01-timer-overhead", tmp_path).marks("timer_overhead", ("fenced",))["fenced"]
    assert (mark.value, mark.name) == (
        (9, "your late prediction") if late else (7, "your prediction")
    )


# ---------------------------------------------------------------------------- replies that help


@pytest.mark.parametrize(
    ("value", "unit", "more", "reply"),
    [
        ("200 ns", "", {}, 'lab.predict("call-cost", 200, "ns")'),
        ("0.2us", "ns", {}, 'lab.predict("call-cost", 0.2, "us")'),
        ("1e3", "", {}, 'without quotes: lab.predict("call-cost", 1000, "ns")'),
        ("1,5", "ns", {}, "write 1.5, or 15"),
        ("many", "ns", {}, "'many' is no number; write one such as 200 or 1e3"),
        (200, "", {}, 'name the unit too: lab.predict("call-cost", 200, "ns")'),
        (200, "ns", {"sure": 70}, "write sure=0.7 for 70 %"),
        (200, "ns", {"sure": -1}, "sure must be a number from 0"),
        (-3, "ns", {}, "value must be a number of 0 or more"),
    ],
)
def test_a_wrong_form_is_answered_with_the_right_one(
    tmp_path: Path, value: Any, unit: str, more: dict[str, Any], reply: str
) -> None:
    with pytest.raises(Refused) as refused:
        predict(tmp_path, "call-cost", value, unit, **more)
    assert refused.value.message.heading == "prediction not stored"
    assert reply in repr(refused.value.message)
    assert not (tmp_path / predictions.FILE_NAME).exists()


def test_an_id_that_the_lab_does_not_ask_for_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="did you mean call-cost"):
        predict(tmp_path, "call-csot", 20)
    with pytest.raises(Refused, match="there is call-cost, switch-ratio"):
        predict(tmp_path, "zzz", 20)
    assert not (tmp_path / predictions.FILE_NAME).exists()
    free = predicting.prediction(tmp_path, Guide({}, ()), "anything", Prediction(2, "ns"))
    assert free.tone == "stored", "a lab without a guide takes any id"


def test_without_an_id_the_reply_names_one(tmp_path: Path) -> None:
    name: Any = 200
    with pytest.raises(
        Refused, match=r'begin with the id .*lab\.predict\("call-cost", 200, "ns"\)'
    ):
        predict(tmp_path, name, "ns", "")


def test_numbers_are_read_as_python_reads_them() -> None:
    for text, value in (("200", 200), ("1e3", 1000), (" .5 ", 0.5), ("1_000", 1000), ("3.", 3)):
        assert typed_numbers.number(text) == value


@pytest.mark.parametrize(
    "text", ["", "-1", "1e999", "nan", "0x10", "1 000", "1,000", "2 ns", "1__0"]
)
def test_what_is_no_number_gets_a_reply(text: str) -> None:
    with pytest.raises(typed_numbers.NotANumber):
        typed_numbers.number(text)


@pytest.mark.parametrize(
    ("text", "share"), [("0.7", 0.7), ("70 %", 0.7), ("70%", 0.7), ("", None), ("0", 0), ("1", 1)]
)
def test_confidence_is_typed_as_in_python(text: str, share: float | None) -> None:
    assert typed_numbers.share(text) == share
    for wrong in ("70", "101 %", "-1", "sure"):
        with pytest.raises(typed_numbers.NotANumber):
            typed_numbers.share(wrong)


@pytest.mark.parametrize("unit", ["times", "x", " x", "×"])
def test_a_ratio_is_compared_however_its_unit_is_spelled(tmp_path: Path, unit: str) -> None:
    said = predict(tmp_path, "switch-ratio", 2, unit)
    assert "Prediction stored: switch-ratio = 2 times" in said
    (stored,) = predictions.read(tmp_path)["switch-ratio"]
    assert predictions.comparable(stored.unit, "times") and stored.unit == "times"


def test_a_unit_that_no_figure_has_is_reported_while_it_can_be_changed(tmp_path: Path) -> None:
    said = predict(tmp_path, "switch-ratio", 2, "ns")
    assert "predict again in times" in said and said.startswith("Note")
    assert "predict again" not in predict(tmp_path, "call-cost", 2, "us")


# -------------------------------------------------------------------------- withdrawn, renamed


def test_a_prediction_can_be_withdrawn(tmp_path: Path) -> None:
    predict(tmp_path, "call-cost", 20)
    predict(tmp_path, "switch-ratio", 2, "times")
    assert "withdrawn: call-cost" in repr(predicting.forget(tmp_path, GUIDE, "call-cost", None))
    assert set(predictions.read(tmp_path)) == {"switch-ratio"}
    with pytest.raises(Refused, match="did you mean switch-ratio"):
        predicting.forget(tmp_path, GUIDE, "switch-rato", None)
    predicting.forget(tmp_path, GUIDE, "switch-ratio", None)
    with pytest.raises(Refused, match="there is none yet"):
        predicting.forget(tmp_path, GUIDE, "switch-ratio", None)


def test_a_prediction_under_an_old_id_can_be_renamed(tmp_path: Path) -> None:
    predictions.put(tmp_path, "old", Prediction(20, "ns", when="2026-03-01T09:30:00+00:00"))
    predict(tmp_path, "call-cost", 30)
    said = repr(predicting.forget(tmp_path, GUIDE, "old", "call-cost"))
    assert "call-cost has 2 versions now" in said
    assert [each.value for each in predictions.read(tmp_path)["call-cost"]] == [20, 30]
    with pytest.raises(Refused, match="did you mean call-cost"):
        predicting.forget(tmp_path, GUIDE, "call-cost", "call-csot")
    with pytest.raises(Refused, match="has this id already"):
        predicting.forget(tmp_path, GUIDE, "call-cost", "call-cost")
    assert [each.value for each in predictions.read(tmp_path)["call-cost"]] == [20, 30]


@pytest.mark.parametrize("first", ["prediction", "recording"])
def test_renaming_makes_no_late_prediction_an_early_one(tmp_path: Path, first: str) -> None:
    predictions.put(tmp_path, "old", Prediction(20, "ns", when="2026-03-01T09:30:00+00:00"))
    recording = record(tmp_path, "cold")
    at = 1_800_000_000 if first == "prediction" else 1_700_000_000  # 2027, 2023
    os.utime(recording, (at, at))
    said = repr(predicting.forget(tmp_path, GUIDE, "old", "call-cost"))
    counts = predictions.counting(predictions.read(tmp_path)["call-cost"])
    assert (counts is None) == (first == "recording") == ("This prediction is late" in said)


# ------------------------------------------------------------------------------------- the form


@pytest.fixture
def form(tmp_path: Path) -> PredictionForm:
    return PredictionForm(tmp_path, GUIDE, "call-cost")


def said(form: PredictionForm) -> str:
    return re.sub(r"<[^>]+>", "", form.fields.said.value)


def test_a_form_stores_what_is_typed_and_shows_its_line(
    form: PredictionForm, tmp_path: Path
) -> None:
    fields = form.fields
    assert ("µs", "us") in fields.unit.options and fields.unit.value == "ns"
    assert form.line().python == 'lab.predict("call-cost", ..., "ns", because="...", sure=...)'
    fields.number.value = "1e3"
    assert said(form) == "That is 1,000 ns."
    fields.unit.value = "us"
    assert said(form) == "That is 1,000 µs."
    fields.because.value, fields.sure.value = 'two "loads"', "0.6"
    line = form.line().python
    assert line == 'lab.predict("call-cost", 1000, "us", because="two \\"loads\\"", sure=0.6)'
    fields.store.click()
    assert said(form) == "Stored."
    made = predictions.read(tmp_path)["call-cost"]
    assert [(each.value, each.unit, each.because, each.sure) for each in made] == [
        (1000, "us", 'two "loads"', 0.6)
    ]
    assert "Prediction stored: call-cost = 1000 µs" in form.line()._repr_html_()


def test_what_arrives_after_the_click_is_stored_too(form: PredictionForm, tmp_path: Path) -> None:
    """A browser holds back what is typed while the Jupyter kernel is busy, but no click."""

    async def type_and_click() -> None:
        form.fields.number.value = "20"
        form.fields.store.click()
        form.fields.number.value = "200"
        assert not (tmp_path / predictions.FILE_NAME).exists()
        await asyncio.sleep(2 * predicting._SETTLING_S)

    asyncio.run(type_and_click())
    assert [each.value for each in predictions.read(tmp_path)["call-cost"]] == [200]


@pytest.mark.parametrize(
    ("number", "sure", "reply"),
    [
        ("", "", "write a number, such as 200 or 1e3"),
        ("200 ns", "", "write only 200 here, and choose ns as the unit"),
        ("many", "", "is no number"),
        ("200", "70", "from 0 (a guess) to 1 (certain)"),
    ],
)
def test_what_is_typed_wrongly_is_answered_and_not_stored(
    form: PredictionForm, tmp_path: Path, number: str, sure: str, reply: str
) -> None:
    form.fields.number.value, form.fields.sure.value = number, sure
    if number:
        assert reply in said(form)[0].lower() + said(form)[1:]
    form.store()
    assert said(form).startswith("Not stored: ") and reply in said(form)
    assert not (tmp_path / predictions.FILE_NAME).exists()


def test_a_form_that_is_shown_again_has_what_is_stored(tmp_path: Path) -> None:
    """A restart of the Jupyter kernel loses nothing."""
    predict(tmp_path, "call-cost", 0.5, "us", because="a guess", sure=0.3)
    again = PredictionForm(tmp_path, GUIDE, "call-cost")
    line = 'lab.predict("call-cost", 0.5, "us", because="a guess", sure=0.3)'
    assert again.line().python == line, "also where no widgets are made"
    fields = again.fields
    typed_in = (fields.number.value, fields.unit.value, fields.because.value, fields.sure.value)
    assert typed_in == ("0.5", "us", "a guess", "0.3")
    assert again.line().python == line
    assert "Your prediction: 0.5 us" in repr(again.line())
    again.store()
    assert len(predictions.read(tmp_path)["call-cost"]) == 1


def test_a_number_of_any_size_can_be_read_again(form: PredictionForm, tmp_path: Path) -> None:
    form.fields.number.value = "1e308"
    form.store()
    assert predictions.read(tmp_path)["call-cost"][0].value == 1e308
    assert "1e+308" in form.line().python


def test_a_form_says_before_that_a_prediction_is_late(tmp_path: Path) -> None:
    record(tmp_path, "cold")
    late = PredictionForm(tmp_path, GUIDE, "call-cost")
    late.fields.number.value = ""
    assert "a prediction made now is kept as a late one" in said(late)
    late.fields.number.value = "3"
    late.store()
    assert predictions.read(tmp_path)["call-cost"][0].late


def test_a_ratio_has_its_own_unit(tmp_path: Path) -> None:
    ratio = PredictionForm(tmp_path, GUIDE, "switch-ratio")
    assert ratio.fields.unit.options == (("times", "times"),)
    with pytest.raises(Refused, match="did you mean switch-ratio"):
        PredictionForm(tmp_path, GUIDE, "switch-rato")


def test_a_file_that_cannot_be_read_is_named_when_storing(tmp_path: Path) -> None:
    (tmp_path / predictions.FILE_NAME).write_text("{ my notes")
    broken = PredictionForm(tmp_path, GUIDE, "call-cost")
    broken.fields.number.value = "3"
    broken.store()
    assert "not valid JSON" in repr(broken.line())


def test_outside_a_notebook_the_line_is_printed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Session("01-timer-overhead", tmp_path).predict("timer-overhead-fenced")
    printed = capsys.readouterr().out
    assert guide.of_lab("01-timer-overhead").predictions["timer-overhead-fenced"].asks in printed
    assert 'lab.predict("timer-overhead-fenced", ..., "ns", because="...", sure=...)' in printed


# Guesses over all labs: which count, how far off they were, and how that is drawn.


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
    (row,) = predicted_and_found.of_labs(folder.parent)
    assert (row.predicted.value, row.versions, row.late) == (40, 3, False)
    assert row.as_text() == "2 times less"
    table = predicted_and_found.table((row,))
    assert "before the recording counts" in table.caption
    assert table.rows[0][2] == "40 ns (of 3 versions)"
    assert predicted_and_found.calibration((row,)) == (
        "Your one guess so far came within a factor of 2.",
    )


def test_a_late_one_is_marked_and_not_counted(folder: Path) -> None:
    predicted(folder, (19, True), (21, True))
    figures.put(folder, Figure(ID, 20, "ns", None))
    (row,) = predicted_and_found.of_labs(folder.parent)
    assert (row.predicted.value, row.late) == (21, True)
    assert row.as_text() == "within 10 %, but late: it does not count"
    assert predicted_and_found.calibration((row,)) == ()


def test_what_has_no_factor_is_said_in_words_and_not_counted() -> None:
    for guess, found, unit, told in (
        ((2, "choice"), 2, "choice", "the same conclusion"),
        ((2, "choice"), 1, "choice", "another conclusion"),
        ((0, "ns"), 1, "ns", "these two have no ratio"),
        ((2, "ns"), -1, "ns", "these two have no ratio"),
        ((5e-324, "ns"), 1e300, "s", "these two have no ratio"),
        ((2, "cycles"), 1, "ns", "in another unit"),
        ((2, "times"), 1, "times", "2 times less"),
        ((2, "us"), 1, "ms", "500 times as much"),
    ):
        predicted = predictions.Prediction(*guess)
        row = Compared(LAB, ID, predicted, 1, Figure(ID, found, unit, None))
        assert row.as_text() == told
        assert bool(predicted_and_found.calibration((row,))) == told.endswith(("less", "much"))


def test_a_guide_may_name_the_figure_that_answers(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = {"pair": guide.Asked("What?", "ns", "fenced", ID)}
    mine = guide.Guide({}, (), predictions=asked)
    monkeypatch.setattr(guide, "of_lab", lambda lab: mine)
    predicted(folder, (10, False), name="pair")
    figures.put(folder, Figure(ID, 20, "ns", None))
    (row,) = predicted_and_found.of_labs(folder.parent)
    assert row.as_text() == "2 times as much"


def test_a_prediction_without_a_figure_waits_for_none(folder: Path) -> None:
    other = folder.parent / "07-switch-footprint"
    other.mkdir()
    predicted(other, (128, False), name="footprint-bend")
    predicted(folder, (20, False))
    told = [row.as_text() for row in predicted_and_found.of_labs(folder.parent)]
    assert told == ["no figure yet", "compare it with the run in its cell"]


def test_a_ratio_that_a_lab_found_answers_a_prediction_without_a_figure(folder: Path) -> None:
    other, name = folder.parent / "07-switch-footprint", "footprint-threads"
    other.mkdir()
    predictions.put(other, name, Prediction(0.6, "times"))
    for ratio in (0.3, 1.2):
        predictions.put_found(other, name, ratio)
    (row,) = predicted_and_found.of_labs(folder.parent)
    assert (row.as_text(), row.versions) == ("2 times as much", 1)
    assert predicted_and_found.calibration((row,)), "the guess counts"


def test_a_prediction_that_its_lab_does_not_ask_for_is_said_to_be_one(folder: Path) -> None:
    predicted(folder, (19, False), name="timer-overhad")
    predicted(folder, (19, False))
    told = {row.id: row.as_text() for row in predicted_and_found.of_labs(folder.parent)}
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
    way_through_labs.wrap_up(folder.parent, folder.name)
    shown = capsys.readouterr().out
    assert "Dot plot of 2 predictions" in shown
    assert "1 of 1 guess came within a factor of 2" in shown
    assert "1 prediction was late, and does not count" in shown
    assert "Your one guess so far came within a factor of 2" in shown


def test_without_a_figure_nothing_is_drawn(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    predicted(folder, (10, False))
    way_through_labs.wrap_up(folder.parent, folder.name)
    assert "Dot plot" not in capsys.readouterr().out
    with pytest.raises(ValueError, match="no guess"):
        calibration_picture([], RIGHT_WITHIN)


def test_a_guess_within_a_factor_of_two_is_right() -> None:
    for factor, right, text in (
        (1.05, True, "within 10 %"),
        (2.0, True, "2 times as much"),
        (0.5, True, "2 times less"),
        (2.1, False, "2.1 times as much"),
        (0.25, False, "4 times less"),
        (1e300, False, "more than 1,000,000 times as much"),
    ):
        assert is_near(factor) == right
        said = calibration_picture([Guess("a", factor)], RIGHT_WITHIN).meaning
        assert said.startswith(f"{right:d} of 1 guess") and ("Further off" in said) != right
        assert factor_text(factor) == text


def test_the_picture_says_what_it_shows() -> None:
    guesses = [Guess("a", 1.5, 0.6), Guess("b", 8), Guess("c", 0.01, 0.9), Guess("d", 1, 0.5, True)]
    shown = calibration_picture(guesses, RIGHT_WITHIN)
    assert shown.image.startswith(b"<svg")
    assert "1 of 3 guesses came within a factor of 2. Further off: 1 too low and 1 too high." in (
        shown.meaning
    )
    assert "1 prediction was late" in shown.meaning
    assert [row[-1] for row in shown.table.rows] == ["yes", "yes", "yes", "no: late"]
    assert "late" not in calibration_picture(guesses[:3], RIGHT_WITHIN).meaning
    three = calibration_picture([*guesses[:2], Guess("e", 9)], RIGHT_WITHIN).meaning
    assert three.endswith("Further off: 2 too low.")
    # The table and the words agree about what is printed as 2.03.
    assert (
        "0 of 1 guess came within a factor of 2."
        in calibration_picture([Guess("a", 2.03)], RIGHT_WITHIN).meaning
    )
    assert factor_text(2.03) == "2.03 times as much"


def test_guesses_that_are_far_off_or_many_can_be_drawn() -> None:
    far = [Guess("long-" * 20, 1e-300, 1.0), Guess("", 1e300), Guess("late only", 1, None, True)]
    assert calibration_picture(far, RIGHT_WITHIN).image
    many = [Guess(f"{number:02}", 1.0) for number in range(41)]
    assert "The last 40 are drawn." in calibration_picture(many, RIGHT_WITHIN).kind


# A warning that would answer "What is wrong here?" is shown with the explanation, not before.


CASES = [(lab, each) for lab in lab_names.labs() for each in guide.of_lab(lab).held_back]

#: By lab: a view of the run that a student opens before the question.
VIEWS: dict[str, Callable[[Run], Table]] = {
    "01-timer-overhead": lambda run: views.after_subtracting(run, 0),
    "06-process-and-thread-switch": views.switches,
}


def run_of(lab: str, held: guide.HeldBack) -> Run:
    """A run that has the warning: the honest student's, or one in which 20 ticks are missing."""
    honest = Run.of(read(FIXTURES / "honest" / lab / "recordings" / f"{held.run}.csv"))
    if any(each.code == held.warning for each in honest.warnings):
        return honest
    return Run.of(simulate.run(Machine(overhead=-20, batches=(64, 128, 256, 512)), 1))


def cause_of(run: Run, code: str) -> RunWarning:
    (found,) = (each for each in run.warnings if each.code == code)
    return found


@pytest.mark.parametrize(("lab", "held"), CASES)
def test_the_cause_comes_after_the_students_own_words(
    lab: str, held: guide.HeldBack, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    session = Session(lab, tmp_path)
    run = run_of(lab, held)
    likely = cause_of(run, held.warning).likely_cause
    assert likely in repr(run), "a run of another name keeps its warnings"

    session.keep(held.run, run)
    for shown in (repr(run), run._repr_html_(), run.plot()._repr_html_()):
        assert likely not in shown
    assert not any(likely in warning for warning in VIEWS[lab](run).warnings)
    assert f'lab.answer("{held.until}", ...)' in repr(run)
    session.answer(held.until, "")
    assert likely not in capsys.readouterr().out

    session.answer(held.until, "The work is not there.")
    assert likely in capsys.readouterr().out
    assert likely in repr(run)
    assert any(likely in warning for warning in VIEWS[lab](run).warnings)
    assert "lab.answer" not in repr(run)


def test_there_are_cases_and_each_question_is_asked() -> None:
    assert len(CASES) >= 2
