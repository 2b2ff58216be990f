"""What students get: the labs without solutions, with stubs in each cell's own language."""

from __future__ import annotations

import copy
import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from nbgrader.api import Gradebook

from grader.class_grading.autograde_class import Options, autograde
from grader.commands.cli import main as grader
from grader.with_nbgrader.course import CONFIG
from grader.with_nbgrader.release import ReleaseError, main, release
from support.paths import REPOSITORY
from support.small_course import LAB, Course, cell, source_notebook, write_source


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("release")
    release(write_source(folder / "notebooks"), folder / "released")
    return folder / "released" / LAB


def text_of(released: Path, grade_id: str) -> str:
    notebook: dict[str, Any] = json.loads((released / f"{LAB}.ipynb").read_text())
    for one in notebook["cells"]:
        if one["metadata"].get("nbgrader", {}).get("grade_id") == grade_id:
            return "".join(one["source"])
    raise AssertionError(grade_id)


def test_python_stub_runs_without_a_traceback(released: Path) -> None:
    text = text_of(released, "answer-python")
    assert "42" not in text
    exec(compile(text, "stub", "exec"), {})


def test_c_stub_is_c(released: Path) -> None:
    text = text_of(released, "answer-c")
    assert text.startswith("%%ckernel\nint main(void) {\n    #error ")
    assert "return 0" not in text


def source_with(folder: Path, number: int, *lines: str) -> Path:
    """The labs below `folder`, with these lines in one of the cells."""
    source, notebook = write_source(folder / "notebooks"), source_notebook()
    notebook["cells"][number]["source"] = "\n".join(lines)
    (source / LAB / f"{LAB}.ipynb").write_text(json.dumps(notebook))
    return source


PYTHON, IN_C = 2, 3


def test_a_solution_may_hold_its_own_stub(tmp_path: Path) -> None:
    region = ["if True:", "    ### BEGIN SOLUTION", "    value = 42", "    ### STUB value = ..."]
    lines = [*region, "    ### END SOLUTION", "print(1)"]
    release(source_with(tmp_path, PYTHON, *lines), tmp_path / "released")
    text = text_of(tmp_path / "released" / LAB, "answer-python")
    assert text == "if True:\n    value = ...\nprint(1)"


def test_a_solution_in_c_may_hold_its_own_stub(tmp_path: Path) -> None:
    region = ["/* ### BEGIN SOLUTION */", "int own(void) { return 42; }"]
    stubs = ['// ### STUB #error "to be done"', "// ### STUB int own(void);  // what it costs"]
    lines = ["%%ckernel", *region, *stubs, "/* ### END SOLUTION */", "int main(void);"]
    release(source_with(tmp_path, IN_C, *lines), tmp_path / "released")
    text = text_of(tmp_path / "released" / LAB, "answer-c")
    stub = ['#error "to be done"', "int own(void);  // what it costs"]
    assert text.splitlines() == ["%%ckernel", *stub, "int main(void);"]


def test_text_stub_is_plain(released: Path) -> None:
    assert text_of(released, "report") == "Write your answer here."


def test_c_cell_without_a_region_stays_a_c_cell(tmp_path: Path) -> None:
    lines = ["%%ckernel --name mine", "int main(void) { return 0; }"]
    release(source_with(tmp_path, IN_C, *lines), tmp_path / "released")
    text = text_of(tmp_path / "released" / LAB, "answer-c")
    assert text.splitlines()[0] == "%%ckernel --name mine"
    assert text.splitlines()[1].startswith("#error ")


def test_data_is_released_and_what_running_left_is_not(released: Path) -> None:
    assert sorted(path.name for path in released.iterdir()) == [f"{LAB}.ipynb", "data.csv"]


def test_same_source_gives_same_bytes(released: Path, tmp_path: Path) -> None:
    release(write_source(tmp_path / "notebooks"), tmp_path / "again")
    for path in released.iterdir():
        assert path.read_bytes() == (tmp_path / "again" / LAB / path.name).read_bytes()


