"""Whatever a student hands in, it is graded from the released notebook and told of.

One batch of real `nbgrader autograde` holds every bad input; each test looks at one of them.
"""

from __future__ import annotations

import copy
import json
import os
import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbconvert.filters.markdown import markdown2html

from grader.figures.verdict import EVIDENCE_CELL
from grader.submissions.submitted_notebook import (
    StudentCell,
    Submitted,
    neutral,
    written_elsewhere,
)
from support.small_course import FIGURES, LAB, MARKER, Course, cell, source_notebook

#: The batch counts as part of the test that asks for it first: some 50 submissions, half a minute
#: of computing, which took 99 s beside eight other programs.

FULL: dict[str, float | None] = {"cost": 4.0, "step": 1.5, "report": None}
#: Whose report is as it was released, or not in any file.
NO_REPORT = {"untouched", "nothing_at_all", "only_code_in_a_copy"}
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


WORDS = "A fenced pair costs 42 ns, and a virtual machine may stop us."


def stub(cells: list[dict[str, Any]], course: Course) -> None:
    """Leaves the report as it was released."""
    cells[4]["source"] = course.released()["cells"][4]["source"]


def beside(course: Course, student: str, added: dict[str, Any], place: int) -> None:
    """Submits an untouched report, and a cell of the student's own at `place`."""

    def change(cells: list[dict[str, Any]]) -> None:
        stub(cells, course)
        cells.insert(place, added)

    edited(course, student, change)


@case
def answer_in_an_output(course: Course) -> None:
    stream = {"output_type": "stream", "name": "stdout", "text": [f"{WORDS}\n"]}
    shown = {"output_type": "display_data", "metadata": {}, "data": {"text/html": WORDS}}
    mine = cell("mine", "code", "print(open('my.txt').read())")
    beside(course, "answer_in_an_output", {**mine, "outputs": [shown, None, stream]}, 5)


@case
def answer_in_the_cell_of_another(course: Course) -> None:
    def change(cells: list[dict[str, Any]]) -> None:
        stub(cells, course)
        cells[2]["source"] = WORDS

    edited(course, "answer_in_the_cell_of_another", change)


@case
def answer_in_the_title(course: Course) -> None:
    def change(cells: list[dict[str, Any]]) -> None:
        stub(cells, course)
        cells[0]["source"] = "".join(cells[0]["source"]) + f"\n\n{WORDS}"

    edited(course, "answer_in_the_title", change)


@case
def answer_split(course: Course) -> None:
    """As JupyterLab splits a cell: both halves have the marks, the second has a new id."""

    def change(cells: list[dict[str, Any]]) -> None:
        cells[4]["source"] = "The first half."
        cells.insert(5, {**copy.deepcopy(cells[4]), "id": "split", "source": WORDS})

    edited(course, "answer_split", change)


@case
def answer_split_in_the_stub(course: Course) -> None:
    def change(cells: list[dict[str, Any]]) -> None:
        cells[4]["source"] = ""
        cells.insert(5, {**copy.deepcopy(cells[4]), "id": "split", "source": WORDS})

    edited(course, "answer_split_in_the_stub", change)


@case
def all_ids_lost(course: Course) -> None:
    def change(cells: list[dict[str, Any]]) -> None:
        cells[4]["source"] = WORDS
        for one in cells:
            one.update(metadata={"id": "of-another-editor"}, id=f"new-{id(one)}")

    edited(course, "all_ids_lost", change)


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


def with_another(course: Course, student: str, name: str, own: Any, other: Any) -> None:
    """Submits two notebooks: `own` under the lab's name, and `other` under the name `name`."""
    folder = course.submit(student, own)
    (folder / name).write_text(json.dumps(other))


def unlike(course: Course, answer: str = "another answer") -> Any:
    """The answered notebook with another report."""
    return json.loads(json.dumps(course.answered()).replace("answer to report", answer))


@case
def worked_in_a_copy(course: Course) -> None:
    own, worked = course.released(), course.answered()
    with_another(course, "worked_in_a_copy", f"{LAB}-Copy1.ipynb", own, worked)


