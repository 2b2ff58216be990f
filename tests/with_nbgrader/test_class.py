"""The demonstration class: real nbgrader from the instructor's source to the student's feedback."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from pathlib import Path

import pytest

from grader.commands.cli import main
from grader.demonstration import STUDENTS
from testing import demonstration_class, forked
from testing.demonstration_class import DemonstrationClass, Row, table
from testing.paths import REPOSITORY
from testing.programs import call
from testing.small_course import CHECKS, EXTRA_CONFIG, LAB, MARKER, write_source

# Sixteen commands of nbgrader before the first test.


def small_evidence(lab: str, folder: Path) -> None:
    """Evidence in the form that the stand-in check believes; a unit as real figures have one."""
    figures = {
        "cost": {"points": 4.0, "unit": "ns"},
        "step": {"points": 2.0, "unit": "ns"},
    }
    (folder / "figures.json").write_text(json.dumps(figures))
    (folder / "recordings").mkdir()
    (folder / "recordings" / "run.csv").write_text("evidence")


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> tuple[DemonstrationClass, list[Row]]:
    folder = tmp_path_factory.mktemp("class")
    made = DemonstrationClass(
        folder / "class", write_source(folder / "notebooks"), LAB, small_evidence, EXTRA_CONFIG
    )
    (made.course / "small_checks.py").write_text(CHECKS)
    with forked.programs():  # below, one that fails starts in full
        return made, made.run()


def test_every_student_has_one_line(graded: tuple[DemonstrationClass, list[Row]]) -> None:
    _, rows = graded
    assert len(rows) >= 6
    lines = table(rows).splitlines()
    assert [line.split()[0] for line in lines[2:]] == list(STUDENTS)


@pytest.mark.parametrize("student", sorted(set(STUDENTS) - {"untouched"}))
def test_points_follow_the_evidence_alone(
    graded: tuple[DemonstrationClass, list[Row]], student: str
) -> None:
    (row,) = [row for row in graded[1] if row.student == student]
    assert (row.points, row.max_points, row.outcome) == (6.0, 6.0, "passed")


def test_untouched_stub_gets_nothing(graded: tuple[DemonstrationClass, list[Row]]) -> None:
    (row,) = [row for row in graded[1] if row.student == "untouched"]
    assert (row.points, row.outcome, row.notes) == (0.0, "failed", ())


@pytest.mark.parametrize(
    ("student", "note"),
    [
        ("tampered", "its points were changed"),
        ("tampered", "added graded cell `a-test-of-my-own`"),
        ("tampered", "locked cell `step`: deleted"),
        ("broken-json", "not valid JSON"),
        ("no-notebook", "no notebook of this name"),
        ("renamed", "found under the name"),
    ],
)
def test_what_was_set_aside_is_told(
    graded: tuple[DemonstrationClass, list[Row]], student: str, note: str
) -> None:
    (row,) = [row for row in graded[1] if row.student == student]
    assert note in "\n".join(row.notes)


def test_every_student_gets_feedback(graded: tuple[DemonstrationClass, list[Row]]) -> None:
    for student in STUDENTS:
        page = graded[0].course / "feedback" / student / LAB / f"{LAB}.html"
        assert "cost" in page.read_text()


def test_a_report_has_every_student(graded: tuple[DemonstrationClass, list[Row]]) -> None:
    course_folder = graded[0].course
    assert main(["report", LAB, "--course", str(course_folder)]) == 0
    page = (course_folder / "report" / LAB / "report.html").read_text()
    assert re.search(rf"<p>{len(STUDENTS)} graded\s+submissions", page)
    known = (course_folder / "pseudonyms.csv").read_text().splitlines()[1:]
    assert {line.partition(",")[2] for line in known} == set(STUDENTS)
    assert "locked cell <code>step</code>: deleted" in page
    assert "no-notebook" not in page


def test_no_code_was_run(graded: tuple[DemonstrationClass, list[Row]]) -> None:
    assert not list(graded[0].folder.rglob(MARKER))


def test_folder_in_use_is_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    assert demonstration_class.main(tmp_path, LAB) == 1
    assert "not an empty folder" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_step_that_fails_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    source = write_source(tmp_path / "notebooks")
    (source / LAB / f"{LAB}.ipynb").write_text("{")
    monkeypatch.setattr(demonstration_class, "NOTEBOOKS", source)
    assert demonstration_class.main(tmp_path / "class", LAB) == 1
    assert "nbgrader generate_assignment" in capsys.readouterr().err


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with our two packages and nothing else of the repository, as a wheel has them."""
    folder = tmp_path_factory.mktemp("site-packages")
    for package in ("labs", "grader"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(REPOSITORY / package, folder / package, ignore=ignored)
    return folder


def test_without_the_repository_it_says_what_is_missing(installed: Path, tmp_path: Path) -> None:
    done = call(
        *(sys.executable, "-m", "grader.pages", "out"),
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(installed)},
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert f"no labs with solutions in {installed / 'notebooks'}" in done.stderr
    assert "Run `make html` in the repository" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []
