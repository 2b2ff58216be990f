"""The labs through real nbgrader, from saved recordings: who gets which points, and why.

Of lab 01 the demonstration class, from the instructor's source over the exchange to the student's
feedback. Every lab as it is released is graded by our own step of nbgrader's autograding; that the
steps around it work does not depend on the lab.
"""

from __future__ import annotations

import copy
import json
import os
import re
import shutil
import sys
from pathlib import Path

import nbformat
import pytest
from nbgrader.api import Gradebook

from grader.commands.cli import main
from grader.demonstration import STUDENTS
from grader.figures import LABS, figures_of
from grader.with_nbgrader.replay import Replay
from grader.with_nbgrader.verdict_cells import is_test
from labs import paths
from support import demonstration_class, forked
from support.demonstration_class import DemonstrationClass, Row, table
from support.paths import FIXTURES, REPOSITORY
from support.programs import call
from support.small_course import LAB as SMALL
from support.small_course import write_source

HONEST = FIXTURES / "honest"
LAB = "01-timer-overhead"
FULL = sum(spec.max_points for spec in figures_of(LAB))
#: Every lab that has figures, a notebook, and an honest run to grade it by.
SAVED = [
    lab
    for lab in LABS
    if (HONEST / lab / "figures.json").is_file()
    and (REPOSITORY / "notebooks" / lab / f"{lab}.ipynb").is_file()
]


def saved_evidence(lab: str, folder: Path) -> None:
    """A short honest run of the author's notebook, as it was recorded."""
    saved = HONEST / lab
    shutil.copy(saved / "figures.json", folder)
    shutil.copytree(saved / "recordings", folder / "recordings")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> DemonstrationClass:
    """The class of lab 01, before the first step."""
    place = tmp_path_factory.mktemp("class") / "class"
    return DemonstrationClass(place, REPOSITORY / "notebooks", LAB, saved_evidence)


@pytest.fixture(scope="module")
def rows(made: DemonstrationClass) -> dict[str, Row]:
    """What became of the students of lab 01."""
    return {row.student: row for row in made.run()}


@pytest.fixture
def course(rows: dict[str, Row], made: DemonstrationClass) -> Path:
    """The folder of the course, after all steps."""
    return made.course


@pytest.mark.slow
@pytest.mark.parametrize(
    ("student", "lost", "findings", "notes"),
    [
        ("honest", 0, (), ()),
        ("unit-slip", 1, ("unit-slip",), ()),
        (
            "tampered",
            0,
            (),
            ("its points were changed", "added graded cell `a-test-of-my-own`", "`: deleted"),
        ),
        ("broken-json", 0, (), ("not valid JSON",)),
        ("no-notebook", 0, (), ("no notebook of this name",)),
        ("renamed", 0, (), ("found under the name",)),
        ("no-recording", FULL, ("no-recording",), ()),
        ("untouched", FULL, ("no-figure",), ()),
    ],
)
def test_points_findings_and_what_was_set_aside(
    rows: dict[str, Row], student: str, lost: float, findings: tuple[str, ...], notes: tuple[str]
) -> None:
    row = rows[student]
    assert (row.points, row.max_points, row.findings) == (FULL - lost, FULL, findings)
    assert row.outcome == ("failed" if lost else "passed")
    assert bool(row.notes) == bool(notes)
    assert all(note in "\n".join(row.notes) for note in notes)


@pytest.mark.slow
def test_the_table_has_a_line_for_every_student(rows: dict[str, Row]) -> None:
    lines = table(list(rows.values())).splitlines()
    assert [line.split()[0] for line in lines[2:]] == list(STUDENTS)


@pytest.mark.slow
def test_a_report_has_every_student(course: Path) -> None:
    assert main(["report", LAB, "--course", str(course)]) == 0
    page = (course / "report" / LAB / "report.html").read_text()
    assert re.search(rf"<p>{len(STUDENTS)} graded\s+submissions", page)
    known = (course / "pseudonyms.csv").read_text().splitlines()[1:]
    assert {line.partition(",")[2] for line in known} == set(STUDENTS)
    assert re.search("locked cell <code>[a-z-]+</code>: deleted", page)
    assert "no-notebook" not in page