@case
def only_code_in_a_copy(course: Course) -> None:
    worked = course.answered()
    worked["cells"][4]["source"] = course.released()["cells"][4]["source"]
    with_another(course, "only_code_in_a_copy", "0.ipynb", course.released(), worked)


@case
def worked_and_fetched_again(course: Course) -> None:
    own, again = course.answered(), course.released()
    with_another(course, "worked_and_fetched_again", f"{LAB} (1).ipynb", own, again)


@case
def backup_on_the_way(course: Course) -> None:
    backup = course.answered()
    backup["cells"][2]["source"] = course.released()["cells"][2]["source"]
    with_another(course, "backup_on_the_way", f"{LAB}-Copy1.ipynb", course.answered(), backup)


@case
def damaged_and_a_copy(course: Course) -> None:
    with_another(course, "damaged_and_a_copy", f"{LAB}-Copy1.ipynb", "{", course.answered())


@case
def two_answers(course: Course) -> None:
    own, other = course.answered(), unlike(course)
    with_another(course, "two_answers", f"{LAB}-Copy1.ipynb", own, other)


@case
def two_copies_with_answers(course: Course) -> None:
    folder = course.submit("two_copies_with_answers", course.released())
    (folder / f"{LAB}-Copy1.ipynb").write_text(json.dumps(course.answered()))
    (folder / f"{LAB} (1).ipynb").write_text(json.dumps(unlike(course, "x")))


@case
def many_notebooks(course: Course) -> None:
    folder = course.submit("many_notebooks", course.released())
    for number in range(20):
        (folder / f"0{number}.ipynb").write_text('{"cells": []}')
    (folder / f"{LAB}-Copy1.ipynb").write_text(json.dumps(course.answered()))


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
def many_files(course: Course) -> None:
    folder = course.submit("many_files", course.answered())
    (folder / "logs").mkdir()
    for number in range(2000):
        (folder / "logs" / f"{number}.txt").touch()
    (folder / "recordings").mkdir()
    (folder / "recordings" / "run.csv").write_text("evidence")


#: What is done in the folder of an answered notebook.
FILES: dict[str, Callable[[Path], Any]] = {
    "timestamp_is_nonsense": lambda folder: (folder / "timestamp.txt").write_text("9" * 150),
    "timestamp_is_a_pipe": lambda folder: os.mkfifo(folder / "timestamp.txt"),
    "huge_file": lambda folder: os.truncate(_touched(folder / "core"), 50_000_000_000),
    "name_in_no_encoding": lambda folder: (
        folder / os.fsdecode(b"\xff\x1b[31m`<b>.csv")
    ).symlink_to("x"),
    "data_overwritten": lambda folder: (folder / "data.csv").write_text("x,y\n1,9\n"),
}


def _touched(path: Path) -> Path:
    path.touch()
    return path


def with_file(course: Course, student: str, change: Callable[[Path], Any]) -> None:
    change(course.submit(student, course.answered()))


CASES |= {name: partial(with_file, student=name, change=change) for name, change in FILES.items()}
#: What stands beside an untouched report, by type and text, and where.
BESIDE = {
    "answer_below": ("markdown", WORDS, 5),
    "answer_above": ("markdown", WORDS, 4),
    "answer_in_code": ("code", f"# {WORDS}", 5),
    "answer_in_a_string": ("code", f'report = """{WORDS}"""', 5),
    "answer_printed": ("code", f"print('{WORDS}')", 5),
    "answer_far_away": ("markdown", WORDS, 0),
}
CASES |= {
    name: partial(beside, student=name, added=cell("mine", kind, text), place=place)
    for name, (kind, text, place) in BESIDE.items()
}
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
    # The author has run the source.
    evidence = course.folder / "source" / LAB / "recordings"
    evidence.mkdir()
    (evidence / "of-the-author.csv").write_text("the author's")
    authors = {"cost": {"points": 3.0}, "step": {"points": 2.0}}
    (evidence.parent / "figures.json").write_text(json.dumps(authors))
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


