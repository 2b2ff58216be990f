"""Figures are judged from their evidence: points in the gradebook, reasons in the notebook."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbgrader.api import Gradebook

from grader.figures.verdict import EVIDENCE_CELL, Outcome, Verdict
from grader.judging.presentation import evidence_html
from grader.with_nbgrader.replay import Replay
from labs.course.figures import Figure, put
from support.formgrader import formgrader_api
from support.paths import FIXTURES, REPOSITORY
from support.small_course import FIGURES, LAB, MARKER, Course

SUBMISSIONS: dict[str, Any] = {
    "whole": {"cost": {"points": 4.0}, "step": {"points": 2.0}},
    "partial": FIGURES,
    "without_figures": {},
    "open": {"cost": "open", "step": {"points": 2.0}},
    "crash": {"crash": True},
    "fault": {"fault": True},
    "too_many_points": {"cost": {"points": 1e308}, "step": {"points": -7}},
    "no_number": {"cost": {"points": float("nan")}, "step": {"points": float("inf")}},
    "other_scale": {"cost": {"points": 30.0, "of": 40.0}, "step": {"points": 2.0}},
}


@pytest.fixture(scope="module")
def batch(tmp_path_factory: pytest.TempPathFactory) -> Course:
    """All submissions, graded in one batch by the stock command."""
    course = Course(tmp_path_factory.mktemp("replay"))
    course.generate()
    for student, figures in SUBMISSIONS.items():
        folder = course.submit(student, course.answered(), figures)
        (folder / "recordings").mkdir()
        (folder / "recordings" / "run.csv").write_text("evidence")
        (folder / "timestamp.txt").write_text("2030-01-02 03:04:05.678 UTC")
    course.done = course.run("autograde", LAB)
    assert course.done.returncode == 0, course.done.stderr[-3000:]
    return course


def outputs(course: Course, student: str, grade_id: str) -> list[dict[str, Any]]:
    for cell in course.graded(student)["cells"]:
        if cell["metadata"].get("nbgrader", {}).get("grade_id") == grade_id:
            found: list[dict[str, Any]] = cell["outputs"]
            return found
    raise AssertionError(grade_id)


def test_points_are_saved_within_the_range_of_the_cell(batch: Course) -> None:
    for student, cost, step in (
        ("whole", 4.0, 2.0),
        ("partial", 4.0, 1.5),
        ("without_figures", 0.0, 0.0),
        ("too_many_points", 4.0, 0.0),
        ("other_scale", 3.0, 2.0),
    ):
        assert batch.scores(student) == {"cost": cost, "step": step, "report": None}


def test_not_graded_is_neither_a_pass_nor_a_zero(batch: Course) -> None:
    assert batch.scores("open") == {"cost": None, "step": 2.0, "report": None}


def test_points_that_are_no_number_are_not_graded(batch: Course) -> None:
    assert batch.scores("no_number") == {"cost": None, "step": None, "report": None}


def test_beside_a_free_text_stands_what_the_recordings_say(batch: Course) -> None:
    cells = batch.graded("partial")["cells"]
    ids = [cell.get("id") for cell in cells]
    answer = next(
        number
        for number, cell in enumerate(cells)
        if cell["metadata"].get("nbgrader", {}).get("grade_id") == "report"
    )
    assert ids[answer + 1] == f"{EVIDENCE_CELL}1"
    page = "".join(cells[answer + 1]["outputs"][0]["data"]["text/html"])
    assert "step: passed, 1.5 of 2 points" in page and "as recorded" in page
    assert "nbgrader" not in cells[answer + 1]["metadata"], "it is nobody's answer"


def test_evidence_names_samples_and_conditions_and_escapes(tmp_path: Path) -> None:
    saved = FIXTURES / "fenced.csv"
    (tmp_path / "recordings").mkdir()
    (tmp_path / "recordings" / "run.csv").write_bytes(saved.read_bytes())
    (tmp_path / "recordings" / "bad.csv").write_text("<script>")
    verdicts = [
        Verdict("a", Outcome.PASSED, 4, 4, "<b>16 ns</b>", recording="recordings/run.csv"),
        Verdict("b", Outcome.FAILED, 0, 4, "no", recording="recordings/bad.csv"),
    ]
    page = evidence_html(verdicts, tmp_path)
    assert "samples: " in page and "processes: " in page and "OS kernel: Linux" in page
    assert "cannot be read" in page
    assert "<b>" not in page and "<script" not in page


def test_fault_of_ours_is_not_graded_and_told(batch: Course) -> None:
    assert batch.scores("fault") == {"cost": None, "step": None, "report": None}
    shown, *_ = outputs(batch, "fault", "cost")
    assert "our own check failed (RuntimeError)" in "".join(shown["data"]["text/plain"])
    assert "a fault of ours" in batch.done.stderr


def test_crash_of_the_check_costs_one_student_a_reason(batch: Course) -> None:
    assert batch.scores("crash") == {"cost": None, "step": None, "report": None}
    shown, *_ = outputs(batch, "crash", "cost")
    assert "the check was ended by SIGABRT" in "".join(shown["data"]["text/plain"])
    assert batch.scores("whole") == {"cost": 4.0, "step": 2.0, "report": None}


def test_reason_plot_and_points_stand_in_the_cell(batch: Course) -> None:
    words, plot, points = outputs(batch, "partial", "step")
    assert "".join(words["data"]["text/html"]) == "<p>step passed: as recorded</p>"
    assert "".join(plot["data"]["image/svg+xml"]) == "<svg/>"
    assert plot["metadata"]["image/svg+xml"]["alt"]
    assert "".join(points["data"]["text/plain"]) == "1.5"


def test_reason_stands_in_the_feedback(batch: Course) -> None:
    done = batch.run("generate_feedback", LAB, "--student", "open")
    assert done.returncode == 0, done.stderr
    page = (batch.folder / "feedback" / "open" / LAB / f"{LAB}.html").read_text()
    assert "<p>cost not graded: the recording cannot be judged here</p>" in page
    assert "<p>step passed: as recorded</p>" in page


def test_no_code_was_run(batch: Course) -> None:
    assert not list(batch.folder.rglob(MARKER))


def test_no_execute_gives_nothing_away(batch: Course) -> None:
    done = batch.run("autograde", LAB, "--no-execute", "--force", "--student", "without_figures")
    assert done.returncode == 0, done.stderr
    assert batch.scores("without_figures") == {"cost": 0.0, "step": 0.0, "report": None}


def test_grade_given_by_hand_stays_when_graded_again(batch: Course) -> None:
    with Gradebook(f"sqlite:///{batch.folder / 'gradebook.db'}") as gradebook:
        grade = gradebook.find_grade("cost", LAB, LAB, "open")
        grade.manual_score = 3.0
        gradebook.db.commit()
    done = batch.run("autograde", LAB, "--force", "--student", "open")
    assert done.returncode == 0, done.stderr
    with Gradebook(f"sqlite:///{batch.folder / 'gradebook.db'}") as gradebook:
        grade = gradebook.find_grade("cost", LAB, LAB, "open")
        assert (grade.auto_score, grade.manual_score, grade.score) == (None, 3.0, 3.0)


def test_course_of_another_kind_in_the_same_process_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    course = Course(tmp_path)
    with formgrader_api(course.folder, monkeypatch) as api:
        assert api.generate_assignment(LAB)["success"]
    (course.folder / "nbgrader_config.py").write_text("")
    with formgrader_api(course.folder, monkeypatch) as api:
        course.submit("stock", course.released(), FIGURES)
        stock = api.autograde(LAB, "stock")
    assert stock["success"], stock
    # Stock nbgrader runs the notebook: which is what a course that has not asked for ours expects.
    assert (course.folder / "autograded" / "stock" / LAB / MARKER).exists()


def test_feedback_says_which_conclusion_was_right_and_graders_see_the_tries(tmp_path: Path) -> None:
    lab, figure = "06-process-and-thread-switch", "switch-which-is-dearer"
    folder = tmp_path / lab
    shutil.copytree(FIXTURES / "honest" / lab, folder)
    for wrong in (2, 3):
        put(folder, Figure(figure, wrong, "choice", None))
    notebook = nbformat.read(REPOSITORY / "notebooks" / lab / f"{lab}.ipynb", as_version=4)  # type: ignore[no-untyped-call]
    resources = {
        "metadata": {"path": str(folder)},
        "nbgrader": {"notebook": lab, "student": "ada", "assignment": lab},
    }
    graded, _ = Replay().preprocess(notebook, resources)
    cell = next(each for each in graded.cells if each.id == f"check-{figure}")
    answer = "The right conclusion is 1 (the process switch costs more)."
    words, *_ = cell.outputs
    assert answer in words["data"]["text/plain"] and answer in words["data"]["text/html"]
    evidence = next(each for each in graded.cells if each.id == f"{EVIDENCE_CELL}1")
    assert f"{figure} 3 times" in evidence.outputs[0]["data"]["text/html"]
