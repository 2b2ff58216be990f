"""What is not done twice: a recording is parsed once for a submission, and not copied at all."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from grader.submissions.safe_files import copy
from labs.recording import file
from labs.recording.file import keeping_recordings
from support.paths import FIXTURES


def submission(folder: Path) -> Path:
    (folder / "recordings").mkdir(parents=True)
    for name, size in (("large.csv", 40_000), ("small.csv", 40), ("notes.txt", 40_000)):
        (folder / "recordings" / name).write_text("x" * size)
    (folder / "large.csv").write_text("x" * 40_000)
    figures = {"cost": {"value": 1.0, "unit": "ns", "recording": "recordings/large.csv"}}
    (folder / "figures.json").write_text(json.dumps(figures))
    return folder


def shared(source: Path, copy: Path) -> set[str]:
    files = [path.relative_to(copy) for path in copy.rglob("*") if path.is_file()]
    assert len(files) == 5
    return {str(each) for each in files if (source / each).samefile(copy / each)}


def test_a_large_recording_of_ours_gets_a_second_name(tmp_path: Path) -> None:
    source = submission(tmp_path / "submitted")
    assert copy(source, tmp_path / "copied").left_out == []
    assert shared(source, tmp_path / "copied") == set()
    for _ in range(2):  # again over the first
        assert copy(source, tmp_path / "shared", share=True).left_out == []
    assert shared(source, tmp_path / "shared") == {"recordings/large.csv"}


def test_what_somebody_else_can_change_is_copied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = submission(tmp_path / "submitted")
    own = os.geteuid()
    with monkeypatch.context() as patch:
        patch.setattr(os, "geteuid", lambda: own + 1)
        assert copy(source, tmp_path / "copied", share=True).left_out == []
    assert shared(source, tmp_path / "copied") == set()

    def fails(*_: object, **__: object) -> None:
        raise OSError(18, "on another disk")

    monkeypatch.setattr(os, "link", fails)
    assert copy(source, tmp_path / "elsewhere", share=True).left_out == []
    assert shared(source, tmp_path / "elsewhere") == set()


def test_a_file_that_was_replaced_meanwhile_is_not_shared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = submission(tmp_path / "submitted")
    secret = tmp_path / "secret"
    secret.write_text("of somebody else" * 9_000)
    link = os.link

    def replaced(name: str, target: Path, src_dir_fd: int, follow_symlinks: bool) -> None:
        (source / "recordings" / name).unlink()
        (source / "recordings" / name).symlink_to(secret)
        link(name, target, src_dir_fd=src_dir_fd, follow_symlinks=follow_symlinks)

    monkeypatch.setattr(os, "link", replaced)
    assert copy(source, tmp_path / "copy", share=True).left_out == []
    assert (tmp_path / "copy" / "recordings" / "large.csv").read_text() == "x" * 40_000


def test_the_same_file_is_read_once_and_only_within_one_submission(tmp_path: Path) -> None:
    path = tmp_path / "run.csv"
    path.write_bytes((FIXTURES / "fenced.csv").read_bytes())
    assert file.read(path) is not file.read(path)
    with keeping_recordings():
        first = file.read(path)
        assert file.read(path) is first
        changed = path.read_bytes().replace(b"# created: ", b"# created: 1")
        path.write_bytes(changed)
        assert file.read(path) is not first
    with keeping_recordings():
        assert file.read(path) is not first
