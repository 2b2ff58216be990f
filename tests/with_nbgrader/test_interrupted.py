"""Results that an interruption left, and a gradebook that others hold: what the next run makes."""

from __future__ import annotations

import errno
import logging
import os
import signal
import sqlite3
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from nbgrader.api import Gradebook
from nbgrader.apps.api import NbGraderAPI

from bench.exchange import steps
from grader.with_nbgrader import course_folder, locked_gradebook
from grader.with_nbgrader.locked_gradebook import GradebookUnavailable, cause_of
from support.formgrader import formgrader_api
from support.small_course import LAB
from support.small_exchange import LATE, ExchangeCourse

#: Processes of nbgrader run before and in the first test.
STEPS = ("collect", "autograde", "generate_feedback", "release_feedback")
FULL = {"cost": 4.0, "step": 1.5, "report": None}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> ExchangeCourse:
    course = ExchangeCourse(tmp_path_factory.mktemp("interrupted"))
    course.generate()
    for student in ("ada", "grace"):
        course.hand_in(student)
    return course


@dataclass(frozen=True)
class Alone:
    """A step that is left alone: the course before it, how often it changes a file, its end."""

    before: ExchangeCourse
    changes: int
    after: steps.State


@pytest.fixture(scope="module")
def alone(made: ExchangeCourse, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Alone]:
    """Every step, one after the other."""
    found = {}
    course = made.copied_to(tmp_path_factory.mktemp("alone") / "class")
    for step in STEPS:
        before = course.copied_to(tmp_path_factory.mktemp("before") / "class")
        ran = steps.run(course, (step, LAB))
        assert ran.status == 0, ran.said
        found[step] = Alone(before, ran.changes, steps.state(course))
    return found


@pytest.fixture
def course(made: ExchangeCourse, tmp_path: Path) -> ExchangeCourse:
    return made.copied_to(tmp_path / "class")


@pytest.fixture
def api(course: ExchangeCourse, monkeypatch: pytest.MonkeyPatch) -> Iterator[NbGraderAPI]:
    with formgrader_api(course.folder, monkeypatch) as api:
        assert api.collect(LAB)["success"]
        yield api


def autograde(api: NbGraderAPI, student: str = "*") -> dict[str, object]:
    """As the command does, without `--force`."""
    done: dict[str, object] = api.autograde(LAB, student, force=False)
    return done


@pytest.mark.parametrize("step", STEPS)
def test_a_killed_step_ends_when_it_is_run_again(
    alone: dict[str, Alone], tmp_path: Path, step: str
) -> None:
    """Killed at a third and at two thirds of its changes."""
    changes = alone[step].changes
    assert changes >= 4
    for number in (1, 2):
        course = alone[step].before.copied_to(tmp_path / str(number) / "class")
        ran = steps.run(course, (step, LAB), kill_at_change=changes * number // 3)
        assert ran.status == -signal.SIGKILL
        assert steps.run(course, (step, LAB)).status == 0
        assert steps.state(course) == alone[step].after


def test_a_half_made_result_of_an_earlier_version_is_made_again(
    course: ExchangeCourse, api: NbGraderAPI
) -> None:
    half = course.folder / "autograded" / "ada" / LAB
    half.mkdir(parents=True)
    (half / "timestamp.txt").write_text("2025-01-02 03:04:05.678901 UTC")
    assert autograde(api)["success"]
    assert course.scores("ada") == course.scores("grace") == FULL


def test_what_a_killed_run_left_aside_is_removed(course: ExchangeCourse, api: NbGraderAPI) -> None:
    left = course.folder / "autograded" / course_folder.UNFINISHED / "ada" / LAB
    left.mkdir(parents=True)
    (left / f"{LAB}.ipynb").write_text("{")
    (left / "stale").write_text("")
    assert autograde(api)["success"]
    assert not (course.folder / "autograded" / "ada" / LAB / "stale").exists()
    assert not (course.folder / "autograded" / course_folder.UNFINISHED).exists()


def test_a_result_of_the_same_submission_is_not_made_again(
    course: ExchangeCourse, api: NbGraderAPI
) -> None:
    assert autograde(api)["success"]
    path = course.folder / "autograded" / "ada" / LAB / f"{LAB}.ipynb"
    before = path.stat().st_mtime_ns
    assert autograde(api)["success"] and path.stat().st_mtime_ns == before
    again = api.autograde(LAB, "ada")  # the formgrader's button asks for it
    assert again["success"] and path.stat().st_mtime_ns != before


def test_a_newer_submission_is_graded_although_its_time_cannot_be_read(
    course: ExchangeCourse, api: NbGraderAPI
) -> None:
    for student in ("ada", "grace"):
        (course.submitted(student) / "timestamp.txt").write_text("2025-01-02")
    assert autograde(api)["success"]
    newer = course.hand_in("ada", LATE, {"cost": {"points": 1.0}})
    (newer / "timestamp.txt").write_text("2025-01-02 03:04:05.678901 UTC")
    honest = course.inbound / course.name_of("ada")
    honest.rename(course.exchange / "moved-away")
    assert api.collect(LAB)["success"] is False  # the collected one counts, and a person looks
    (course.submitted("ada")).rename(course.exchange / "moved-away-too")
    assert api.collect(LAB)["success"]
    assert autograde(api)["success"]
    assert course.scores("ada") == {"cost": 1.0, "step": 0.0, "report": None}
    assert course.scores("grace") == FULL


def test_a_full_disk_stops_the_batch_with_one_sentence(
    course: ExchangeCourse, api: NbGraderAPI, monkeypatch: pytest.MonkeyPatch
) -> None:
    rename = Path.rename

    def full(self: Path, target: Path) -> Path:
        if "ada" in target.parts:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(target))
        return rename(self, target)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "rename", full)
        done = autograde(api)
    assert not done["success"] and "The disk is full" in str(done["log"])
    assert "upgrade" not in str(done["log"]) and "Traceback" not in str(done["log"])
    assert not (course.folder / "autograded" / "ada" / LAB).exists()
    assert autograde(api)["success"] and course.scores("ada") == FULL


