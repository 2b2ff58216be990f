"""The feedback of a class by `grader feedback`: nbgrader's own, whatever happens in between."""

from __future__ import annotations

import errno
import json
import logging
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from nbgrader.api import Gradebook

from grader.class_grading import class_feedback, feedback_process
from grader.class_grading.autograde_class import Options, autograde
from grader.class_grading.class_feedback import Feedback, make_feedback
from grader.class_grading.feedback_process import PageJob, make_pages
from grader.judging.worker import Ended, Lane
from grader.with_nbgrader.course_folder import UNFINISHED, NotOurs, Stopped
from grader.with_nbgrader.feedback import CourseFeedback
from support import forked
from support.hostile.modules import plant
from support.small_course import LAB
from support.small_exchange import EARLY, LATE, ExchangeCourse

FIGURES: dict[str, Any] = {
    "ada": {"cost": {"points": 4.0}, "step": {"points": 2.0}},
    "bob": {"cost": "open", "step": {"points": 1.0}},
    "html": {},
    "late": {"cost": {"points": 2.0}},
}


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> ExchangeCourse:
    """A class that was graded; a person has given points and comments, and a penalty."""
    course = ExchangeCourse(tmp_path_factory.mktemp("feedback"))
    course.generate()
    for student, figures in FIGURES.items():
        notebook: Any = course.answered()
        if student == "html":
            text = json.dumps(notebook)
            notebook = text.replace("answer to report", "<script>alert(1)</script> \\ud800 é")
        folder = course.submit(student, notebook, figures)
        (folder / "timestamp.txt").write_text(LATE if student == "late" else EARLY)
        (folder / "submission_secret.txt").write_text(f"secret of {student}")
        (folder / "recordings").mkdir()
        (folder / "recordings" / "run.csv").write_text(f"evidence of {student}")
    summary = autograde(course.folder, LAB, Options(workers=1), lambda found: lambda count: None)
    assert not summary.failed
    with Gradebook(f"sqlite:///{course.folder / 'gradebook.db'}") as gradebook:
        grade = gradebook.find_grade("report", LAB, LAB, "ada")
        grade.manual_score, grade.extra_credit, grade.needs_manual_grade = 3.5, 0.25, False
        gradebook.find_comment("report", LAB, LAB, "ada").manual_comment = "Which *machine*?"
        gradebook.find_comment("answer-c", LAB, LAB, "html").manual_comment = "<script>x</script>"
        late = gradebook.find_submission_notebook(LAB, LAB, "late")
        late.late_submission_penalty = 1.5
        gradebook.db.commit()
    return course


@pytest.fixture
def course(graded: ExchangeCourse) -> Iterable[Path]:
    """Its folder, without feedback; what a test does to the graded notebooks is taken back."""
    folder = graded.folder
    shutil.copytree(folder / "autograded", folder / "kept", copy_function=shutil.copy2)
    yield folder
    shutil.rmtree(folder / "feedback", ignore_errors=True)
    shutil.rmtree(folder / "autograded")
    (folder / "kept").rename(folder / "autograded")


def made(course: Path, *, force: bool = False, workers: int = 1) -> Feedback:
    return make_feedback(course, LAB, workers, force, lambda due, skipped: lambda count: None)


