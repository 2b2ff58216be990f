"""A notebook and its Markdown are the same: each lab becomes the other, byte by byte, and back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from testing import notebook
from testing.paths import REPOSITORY

PATHS = sorted((REPOSITORY / "notebooks").glob("*/*.ipynb"))
LAB = "03-system-call"


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_the_markdown_of_a_lab_makes_the_same_file(path: Path) -> None:
    file = path.read_text(encoding="utf-8")
    assert notebook.as_file(notebook.of_text(path.stem, notebook.as_text(json.loads(file)))) == file


def test_a_block_of_another_language_belongs_to_the_text() -> None:
    text = "<!-- read -->\n```c\nlong k;\n```\nRead it.\n"
    (cell,) = notebook.of_text(LAB, text)["cells"]
    assert (cell["cell_type"], "".join(cell["source"])) == (
        "markdown",
        "```c\nlong k;\n```\nRead it.",
    )


def test_what_nbgrader_must_know_follows_from_the_cell() -> None:
    text = (
        '```python figure check-floor\ncheck("system-call-floor")\n```\n\n'
        "```python decision choose\n### BEGIN SOLUTION\nx = 1\n### END SOLUTION\n```\n\n"
        "```python run-only look\nx\n```\n\n<!-- report: answer -->\nIt costs ...\n"
    )
    check, decision, look, report = notebook.of_text(LAB, text)["cells"]
    graded = check["metadata"]["nbgrader"]
    assert (graded["grade_id"], graded["points"], graded["locked"]) == (
        "system-call-floor",
        2,
        True,
    )
    assert decision["metadata"]["nbgrader"]["solution"]
    assert "points" not in decision["metadata"]["nbgrader"]
    assert look["metadata"] == {"tags": ["run-only"]}
    assert report["metadata"]["nbgrader"]["points"] == 4


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("It begins.\n", "line 1: .* belongs to no cell"),
        ("<!-- a -->\nText.\n\n```python run-only b\n1\n```\nMore.\n", "line 7: .* to no cell"),
        ("```python decide a\n1\n```\n", "decision"),
        ("```python run-only a\n1\n", "the code cell a has no end"),
        ("<!-- a -->\nText.\n```python run-only a\n1\n```\n", "2 cells have the id a"),
    ],
)
def test_what_is_no_notebook_is_refused_with_the_place(text: str, said: str) -> None:
    with pytest.raises(notebook.BadText, match=said):
        notebook.of_text(LAB, text)


@pytest.mark.parametrize(
    "text",
    ['```python figure check-x\ncheck("no-such-figure")\n```\n', "<!-- essay: answer -->\nText.\n"],
)
def test_a_figure_or_an_answer_without_points_is_named(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    draft = tmp_path / "draft.md"
    draft.write_text(text, encoding="utf-8")
    assert notebook.main([LAB, "--from", str(draft)]) == 1
    said = capsys.readouterr().err
    assert "grader/figures" in said and "rubrics.json" in said
    assert ("no-such-figure" in said) or ("essay" in said)
