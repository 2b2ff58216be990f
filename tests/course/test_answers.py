"""What a student writes to a question: kept with its time, shown beside the explanation."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from labs import limits
from labs.course import answers, guide, lab_names
from labs.course.guide import Guide
from labs.messages import Message, Refused
from labs.notebook.predicting import AnswerForm
from labs.notebook.way_through_labs import BesideExplanation, answered

GUIDE = Guide({}, (), explanations={"wrong": ("The clock <is> coarse.", "Twice."), "why": ("So.",)})


def show(folder: Path, name: str, text: Any = "") -> BesideExplanation | Message:
    return answered(folder, GUIDE, name, text)


def test_own_words_stand_beside_the_explanation(tmp_path: Path) -> None:
    shown = show(tmp_path, "wrong", "It <b>waits</b> for nothing.")
    assert isinstance(shown, BesideExplanation)
    page = shown._repr_html_()
    assert "It &lt;b&gt;waits&lt;/b&gt; for nothing." in page
    assert "The clock &lt;is&gt; coarse." in page and "<b>" not in page
    assert "What you wrote first" not in page
    text = repr(shown)
    assert text.index("waits") < text.index("coarse")


def test_code_in_an_explanation_is_set_as_code(tmp_path: Path) -> None:
    asked = Guide({}, (), explanations={"wrong": ("Use `a<b` twice, `c`.", "One ` is no code.")})
    page = answered(tmp_path, asked, "wrong", "because")._repr_html_()
    assert ">Use <code>a&lt;b</code> twice, <code>c</code>.</div>" in page
    assert ">One ` is no code.</div>" in page


def test_every_version_is_kept_and_the_first_one_shown_again(tmp_path: Path) -> None:
    for text in ("first idea", "second idea", "second idea", "third idea"):
        shown = show(tmp_path, "wrong", text)
    kept = answers.read(tmp_path)["wrong"]
    assert [each.text for each in kept] == ["first idea", "second idea", "third idea"]
    assert all(each.when for each in kept)
    assert "first idea" in repr(shown) and "second idea" not in repr(shown)
    again = show(tmp_path, "wrong")
    assert "third idea" in repr(again), "without a text, what is stored is shown again"


@pytest.mark.parametrize("blank", ["", " \n", "...", "…", "?!", None, ...])
def test_nothing_is_revealed_before_something_is_written(tmp_path: Path, blank: Any) -> None:
    shown = show(tmp_path, "wrong", blank)
    assert isinstance(shown, Message)
    assert (shown.tone, shown.sentences) == ("open", ())
    assert "coarse" not in shown.as_html()
    assert not (tmp_path / answers.FILE_NAME).exists()


def test_an_unknown_question_is_refused_with_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="no question 'elsewhere'; there is wrong, why"):
        show(tmp_path, "elsewhere", "text")
    with pytest.raises(Refused, match="did you mean wrong"):
        show(tmp_path, "wrnog", "text")
    with pytest.raises(Refused, match="it asks for none"):
        answered(tmp_path, Guide({}, ()), "wrong", "text")
    assert not (tmp_path / answers.FILE_NAME).exists()


@pytest.mark.parametrize("text", ["x" * (limits.MOST_OWN_WORDS + 1), 7, ["a"], "half \ud800"])
def test_what_is_no_answer_is_refused(tmp_path: Path, text: Any) -> None:
    with pytest.raises(Refused, match=r"at most 4,000 characters"):
        show(tmp_path, "wrong", text)
    assert not (tmp_path / answers.FILE_NAME).exists()


def test_the_indentation_of_a_cell_is_no_part_of_an_answer(tmp_path: Path) -> None:
    show(tmp_path, "wrong", "\n    One.\n      Two.\n    ")
    assert answers.read(tmp_path)["wrong"][0].text == "One.\n  Two."


def test_a_file_that_cannot_be_read_is_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / answers.FILE_NAME
    path.write_text("{ my notes")
    with pytest.raises(Refused, match=r"answers\.json is not valid JSON"):
        show(tmp_path, "wrong", "text")
    assert path.read_text() == "{ my notes"
    path.write_text(json.dumps({"why": [{"text": 3}, {"text": "so", "when": 4}], "wrong": "mine"}))
    assert answers.read(tmp_path) == {"why": (answers.Answer("so"),)}


def test_many_long_versions_leave_a_file_that_can_still_be_read(tmp_path: Path) -> None:
    long = "é" * (limits.MOST_OWN_WORDS - 2)
    for number in range(limits.MOST_VERSIONS):
        show(tmp_path, "wrong", f"{number:02}{long}")
    show(tmp_path, "why", "short")
    assert (tmp_path / answers.FILE_NAME).stat().st_size <= limits.MOST_JSON_BYTES
    kept = answers.read(tmp_path)
    assert kept["wrong"][0].text.startswith("00")
    assert kept["wrong"][-1].text.startswith(f"{limits.MOST_VERSIONS - 1}")
    assert 1 < len(kept["wrong"]) < limits.MOST_VERSIONS
    assert kept["why"][0].text == "short"


def test_each_answer_that_is_a_step_has_an_explanation() -> None:
    for lab in lab_names.labs():
        known = guide.of_lab(lab)
        for step in known.steps:
            assert step.kind != "answer" or step.name in known.explanations, (lab, step.name)
            assert step.kind != "prediction" or step.name in known.predictions, (lab, step.name)


@pytest.mark.parametrize(
    "stated",
    [
        [],
        {"hints": {"a": ["one", "two"]}},
        {"hints": {"a": ["one", " ", "three"]}},
        {"hints": {"a": ["one", "two", "word " * 51]}},
        {"steps": [{"do": "x", "done_by": "magic:x"}]},
        {"steps": [{"do": "x"}]},
        {"steps": [{"do": "x", "done_by": "report"}]},
        {"steps": [{"do": "x", "done_by": "answer:x", "variant": "fenced"}]},
        {"explanations": {"wrong": []}},
        {"explanations": {"wrong": ["one", " "]}},
        {"explanations": {"wrong": "one text"}},
        {"predictions": {"a": {"asks": "What?", "unit": "ns"}}},
        {"predictions": {"a": {"asks": "What?", "unit": " ", "before": "run"}}},
        {"predictions": {"a": {"asks": "What?", "unit": "ns", "before": "run", "more": 1}}},
        {"predictions": {"a": "What?"}},
        {"steps": [{"do": "x", "done_by": "report:name"}]},
        {"steps": [{"do": "x", "done_by": "answer:"}]},
    ],
)
def test_a_guide_with_such_a_mistake_is_named(stated: object) -> None:
    with pytest.raises(guide.BadGuide, match=r"^here\.json: "):
        guide.parse(json.dumps(stated), "here.json")


# ------------------------------------------------------------------------------------- the form


def form_in(folder: Path) -> AnswerForm:
    return AnswerForm(lambda text: show(folder, "wrong", text))


def test_a_form_keeps_what_is_typed_and_shows_the_explanation(tmp_path: Path) -> None:
    form = form_in(tmp_path)
    assert form.text.value == "" and "coarse" not in repr(form.below())
    form.button.click()
    assert "write what you think" in repr(form.below()), "nothing is kept of nothing"
    assert not (tmp_path / answers.FILE_NAME).exists()
    form.text.value = "It waits.\n\nFor <nothing>."
    form.button.click()
    assert answers.read(tmp_path)["wrong"][0].text == "It waits.\n\nFor <nothing>."
    page = form.below()._repr_html_()
    assert "For &lt;nothing&gt;." in page and "coarse" in page


def test_a_form_that_is_shown_again_has_the_answer_and_its_explanation(tmp_path: Path) -> None:
    show(tmp_path, "wrong", "first idea")
    show(tmp_path, "wrong", "second idea")
    again = form_in(tmp_path)
    assert again.text.value == "second idea"
    assert "coarse" in repr(again.below())


def test_what_a_form_cannot_keep_is_told_below_it(tmp_path: Path) -> None:
    form = form_in(tmp_path)
    form.text.value = "x" * (limits.MOST_OWN_WORDS + 1)
    form.button.click()
    assert "answer not stored" in repr(form.below())
    assert not (tmp_path / answers.FILE_NAME).exists()
