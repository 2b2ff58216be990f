"""Whatever a student hands in, it is graded from the released notebook and told of.

One batch of real `nbgrader autograde` holds every bad input; each test looks at one of them.
"""

from __future__ import annotations

import copy
import json
import os
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from nbconvert.filters.markdown import markdown2html

from grader.judging.presentation import EVIDENCE_CELL
from grader.submissions.submitted_notebook import neutral
from testing.small_course import FIGURES, LAB, MARKER, Course, cell

#: The batch counts as part of the test that asks for it first: some 50 submissions, half a minute
#: of computing, which took 99 s beside eight other programs.
pytestmark = pytest.mark.timeout(300)

FULL: dict[str, float | None] = {"cost": 4.0, "step": 1.5, "report": None}
Case = Callable[[Course], Any]
CASES: dict[str, Case] = {}


def case(submission: Case) -> Case:
    """Registers the maker of one submission; its name is the student's."""
    CASES[submission.__name__] = submission
    return submission


def edited(course: Course, student: str, change: Callable[[list[dict[str, Any]]], Any]) -> None:
    """Submits the answered notebook with its cells changed in place."""
    notebook = course.answered()
    change(notebook["cells"])
    course.submit(student, notebook)


def marks(cells: list[dict[str, Any]], index: int) -> dict[str, Any]:
    found: dict[str, Any] = cells[index]["metadata"]["nbgrader"]
    return found


