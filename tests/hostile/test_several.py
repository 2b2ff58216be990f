"""`grader check` of several folders, and copying, in which what is named comes before all else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from grader import check_folders
from grader.commands import cli
from grader.submissions import safe_files
from grader.submissions.safe_files import copy
from labs.limits import MOST_FILES
from support.hostile.case import HONEST

LAB = "01-timer-overhead"


def test_each_of_several_folders_has_its_report(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    missing, honest = tmp_path / "missing", HONEST / LAB
    words = ["check", "--json", str(missing), str(honest)]
    assert cli.main(words) == check_folders.SOMETHING_NOT_GRADED
    found = json.loads(capsys.readouterr().out)
    assert found[str(missing)] == {
        "outcome": "not graded",
        "reason": f"{missing} is not a folder",
    }
    assert sum(each["points"] for each in found[str(honest)]) == 18


def test_named_files_come_before_all_others(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    for number in range(MOST_FILES + 10):
        (source / f"{number:04}").touch()
    (source / "z.ipynb").write_text("{}")
    taken = copy(source, tmp_path / "copied", first=("z.ipynb", "not-there"))
    assert "z.ipynb" in taken.hashes
    assert len(taken.hashes) == MOST_FILES + 1
    assert [note for note in taken.left_out if "not-there" in note] == []
    assert [note for note in taken.left_out if "more than 500 files" in note]


@pytest.mark.parametrize("name", ["timestamp.txt", "submission_secret.txt"])
def test_what_nbgrader_added_is_never_crowded_out(name: str, tmp_path: Path) -> None:
    """Without the secret a student gets points and no feedback."""
    source = tmp_path / "source"
    source.mkdir()
    for number in range(MOST_FILES + 10):
        (source / f"{number:04}").touch()
    (source / name).write_text("of nbgrader")
    assert name in copy(source, tmp_path / "copied").hashes


def test_a_named_file_is_copied_once_and_keeps_its_own_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "source"
    (source / "recordings").mkdir(parents=True)
    entry = {"value": 1, "unit": "ns", "recording": "recordings/run.csv"}
    (source / "figures.json").write_text(json.dumps({"timer-step": entry}))
    (source / "recordings" / "run.csv").write_bytes(b"x" * 1_000)
    (source / "recordings" / "other.csv").write_bytes(b"x" * 1_000)
    with monkeypatch.context() as patch:
        patch.setattr(safe_files, "MOST_FOLDER_BYTES", 500)
        taken = copy(source, tmp_path / "copied")
    assert set(taken.hashes) == {"figures.json", "recordings/run.csv"}
    assert len(taken.left_out) == 1 and "other.csv" in taken.left_out[0]
    monkeypatch.setattr(safe_files, "MOST_EVIDENCE_BYTES", 500)
    taken = copy(source, tmp_path / "again")
    assert set(taken.hashes) == {"figures.json", "recordings/other.csv"}
    assert len(taken.left_out) == 1 and "recordings/run.csv: 1000 bytes" in taken.left_out[0]


def test_what_programs_read_as_settings_is_not_copied(tmp_path: Path) -> None:
    """Also where nbgrader collected: a shell or git in the copy would run it."""
    source = tmp_path / "source"
    for name in (".git/config", "nbgrader_config.py", "refs/HEAD", ".DS_Store", "x/y.csv"):
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text("x")
    (source / ".bashrc").symlink_to("/etc/passwd")
    taken = copy(source, tmp_path / "copied")
    assert set(taken.hashes) == {"x/y.csv"}
    why = "not taken, because programs can read it as their settings and run what it says"
    names = (".bashrc", ".git", "nbgrader_config.py", "refs/HEAD")
    assert taken.left_out == [f"{name}: {why}" for name in names]
    assert set(copy(source, tmp_path / "again", first=(".bashrc", ".git/config")).hashes) == {
        ".git/config",
        "x/y.csv",
    }