@pytest.mark.slow
def test_the_gradebook_holds_the_points_and_leaves_the_report_to_a_person(course: Path) -> None:
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
        grades = gradebook.find_submission_notebook(LAB, LAB, "honest").grades
        figures = {spec.id: spec.max_points for spec in figures_of(LAB)}
        by_name = {grade.name: grade for grade in grades}
        assert {name: by_name[name].auto_score for name in figures} == figures
        by_hand = [grade for name, grade in by_name.items() if name not in figures]
        assert by_hand and all(grade.needs_manual_grade for grade in by_hand)
        # What nobody has answered needs no person.
        nothing = gradebook.find_submission_notebook(LAB, LAB, "untouched").grades
        assert {grade.auto_score for grade in nothing} == {0.0}


@pytest.mark.slow
def test_feedback_shows_the_reason_and_the_plot(course: Path) -> None:
    page = (course / "feedback" / "unit-slip" / LAB / f"{LAB}.html").read_text("utf-8")
    assert "off by a whole power of a thousand" in page
    assert "data:image/svg+xml," in page
    notebook = course / "autograded" / "unit-slip" / LAB / f"{LAB}.ipynb"
    cells = json.loads(notebook.read_text("utf-8"))["cells"]
    judged = [cell for cell in cells if "ticklab" in cell["metadata"]]
    assert len(judged) == len(figures_of(LAB))


# ------------------------------------------------------------------------------- every lab


@pytest.mark.slow
@pytest.mark.parametrize("lab", SAVED)
def test_solutions_get_full_points_and_stubs_none(lab: str, tmp_path: Path) -> None:
    figures = {spec.id: spec.max_points for spec in figures_of(lab)}
    notebook = nbformat.read(paths.released() / lab / f"{lab}.ipynb", as_version=4)  # type: ignore[no-untyped-call]
    code = [each for each in notebook.cells if each.cell_type == "code"]
    tests = [each for each in code if each.metadata.get("nbgrader", {}).get("grade")]
    assert all(map(is_test, tests))
    assert {each.metadata.nbgrader.grade_id: each.metadata.nbgrader.points for each in tests} == (
        figures
    )
    for student, points in (("untouched", dict.fromkeys(figures, 0.0)), ("honest", figures)):
        (folder := tmp_path / student).mkdir()
        if student == "honest":
            saved_evidence(lab, folder)
        named = {"notebook": lab, "student": student, "assignment": lab}
        resources = {"metadata": {"path": str(folder)}, "nbgrader": named}
        graded, _ = Replay().preprocess(copy.deepcopy(notebook), resources)
        given = {
            each.metadata.nbgrader.grade_id: each.metadata.ticklab["points"]
            for each in graded.cells
            if "ticklab" in each.metadata
        }
        assert given == points, [str(each.metadata.get("ticklab")) for each in graded.cells]


def test_every_lab_with_a_notebook_and_figures_has_an_honest_run() -> None:
    wanted = [lab for lab in LABS if (REPOSITORY / "notebooks" / lab / f"{lab}.ipynb").is_file()]
    assert wanted == SAVED


# --------------------------------------------------------------------- what cannot be demonstrated


def test_folder_in_use_is_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    assert demonstration_class.main(tmp_path, LAB) == 1
    assert "not an empty folder" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_step_that_fails_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    source = write_source(tmp_path / "notebooks")
    (source / SMALL / f"{SMALL}.ipynb").write_text("{")
    monkeypatch.setattr(demonstration_class, "NOTEBOOKS", source)
    with forked.started_in_full():
        assert demonstration_class.main(tmp_path / "class", SMALL) == 1
    assert "nbgrader generate_assignment" in capsys.readouterr().err


def test_without_the_repository_it_says_what_is_missing(tmp_path: Path) -> None:
    """Our two packages and nothing else of the repository, as a wheel has them."""
    (installed := tmp_path / "site-packages").mkdir()
    for package in ("labs", "grader"):
        (installed / package).symlink_to(REPOSITORY / package)
    done = call(
        *(sys.executable, "-m", "grader.lab_pages", "out"),
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(installed)},
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert f"no labs with solutions in {installed / 'notebooks'}" in done.stderr
    assert "Run `make html` in the repository" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert list(tmp_path.iterdir()) == [installed]