def hold(gradebook: Path, seconds: float) -> threading.Timer:
    """Another program's transaction on the gradebook, which ends by itself."""
    other = sqlite3.connect(gradebook, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN EXCLUSIVE")
    timer = threading.Timer(seconds, other.close)
    timer.start()
    return timer


def test_a_locked_gradebook_is_waited_for_and_named(
    course: ExchangeCourse,
    api: NbGraderAPI,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(locked_gradebook, "_TRY_S", 0.1)
    monkeypatch.setattr(locked_gradebook, "get_logger", lambda: logging.getLogger("told"))
    timer = hold(course.folder / "gradebook.db", 1.0)
    assert autograde(api)["success"]
    timer.join()
    assert course.scores("ada") == FULL
    assert "The gradebook is locked by another program" in caplog.text


def test_a_gradebook_that_stays_locked_is_not_blamed_on_an_upgrade(
    course: ExchangeCourse, api: NbGraderAPI, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(locked_gradebook, "_TRY_S", 0.05)
    monkeypatch.setattr(locked_gradebook, "PATIENCE_S", 0.2)
    with sqlite3.connect(course.folder / "gradebook.db", isolation_level=None) as other:
        other.execute("BEGIN EXCLUSIVE")
        done = autograde(api)
        other.execute("ROLLBACK")
    assert not done["success"] and "kept the gradebook locked" in str(done["log"])
    assert "upgrade" not in str(done["log"]) and "Traceback" not in str(done["log"])
    assert autograde(api)["success"] and course.scores("ada") == FULL


def test_other_databases_of_the_process_are_left_alone(tmp_path: Path) -> None:
    with Gradebook(f"sqlite:///{tmp_path / 'other.db'}?timeout=0.1") as gradebook:
        connection = gradebook.engine.raw_connection()
        assert type(connection.dbapi_connection) is sqlite3.Connection
        connection.close()


def test_the_cause_is_found_below_nbgraders_own_error() -> None:
    def raised(cause: Exception) -> Exception:
        error = RuntimeError("nbgrader's")
        error.__context__ = cause
        return error

    assert "disk is full" in (cause_of(raised(OSError(errno.ENOSPC, "x"))) or "")
    assert cause_of(raised(GradebookUnavailable("held"))) == "held"
    assert cause_of(raised(OSError(errno.EACCES, "x"))) is None
    assert cause_of(ValueError("No space left on the page")) is None