def files(folder: Path) -> dict[str, tuple[int, bytes]]:
    """The mode and the content of every file below `folder`."""
    return {
        str(path.relative_to(folder)): (path.stat().st_mode, path.read_bytes())
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_it_is_nbgraders_own_in_every_byte(graded: ExchangeCourse, course: Path) -> None:
    done = graded.run("generate_feedback", LAB)
    assert done.returncode == 0, done.stderr
    theirs = files(course / "feedback")
    for workers in (1, 2):
        shutil.rmtree(course / "feedback")
        assert made(course, workers=workers).made == len(FIGURES)
        assert files(course / "feedback") == theirs
    assert {Path(name).name for name in theirs} == {
        f"{LAB}.html",
        "timestamp.txt",
        "submission_secret.txt",
    }
    page = (course / "feedback" / "ada" / LAB / f"{LAB}.html").read_text("utf-8")
    assert "Score: 9.75 / 11.0" in page and "Which <em>machine</em>?" in page
    late = (course / "feedback" / "late" / LAB / f"{LAB}.html").read_text("utf-8")
    assert "Late submission penalty (Score: -1.5)" in late
    hostile = (course / "feedback" / "html" / LAB / f"{LAB}.html").read_text("utf-8")
    assert "<script" not in hostile


def test_typed_in_a_submission_it_runs_nothing_there(
    course: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = plant(tmp_path, noted_in=tmp_path / "ran.txt")
    monkeypatch.chdir(tmp_path)
    with forked.started_in_full():
        assert made(course, workers=2).made == len(FIGURES)
    assert ran() == []
    assert Path.cwd() == tmp_path


def test_what_exists_is_kept_until_it_is_made_anew(course: Path) -> None:
    assert made(course).made == len(FIGURES)
    page = course / "feedback" / "bob" / LAB / f"{LAB}.html"
    page.write_text("as it was")
    shutil.rmtree(course / "feedback" / "ada")
    again = made(course)
    assert (again.made, again.skipped) == (1, len(FIGURES) - 1)
    assert page.read_text() == "as it was"
    assert made(course, force=True).made == len(FIGURES)
    assert "<title>" in page.read_text()


def test_one_broken_notebook_costs_nobody_else_anything(course: Path) -> None:
    broken = course / "autograded" / "bob" / LAB / f"{LAB}.ipynb"
    for content in ("{", "[]", '{"cells": 3}'):
        broken.chmod(0o644)
        broken.write_text(content)
        done = made(course, force=True)
        assert list(done.failed) == ["bob"] and done.made == len(FIGURES) - 1
        assert not (course / "feedback" / "bob" / LAB).exists()
        assert not (course / "feedback" / UNFINISHED).exists()


def test_a_student_whom_the_gradebook_lacks_is_named(course: Path) -> None:
    shutil.copytree(course / "autograded" / "ada", course / "autograded" / "not-in-gradebook")
    done = made(course)
    assert "run autograde first" in done.failed["not-in-gradebook"]
    assert done.made == len(FIGURES)


def test_what_a_run_that_was_killed_has_left_is_removed(course: Path) -> None:
    left = course / "feedback" / UNFINISHED / "ada" / LAB
    left.mkdir(parents=True)
    (left / "half.html").write_text("half")
    made(course)
    assert not (course / "feedback" / UNFINISHED).exists()
    assert not (course / "feedback" / "ada" / LAB / "half.html").exists()


def test_a_full_disk_ends_the_run_with_what_to_do(
    course: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(source: Path, destination: Path) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", str(destination))

    monkeypatch.setattr(feedback_process, "keep_beside", full)
    aside = course / "feedback" / UNFINISHED / "ada" / LAB
    job = PageJob("ada", str(course / "autograded" / "ada" / LAB), str(aside), {})
    done = make_pages(job)
    assert done.error == errno.ENOSPC
    monkeypatch.setattr(class_feedback, "_made", lambda jobs, workers: iter([done]))
    with pytest.raises(Stopped, match="disk"):
        made(course)


def test_a_full_disk_ends_the_run_also_when_the_pages_are_put_in_place(
    course: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """There is no room for the log either, and then no traceback of logging is shown."""

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(CourseFeedback, "put_in_place", full)
        patch.setattr(logging.StreamHandler, "flush", full)
        with pytest.raises(Stopped, match="disk is full"):
            made(course)
    assert "Traceback" not in capsys.readouterr().err
    assert made(course).made == len(FIGURES)


def test_pages_whose_process_was_killed_are_made_by_another_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def killed(lane: Lane, job: dict[str, Any]) -> bytes:
        asked.append(job["student"])
        if job["student"] == "2" or (job["student"] == "0" and asked.count("0") == 1):
            raise Ended("killed")
        return json.dumps({"student": job["student"]}).encode()

    monkeypatch.setattr(Lane, "ask", killed)
    jobs = [PageJob(str(n), str(tmp_path), str(tmp_path / f"{n}"), {}) for n in range(6)]
    came = {each.student: each.trouble for each in class_feedback._made(jobs, 2)}
    assert list(came) == [job.student for job in jobs]
    assert [student for student, trouble in came.items() if trouble] == ["2"]
    assert asked.count("0") == asked.count("2") == 2 and "ended twice" in came["2"]


def test_two_runs_at_once_are_refused(course: Path) -> None:
    def tell(due: int, skipped: int) -> Any:
        with pytest.raises(Stopped, match="another"):
            made(course)
        return lambda count: None

    assert make_feedback(course, LAB, 1, False, tell).made == len(FIGURES)


def test_a_folder_that_is_no_course_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NotOurs, match="no course folder"):
        made(tmp_path)
