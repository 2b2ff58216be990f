"""A bad entry of figures.json costs only its own figure, with the same words everywhere."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from nbformat.v4 import new_code_cell, new_notebook

from bench.fuzz.strategies import ANY_JSON
from grader import check as check_in_notebook
from grader.commands.cli import main
from grader.figures import figures_of
from grader.figures.verdict import Outcome, Verdict
from grader.judging.lab_folder import check_folder
from grader.with_nbgrader.replay import Replay
from labs.course import answers, figures, predictions
from labs.course.answers import BadAnswers
from labs.course.figures import FILE_NAME, BadFigure, Figure
from labs.course.predictions import BadPredictions, Prediction
from support.paths import FIXTURES

LAB = "01-timer-overhead"
HONEST = FIXTURES / "honest" / LAB
STATED: dict[str, Any] = json.loads((HONEST / FILE_NAME).read_text("utf-8"))
SPECS = {spec.id: spec for spec in figures_of(LAB)}

SAME_EVERY_TIME = settings(
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    max_examples=20,
)
ENTRIES = ANY_JSON | st.fixed_dictionaries(
    {"value": ANY_JSON, "unit": ANY_JSON, "recording": ANY_JSON, "when": ANY_JSON}
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An honest submission; each test writes another figures.json into it."""
    copy = tmp_path_factory.mktemp("bad-json") / LAB
    shutil.copytree(HONEST, copy)
    return copy


def verdicts(folder: Path, text: str) -> dict[str, Verdict]:
    """The verdicts if figures.json holds `text`, without flags, which compare all entries."""
    (folder / FILE_NAME).write_text(text, "utf-8")
    return {each.figure: replace(each, flags=()) for each in check_folder(folder, LAB)}


@pytest.fixture(scope="module")
def honest(folder: Path) -> dict[str, Verdict]:
    found = verdicts(folder, json.dumps(STATED))
    assert {verdict.outcome for verdict in found.values()} == {Outcome.PASSED}
    return found


def others(name: str) -> list[str]:
    """The figures whose verdict does not rest on the figure `name`."""
    return [
        each for each, spec in SPECS.items() if name not in (each, *spec.of, *spec.compare_with)
    ]


@SAME_EVERY_TIME
@given(name=st.sampled_from(sorted(figures.read(HONEST))), entry=ENTRIES)
def test_any_value_of_one_entry_leaves_the_other_verdicts_as_they_were(
    name: str, entry: object, folder: Path, honest: dict[str, Verdict]
) -> None:
    found = verdicts(folder, json.dumps(STATED | {name: entry}))
    assert {each: found[each] for each in others(name)} == {
        each: honest[each] for each in others(name)
    }
    assert found[name].outcome is Outcome.FAILED


SPOILT = {
    "a duplicate": (
        "%s, %s",
        "its name appears in line 1 and again in line 1; keep one of the two",
    ),
    "a comma missing": (
        '"timer-step": {"value": 1 "unit": "ns"}, %.0s%.0s',
        "it is not valid JSON (line 1, column 28): a comma is missing here",
    ),
    "NaN": (
        '"timer-step": {"value": NaN, "unit": "ticks"}, %.0s%.0s',
        "value must be a finite number such as 16.4, without quotes, not NaN",
    ),
    "nested deep": (
        '"timer-step": ' + "[" * 50_000 + "]" * 50_000 + ", %.0s%.0s",
        "it has more than 20 nested objects and lists (line 1)",
    ),
}


@pytest.mark.parametrize("case", SPOILT)
def test_a_spoilt_entry_is_told_in_the_same_words_everywhere(
    case: str, folder: Path, honest: dict[str, Verdict], capsys: pytest.CaptureFixture[str]
) -> None:
    form, what = SPOILT[case]
    entry = f'"timer-step": {json.dumps(STATED["timer-step"])}'
    rest = json.dumps({name: each for name, each in STATED.items() if name != "timer-step"})
    found = verdicts(folder, "{" + form % (entry, entry) + "," + rest[1:])
    assert {each: found[each] for each in others("timer-step")} == {
        each: honest[each] for each in others("timer-step")
    }
    finding = found["timer-step"].findings[0]
    assert finding.code == "figure-unreadable"
    told = f"Entry timer-step: {what}."
    assert finding.evidence == told
    assert main(["check", str(folder)]) == 1
    assert told in " ".join(capsys.readouterr().out.split())
    assert told in " ".join(repr(check_in_notebook("timer-step", folder)).split())
    assert told in " ".join(autograded(folder, "timer-step").split())


def autograded(folder: Path, figure: str) -> str:
    """The text that autograding writes into the test cell of a figure."""
    marks = {"grade": True, "solution": False, "locked": True, "points": 4, "grade_id": figure}
    cell = new_code_cell(metadata={"nbgrader": marks})  # type: ignore[no-untyped-call]
    resources = {"metadata": {"path": str(folder)}, "nbgrader": {"notebook": LAB, "student": "a"}}
    notebook = new_notebook(cells=[cell])  # type: ignore[no-untyped-call]
    graded, _ = Replay().preprocess(notebook, resources)
    return str(graded.cells[0].outputs[0]["data"]["text/plain"])


