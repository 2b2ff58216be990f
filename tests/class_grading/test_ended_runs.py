"""Runs that were ended, and what the next one makes of what they left."""

from __future__ import annotations

import contextlib
import errno
import json
import multiprocessing
import os
import signal
import sqlite3
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from traitlets.log import get_logger

from bench.exchange import steps
from grader.class_grading import autograde_class as evening_autograde
from grader.class_grading import grading_process
from grader.class_grading.autograde_class import Class, Options, autograde
from grader.class_grading.grading_process import Job, NoResult, Plan, Result
from grader.commands import cli
from grader.judging.worker import Lane
from grader.with_nbgrader import locked_gradebook
from grader.with_nbgrader.class_flags import Entries
from grader.with_nbgrader.course_folder import NotOurs, Stopped
from support.formgrader import formgrader_api
from support.graded_here import GradedHere
from support.small_course import LAB
from support.small_exchange import ExchangeCourse

STUDENTS = ("ada", "bob", "copy", "dora")
#: The second and the third hand in one run; only the later one is flagged, whatever happens.
RUNS = {"bob": ["r1"], "copy": ["r1", "r2"]}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> ExchangeCourse:
    course = ExchangeCourse(tmp_path_factory.mktemp("ended"))
    with pytest.MonkeyPatch.context() as patch, formgrader_api(course.folder, patch) as api:
        assert api.generate_assignment(LAB)["success"]
    for student in STUDENTS:
        figures = {"cost": {"points": 3.0, "runs": RUNS.get(student, [])}}
        folder = course.submit(student, course.answered(), figures)
        (folder / "recordings").mkdir()  # so large that both steps share it
        (folder / "recordings" / "run.csv").write_text("1,2,3\n" * 5_000)
    return course


@pytest.fixture(scope="module")
def alone(made: ExchangeCourse, tmp_path_factory: pytest.TempPathFactory) -> ExchangeCourse:
    """A class that was graded without an interruption."""
    course = made.copied_to(tmp_path_factory.mktemp("alone") / "class")
    assert graded(course).submissions == len(STUDENTS)
    return course


def graded(course: Any, in_this_process: bool = True, force: bool = False) -> Any:
    """Grades a class; what is told of it before is in `found` of the summary."""
    told: list[Class] = []

    def tell(found: Class) -> Any:
        told.append(found)
        return lambda count: None

    with pytest.MonkeyPatch.context() as patch:
        if in_this_process:
            patch.setattr(evening_autograde, "LocalPool", GradedHere)
        summary = autograde(course.folder, LAB, Options(workers=1, force=force), tell)
    summary.found = told[0]  # type: ignore[attr-defined]
    return summary


def flags(course: ExchangeCourse) -> dict[str, list[str]]:
    """The flags on each student's run."""
    return {
        student: [
            flag
            for cell in course.graded(student)["cells"]
            for flag in cell["metadata"].get("ticklab", {}).get("flags", ())
        ]
        for student in STUDENTS
    }


# A result that is not what was asked for, whoever wrote it.

_UNREADABLE = "cannot be read, or is not that of this student"


#: What is changed in a result, and what the instructor reads.
LIES: dict[str, tuple[Callable[[dict[str, Any]], object], str]] = {
    "6,000 points": (lambda r: r["scores"][LAB].update(cost=6_000.0), "has 6000 points for cost"),
    "more than the cell gives": (lambda r: r["scores"][LAB].update(cost=4.01), "has 4.01 points"),
    "less than nothing": (lambda r: r["scores"][LAB].update(step=-1.0), "has -1 points for step"),
    "for a text": (lambda r: r["scores"][LAB].update(report=99), "has 99 points for report"),
    "no number": (lambda r: r["scores"][LAB].update(cost=float("nan")), _UNREADABLE),
    "without end": (lambda r: r["scores"][LAB].update(cost=float("inf")), _UNREADABLE),
    "points as text": (lambda r: r["scores"][LAB].update(cost="4"), _UNREADABLE),
    "a list of points": (lambda r: r.update(scores=[4.0]), _UNREADABLE),
    "a cell of another lab": (lambda r: r["scores"][LAB].update(bonus=1.0), "no row for"),
    "a notebook of another lab": (lambda r: r["scores"].update(other={"cost": 4.0}), "no row for"),
    "a comment on another cell": (lambda r: r["comments"][LAB].update(bonus="Well"), "no row for"),
    "a verdict that nobody asked for": (
        lambda r: r["verdicts"][LAB].update(bonus={**r["verdicts"][LAB]["cost"]}),
        _UNREADABLE,
    ),
    "a verdict in the place of another": (
        lambda r: r["verdicts"][LAB].update(step=r["verdicts"][LAB]["cost"]),
        _UNREADABLE,
    ),
    "half a verdict": (lambda r: r["verdicts"][LAB]["cost"].pop("levels"), _UNREADABLE),
    "runs of another notebook": (lambda r: r["runs"].update(other={"cost": ["r1"]}), _UNREADABLE),
    "another student's": (lambda r: r.update(student="ada"), _UNREADABLE),
    "a student who did not hand in": (lambda r: r.update(student="mallory"), _UNREADABLE),
    "no time": (lambda r: r.update(timestamp="yesterday"), _UNREADABLE),
    "more than a result has": (lambda r: r.update(grade=4.0), _UNREADABLE),
}


