"""The labs through real nbgrader, from saved recordings: who gets which points, and why.

Of lab 01 the demonstration class, from the instructor's source over the exchange to the student's
feedback; of every other lab the author's solutions and the untouched stub. A lab is graded when a
test first asks for it.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from grader.commands.cli import main
from grader.demonstration import STUDENTS, Lab, make_submission
from grader.figures import LABS, figures_of
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


def nbgrader(course: Path, *words: str) -> None:
    """One command of nbgrader; a failure ends the test with its last words."""
    jupyter = str(course.parent / "jupyter")
    done = forked.run(
        course,
        {
            **os.environ,
            "PYTHONPATH": str(REPOSITORY),
            "JUPYTER_CONFIG_DIR": jupyter,
            "JUPYTER_DATA_DIR": jupyter,
        },
        *words,
    )
    assert done.returncode == 0, done.stderr[-3000:]


class Course:
    """A course whose labs are graded one by one, as the tests ask for them: so the time that a test
    may take does not depend on how many labs there are."""

    def __init__(self, place: Path) -> None:
        self.made = DemonstrationClass(place, REPOSITORY / "notebooks", LAB, saved_evidence)
        self._graded = {LAB}
        with forked.programs():
            self.rows = {row.student: row for row in self.made.run()}

    def with_lab(self, name: str) -> Path:
        """The folder of the course, in which this lab is graded."""
        course = self.made.course
        if name in self._graded:
            return course
        nbgrader(course, "generate_assignment", name)
        lab = Lab(name, course / "source" / name, course / "release" / name)
        for student in ("honest", "untouched"):
            folder = course / "submitted" / student / name
            make_submission(folder, student, lab, saved_evidence)
        nbgrader(course, "autograde", name)
        self._graded.add(name)
        return course


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Course:
    return Course(tmp_path_factory.mktemp("class") / "class")


@pytest.fixture(scope="module")
def rows(course: Course) -> dict[str, Row]:
    """What became of the students of lab 01."""
    return course.rows


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
def test_a_report_has_every_student(course: Course) -> None:
    folder = course.with_lab(LAB)
    assert main(["report", LAB, "--course", str(folder)]) == 0
    page = (folder / "report" / LAB / "report.html").read_text()
    assert re.search(rf"<p>{len(STUDENTS)} graded\s+submissions", page)
    known = (folder / "pseudonyms.csv").read_text().splitlines()[1:]
    assert {line.partition(",")[2] for line in known} == set(STUDENTS)
    assert re.search("locked cell <code>[a-z-]+</code>: deleted", page)
    assert "no-notebook" not in page


@pytest.mark.slow
def test_the_gradebook_holds_the_points_and_leaves_the_report_to_a_person(course: Course) -> None:
    with Gradebook(f"sqlite:///{course.with_lab(LAB) / 'gradebook.db'}") as gradebook:
        grades = gradebook.find_submission_notebook(LAB, LAB, "honest").grades
        figures = {spec.id: spec.max_points for spec in figures_of(LAB)}
        by_name = {grade.name: grade for grade in grades}
        assert {name: by_name[name].auto_score for name in figures} == figures
        by_hand = [grade for name, grade in by_name.items() if name not in figures]
        assert by_hand and all(grade.needs_manual_grade for grade in by_hand)


@pytest.mark.slow
def test_feedback_shows_the_reason_and_the_plot(course: Course) -> None:
    graded = course.with_lab(LAB)
    page = (graded / "feedback" / "unit-slip" / LAB / f"{LAB}.html").read_text("utf-8")
    assert "off by a whole power of a thousand" in page
    assert "data:image/svg+xml," in page
    notebook = graded / "autograded" / "unit-slip" / LAB / f"{LAB}.ipynb"
    cells = json.loads(notebook.read_text("utf-8"))["cells"]
    judged = [cell for cell in cells if "ticklab" in cell["metadata"]]
    assert len(judged) == len(figures_of(LAB))


# ------------------------------------------------------------------------------- every lab


def scores(course: Path, lab: str, student: str) -> dict[str, float | None]:
    """The automatic score of every graded cell; None where it awaits a person."""
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
        grades = gradebook.find_submission_notebook(lab, lab, student).grades
        return {grade.name: grade.auto_score for grade in grades}


def notes_of(course: Path, lab: str, student: str) -> str:
    """What was written into the graded cells, for a message that helps."""
    path = course / "autograded" / student / lab / f"{lab}.ipynb"
    cells = json.loads(path.read_text("utf-8"))["cells"]
    return "\n".join(str(cell["metadata"].get("ticklab", "")) for cell in cells)


@pytest.mark.slow
@pytest.mark.parametrize("lab", SAVED)
def test_solutions_get_full_points(course: Course, lab: str) -> None:
    graded = course.with_lab(lab)
    got = scores(graded, lab, "honest")
    wanted = {spec.id: spec.max_points for spec in figures_of(lab)}
    assert {name: got[name] for name in wanted} == wanted, notes_of(graded, lab, "honest")
    assert all(got[name] is None for name in set(got) - set(wanted)), "a person reads the rest"


@pytest.mark.slow
@pytest.mark.parametrize("lab", SAVED)
def test_stubs_get_no_points(course: Course, lab: str) -> None:
    graded = course.with_lab(lab)
    got = scores(graded, lab, "untouched")
    assert {spec.id for spec in figures_of(lab)} <= set(got)
    assert set(got.values()) == {0.0}, notes_of(graded, lab, "untouched")


@pytest.mark.slow
@pytest.mark.parametrize("lab", SAVED)
def test_every_graded_figure_has_its_check_cell_with_its_points(course: Course, lab: str) -> None:
    with Gradebook(f"sqlite:///{course.with_lab(lab) / 'gradebook.db'}") as gradebook:
        cells = gradebook.find_notebook(lab, lab).grade_cells
        points = {cell.name: cell.max_score for cell in cells if cell.cell_type == "code"}
    assert points == {spec.id: spec.max_points for spec in figures_of(lab)}


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
    """nbgrader starts in full here, and not as a fork."""
    source = write_source(tmp_path / "notebooks")
    (source / SMALL / f"{SMALL}.ipynb").write_text("{")
    monkeypatch.setattr(demonstration_class, "NOTEBOOKS", source)
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