def test_destination_is_replaced_as_a_whole(tmp_path: Path) -> None:
    source = write_source(tmp_path / "notebooks")
    stale = tmp_path / "released" / "00-stale"
    stale.mkdir(parents=True)
    assert main([str(source), str(tmp_path / "released")]) == 0
    assert [path.name for path in (tmp_path / "released").iterdir()] == [LAB]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["notebooks", "released"]


def test_failure_leaves_the_destination_and_says_why(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = write_source(tmp_path / "notebooks")
    notebook = source_notebook()
    del notebook["cells"][0]["id"]
    (source / LAB / f"{LAB}.ipynb").write_text(json.dumps(notebook))
    kept = tmp_path / "released" / "kept"
    kept.mkdir(parents=True)
    assert main([str(source), str(tmp_path / "released")]) == 1
    assert "each cell needs its own id" in capsys.readouterr().err
    assert kept.is_dir()


def test_region_without_an_end_is_refused(tmp_path: Path) -> None:
    source = source_with(tmp_path, IN_C, "%%ckernel", "/* BEGIN SOLUTION */", "int x;")
    with pytest.raises(ReleaseError, match=LAB):
        release(source, tmp_path / "released")
    assert not (tmp_path / "released").exists()


def test_released_labs_can_be_released_again(tmp_path: Path) -> None:
    """A course may start from released labs: students get the same bytes."""
    release(write_source(tmp_path / "notebooks"), tmp_path / "released")
    release(tmp_path / "released", tmp_path / "again")
    files = [path for path in (tmp_path / "released").rglob("*") if path.is_file()]
    assert len(files) == 2
    for path in files:
        again = tmp_path / "again" / path.relative_to(tmp_path / "released")
        assert again.read_bytes() == path.read_bytes()


@pytest.mark.parametrize(
    ("solved", "left"),
    [
        ("value = 42", "pass  # your answer here"),
        ("first\n# BEGIN SOLUTION\nvalue = 42\n# END SOLUTION", "first\npass  # your answer here"),
    ],
)
def test_a_released_cell_that_has_a_solution_since_is_cleared(
    tmp_path: Path, solved: str, left: str
) -> None:
    release(write_source(tmp_path / "notebooks"), tmp_path / "released")
    path = tmp_path / "released" / LAB / f"{LAB}.ipynb"
    notebook = json.loads(path.read_text())
    [cell] = [one for one in notebook["cells"] if one["id"] == "a-python"]
    cell["source"] = solved
    path.write_text(json.dumps(notebook))
    release(tmp_path / "released", tmp_path / "again")
    again = json.loads((tmp_path / "again" / LAB / f"{LAB}.ipynb").read_text())
    [cell] = [one for one in again["cells"] if one["id"] == "a-python"]
    assert "".join(cell["source"]) == left


def test_folder_without_labs_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notebooks").mkdir()
    with pytest.raises(ReleaseError, match="no lab"):
        release(tmp_path / "notebooks", tmp_path / "released")


def test_a_course_without_its_grader_ends_nbgrader(monkeypatch: pytest.MonkeyPatch) -> None:
    """Any exception but SystemExit would only be logged, and students' code would run."""
    monkeypatch.setitem(sys.modules, "grader.nbgrader_config", None)
    settings = compile(CONFIG, "nbgrader_config.py", "exec")
    with pytest.raises(SystemExit, match=r"grader is not there: .* Nothing was graded"):
        exec(settings, {"__file__": "nbgrader_config.py", "get_config": dict})


def test_a_copy_of_the_settings_without_the_grader_ends_nbgrader_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "grader.with_nbgrader.settings", None)
    path = REPOSITORY / "grader" / "nbgrader_config.py"
    settings = compile(path.read_text(encoding="utf-8"), "nbgrader_config.py", "exec")
    names = {"__file__": "nbgrader_config.py", "__name__": "settings"}
    with pytest.raises(SystemExit, match="grader is not there"):
        exec(settings, {**names, "get_config": dict})
    with pytest.raises(ImportError):  # in any other program it is an ordinary import
        exec(settings, dict(names))