def test_results_that_do_not_fit_are_not_entered_and_cost_nobody_else_anything(
    made: ExchangeCourse, alone: ExchangeCourse, tmp_path: Path
) -> None:
    course = made.copied_to(tmp_path / "class")
    lies = {f"student-{number:02}": lie for number, lie in enumerate(LIES)}
    for student in lies:
        course.submit(student, course.answered(), {"cost": {"points": 3.0, "runs": [student]}})
    write = grading_process.write_json

    def written(path: Path, stated: Any) -> None:
        if path.parent.name in lies and path.name.endswith(".result.json"):
            stated = json.loads(json.dumps(stated))
            LIES[lies[path.parent.name]][0](stated)
        write(path, stated)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(grading_process, "write_json", written)
        summary = graded(course)
    said = {lies[student]: why for student, why in summary.failed.items()}
    assert {lie: said.get(lie) for lie, (_, words) in LIES.items() if words not in said[lie]} == {}
    assert set(course.gradebook()) == set(STUDENTS)
    for student in STUDENTS:
        assert course.scores(student) == alone.scores(student)
    assert graded(course).submissions == len(LIES)
    assert all(course.scores(student) == alone.scores("bob") for student in lies)


class Killed(BaseException):
    """The process ended here."""


@pytest.mark.parametrize(
    "moment", ["flag", "register", "gradebook", "second folder", "its result file"]
)
def test_a_run_that_ended_at_any_step_goes_on(
    made: ExchangeCourse, alone: ExchangeCourse, tmp_path: Path, moment: str
) -> None:
    course = made.copied_to(tmp_path / "class")
    with pytest.MonkeyPatch.context() as patch, pytest.raises(Killed):
        end_at(moment, patch)
        graded(course)
    again = graded(course)
    left = len(STUDENTS) - (1 if moment in {"second folder", "its result file"} else 0)
    assert again.submissions == left == len(again.found.computed)
    assert steps.state(course) == steps.state(alone)
    assert flags(course) == flags(alone)
    assert [student for student, found in flags(course).items() if found] == ["copy"]


def end_at(moment: str, patch: pytest.MonkeyPatch) -> None:
    """The run ends as if killed, when it comes to this step."""
    from grader.class_grading import autograde_class
    from grader.class_grading.autograde_class import Writer
    from grader.with_nbgrader.autograde import CourseAutograde

    count = []

    def second(*_: Any, **__: Any) -> Any:
        raise Killed

    if moment == "flag":
        patch.setattr(autograde_class, "write_flags", second)
    if moment == "register":
        patch.setattr(Writer, "write", second)
    if moment == "gradebook":
        patch.setattr(CourseAutograde, "put_in_place", second)
    if moment in {"second folder", "its result file"}:
        place = CourseAutograde.put_in_place

        def once(self: Any, *names: str) -> None:
            count.append(names)
            if moment == "its result file" or len(count) < 2:
                place(self, *names)
            if moment == "its result file" or len(count) == 2:
                raise Killed

        patch.setattr(CourseAutograde, "put_in_place", once)


