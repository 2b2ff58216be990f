"""Each answer that a person grades has a rubric, whose points are those of its cell."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from labs.course import rubric
from support.paths import REPOSITORY


def answers(notebook: Path) -> dict[str, float]:
    """The points of each cell that a person grades."""
    found = {}
    for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]:
        own = cell["metadata"].get("nbgrader", {})
        if own.get("grade") and own.get("solution"):
            found[own["grade_id"]] = float(own["points"])
    return found


def test_each_answer_has_a_rubric_with_the_points_of_its_cell() -> None:
    asked = {path.stem: answers(path) for path in REPOSITORY.glob("notebooks/*/*.ipynb")}
    given = {
        lab: {answer: sum(each.points for each in criteria) for answer, criteria in own.items()}
        for lab, own in rubric.of_labs().items()
    }
    assert given == {lab: own for lab, own in asked.items() if own}
    assert len(given) >= 8


def test_two_criteria_of_an_answer_have_two_names() -> None:
    """A page keeps what was chosen by the names of the criteria, at the beginnings of lines."""
    for own in rubric.of_labs().values():
        for criteria in own.values():
            names = [f"{each.what}:" for each in criteria]
            assert len(set(names)) == len(names)
            assert all(len({level.text for level in each.levels}) > 1 for each in criteria)


@pytest.mark.parametrize(
    ("criterion", "said"),
    [
        ({"what": "Limit", "levels": [[0, "None."], [1, "One."]]}, "down to 0 points"),
        ({"what": "Limit", "levels": [[1, "One."], [0.5, "Half."]]}, "down to 0 points"),
        ({"what": "Limit", "levels": [[1, "One."], [1, "Two."], [0, "None."]]}, "down to 0"),
        ({"what": "Limit", "levels": []}, "down to 0"),
        ({"what": " ", "levels": [[1, "One."], [0, "None."]]}, "needs words"),
        ({"what": "Limit", "levels": [[1, ""], [0, "None."]]}, "needs words"),
        ({"levels": [[1, "One."], [0, "None."]]}, "what"),
        ("unknown", "unknown"),
        (7, "01-lab: report"),
    ],
)
def test_a_mistake_in_a_rubric_is_named(criterion: object, said: str) -> None:
    stated = {"labs": {"01-lab": {"report": [criterion]}}}
    with pytest.raises(rubric.BadRubric, match=f"(?s)01-lab: report.*{said}|{said}"):
        rubric.parse(json.dumps(stated), {})


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"criteria": {"one": 1}, "labs": {}}'])
def test_a_file_that_holds_no_rubrics_is_refused(text: str) -> None:
    with pytest.raises(rubric.BadRubric, match=r"rubrics\.json"):
        rubric.parse(text, {})


def test_a_course_has_its_own_rubric_for_one_lab_and_the_kits_for_the_others(
    tmp_path: Path,
) -> None:
    own = {"what": "Sources", "levels": [[3, "All are named."], [0, "None is named."]]}
    stated = {"labs": {"01-timer-overhead": {"report": ["limit", own]}}}
    (tmp_path / rubric.NAME).write_text(json.dumps(stated), encoding="utf-8")
    kit, course = rubric.of_labs(), rubric.of_course(tmp_path)
    assert [each.what for each in course["01-timer-overhead"]["report"]] == ["Limit", "Sources"]
    assert {lab for lab in kit if course[lab] != kit[lab]} == {"01-timer-overhead"}
    assert rubric.of_course(tmp_path / "another") == kit
    (tmp_path / rubric.NAME).write_bytes(b"\xff")
    with pytest.raises(rubric.BadRubric, match=r"rubrics\.json"):
        rubric.of_course(tmp_path)
