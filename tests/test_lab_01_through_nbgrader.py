"""Lab 01 through real nbgrader, from saved recordings: who gets which points, and why."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from grader.demonstration import DemonstrationClass, Row
from grader.figures import figures_of

ROOT = Path(__file__).parent.parent
LAB = "01-timer-overhead"
FULL = sum(spec.max_points for spec in figures_of(LAB))


def saved_evidence(lab: str, folder: Path) -> None:
    """An honest run of the author's notebook with 1,000 samples a variant, as it was recorded."""
    saved = ROOT / "tests" / "fixtures" / "honest" / lab
    shutil.copy(saved / "figures.json", folder)
    shutil.copytree(saved / "recordings", folder / "recordings")


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> tuple[DemonstrationClass, dict[str, Row]]:
    folder = tmp_path_factory.mktemp("class")
    made = DemonstrationClass(folder / "class", ROOT / "notebooks", LAB, saved_evidence)
    return made, {row.student: row for row in made.run()}


Graded = tuple[DemonstrationClass, dict[str, Row]]


@pytest.mark.slow
@pytest.mark.timeout(300)
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
    graded: Graded, student: str, lost: float, findings: tuple[str, ...]
) -> None:
    row = graded[1][student]
    assert (row.points, row.max_points, row.findings) == (FULL - lost, FULL, findings)


@pytest.mark.slow
@pytest.mark.parametrize("student", ["tampered", "broken-json", "no-notebook", "renamed"])
def test_what_was_set_aside_is_told(graded: Graded, student: str) -> None:
    assert graded[1][student].notes


@pytest.mark.slow
def test_the_gradebook_holds_the_points_and_leaves_the_report_to_a_person(graded: Graded) -> None:
    made, _ = graded
    with Gradebook(f"sqlite:///{made.course / 'gradebook.db'}") as gradebook:
        grades = gradebook.find_submission_notebook(LAB, LAB, "honest").grades
        figures = {spec.id: spec.max_points for spec in figures_of(LAB)}
        by_name = {grade.name: grade for grade in grades}
        assert {name: by_name[name].auto_score for name in figures} == figures
        by_hand = [grade for name, grade in by_name.items() if name not in figures]
        assert by_hand and all(grade.needs_manual_grade for grade in by_hand)


@pytest.mark.slow
def test_feedback_shows_the_reason_and_the_plot(graded: Graded) -> None:
    page = (graded[0].course / "feedback" / "unit-slip" / LAB / f"{LAB}.html").read_text("utf-8")
    assert "off by a whole power of a thousand" in page
    assert "data:image/png;base64," in page
    notebook = graded[0].course / "autograded" / "unit-slip" / LAB / f"{LAB}.ipynb"
    cells = json.loads(notebook.read_text("utf-8"))["cells"]
    judged = [cell for cell in cells if "ticklab" in cell["metadata"]]
    assert len(judged) == len(figures_of(LAB))
