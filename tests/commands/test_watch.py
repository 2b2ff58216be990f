"""`labs watch`: a check after each change, in which only what changed is printed."""

from __future__ import annotations

import dataclasses
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from grader.judging.lab_folder import check_folder
from labs.commands import checking
from labs.commands.checking import Watch, changes, folders_of, seen
from labs.commands.cli import main
from labs.course.handed_in import CannotCheck, Checked, check
from support.hostile.case import HONEST

LAB, OTHER = "01-timer-overhead", "03-system-call"


def verdict(
    figure: str,
    outcome: str = "passed",
    reason: str = "it follows",
    findings: tuple[str, ...] = ("unit-slip",),
) -> Checked:
    passed = outcome == "passed"
    return Checked(figure, outcome, 2.0 if passed else 0.5, 2.0, reason, () if passed else findings)


def by_figure(*verdicts: Checked) -> checking.Verdicts:
    return {each.figure: each for each in verdicts}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / LAB / "recordings").mkdir(parents=True)
    return tmp_path / LAB


def test_only_what_changed_is_printed(folder: Path) -> None:
    said = [
        by_figure(verdict("a"), verdict("b", "failed", "wrong unit"), verdict("c")),
        by_figure(verdict("a"), verdict("b"), verdict("c")),
        by_figure(verdict("a"), verdict("b"), verdict("c")),
        by_figure(verdict("a", "failed", "another unit"), verdict("b")),
    ]
    watched = Watch([folder], lambda _: said.pop(0))
    assert list(watched.first()) == [f"{LAB}: 2 of 3 figures passed, 4.5 of 6 points"]
    lines = [list(watched.again([folder])) for _ in range(3)]
    assert lines[0][0].endswith(f"{LAB}: 3 of 3 figures passed, 6 of 6 points")
    assert lines[0][1:] == ["  ✓ b: passed, 2 of 2 points", "    it follows"]
    assert [line.partition(f"{LAB}: ")[2] for line in lines[1]] == [
        "checked again, nothing changed"
    ]
    assert lines[2][1:] == [
        "  ✗ a: failed, 0.5 of 2 points",
        "    [unit-slip] another unit",
        "  c: withdrawn",
        "  `grader check` shows the evidence of each finding, and what decides.",
    ]


def test_what_is_missing_or_not_graded_has_not_failed() -> None:
    missing = verdict("a", "failed", findings=("no-figure",))
    assert checking.lines_on(missing) == ["  ○ a: not handed in"]
    assert checking.lines_on(verdict("a", "not graded", "no right")) == [
        "  ? a: not graded",
        "    [unit-slip] no right",
    ]


def test_a_check_that_fails_is_told_and_the_next_one_counts(folder: Path) -> None:
    refusals = [CannotCheck("no figure yet"), CannotCheck("gone")]

    def refused(_: Path) -> checking.Verdicts:
        if refusals:
            raise refusals.pop(0)
        return by_figure(verdict("a"))

    watched = Watch([folder], refused)
    assert list(watched.first()) == [f"{LAB}: no figure yet"]
    assert [line[9:] for line in watched.again([folder])] == [f"{LAB}: gone"]
    assert "  ✓ a: passed, 2 of 2 points" in list(watched.again([folder]))


class Steps:
    """Stands for `time.sleep`: changes files instead, one step a call, and then ends the watch."""

    def __init__(self, *steps: Callable[[], object]) -> None:
        self.steps = list(steps)

    def __call__(self, seconds: float) -> None:
        if not self.steps:
            raise KeyboardInterrupt
        self.steps.pop(0)()


def nothing() -> None:
    pass


def test_a_change_is_seen_once_and_after_it_is_quiet(folder: Path) -> None:
    figures, run = folder / "figures.json", folder / "recordings" / "run.csv"
    steps = Steps(
        nothing,
        lambda: figures.write_text("{}"),
        lambda: run.write_text("still writing"),
        nothing,  # quiet: reported
        nothing,
        lambda: run.unlink(),
        nothing,  # reported
        lambda: (folder / f"{LAB}.ipynb").write_text("no figure depends on it"),
        lambda: (folder / "recordings" / ".run.csv.tmp").write_text("being written"),
        lambda: os.utime(figures, ns=(1, 1)),
        lambda: shutil.rmtree(folder),
        nothing,  # reported
    )
    found: list[list[Path]] = []
    with pytest.raises(KeyboardInterrupt):
        found.extend(changes([folder], steps))
    assert found == [[folder]] * 3 and steps.steps == []
    with pytest.raises(KeyboardInterrupt):
        next(changes([folder], Steps(nothing, nothing)))


def test_each_change_gives_the_folders_that_changed(tmp_path: Path) -> None:
    folders = [tmp_path / LAB, tmp_path / OTHER]
    for each in folders:
        each.mkdir()
    steps = Steps(lambda: (folders[1] / "figures.json").write_text("{}"), nothing)
    watched = changes(folders, steps)
    assert next(watched) == [folders[1]]
    # What changed back while it was not quiet has not changed.
    path = folders[0] / "figures.json"
    steps.steps = [lambda: path.write_text("{}"), path.unlink, nothing]
    with pytest.raises(KeyboardInterrupt):
        next(watched)
    assert seen(folders[0]) == {}


def test_a_lab_a_root_and_another_folder(tmp_path: Path) -> None:
    for lab in (LAB, OTHER):
        (tmp_path / "labs" / lab).mkdir(parents=True)
    assert folders_of(tmp_path / "labs") == [tmp_path / "labs" / lab for lab in (LAB, OTHER)]
    assert folders_of(tmp_path / "labs" / LAB) == [tmp_path / "labs" / LAB]
    assert folders_of(tmp_path) == [] and folders_of(tmp_path / "nowhere") == []
    (tmp_path / "renamed").mkdir()
    (tmp_path / "renamed" / f"{LAB}.ipynb").touch()
    assert folders_of(tmp_path / "renamed") == [tmp_path / "renamed"]


def test_control_c_ends_it_without_a_traceback(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(seconds: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(checking, "check", lambda _: [verdict("a")])
    monkeypatch.setattr(checking, "changes", lambda folders: changes(folders, interrupted))
    assert main(["watch", str(folder)]) == 0
    printed = capsys.readouterr()
    assert "1 of 1 figures passed, 2 of 2 points" in printed.out and not printed.err


def test_a_folder_without_labs_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["watch", str(tmp_path)]) == 2
    assert "is not the folder of a lab, and holds none" in capsys.readouterr().err


@pytest.mark.slow
def test_the_check_is_the_graders(tmp_path: Path) -> None:
    graded = [each.as_json() for each in check_folder(HONEST / LAB, LAB)]
    for mine, theirs in zip(check(HONEST / LAB), graded, strict=True):
        for name, value in dataclasses.asdict(mine).items():
            assert value == (tuple(theirs[name]) if name == "findings" else theirs[name])
    with pytest.raises(CannotCheck, match="is not a lab folder"):
        check(tmp_path)