@case
def broken_json(course: Course) -> None:
    text = json.dumps(course.answered(), indent=1)
    course.submit("broken_json", text[: len(text) // 2])


@case
def merge_conflict(course: Course) -> None:
    lines = json.dumps(course.answered(), indent=1).splitlines()
    course.submit("merge_conflict", "\n".join([*lines[:4], "<<<<<<< HEAD", *lines[4:]]))


@case
def not_utf8(course: Course) -> None:
    folder = course.submit("not_utf8")
    (folder / f"{LAB}.ipynb").write_bytes(b'{"cells": "\xff\xfe"}')


@case
def format_3(course: Course) -> None:
    cells = [
        {**one, "input": one["source"]} if one["cell_type"] == "code" else one
        for one in course.answered()["cells"]
    ]
    for one in cells:
        if "input" in one:
            del one["source"]
    course.submit("format_3", {"nbformat": 3, "worksheets": [{"cells": cells}], "metadata": {}})


@case
def enormous(course: Course) -> None:
    folder = course.submit("enormous", course.answered())
    with (folder / f"{LAB}.ipynb").open("ab") as file:
        file.truncate(200_000_000)


@case
def many_lines(course: Course) -> None:
    """Each is a heading, and every step that shows the answer makes a link for each heading."""
    edited(course, "many_lines", lambda cells: cells[4].update(source="#\n" * 9_000))


@case
def million_digits(course: Course) -> None:
    text = json.dumps(course.answered())
    course.submit("million_digits", text[:-1] + ', "n": ' + "9" * 1_000_000 + "}")


@case
def duplicated_cells(course: Course) -> None:
    def change(cells: list[dict[str, Any]]) -> None:
        stub = course.released()["cells"][4]
        cells.insert(4, stub)  # the copy that was not worked on comes first
        cells.append(copy.deepcopy(cells[6]))

    edited(course, "duplicated_cells", change)


@case
def added_test_cell(course: Course) -> None:
    more = cell("mine", "code", "100", "cost-2", grade=True, locked=True, points=100)
    edited(course, "added_test_cell", lambda cells: cells.append(more))


@case
def unlocked_and_edited(course: Course) -> None:
    def change(cells: list[dict[str, Any]]) -> None:
        marks(cells, 5).update(locked=False, grade=False, solution=True)
        cells[5]["source"] = f"open({MARKER!r}, 'w')"

    edited(course, "unlocked_and_edited", change)


@case
def script_in_answer(course: Course) -> None:
    text = "<script>alert(1)</script> [go](javascript:alert(2)) ![x](//spy.example/x.png) 1 < 2"
    edited(course, "script_in_answer", lambda cells: cells[4].update(source=text))


@case
def script_in_names(course: Course) -> None:
    name = "`<img src=x onerror=alert(3)>`"
    more = cell("mine", "code", "1", name, grade=True, points=1)
    edited(course, "script_in_names", lambda cells: cells.append(more))


@case
def outputs_kept(course: Course) -> None:
    result = {
        "output_type": "execute_result",
        "data": {"text/plain": "4"},
        "metadata": {},
        "execution_count": 1,
    }

    def change(cells: list[dict[str, Any]]) -> None:
        for one in cells:
            if one["cell_type"] == "code":
                one["outputs"] = [result] * 1000

    edited(course, "outputs_kept", change)


@case
def no_notebook(course: Course) -> None:
    folder = course.submit("no_notebook")
    (folder / "recordings").mkdir()
    (folder / "recordings" / "of-the-author.csv").write_text("mine")


@case
def renamed_notebook(course: Course) -> None:
    folder = course.submit("renamed_notebook", course.answered())
    (folder / f"{LAB}.ipynb").rename(folder / f"Copy of {LAB} (1).ipynb")
    (folder / "scratch.ipynb").write_text("{}")


@case
def links_pipes_and_devices(course: Course) -> None:
    folder = course.submit("links_pipes_and_devices", course.answered())
    (folder / "recordings").mkdir()
    (folder / "recordings" / "endless.csv").symlink_to("/dev/zero")
    (folder / "recordings" / "theirs.csv").symlink_to(
        course.folder / "submitted" / "honest" / LAB / "figures.json"
    )
    os.mkfifo(folder / "recordings" / "pipe.csv")
    (folder / "up").symlink_to("..", target_is_directory=True)


@case
def notebook_is_a_pipe(course: Course) -> None:
    folder = course.submit("notebook_is_a_pipe")
    os.mkfifo(folder / f"{LAB}.ipynb")


@case
def notebook_is_a_folder(course: Course) -> None:
    (course.submit("notebook_is_a_folder") / f"{LAB}.ipynb").mkdir()


@case
def notebook_is_a_link(course: Course) -> None:
    folder = course.submit("notebook_is_a_link")
    (folder / f"{LAB}.ipynb").symlink_to(f"../../honest/{LAB}/{LAB}.ipynb")


@case
def timestamp_is_nonsense(course: Course) -> None:
    folder = course.submit("timestamp_is_nonsense", course.answered())
    (folder / "timestamp.txt").write_text("9" * 150)


@case
def timestamp_is_a_pipe(course: Course) -> None:
    folder = course.submit("timestamp_is_a_pipe", course.answered())
    os.mkfifo(folder / "timestamp.txt")


@case
def huge_file(course: Course) -> None:
    folder = course.submit("huge_file", course.answered())
    with (folder / "core").open("wb") as file:
        file.truncate(50_000_000_000)


@case
def many_files(course: Course) -> None:
    folder = course.submit("many_files", course.answered())
    (folder / "logs").mkdir()
    for number in range(2000):
        (folder / "logs" / f"{number}.txt").touch()
    (folder / "recordings").mkdir()
    (folder / "recordings" / "run.csv").write_text("evidence")


@case
def name_in_no_encoding(course: Course) -> None:
    folder = course.submit("name_in_no_encoding", course.answered())
    (folder / os.fsdecode(b"\xff\x1b[31m`<b>.csv")).symlink_to("x")


@case
def data_overwritten(course: Course) -> None:
    folder = course.submit("data_overwritten", course.answered())
    (folder / "data.csv").write_text("x,y\n1,9\n")


#: Notebooks of text, each with what it holds.
TEXTS = {
    "empty_file": "",
    "not_a_notebook": "[1, 2, 3]",
    "no_cells": '{"cells": {"a": 1}, "metadata": 3}',
    "nested_too_deeply": "[" * 200_000,
}
CASES |= {name: partial(Course.submit, student=name, notebook=text) for name, text in TEXTS.items()}

#: Answered notebooks, each with what is changed in its cells.
EDITS: dict[str, Callable[[list[Any]], Any]] = {
    "huge_answer": lambda cells: cells[4].update(source="x" * 1_000_000),
    "deleted_cells": lambda cells: cells.__delitem__(slice(4, 6)),
    "changed_points": lambda cells: marks(cells, 5).update(points=400),
    "nonsense_points": lambda cells: marks(cells, 5).update(points=["many"]),
    "renamed_ids": lambda cells: marks(cells, 4).update(grade_id="my-report"),
    "stripped_metadata": lambda cells: [c.update(metadata={}) for c in cells],
    "wrong_metadata": lambda cells: [c.update(metadata=[7]) for c in cells],
    "old_schema": lambda cells: marks(cells, 5).update(schema_version=1),
    "future_schema": lambda cells: marks(cells, 5).update(schema_version=99),
    "changed_type": lambda cells: cells[4].update(cell_type="raw"),
    "cells_that_are_none": lambda cells: cells.extend([None, 3, {"source": 4}]),
    "half_a_surrogate": lambda cells: cells[4].update(source="a \ud800 \x00 b"),
}
CASES |= {name: partial(edited, student=name, change=change) for name, change in EDITS.items()}
CASES["honest"] = lambda course: course.submit("honest", course.answered())
CASES["untouched"] = lambda course: course.submit("untouched", course.released(), figures={})
CASES["nothing_at_all"] = lambda course: course.submit("nothing_at_all", figures=None)


@pytest.fixture(scope="module")
def batch(tmp_path_factory: pytest.TempPathFactory) -> Course:
    """All submissions, graded in one batch by the stock command."""
    course = Course(tmp_path_factory.mktemp("rebuild"))
    course.generate()
    for submission in CASES.values():
        submission(course)
    before = everything_submitted(course.folder)
    course.done = course.run("autograde", LAB)
    assert everything_submitted(course.folder) == before
    return course


def everything_submitted(folder: Path) -> list[tuple[str, int]]:
    paths = sorted((folder / "submitted").rglob("*"))
    return [(str(path), path.lstat().st_mtime_ns) for path in paths]


def test_batch_grades_everyone_and_succeeds(batch: Course) -> None:
    assert batch.done.returncode == 0, batch.done.stderr[-3000:]
    graded = {path.name for path in (batch.folder / "autograded").iterdir()}
    assert graded == set(CASES)


def test_no_code_was_run(batch: Course) -> None:
    assert not list(batch.folder.rglob(MARKER))


# How the notebook is handed in changes nothing about the figures.
@pytest.mark.parametrize("student", sorted(set(CASES) - {"untouched", "nothing_at_all"}))
def test_figures_are_graded_all_the_same(batch: Course, student: str) -> None:
    assert batch.scores(student) == FULL


@pytest.mark.parametrize("student", sorted(CASES))
def test_graded_notebook_has_the_released_cells_and_points(batch: Course, student: str) -> None:
    def shape(notebook: dict[str, Any]) -> list[tuple[object, ...]]:
        return [
            (c["id"], c["cell_type"], c["metadata"]["nbgrader"].get("points"))
            for c in notebook["cells"]
            if c["metadata"].get("nbgrader")
        ]

    assert shape(batch.graded(student)) == shape(batch.released())


ANSWERED = (
    "honest format_3 million_digits duplicated_cells added_test_cell changed_points "
    "nonsense_points unlocked_and_edited stripped_metadata old_schema future_schema changed_type "
    "cells_that_are_none outputs_kept renamed_notebook links_pipes_and_devices many_files "
    "huge_file"
)


@pytest.mark.parametrize("student", ANSWERED.split())
def test_answers_are_moved_in(batch: Course, student: str) -> None:
    assert batch.source(student, "report") == "answer to report"
    assert batch.source(student, "answer-python") == "answer to answer-python"
    assert batch.source(student, "answer-c") == "%%ckernel\nanswer to answer-c"


UNREADABLE = {
    "broken_json": r"not valid JSON \(line [0-9]+, column [0-9]+\)",
    "merge_conflict": r"not valid JSON \(line 5, column 1\)",
    "empty_file": "empty file",
    "not_a_notebook": "not a notebook: it is no object",
    "no_cells": "not a notebook: it has no list of cells",
    "nested_too_deeply": "nested too deeply",
    "not_utf8": "not UTF-8 text: byte 11",
    "enormous": "larger than 16 MB",
    "no_notebook": "no notebook of this name",
    "notebook_is_a_pipe": "cannot be opened: not a regular file",
    "notebook_is_a_folder": "cannot be opened: not a regular file",
    "notebook_is_a_link": "links are not followed",
    "deleted_cells": "not in the submitted notebook",
    "renamed_ids": "not in the submitted notebook",
    "wrong_metadata": "",
    "huge_answer": "longer than 20000 characters",
    "many_lines": "longer than 2000 lines",
}


@pytest.mark.parametrize("student", sorted(set(UNREADABLE) - {"wrong_metadata", "renamed_ids"}))
def test_unreadable_answer_is_left_to_a_person(batch: Course, student: str) -> None:
    text = batch.source(student, "report")
    assert re.search(f"^No readable answer: .*{UNREADABLE[student]}", text), text
    assert batch.scores(student)["report"] is None


TOLD = {
    "broken_json": "not valid JSON",
    "format_3": "old format",
    "deleted_cells": "answer cell `report`: deleted",
    "duplicated_cells": "locked cell `cost`: appears 2 times",
    "added_test_cell": "added graded cell `cost-2`",
    "changed_points": "locked cell `cost`: its points were changed",
    "nonsense_points": "locked cell `cost`: its points were changed",
    "unlocked_and_edited": "locked cell `cost`: it was unlocked",
    "renamed_ids": "added graded cell `my-report`",
    "stripped_metadata": "without nbgrader's metadata",
    "wrong_metadata": "without nbgrader's metadata",
    "changed_type": "turned into `raw`",
    "cells_that_are_none": "3 entries in the list of cells are not cells",
    "renamed_notebook": f"found under the name `Copy of {LAB} (1).ipynb`",
    "links_pipes_and_devices": "recordings/pipe.csv: a pipe, socket or device",
    "huge_file": "core: 50000000000 bytes",
    "many_files": "more than 500 files",
    "no_notebook": "no notebook of this name was handed in",
}


@pytest.mark.parametrize("student", sorted(TOLD))
def test_instructor_is_told(batch: Course, student: str) -> None:
    assert TOLD[student] in batch.set_aside(student)
    assert f"{student}, {LAB}: " in batch.done.stderr


def test_honest_submission_has_nothing_set_aside(batch: Course) -> None:
    assert batch.set_aside("honest") == ""
    # One more: what the recordings say, beside the report.
    assert len(batch.graded("honest")["cells"]) == len(batch.released()["cells"]) + 1


def test_untouched_stub_gets_no_points(batch: Course) -> None:
    assert batch.scores("untouched") == {"cost": 0.0, "step": 0.0, "report": 0.0}


def test_links_are_not_followed(batch: Course) -> None:
    taken = batch.folder / "autograded" / "links_pipes_and_devices" / LAB / "recordings"
    assert not taken.exists()


def test_evidence_is_not_overwritten_by_the_source(batch: Course) -> None:
    folder = batch.folder / "autograded" / "no_notebook" / LAB
    assert (folder / "recordings" / "of-the-author.csv").read_text() == "mine"
    assert (batch.folder / "autograded" / "data_overwritten" / LAB / "data.csv").read_text() == (
        "x,y\n1,2\n"
    )


def test_evidence_is_taken_in_before_anything_else(batch: Course) -> None:
    folder = batch.folder / "autograded" / "many_files" / LAB
    assert (folder / "recordings" / "run.csv").read_text() == "evidence"


def test_students_outputs_are_never_kept(batch: Course) -> None:
    ours = {"f-cost", "f-step", f"{EVIDENCE_CELL}1"}
    for one in batch.graded("outputs_kept")["cells"]:
        if one["cell_type"] == "code" and one["id"] not in ours:
            assert one["outputs"] == []


def test_no_html_of_a_student_reaches_the_notebook(batch: Course) -> None:
    for student in ("script_in_answer", "script_in_names", "name_in_no_encoding"):
        for one in batch.graded(student)["cells"]:
            if one["cell_type"] == "markdown":
                text = "".join(one["source"])
                assert not any(tag in text for tag in ("<script", "<img", "<b>"))


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "`x` <svg/onload=alert(1)>",
        "<!-- <b> -->",
        "<javascript:alert(1)>",
        "[x](javascript:alert(1))",
        "[x](JavaScript\\:alert(1))",
        "[x](<java&#115;cript:alert(1)>)",
        "[x](javascript&colon;alert(1))",
        "[x]\n\n[x]: vbscript:alert(1)",
        "![x](data:text/html,alert(1))",
        "[x](&#106;avascript:alert(1))",
        "$<img src=x onerror=alert(1)>$",
    ],
)
def test_neutral_text_is_harmless_in_stock_nbconvert(text: str) -> None:
    page = markdown2html(neutral(text))
    assert not re.search(r"<(script|img src=.x|svg|!--|b\b)", page), page
    assert not re.search(r"(href|src)=.(javascript|vbscript|data)\s*:", page, re.IGNORECASE), page


def test_neutral_text_reads_the_same() -> None:
    for text in ("a < b", "$x<y$ & z", "#include <stdio.h>", "data: 3 ns", "AT&T", "&lt;"):
        assert neutral(text).replace("\u2060", "") == text
    assert neutral("a < b and c & d, 5<6, R&D;") == "a < b and c & d, 5<6, R&\u2060D;"


def test_no_script_reaches_feedback(batch: Course) -> None:
    done = batch.run("generate_feedback", LAB, "--student", "script_in_answer")
    assert done.returncode == 0, done.stderr
    path = batch.folder / "feedback" / "script_in_answer" / LAB / f"{LAB}.html"
    page = path.read_text()
    body = page[page.index("<body") :]
    assert "alert(1)" in body  # as text
    assert "<script>alert" not in body
    assert "javascript:alert" not in body
    assert 'src="//spy.example' not in body


def test_grading_without_a_release_says_what_to_run(tmp_path: Path) -> None:
    course = Course(tmp_path)
    course.submit("ada", "{}", FIGURES)
    done = course.run("autograde", LAB)
    assert done.returncode == 1
    assert f"nbgrader generate_assignment {LAB}" in done.stderr