def test_what_does_not_hold_any_more_is_computed_again(
    made: ExchangeCourse, tmp_path: Path
) -> None:
    course = made.copied_to(tmp_path / "class")
    with pytest.MonkeyPatch.context() as patch, pytest.raises(Killed):
        end_at("register", patch)
        graded(course)
    figures = course.submitted("ada") / "figures.json"
    figures.write_text(json.dumps({"cost": {"points": 2.0}}))
    results = course.folder / "autograded" / ".unfinished" / "bob" / f"{LAB}.result.json"
    results.write_text('{"student": "bob"')
    results.with_name(f"{results.name}.new").write_text("half")
    half = course.folder / "autograded" / ".unfinished" / "dora" / f"{LAB}.result.json.new"
    half.write_text("half")
    again = graded(course)
    assert again.found.computed == {"copy", "dora"} and again.submissions == len(STUDENTS)
    assert course.scores("ada")["cost"] == 2.0
    assert not (course.folder / "autograded" / ".unfinished").exists()


def test_a_worker_that_is_killed_does_its_submission_again(
    made: ExchangeCourse, alone: ExchangeCourse, tmp_path: Path
) -> None:
    course = made.copied_to(tmp_path / "class")
    started = Lane._started
    processes = []

    def killed(*arguments: Any) -> Any:
        process = started(*arguments)
        processes.append(process)
        if len(processes) == 1:
            os.kill(process.pid, signal.SIGKILL)
        return process

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Lane, "_started", killed)
        assert graded(course, in_this_process=False).submissions == len(STUDENTS)
    assert len(processes) == 2
    assert steps.state(course) == steps.state(alone)


def test_what_was_graded_is_graded_again_only_if_asked(
    made: ExchangeCourse, alone: ExchangeCourse, tmp_path: Path
) -> None:
    course = alone.copied_to(tmp_path / "class")
    before = {path: path.stat().st_ino for path in course.folder.glob("autograded/*/*/*.ipynb")}
    assert graded(course).skipped == len(STUDENTS) == len(before)
    assert {path: path.stat().st_ino for path in before} == before
    assert graded(course, force=True).submissions == len(STUDENTS)
    assert all(path.stat().st_ino != number for path, number in before.items())


def test_two_runs_do_not_work_on_one_lab(made: ExchangeCourse, tmp_path: Path) -> None:
    course = made.copied_to(tmp_path / "class")

    def tell(found: Class) -> Any:
        with pytest.raises(Stopped, match="another `grader autograde"):
            graded(course)
        return lambda count: None

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(evening_autograde, "LocalPool", GradedHere)
        autograde(course.folder, LAB, Options(), tell)


def test_a_course_that_must_be_graded_otherwise_is_refused(
    made: ExchangeCourse, tmp_path: Path
) -> None:
    with pytest.raises(NotOurs, match="no course folder"):
        graded(ExchangeCourseAt(tmp_path))
    course = made.copied_to(tmp_path / "class")
    config = course.folder / "nbgrader_config.py"
    text = config.read_text()
    config.write_text(text + "\nc.Autograde.autograde_preprocessors = []\n")
    with pytest.raises(NotOurs, match="autograde_preprocessors, which only nbgrader"):
        graded(course)
    config.write_text("c = get_config()\n")
    with pytest.raises(NotOurs, match="would run the code of the students"):
        graded(course)
    config.write_text(text)
    with sqlite3.connect(course.folder / "gradebook.db") as gradebook:
        gradebook.execute("UPDATE assignment SET name = 'another'")
    with pytest.raises(Stopped, match="generate_assignment"):
        graded(course)


class ExchangeCourseAt:
    """A folder that is no course."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder


def test_what_comes_when_the_run_is_over_changes_nothing(
    made: ExchangeCourse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process of a cluster lives on that the cluster has given up, or whose run was killed."""
    course = made.copied_to(tmp_path / "class")
    late: list[tuple[str, Job]] = []

    class Late(GradedHere):
        def each(self, jobs: Sequence[Job]) -> Iterator[tuple[Job, NoResult | None]]:
            late.append((self._plan, jobs[0]))
            yield from super().each(jobs)

    monkeypatch.setattr(evening_autograde, "LocalPool", Late)
    autograde(course.folder, LAB, Options(), lambda found: lambda count: None)
    before = steps.state(course)
    grading_process.grade(*late[0])
    grading_process._plan.cache_clear()  # a process that has not read the plan finds none
    grading_process.grade(*late[0])
    assert steps.state(course) == before
    assert not (course.folder / "autograded" / ".unfinished").exists()


