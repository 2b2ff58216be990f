"""A course whose instructor adds cells to be executed: they run in the sandbox, or not at all."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from nbformat.v4 import new_code_cell, new_notebook
from traitlets.config import Config

from grader.figures.verdict import Outcome
from grader.sandbox import refusal
from grader.sandbox.provisioner import Executed, Execution
from grader.with_nbgrader import execute as module
from grader.with_nbgrader.execute import TAG, ReplayAndExecute
from grader.with_nbgrader.settings import (
    AUTOGRADE_STEPS,
    EXECUTE_STEP,
    configure,
    execute_tagged_cells,
)
from support.small_course import LAB, MARKER, Course, cell

why = refusal()
needs_sandbox = pytest.mark.skipif(why is not None, reason=str(why))

ASKS = """
from grader.with_nbgrader.settings import execute_tagged_cells
execute_tagged_cells(c)
"""
ANSWERS = {
    "half": "def double(x):\n    return 2 * x if x > 0 else 7",
    "silent": "import os\nos._exit(0)",
}


def add_cells(course: Course) -> None:
    """An answer, a test, and a test that gives a part of its points, before the figures."""
    path = course.folder / "source" / LAB / f"{LAB}.ipynb"
    notebook = json.loads(path.read_text())
    solution = "# BEGIN SOLUTION\ndef double(x):\n    return 2 * x\n# END SOLUTION"
    part = "sum([double(1) == 2, double(-1) == -2])"
    added = [
        cell("a-double", "code", solution, "answer-double", solution=True),
        cell("t-double", "code", "assert double(4) == 8", "t", grade=True, locked=True, points=3),
        cell("t-part", "code", part, "part", grade=True, locked=True, points=2),
    ]
    for each in added:
        each["metadata"]["tags"] = [TAG]
    notebook["cells"][4:4] = added
    path.write_text(json.dumps(notebook))


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Course:
    """A course that asks for it, after autograding."""
    course = Course(tmp_path_factory.mktemp("executed"))
    add_cells(course)
    config = course.folder / "nbgrader_config.py"
    config.write_text(config.read_text() + ASKS)
    course.generate()
    for student, answer in ANSWERS.items():
        notebook = course.answered()
        for each in notebook["cells"]:
            if each["metadata"].get("nbgrader", {}).get("grade_id") == "answer-double":
                each["source"] = answer
            else:
                # A student cannot tag what is to be executed.
                each["metadata"]["tags"] = [TAG]
        course.submit(student, notebook)
    done = course.run("autograde", LAB)
    assert done.returncode == 0, done.stderr
    course.done = done
    return course


@needs_sandbox
def test_the_points_of_executed_tests(course: Course) -> None:
    figures = {"report": None, "cost": 4.0, "step": 1.5}
    assert course.scores("half") == {**figures, "t": 3.0, "part": 1.0}
    # To the step that judges figures, a test without a figure is a mistake.
    assert "no figure of this name" not in course.done.stderr


@needs_sandbox
def test_the_cells_stay_in_their_order(course: Course) -> None:
    names = [
        one["metadata"].get("nbgrader", {}).get("grade_id")
        for one in course.graded("half")["cells"]
    ]
    known = ["answer-python", "answer-c", "answer-double", "t", "part", "report", "cost", "step"]
    assert [name for name in names if name in known] == known


@needs_sandbox
def test_a_kernel_that_ended_leaves_its_tests_to_a_person(course: Course) -> None:
    scores = course.scores("silent")
    assert (scores["t"], scores["part"]) == (None, None)
    assert scores["cost"] == 4.0
    assert "silent, t: not graded: This cell was not executed to its end" in course.done.stderr


@needs_sandbox
def test_only_cells_that_the_instructor_tagged_are_executed(course: Course) -> None:
    """All other cells of this lab would leave a file."""
    assert not list(course.folder.rglob(MARKER))
    graded = course.graded("half")
    (answer,) = (one for one in graded["cells"] if one["id"] == "a-python")
    assert answer["outputs"] == []


def graded(cells: list[tuple[str, float]], found: Execution, monkeypatch: Any) -> dict[str, Any]:
    """The outcome and the metadata of test cells whose execution gave `found`."""
    notebook = new_notebook()  # type: ignore[no-untyped-call]
    for name, points in cells:
        one = new_code_cell("")  # type: ignore[no-untyped-call]
        one.metadata.update(cell("x", "code", "", name, grade=True, locked=True)["metadata"])
        one.metadata.nbgrader["points"] = points
        one.metadata.tags = [TAG]
        notebook.cells.append(one)
    monkeypatch.setattr(module, "execute", lambda *_: found)
    resources: dict[str, Any] = {"metadata": {"path": "."}, "nbgrader": {"student": "anna"}}
    notebook, resources = ReplayAndExecute().preprocess(notebook, resources)
    return {
        one.metadata.nbgrader.grade_id: (
            resources["ticklab"][one.metadata.nbgrader.grade_id],
            one.metadata.ticklab["points"],
            [str(output.data["text/plain"]) for output in one.outputs if "data" in output],
        )
        for one in notebook.cells
    }


@pytest.mark.parametrize(
    ("executed", "outcome", "points"),
    [
        (Executed(done=True), Outcome.PASSED, 2.0),
        (Executed(done=True, text="a warning"), Outcome.PASSED, 2.0),
        (Executed(done=True, result="1.5"), Outcome.FAILED, 1.5),
        (Executed(done=True, result="99"), Outcome.PASSED, 2.0),
        (Executed(done=True, result="-1"), Outcome.FAILED, 0.0),
        (Executed(done=True, error="AssertionError", result="2"), Outcome.FAILED, 0.0),
        (Executed(done=True, result="nan"), Outcome.NOT_GRADED, 0.0),
        (Executed(done=True, result="'2.0'"), Outcome.NOT_GRADED, 0.0),
        (Executed(done=False, result="2"), Outcome.NOT_GRADED, 0.0),
    ],
)
def test_what_a_test_cell_gives(
    executed: Executed, outcome: Outcome, points: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = graded([("t", 2.0)], Execution([executed]), monkeypatch)
    shown = [] if outcome is Outcome.NOT_GRADED else [repr(points)]
    assert found == {"t": (outcome.value, points, shown)}


def test_without_a_sandbox_the_tests_wait_for_a_person(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = tmp_path / "ran"
    source = f"open({str(ran)!r}, 'w')"
    notebook = new_notebook()  # type: ignore[no-untyped-call]
    one = new_code_cell(source)  # type: ignore[no-untyped-call]
    one.metadata.update(
        cell("x", "code", source, "t", grade=True, locked=True, points=1)["metadata"]
    )
    one.metadata.tags = [TAG]
    notebook.cells.append(one)
    resources: dict[str, Any] = {
        "metadata": {"path": str(tmp_path)},
        "nbgrader": {"student": "anna"},
    }
    monkeypatch.setenv("PATH", os.devnull)
    refusal.cache_clear()
    try:
        notebook, resources = ReplayAndExecute().preprocess(notebook, resources)
    finally:
        monkeypatch.undo()
        refusal.cache_clear()
    assert resources["ticklab"] == {"t": "not graded"}
    assert "no program bwrap" in notebook.cells[0].outputs[0].text
    assert not ran.exists()


def test_by_default_no_step_executes_anything() -> None:
    config = Config()
    configure(config)
    assert config.Autograde.autograde_preprocessors == AUTOGRADE_STEPS
    assert not [step for step in AUTOGRADE_STEPS if "xecute" in step]
    execute_tagged_cells(config)
    execute_tagged_cells(config)
    assert config.Autograde.autograde_preprocessors == [EXECUTE_STEP, *AUTOGRADE_STEPS[1:]]
