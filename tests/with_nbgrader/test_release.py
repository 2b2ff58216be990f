"""What students get: the labs without solutions, with stubs in each cell's own language."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from grader.with_nbgrader.course import CONFIG
from grader.with_nbgrader.release import ReleaseError, main, release
from testing.paths import REPOSITORY
from testing.small_course import LAB, source_notebook, write_source


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("release")
    release(write_source(folder / "notebooks"), folder / "released")
    return folder / "released" / LAB


def text_of(released: Path, grade_id: str) -> str:
    notebook: dict[str, Any] = json.loads((released / f"{LAB}.ipynb").read_text())
    for cell in notebook["cells"]:
        if cell["metadata"].get("nbgrader", {}).get("grade_id") == grade_id:
            return "".join(cell["source"])
    raise AssertionError(grade_id)


def test_python_stub_runs_without_a_traceback(released: Path) -> None:
    text = text_of(released, "answer-python")
    assert "42" not in text
    exec(compile(text, "stub", "exec"), {})


def test_c_stub_is_c(released: Path) -> None:
    text = text_of(released, "answer-c")
    assert text.startswith("%%ckernel\nint main(void) {\n    #error ")
    assert "return 0" not in text


def test_a_solution_may_hold_its_own_stub(tmp_path: Path) -> None:
    source = write_source(tmp_path / "notebooks")
    notebook = source_notebook()
    at = ["value = 42" in "".join(cell["source"]) for cell in notebook["cells"]].index(True)
    region = ["if True:", "    ### BEGIN SOLUTION", "    value = 42", "    ### STUB value = ..."]
    notebook["cells"][at]["source"] = "\n".join([*region, "    ### END SOLUTION", "print(1)"])
    (source / LAB / f"{LAB}.ipynb").write_text(json.dumps(notebook))
    release(source, tmp_path / "released")
    text = text_of(tmp_path / "released" / LAB, "answer-python")
    assert text == "if True:\n    value = ...\nprint(1)"


def test_a_solution_in_c_may_hold_its_own_stub(tmp_path: Path) -> None:
    source = write_source(tmp_path / "notebooks")
    notebook = source_notebook()
    region = ["/* ### BEGIN SOLUTION */", "int own(void) { return 42; }"]
    stubs = ['// ### STUB #error "to be done"', "// ### STUB int own(void);  // what it costs"]
    lines = ["%%ckernel", *region, *stubs, "/* ### END SOLUTION */", "int main(void);"]
    notebook["cells"][3]["source"] = "\n".join(lines)
    (source / LAB / f"{LAB}.ipynb").write_text(json.dumps(notebook))
    release(source, tmp_path / "released")
    text = text_of(tmp_path / "released" / LAB, "answer-c")
    stub = ['#error "to be done"', "int own(void);  // what it costs"]
    assert text.splitlines() == ["%%ckernel", *stub, "int main(void);"]


def test_text_stub_is_plain(released: Path) -> None:
    assert text_of(released, "report") == "Write your answer here."


def test_c_cell_without_a_region_stays_a_c_cell(tmp_path: Path) -> None:
    source = write_source(tmp_path / "notebooks")
    notebook = source_notebook()
    notebook["cells"][3]["source"] = "%%ckernel --name mine\nint main(void) { return 0; }"
    (source / LAB / f"{LAB}.ipynb").write_text(json.dumps(notebook))
    release(source, tmp_path / "released")
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
    source = write_source(tmp_path / "notebooks")
    notebook = source_notebook()
    notebook["cells"][3]["source"] = "%%ckernel\n/* BEGIN SOLUTION */\nint x;"
    (source / LAB / f"{LAB}.ipynb").write_text(json.dumps(notebook))
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
