"""`grader check` in the folder of all labs: one line for each lab, and the worst exit status."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from grader.commands.cli import main
from grader.judging.lab_folder import check_folder
from grader.judging.worker import Judgement, NotGraded
from support.hostile.case import HONEST

FIRST, SECOND = "01-timer-overhead", "03-system-call"


def judged(folder: Path, lab: str) -> Judgement:
    return Judgement(tuple(check_folder(folder, lab)))


class Here:
    """Judges in this process, which costs no start of another one."""

    def __enter__(self) -> Here:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def judge(self, folder: Path, lab: str) -> Judgement | NotGraded:
        return judged(folder, lab)


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grader.check_folders.Worker", Here)


@pytest.fixture
def labs(tmp_path: Path) -> Path:
    """The folder of two labs, one right and one not begun, and of what is no lab."""
    shutil.copytree(HONEST / FIRST, tmp_path / "labs" / FIRST)
    for name in (SECOND, "00-start-here", "handed-in"):
        (tmp_path / "labs" / name).mkdir()
    return tmp_path / "labs"


def test_each_lab_has_a_line(labs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = labs / FIRST / "figures.json"
    figures = json.loads(path.read_text(encoding="utf-8"))
    figures["timer-overhead-fenced"]["value"] *= 3
    del figures["timer-step"]
    path.write_text(json.dumps(figures), encoding="utf-8")
    assert main(["check", str(labs)]) == 1
    lines = capsys.readouterr().out.splitlines()
    rows = {line.split()[0]: line for line in lines[2:] if line[:1].isdigit() and "-" in line[:3]}
    assert list(rows) == [FIRST, SECOND]
    verdicts = check_folder(labs / FIRST, FIRST)
    got = sum(verdict.points for verdict in verdicts)
    assert f"3 of 5  {got:g} of 18" in rows[FIRST]
    assert rows[FIRST].endswith("timer-overhead-fenced, 1 not handed in")
    assert "0 of 18  nothing handed in yet" in rows[SECOND]
    assert f"{got:g} of 36 points." in lines
    assert lines[-1] == f"`grader check {labs / FIRST}` says more about {FIRST}."


def test_the_status_is_the_worst_of_all_labs(
    labs: Path, here: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (labs / SECOND).rmdir()
    monkeypatch.chdir(labs)
    assert main(["check"]) == 0
    assert "18 of 18 points.\n" in capsys.readouterr().out
    (labs / SECOND).mkdir()
    (labs / SECOND / "figures.json").mkdir()
    assert main(["check", "--json"]) in (1, 2)
    stated = json.loads(capsys.readouterr().out)
    assert [each["outcome"] for each in stated[FIRST]] == ["passed"] * 5


def test_a_lab_that_cannot_be_judged_leaves_the_others(
    labs: Path, here: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def judge(_: Here, folder: Path, lab: str) -> Judgement | NotGraded:
        return NotGraded("it took too long") if lab == FIRST else judged(folder, lab)

    monkeypatch.setattr(Here, "judge", judge)
    assert main(["check", str(labs)]) == 2
    text = capsys.readouterr().out
    assert "not graded: it took too long" in text and "0 of 18 points." in text


def test_a_folder_without_labs_is_refused_as_before(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for folder, said in ((tmp_path, "is not a lab folder"), (tmp_path / "no", "is not a folder")):
        assert main(["check", str(folder)]) == 2
        assert said in capsys.readouterr().err


def test_a_misspelt_lab_is_named(labs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--lab", "3-system-cal", str(labs)]) == 2
    assert "did you mean 03-system-call?" in capsys.readouterr().err
    assert main(["check", "--lab", "1", str(labs / FIRST)]) == 0