def test_however_a_notebook_is_handed_in_its_figures_are_graded_and_its_cells_are_those_released(
    batch: Course,
) -> None:
    def shape(notebook: dict[str, Any]) -> list[tuple[object, ...]]:
        return [
            (c["id"], c["cell_type"], c["metadata"]["nbgrader"].get("points"))
            for c in notebook["cells"]
            if c["metadata"].get("nbgrader")
        ]

    for student in CASES:
        assert shape(batch.graded(student)) == shape(batch.released()), student
        assert student in NO_REPORT or batch.scores(student) == FULL, student


ANSWERED = (
    "honest format_3 million_digits duplicated_cells added_test_cell changed_points "
    "nonsense_points unlocked_and_edited stripped_metadata old_schema future_schema changed_type "
    "cells_that_are_none outputs_kept renamed_notebook links_pipes_and_devices many_files "
    "huge_file worked_in_a_copy worked_and_fetched_again backup_on_the_way damaged_and_a_copy "
    "two_answers many_notebooks"
)


def test_answers_are_moved_in(batch: Course) -> None:
    for student in ANSWERED.split():
        assert batch.source(student, "report") == "answer to report", student
        assert batch.source(student, "answer-python") == "answer to answer-python", student
        assert batch.source(student, "answer-c") == "%%ckernel\nanswer to answer-c", student


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
    "huge_answer": "longer than 20000 characters",
    "many_lines": "longer than 2000 lines",
}


def test_unreadable_answer_is_left_to_a_person(batch: Course) -> None:
    for student, why in UNREADABLE.items():
        text = batch.source(student, "report")
        assert re.search(f"^No readable answer: .*{why}", text), (student, text)


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
    "worked_in_a_copy": f"`{LAB}.ipynb` was not read: it has no other answers",
    "only_code_in_a_copy": "found under the name `0.ipynb`",
    "damaged_and_a_copy": f"`{LAB}.ipynb` was not read: the notebook is not valid JSON",
    "many_notebooks": f"found under the name `{LAB}-Copy1.ipynb`",
    "two_answers": f"`{LAB}.ipynb` and `{LAB}-Copy1.ipynb` have different answers; those of "
    f"`{LAB}.ipynb` are graded. Ask the student which one counts. If it is another one, put it in "
    f"the place of `{LAB}.ipynb` in the student's folder in `submitted`, move the others away, "
    "and grade again with `--force`",
    "two_copies_with_answers": f"`{LAB} (1).ipynb` and `{LAB}-Copy1.ipynb` have different answers; "
    f"those of `{LAB} (1).ipynb` are graded.",
    "links_pipes_and_devices": "recordings/pipe.csv: a pipe, socket or device",
    "huge_file": "core: 50000000000 bytes",
    "many_files": "more than 500 files",
    "no_notebook": "no notebook of this name was handed in",
}


def test_instructor_is_told(batch: Course) -> None:
    for student, what in TOLD.items():
        assert what in batch.set_aside(student), student
        assert f"{student}, {LAB}: " in batch.done.stderr, student


def test_honest_submission_has_nothing_set_aside(batch: Course) -> None:
    for student in ("honest", "worked_and_fetched_again", "backup_on_the_way"):
        assert batch.set_aside(student) == ""
    # One more: what the recordings say, beside the report.
    assert len(batch.graded("honest")["cells"]) == len(batch.released()["cells"]) + 1


def test_untouched_stub_gets_no_points(batch: Course) -> None:
    assert batch.scores("untouched") == {"cost": 0.0, "step": 0.0, "report": 0.0}


ELSEWHERE = {
    "answer_below": "in a cell that the student added",
    "answer_above": "in a cell that the student added",
    "answer_in_code": "in a cell that the student added",
    "answer_in_a_string": "in a cell that the student added",
    "answer_printed": "in a cell that the student added",
    "answer_in_an_output": "in the output of a cell that the student added",
    "answer_in_the_cell_of_another": "in another cell of the lab",
    "answer_far_away": "in a cell that the student added",
    "answer_in_the_title": "in another cell of the lab",
    "answer_split": "in a second copy of its cell",
    "answer_split_in_the_stub": "appears 2 times",
    "all_ids_lost": "in a cell that the student added",
}


