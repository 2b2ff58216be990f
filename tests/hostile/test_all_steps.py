"""What strangers hand in goes through every step of `grader`, among honest students.

The honest keep their points, each stranger gets the points of the own case, whatever is not taken
has its reason, nothing of a student is run, and no step ends in a traceback.
"""

from __future__ import annotations

import contextlib
import csv
import io
import json
import os
import re
import stat
from dataclasses import dataclass
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from grader.class_grading import autograde_class
from grader.commands import cli
from grader.with_nbgrader.course import make_course
from support import forked
from support.graded_here import GradedHere
from support.hostile.case import Hostile, all_cases
from support.hostile.in_answers import HONEST_ANSWER, answered
from support.hostile.strangers import ALL, LAB, WORDS
from support.paths import REPOSITORY

#: The fixture counts as part of the first test: some fifty submissions are graded.
pytestmark = pytest.mark.slow

CASES = {
    f"s{number:02}": case
    for number, case in enumerate(c for c in all_cases() if c.kind in {"stranger", "notebook"})
}
HONEST = ("ada", "bob", "zoe")
#: What a spreadsheet takes for the beginning of a formula.
_FORMULA = re.compile(r"\s*[=+\-@\t\r\uff0b\uff0d\uff1d\uff20](?!\d+(\.\d+)?$)")


@dataclass(frozen=True)
class Done:
    course: Path
    said: dict[str, str]

    def points(self, student: str) -> dict[str, float | None]:
        with Gradebook(f"sqlite:///{self.course / 'gradebook.db'}") as gradebook:
            grades = gradebook.find_submission_notebook(LAB, LAB, student).grades
            return {grade.name: grade.auto_score for grade in grades}

    def page(self, student: str) -> str:
        return (self.course / "feedback" / student / LAB / f"{LAB}.html").read_text("utf-8")


def hand_in(folder: Path, case: Hostile, released: dict[str, object], answer: str) -> None:
    folder.mkdir(parents=True)
    case.write(folder)
    path = folder / f"{LAB}.ipynb"
    path.write_text(json.dumps(answered(released, answer)), encoding="utf-8")
    if case.notebook is not None:
        case.notebook(path)


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Done:
    top = tmp_path_factory.mktemp("strangers")
    course = top / "course"
    make_course(course, REPOSITORY / "notebooks")
    made = forked.run(course, {**os.environ, "PYTHONPATH": str(REPOSITORY)},
                      "generate_assignment", LAB)  # fmt: skip
    assert made.returncode == 0, made.stderr
    released = json.loads((course / "release" / LAB / f"{LAB}.ipynb").read_text("utf-8"))
    honest = next(case for case in CASES.values() if case.name == "files of a Mac")
    for student, case in {**CASES, **dict.fromkeys(HONEST, honest)}.items():
        hand_in(top / "download" / student / LAB, case, released, HONEST_ANSWER)
    of_course = ("--course", str(course))
    steps: dict[str, tuple[str, ...]] = {
        "collect": (str(top / "download"), "--lab", LAB, *of_course),
        "autograde": (LAB, *of_course),
        "feedback": (LAB, *of_course),
        "report": (LAB, *of_course),
    }
    said = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(autograde_class, "LocalPool", GradedHere)
        for step, words in steps.items():
            said[step] = _said(step, *words)
        for kind in ("csv", "moodle", "canvas", "gradescope"):
            out = ("--unfinished", f"--{kind}", str(top / f"course/{kind}"))
            said[kind] = _said("export", LAB, *of_course, *out)
    return Done(course, said)


def _said(*words: str) -> str:
    """What a command prints, as one line."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        cli.main([*words])
    return " ".join(printed.getvalue().split())


def test_no_step_has_a_fault_of_ours(done: Done) -> None:
    log = (done.course / f"autograde-{LAB}.log").read_text(encoding="utf-8")
    for text in (*done.said.values(), log):
        assert "Traceback" not in text and "Ticklab has a fault" not in text, text
        assert "a stranger was run" not in text


def test_the_honest_keep_their_points(done: Done) -> None:
    for student in HONEST:
        points = done.points(student)
        assert (points.pop("report"), sum(filter(None, points.values()))) == (None, ALL)


@pytest.mark.parametrize("student", CASES, ids=lambda student: CASES[student].name)
def test_each_stranger_has_the_points_of_the_case_or_a_reason(student: str, done: Done) -> None:
    case = CASES[student]
    if not (done.course / "submitted" / student).is_dir():
        why = rf" {student}: {LAB}/\S+: (it is a link|its name is not|Windows cannot have)"
        assert re.search(why, done.said["collect"]), done.said["collect"]
        return
    points = done.points(student)
    assert points.pop("report") is None
    assert sum(filter(None, points.values())) == case.points
    page = done.page(student)
    assert (WORDS in page) == (case.notebook is not None)
    assert not re.search("[\u00ad\u200b\u202a-\u202e\u2066-\u2069\U000e0041]", page)
    for path in (done.course / "autograded" / student).rglob("*"):
        assert not path.is_symlink() and not path.name.startswith((".git", ".bash"))
        more = stat.S_ISUID | stat.S_ISGID | (0o111 if path.is_file() else 0)
        assert not stat.S_IMODE(path.stat().st_mode) & more


def test_no_cell_of_a_table_is_a_formula(done: Done) -> None:
    tables = [*done.course.glob("*.csv"), *done.course.glob("receipts/*.csv")]
    assert len(tables) > 3
    for table in tables:
        with table.open(newline="", encoding="utf-8-sig") as file:
            cells = [cell for row in csv.reader(file) for cell in row]
        assert [cell for cell in cells if _FORMULA.match(cell)] == [], table
