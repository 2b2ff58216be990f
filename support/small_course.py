"""A course of one small lab for the tests of grading, run through real nbgrader.

The lab's check is a stand-in that believes `figures.json`, so that these tests do not depend on
what is measured. Its cells would leave a marker if anybody ran them.
"""

from __future__ import annotations

import copy
import json
import os
import subprocess
from pathlib import Path
from typing import Any

from nbgrader.api import Gradebook

from grader.with_nbgrader.course import make_course
from support import forked
from support.paths import REPOSITORY

LAB = "01-small"
MARKER = "student-code-ran"
FIGURES = {"cost": {"points": 4.0}, "step": {"points": 1.5}}

CHECKS = '''
"""A check that believes what figures.json says."""
import json
import os
from grader.figures.verdict import Outcome, Verdict


def check_folder(folder, lab):
    path = folder / "figures.json"
    figures = json.loads(path.read_text()) if path.is_file() else {}
    if figures.get("crash"):
        os.abort()
    if figures.get("fault"):
        raise RuntimeError("a fault of ours")
    return [judge(name, most, figures.get(name)) for name, most in (("cost", 4.0), ("step", 2.0))]


def judge(name, most, figure):
    if figure is None:
        return Verdict(name, Outcome.FAILED, 0.0, most, "no figure of this name")
    if figure == "open":
        return Verdict(name, Outcome.NOT_GRADED, 0.0, most, "the recording cannot be judged here")
    points, recording = figure["points"], figure.get("recording")
    runs, scale = tuple(figure.get("runs", ())), figure.get("of", most)
    return Verdict(
        name, Outcome.PASSED, points, scale, "as recorded", recording=recording, fingerprints=runs
    )


def as_text(verdict):
    return f"{verdict.figure} {verdict.outcome.value}: {verdict.reason}"


def as_html(verdict):
    return f"<p>{as_text(verdict)}</p>"


def plot_svg(verdict, folder):
    return "<svg/>" if (folder / "recordings").is_dir() else ""
'''

EXTRA_CONFIG = """
c.Replay.check = "small_checks.check_folder"
c.Replay.presenter = "small_checks"
"""


def cell(
    cell_id: str, cell_type: str, source: str, grade_id: str | None = None, **marks: Any
) -> dict[str, Any]:
    """One cell of a notebook; with `grade_id`, one that nbgrader knows."""
    made: dict[str, Any] = {
        "cell_type": cell_type,
        "id": cell_id,
        "metadata": {},
        "source": source,
    }
    if cell_type == "code":
        made |= {"outputs": [], "execution_count": None}
    if grade_id is not None:
        shape = {"grade": False, "locked": False, "solution": False, "task": False}
        made["metadata"]["nbgrader"] = {
            **shape,
            "grade_id": grade_id,
            "schema_version": 3,
            **marks,
        }
    return made


def source_notebook() -> dict[str, Any]:
    """The lab with its solutions."""
    mark = f"open({MARKER!r}, 'w')"
    python = f"value = None\n# BEGIN SOLUTION\nvalue = 42; {mark}\n# END SOLUTION\nprint(value)"
    region = "    /* BEGIN SOLUTION */\n    return 0;\n    /* END SOLUTION */"
    in_c = f"%%ckernel\nint main(void) {{\n{region}\n}}"
    cells = [
        cell("title", "markdown", "# What does it cost?"),
        cell("start", "code", mark),
        cell("a-python", "code", python, "answer-python", solution=True),
        cell("a-c", "code", in_c, "answer-c", solution=True),
        cell(
            "a-report", "markdown", "It costs 42 ns.", "report", solution=True, grade=True, points=5
        ),
        cell("f-cost", "code", f"check('cost'); {mark}", "cost", grade=True, locked=True, points=4),
        cell("f-step", "code", "check('step')", "step", grade=True, locked=True, points=2),
    ]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {
        "cells": cells,
        "metadata": {"kernelspec": kernel},
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def write_source(folder: Path) -> Path:
    """Writes the lab's source under `folder`, with what running it would have left there."""
    lab = folder / LAB
    (lab / "recordings").mkdir(parents=True)
    (lab / "recordings" / "of-the-author.csv").write_text("not for students")
    (lab / "data.csv").write_text("x,y\n1,2\n")
    (lab / f"{LAB}.ipynb").write_text(json.dumps(source_notebook()))
    return folder


class Course:
    """A course folder with the lab generated, ready for submissions."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "course"
        make_course(self.folder, write_source(folder / "notebooks"))
        config = self.folder / "nbgrader_config.py"
        config.write_text(config.read_text() + EXTRA_CONFIG)
        (self.folder / "small_checks.py").write_text(CHECKS)
        self.done: subprocess.CompletedProcess[str]
        self.environment = {
            **os.environ,
            "PYTHONPATH": str(REPOSITORY),
            "JUPYTER_CONFIG_DIR": str(folder / "jupyter"),
            "JUPYTER_DATA_DIR": str(folder / "jupyter"),
        }

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Runs stock nbgrader in the course folder; a hang ends the test."""
        return forked.run(self.folder, self.environment, *arguments)

    def generate(self) -> None:
        done = self.run("generate_assignment", LAB)
        assert done.returncode == 0, done.stderr

    def released(self) -> dict[str, Any]:
        path = self.folder / "release" / LAB / f"{LAB}.ipynb"
        notebook: dict[str, Any] = json.loads(path.read_text())
        return notebook

    def answered(self) -> dict[str, Any]:
        """The released notebook with a student's answers in it."""
        notebook = copy.deepcopy(self.released())
        for one in notebook["cells"]:
            marks = one["metadata"].get("nbgrader", {})
            if marks.get("solution"):
                first = "%%ckernel\n" if one["source"][0].startswith("%%ckernel") else ""
                one["source"] = f"{first}answer to {marks['grade_id']}"
        return notebook

    def submit(self, student: str, notebook: Any = None, figures: Any = FIGURES) -> Path:
        """Lays a submission in place; a notebook of text is written as it is."""
        folder = self.folder / "submitted" / student / LAB
        folder.mkdir(parents=True)
        if figures is not None:
            (folder / "figures.json").write_text(json.dumps(figures))
        if notebook is not None:
            text = notebook if isinstance(notebook, str) else json.dumps(notebook)
            (folder / f"{LAB}.ipynb").write_text(text)
        return folder

    def graded(self, student: str) -> dict[str, Any]:
        path = self.folder / "autograded" / student / LAB / f"{LAB}.ipynb"
        notebook: dict[str, Any] = json.loads(path.read_text())
        return notebook

    def source(self, student: str, grade_id: str) -> str:
        """The text of one cell of the graded notebook."""
        for one in self.graded(student)["cells"]:
            if one["metadata"].get("nbgrader", {}).get("grade_id") == grade_id:
                return "".join(one["source"])
        raise AssertionError(f"no cell {grade_id}")

    def set_aside(self, student: str) -> str:
        """Everything reported to the instructor, as one text."""
        graded = self.graded(student)
        text = "\n".join(graded["metadata"]["ticklab"]["set_aside"])
        if text:
            first = "".join(graded["cells"][0]["source"])
            assert "Left out" in first
        return text

    def scores(self, student: str) -> dict[str, float | None]:
        """The automatic score of each graded cell; None where it awaits a person."""
        with Gradebook(f"sqlite:///{self.folder / 'gradebook.db'}") as gradebook:
            grades = gradebook.find_submission_notebook(LAB, LAB, student).grades
            for grade in grades:
                assert grade.needs_manual_grade == (grade.auto_score is None)
            return {grade.name: grade.auto_score for grade in grades}
