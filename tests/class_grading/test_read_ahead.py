"""The OS is asked for the evidence of a submission, and never through what a student put there."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from grader.class_grading import grading_process
from grader.class_grading.grading_process import Job
from grader.judging.worker import Lane
from grader.submissions.safe_files import read_ahead

pytestmark = pytest.mark.skipif(
    not hasattr(os, "posix_fadvise"), reason="this OS cannot be asked to read ahead"
)


@pytest.fixture
def advised(monkeypatch: pytest.MonkeyPatch) -> set[int]:
    """The inodes of the files that the OS was asked for."""
    found: set[int] = set()

    def advise(file: int, begin: int, length: int, advice: int) -> None:
        assert advice == os.POSIX_FADV_WILLNEED
        found.add(os.fstat(file).st_ino)

    monkeypatch.setattr(os, "posix_fadvise", advise)
    return found


@pytest.fixture
def submission(tmp_path: Path) -> Path:
    folder = tmp_path / "ada" / "01-timer-overhead"
    (folder / "recordings").mkdir(parents=True)
    (folder / "figures.json").write_text("{}")
    (folder / "recordings" / "fenced.csv").write_text("# ticklab recording: 1\n")
    return folder


def test_figures_and_recordings_are_asked_for(submission: Path, advised: set[int]) -> None:
    read_ahead(submission, submission.parent.parent)
    files = submission / "figures.json", submission / "recordings" / "fenced.csv"
    assert advised == {path.stat().st_ino for path in files}


def test_links_and_pipes_are_not(submission: Path, tmp_path: Path, advised: set[int]) -> None:
    other = tmp_path / "other.csv"
    other.write_text("another student's work")
    (submission / "recordings" / "link.csv").symlink_to(other)
    os.mkfifo(submission / "recordings" / "pipe.csv")
    read_ahead(submission, tmp_path)
    assert other.stat().st_ino not in advised
    assert len(advised) == 2


def test_a_folder_that_is_a_link_is_not_entered(
    submission: Path, tmp_path: Path, advised: set[int]
) -> None:
    (tmp_path / "eve").symlink_to(submission.parent)
    read_ahead(tmp_path / "eve" / submission.name, tmp_path)
    assert not advised


def test_what_is_missing_is_left_to_whoever_needs_it(tmp_path: Path, advised: set[int]) -> None:
    read_ahead(tmp_path / "nobody" / "01-timer-overhead", tmp_path)
    assert not advised


class AtOnce:
    """Does what it is given at once. The pool's own thread is not waited for: it may still have
    read nothing when submissions that cost nothing are graded."""

    def submit(self, call: Callable[..., None], *values: object) -> None:
        call(*values)

    def shutdown(self, *, cancel_futures: bool) -> None:
        """There is nothing left to do."""


def test_the_pool_asks_for_each_submission_once_and_before_it_is_graded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[str] = []

    def graded(lane: object, job: Mapping[str, str]) -> None:
        begun.append(f"graded {job['student']}")

    monkeypatch.setattr(Lane, "done", graded)
    monkeypatch.setattr(
        grading_process, "read_ahead", lambda folder, trusted: begun.append(f"{folder.name}")
    )
    monkeypatch.setattr(grading_process, "_AHEAD", 2)
    jobs = [
        Job(name, str(tmp_path / name), str(tmp_path / f"{name}-unfinished")) for name in "abcd"
    ]
    with grading_process.LocalPool(tmp_path / "plan", 1, tmp_path) as grading:
        monkeypatch.setattr(grading, "_reading", AtOnce())
        assert [job.student for job, trouble in grading.each(jobs)] == [*"abcd"]
    asked = [each for each in begun if not each.startswith("graded")]
    assert asked == [*"abcd"]
    assert all(begun.index(name) < begun.index(f"graded {name}") for name in "abcd")