def test_a_file_that_cannot_be_read_is_told_once_for_each_figure(folder: Path) -> None:
    for verdict in verdicts(folder, '{"timer-step": {"value": 1}').values():
        assert [each.code for each in verdict.findings] == ["figure-unreadable"]
        assert verdict.findings[0].evidence == (
            "figures.json is not valid JSON (line 1, column 1): this { has no partner."
        )


@pytest.mark.parametrize("stated", [2, 0, True, "1", None, {"value": 26}])
def test_a_file_of_another_format_is_refused_and_stays(folder: Path, stated: object) -> None:
    text = json.dumps({**STATED, "format": stated})
    for verdict in verdicts(folder, text).values():
        assert [each.code for each in verdict.findings] == ["figure-unreadable"]
        assert 'states another "format" than 1' in verdict.findings[0].evidence
    with pytest.raises(figures.BadFigures, match="use the kit that wrote the file"):
        figures.put(folder, figures.Figure("timer-step", 2, "ticks", None))
    assert (folder / FILE_NAME).read_text("utf-8") == text


def test_the_kit_states_the_format_and_a_file_by_hand_need_not(folder: Path) -> None:
    by_hand = {name: entry for name, entry in STATED.items() if name != "format"}
    (folder / FILE_NAME).write_text(json.dumps(by_hand), "utf-8")
    before = figures.read(folder)
    figures.put(folder, figures.Figure("timer-step", 2, "ticks", None))
    assert json.loads((folder / FILE_NAME).read_text("utf-8"))["format"] == 1
    assert figures.read(folder).keys() == {*before, "timer-step"}


# --------------------------------------------------------------- predictions, in the same way


@settings(SAME_EVERY_TIME, max_examples=200)
@given(text=ANY_JSON.map(json.dumps) | st.text(max_size=50) | st.text(alphabet='{}[]":,1\\ \n'))
def test_any_text_is_predictions_and_figures_or_reasons(
    text: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.getbasetemp() / "any-text"
    folder.mkdir(exist_ok=True)
    readers = ((predictions, BadPredictions), (answers, BadAnswers), (figures, figures.BadFigures))
    for module, bad in readers:
        (folder / module.FILE_NAME).write_text(text, "utf-8")
        try:
            module.read(folder)
        except bad as error:
            assert str(error).startswith(module.FILE_NAME)


GOOD = {"value": 20, "unit": "ns", "because": "two reads", "sure": 0.7, "when": "2026-03-01"}


@SAME_EVERY_TIME
@given(entry=ENTRIES)
def test_any_other_prediction_leaves_a_good_one_as_it_is(
    entry: object, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.getbasetemp() / "predictions"
    folder.mkdir(exist_ok=True)
    stated = {"bad": entry, "good": [GOOD, entry]}
    (folder / predictions.FILE_NAME).write_text(json.dumps(stated), "utf-8")
    assert predictions.read(folder)["good"][0] == Prediction(
        20, "ns", "two reads", 0.7, "2026-03-01"
    )


@pytest.mark.parametrize(
    ("prediction", "told"),
    [
        (Prediction(float("nan"), "ns"), "value must be a number of 0 or more, not NaN"),
        (Prediction(-1, "ns"), "value must be a number of 0 or more, not -1"),
        (Prediction(True, "ns"), "value must be a number of 0 or more, not true"),
        (Prediction(1, " "), "unit must be a short text such as ns, not ' '"),
        (Prediction(1, "ns", sure=70),
            "sure must be a number from 0 (a guess) to 1 (certain), not 70"),
        (Prediction(1, "ns", because=3), "because must be a text, not 3"),  # type: ignore[arg-type]
    ],
)  # fmt: skip
def test_what_is_no_prediction_is_told(prediction: Prediction, told: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="must be") as raised:
        predictions.put(tmp_path, "cost", prediction)
    assert str(raised.value) == told
    assert list(tmp_path.iterdir()) == []


def test_a_prediction_is_not_added_to_what_cannot_be_read(tmp_path: Path) -> None:
    path = tmp_path / predictions.FILE_NAME
    path.write_text('{"a": [], "a": []}')
    with pytest.raises(BadPredictions) as raised:
        predictions.put(tmp_path, "b", Prediction(1, "ns"))
    assert str(raised.value) == (
        "predictions.json, entry a: its name appears in line 1 and again in line 1; "
        "keep one of the two"
    )
    path.write_bytes(b"\xef\xbb\xbf" + json.dumps({"a": [GOOD]}).encode())
    predictions.put(tmp_path, "b", Prediction(1, "ns"))
    assert set(predictions.read(tmp_path)) == {"a", "b"}


def test_numbers_of_numpy_are_numbers(tmp_path: Path) -> None:
    numpy = pytest.importorskip("numpy")
    for number in (numpy.float64(2), numpy.int64(2), numpy.float32(2)):
        figures.put(tmp_path, Figure("cost", number, "ns", None))
        predictions.put(tmp_path, "cost", Prediction(number, "ns"))
        found = figures.read(tmp_path)["cost"]
        assert not isinstance(found, BadFigure) and found.value == 2
        assert predictions.read(tmp_path)["cost"][-1].value == 2
