"""The labs through real nbgrader, from saved recordings: who gets which points, and why.

Of lab 01 all students of the demonstration class, of every lab the author's solutions and the
untouched stub. A lab is graded when a test first asks for it; `test_class.py` has the exchange.
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from grader.demonstration import STUDENTS, Lab, make_submission
from grader.figures import LABS, figures_of
from testing import forked
from testing.demonstration_class import DemonstrationClass, Row
from testing.paths import FIXTURES, REPOSITORY

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


def students_of(lab: str) -> list[str]:
    """Who hands in a lab."""
    return list(STUDENTS) if lab == LAB else ["honest", "untouched"]


class Course:
    """A course whose labs are graded one by one, as the tests ask for them: so the time that a test
    may take does not depend on how many labs there are."""

    def __init__(self, place: Path) -> None:
        self.made = DemonstrationClass(place, REPOSITORY / "notebooks", LAB, saved_evidence)
        self._graded = set[str]()

    def with_lab(self, name: str) -> Path:
        """The folder of the course, in which this lab is graded."""
        course = self.made.course
        if name in self._graded:
            return course
        nbgrader(course, "generate_assignment", name)
        lab = Lab(name, course / "source" / name, course / "release" / name)
        for student in students_of(name):
            folder = course / "submitted" / student / name
            make_submission(folder, student, lab, saved_evidence)
        nbgrader(course, "autograde", name)
        if name == LAB:
            nbgrader(course, "generate_feedback", LAB)
        self._graded.add(name)
        return course


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Course:
    return Course(tmp_path_factory.mktemp("class") / "class")


@pytest.fixture(scope="module")
def rows(course: Course) -> dict[str, Row]:
    """What became of the students of lab 01."""
    course.with_lab(LAB)
    return {student: course.made.row(student) for student in STUDENTS}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("student", "lost", "findings"),
    [
        ("honest", 0, ()),
        ("unit-slip", 1, ("unit-slip",)),
        ("tampered", 0, ()),
        ("broken-json", 0, ()),
        ("no-notebook", 0, ()),
        ("renamed", 0, ()),
        ("no-recording", FULL, ("no-recording",)),
        ("untouched", FULL, ("no-figure",)),
    ],
)
def test_points_and_findings(
    rows: dict[str, Row], student: str, lost: float, findings: tuple[str, ...]
) -> None:
    row = rows[student]
    assert (row.points, row.max_points, row.findings) == (FULL - lost, FULL, findings)


@pytest.mark.slow
@pytest.mark.parametrize("student", ["tampered", "broken-json", "no-notebook", "renamed"])
def test_what_was_set_aside_is_told(rows: dict[str, Row], student: str) -> None:
    assert rows[student].notes


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