# A lab that is released again after hand-ins, by real nbgrader.

WITHOUT_FIGURE = """
from grader.figures.verdict import NO_FIGURE, Finding, Level
old_judge = judge


def judge(name, most, figure):
    if figure is not None:
        return old_judge(name, most, figure)
    lacks = Finding(NO_FIGURE, Level.PROVENANCE, "", "", "", "")
    return Verdict(name, Outcome.FAILED, 0.0, most, "no figure of this name", findings=(lacks,))
"""
PLACE = LAB, LAB


def source_of(course: Course) -> Path:
    return course.folder / "source" / LAB / f"{LAB}.ipynb"


def change_source(course: Course, change: Callable[[list[dict[str, Any]]], object]) -> None:
    notebook = json.loads(source_of(course).read_text())
    change(notebook["cells"])
    source_of(course).write_text(json.dumps(notebook))


def released_again(course: Course) -> tuple[int, str]:
    done = course.run("generate_assignment", LAB, "--force")
    assert "Traceback" not in done.stderr
    return done.returncode, done.stderr


def everything_in(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def points_in_gradebook(course: Course) -> dict[str, float]:
    with Gradebook(f"sqlite:///{course.folder / 'gradebook.db'}") as gradebook:
        return {each.name: each.max_score for each in gradebook.find_notebook(*PLACE).grade_cells}


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Course:
    """A course whose lab asks one figure and a report, with one graded submission."""
    course = Course(tmp_path_factory.mktemp("graded"))
    checks = course.folder / "small_checks.py"
    checks.write_text(checks.read_text() + WITHOUT_FIGURE)
    change_source(course, lambda cells: cells.pop())
    course.generate()
    course.submit("ada", course.answered(), {"cost": {"points": 4.0}})
    assert course.run("autograde", LAB).returncode == 0
    return course


@pytest.fixture
def course(graded: Course, tmp_path: Path) -> Course:
    """A copy of it, to change."""
    course = copy.copy(graded)
    course.folder = shutil.copytree(graded.folder, tmp_path / "course")
    return course


def tell(_: object) -> Callable[[int], object]:
    return lambda _: None


def add_a_figure(cells: list[dict[str, Any]]) -> None:
    cells[0]["source"] = "# What does it cost, at most?"
    cells[5]["metadata"]["nbgrader"]["points"] = 8
    cells.append(source_notebook()["cells"][6])


@pytest.mark.parametrize("grade", ["nbgrader", "grader"])
def test_a_lab_is_released_again_and_earlier_work_is_matched_with_it(
    course: Course, grade: str, capsys: pytest.CaptureFixture[str]
) -> None:
    def exported() -> str:
        table = str(course.folder / "grades.csv")
        grader(["export", LAB, "--csv", table, "--course", str(course.folder)])
        return " ".join(capsys.readouterr().out.split())

    assert "released anew" not in exported()
    change_source(course, add_a_figure)
    status, said = released_again(course)
    assert status == 0, said
    assert f"{LAB}: the figure step is new, with 2 points" in said
    assert f"{LAB}: the figure cost has 8 points, not 4" in said
    assert f"graded by an earlier release: 1 submission. `grader autograde {LAB} --force`" in said
    assert points_in_gradebook(course) == {"cost": 8.0, "report": 5.0, "step": 2.0}
    waits = {"cost": 4.0, "report": None, "step": None}
    with Gradebook(f"sqlite:///{course.folder / 'gradebook.db'}") as gradebook:
        grades = gradebook.find_submission_notebook(*PLACE, "ada").grades
        assert {each.name: each.auto_score for each in grades} == waits
        assert {each.name for each in grades if each.needs_manual_grade} == {"report", "step"}

    told = f"after these were graded: ada. Run `grader autograde {LAB} --force`"
    assert told in exported()

    course.submit("bob", course.answered(), {"cost": {"points": 4.0}})
    if grade == "grader":
        skipped = autograde(course.folder, LAB, Options(workers=1), tell)
        assert (skipped.skipped, skipped.replaced) == (1, ["ada"])
        assert "another one has replaced; `--force` grades them by the new one (1): ada" in (
            skipped.as_text()
        )
        summary = autograde(course.folder, LAB, Options(workers=1, force=True), tell)
        assert not summary.failed, summary.failed
    else:
        assert told in course.run("autograde", LAB).stderr
        done = course.run("autograde", LAB, "--force")
        assert done.returncode == 0 and "released anew" not in done.stderr
    assert "released anew" not in exported()
    # Ada worked on the earlier release, and nobody asked her for the second figure.
    assert course.scores("ada") == {"cost": 8.0, "report": None, "step": None}
    assert course.scores("bob") == {"cost": 8.0, "report": None, "step": 0.0}
    assert course.source("ada", "report") == "answer to report"
    assert course.set_aside("ada") == (
        "made on an earlier release of this lab, and matched with the newest by the ids"
    )
    assert course.set_aside("bob") == ""
    assert "not in the release on which the student worked" in json.dumps(course.graded("ada"))


def test_an_answer_that_is_new_waits_for_a_person(course: Course) -> None:
    more = {"points": 3, "solution": True, "grade": True}
    new = cell("second", "markdown", "It depends.", "second-report", **more)
    change_source(course, lambda cells: cells.append(new))
    assert released_again(course)[0] == 0
    assert course.run("autograde", LAB, "--force").returncode == 0
    assert course.scores("ada") == {"cost": 4.0, "report": None, "second-report": None}
    assert "not in the release on which the student" in course.source("ada", "second-report")


def test_points_of_a_person_are_not_lost_with_their_cell(course: Course) -> None:
    with Gradebook(f"sqlite:///{course.folder / 'gradebook.db'}") as gradebook:
        gradebook.find_grade("report", *PLACE, "ada").manual_score = 3.0
        gradebook.db.commit()
    before = everything_in(course.folder / "release"), points_in_gradebook(course)
    change_source(course, lambda cells: cells.pop(4))
    status, said = released_again(course)
    assert status == 1
    assert "report is gone, and a person graded it for 1 student" in said
    assert "Put the cell back, or give the changed lab another name" in said
    assert f"{LAB} is as it was" in said
    assert (everything_in(course.folder / "release"), points_in_gradebook(course)) == before


def test_a_cell_that_nobody_graded_by_hand_can_go(course: Course) -> None:
    change_source(course, lambda cells: cells.pop(4))
    status, said = released_again(course)
    assert status == 0 and "the answer report is gone; it had 5 points" in said
    assert course.run("autograde", LAB, "--force").returncode == 0
    assert course.scores("ada") == {"cost": 4.0}
    assert "answer cell `report`: not in the newest release" in course.set_aside("ada")


OPEN = "value = 1\n# BEGIN SOLUTION\nvalue = 42"


@pytest.mark.parametrize(
    ("broken", "killed"),
    [("an open solution", False), ("no JSON", True), ("two cells of one name", False)],
)
def test_the_old_release_stays_until_the_new_one_stands(
    course: Course, broken: str, killed: bool
) -> None:
    folder = course.folder / "release"
    before = everything_in(folder), points_in_gradebook(course)
    change_source(course, add_a_figure)
    if broken == "an open solution":
        change_source(course, lambda cells: cells[2].update(source=OPEN))
    elif broken == "no JSON":
        source_of(course).write_text("{")
    else:
        change_source(course, lambda cells: cells.append({**cells[5], "id": "again"}))
    if killed:  # when an earlier run had taken the old release away, and not yet put the new one
        (folder / ".unfinished").mkdir()
        (folder / LAB).rename(folder / ".unfinished" / f"{LAB}.old")
    status, said = released_again(course)
    assert (status, said.count("was not released: ")) == (1, 1), said
    assert (everything_in(folder), points_in_gradebook(course)) == before
    assert sorted(path.name for path in folder.iterdir()) == [LAB]