def test_one_job_done_twice_at_a_time_is_done_once(
    made: ExchangeCourse, alone: ExchangeCourse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    course = made.copied_to(tmp_path / "class")
    graded_one = grading_process._graded
    begun: list[Job] = []

    def meanwhile(plan: Plan, job: Job, *rest: Any) -> Result:
        result = graded_one(plan, job, *rest)
        if job.student == "bob" and not begun:
            begun.append(job)
            grading_process.grade(
                str(next(course.folder.glob("autograded/.unfinished/.plan-*"))), job
            )
        return result

    monkeypatch.setattr(grading_process, "_graded", meanwhile)
    assert graded(course).submissions == len(STUDENTS) and begun
    assert steps.state(course) == steps.state(alone)


def test_a_worker_whose_run_was_killed_ends_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its standard input ends while it has a job, or before it gets one."""
    monkeypatch.setattr(grading_process, "grade", lambda *_: time.sleep(600))
    job = json.dumps({"plan": "", "student": "ada", "source": "", "unfinished": ""})
    for lines, status in ((f"{job}\n", 1), ("", 0)):
        read, write = os.pipe()
        worker = multiprocessing.get_context("fork").Process(target=serve, args=(read,))
        worker.start()
        os.close(read)
        os.write(write, lines.encode())
        os.close(write)
        worker.join(120)
        assert worker.exitcode == status


def serve(stream: int) -> None:
    """The program of a worker, whose standard input is `stream`."""
    for other in range(3, 100):  # the test closes its end, and this process has another one
        if other != stream:
            with contextlib.suppress(OSError):
                os.close(other)
    sys.stdin = os.fdopen(stream)
    os._exit(grading_process.main())


def test_a_disk_without_room_for_a_result_ends_the_run(
    made: ExchangeCourse, alone: ExchangeCourse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    course = made.copied_to(tmp_path / "class")

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    class Full(GradedHere):
        def each(self, jobs: Sequence[Job]) -> Iterator[tuple[Job, NoResult | None]]:
            for job in jobs:
                try:
                    grading_process.grade(self._plan, job)
                except OSError as error:
                    yield job, grading_process.no_result(error)

    with monkeypatch.context() as patch:
        patch.setattr(evening_autograde, "LocalPool", Full)
        patch.setattr(grading_process, "write_result", full)
        with pytest.raises(Stopped, match=r"disk is full.*Free some space"):
            autograde(course.folder, LAB, Options(), lambda found: lambda count: None)
    assert graded(course).submissions == len(STUDENTS)
    assert steps.state(course) == steps.state(alone)


@pytest.mark.parametrize("command", ["collect", "autograde", "feedback"])
def test_a_gradebook_that_is_locked_for_a_while_only_delays(
    made: ExchangeCourse,
    alone: ExchangeCourse,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    command: str,
) -> None:
    """Somebody else's lock ends only when the command has said that it waits."""
    course = (alone if command == "feedback" else made).copied_to(tmp_path / "class")
    other = sqlite3.connect(
        course.folder / "gradebook.db", isolation_level=None, check_same_thread=False
    )
    other.execute("BEGIN EXCLUSIVE")

    def unlocked() -> Any:
        other.close()
        return get_logger()

    monkeypatch.setattr(locked_gradebook, "_TRY_S", 0.05)
    monkeypatch.setattr(locked_gradebook, "get_logger", unlocked)
    monkeypatch.setattr(evening_autograde, "LocalPool", GradedHere)
    words = [LAB, "--workers", "1"]
    if command == "collect":
        words = [str(course.folder / "submitted"), "--lab", LAB]
    status = cli.main([command, *words, "--course", str(course.folder)])
    captured = capsys.readouterr()
    assert status == 0, captured
    assert "The gradebook is locked by another program" in captured.err
    if command == "autograde":
        assert steps.state(course) == steps.state(alone)


def test_a_disk_without_room_for_the_register_of_runs_ends_the_run(
    made: ExchangeCourse, alone: ExchangeCourse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the register, nobody would see that two students hand in one run."""
    course = made.copied_to(tmp_path / "class")

    def full(*_: object) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(Entries, "enter", full)
        with pytest.raises(Stopped, match="disk is full"):
            graded(course)
    assert graded(course).submissions == len(STUDENTS)
    assert steps.state(course) == steps.state(alone) and flags(course) == flags(alone)
