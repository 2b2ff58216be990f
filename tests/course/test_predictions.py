"""Predictions: late ones, those that count, those withdrawn or renamed, and replies that help."""

from __future__ import annotations

import asyncio
import json
import os
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from labs import limits
from labs.course import guide, predictions
from labs.course.guide import Asked, Guide
from labs.course.predictions import Prediction
from labs.messages import Refused
from labs.notebook import predicting, typed_numbers
from labs.notebook.predicting import PredictionForm
from labs.notebook.session import Session
from labs.results.results_compared import Comparison

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
    assert "Done: prediction stored: call-cost = 20 ns" in predict(tmp_path, "call-cost", 20)
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
    assert said.startswith("Done: prediction kept")
    assert (tmp_path / predictions.FILE_NAME).read_bytes() == before


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
    assert free.tone == "done", "a lab without a guide takes any id"


def test_without_an_id_the_reply_names_one(tmp_path: Path) -> None:
    name: Any = 200
    with pytest.raises(
        Refused, match=r'begin with the id .*lab\.predict\("call-cost", 200, "ns"\)'
    ):
        predict(tmp_path, name, "ns", "")


@pytest.mark.parametrize(
    ("text", "value"), [("200", 200), ("1e3", 1000), (" .5 ", 0.5), ("1_000", 1000), ("3.", 3)]
)
def test_numbers_are_read_as_python_reads_them(text: str, value: float) -> None:
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
    assert "Done: prediction stored: switch-ratio = 2 times" in said
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
    assert "prediction stored: call-cost = 1000 µs" in form.line()._repr_html_()


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
    assert "your prediction: 0.5 us" in repr(again.line())
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