def test_an_answer_in_another_cell_is_shown_and_waits_for_a_person(batch: Course) -> None:
    for student, where in ELSEWHERE.items():
        assert WORDS in batch.source(student, "report"), student
        assert where in batch.set_aside(student), student


def test_its_student_reads_it_below_the_question(batch: Course) -> None:
    for student in ("answer_below", "answer_in_an_output", "answer_split"):
        page = feedback_of(batch, student)
        assert WORDS in page[page.index('id="answer-report"') :], student


def feedback_of(batch: Course, student: str) -> str:
    done = batch.run("generate_feedback", LAB, "--student", student)
    assert done.returncode == 0, done.stderr
    return (batch.folder / "feedback" / student / LAB / f"{LAB}.html").read_text()


#: What students add and is no answer.
PROGRAMS = ('lab.hint("report")', "fenced.value", "%timeit 1", "!ls my own files", "# note")


def written(
    source: dict[str, Any], place: int = 0, mine: StudentCell | None = None, **texts: str
) -> list[str]:
    """The answers to which `mine` belongs that was added at `place`; `texts` are those of cells, by
    their grade id, or else by their id."""
    released = nbformat.reads(json.dumps(source), as_version=4)  # type: ignore[no-untyped-call]
    names = [one["metadata"].get("nbgrader", {}).get("grade_id") for one in source["cells"]]
    own = [
        StudentCell(name, one["id"], one["cell_type"], texts.get(name or one["id"], one["source"]))
        for name, one in zip(names, source["cells"], strict=True)
    ]
    own[place:place] = [mine] if mine else []
    return list(written_elsewhere(released, Submitted(tuple(own))))


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("place", [0, 4, 5])
def test_a_program_next_to_an_answer_is_no_answer(place: int, program: str) -> None:
    assert written(source_notebook(), place, StudentCell(None, "mine", "code", program)) == []


ASKED = "**Do:** report the cost in two or three sentences. This is homework for 4 points."


def test_an_earlier_wording_of_the_lab_is_no_answer() -> None:
    """A teacher may correct a lab while students work in copies of the day before."""
    for theirs, found in (
        ("**Do:** report the cost in one or two sentences. This is homework for 3 points.", []),
        ("A reading costs 20 ns, by 1,000 samples of 10 processes on a quiet laptop.", ["report"]),
        (f"{ASKED}\nA reading costs 20 ns, by 1,000 samples on a quiet laptop.", ["report"]),
    ):
        source = source_notebook()
        source["cells"].insert(4, cell("asked", "markdown", ASKED))
        assert written(source, asked=theirs) == found


def test_text_next_to_code_belongs_to_the_answer_in_words_too() -> None:
    source = source_notebook()
    source["cells"][2]["metadata"]["nbgrader"] |= {"grade": True, "points": 1}
    text = StudentCell(None, "mine", "markdown", WORDS)
    assert written(source, 3, text) == ["answer-python", "report"]
    assert written(source, 3, text, report="Mine.") == ["answer-python"]
    assert written(source, 5, text) == ["report"]
    assert written(source, 0, text) == ["report"]


def test_an_output_is_no_answer_where_there_is_one() -> None:
    shown = [{"data": {"text/plain": WORDS}}]
    mine = StudentCell(None, "mine", "code", "show()", outputs=shown)
    assert written(source_notebook(), 5, mine) == ["report"]
    assert written(source_notebook(), 5, mine, report="Mine.") == []
    assert written(source_notebook(), 5, replace(mine, source=f"# {WORDS}")) == ["report"]
    for other in (None, 7, [7], [{"data": 7}], [{"text": ["fenced: 26 ns"]}]):
        assert written(source_notebook(), 5, replace(mine, outputs=other)) == []


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
    page = feedback_of(batch, "script_in_answer")
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
