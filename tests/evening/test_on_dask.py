"""A class graded on a Dask cluster: a real scheduler and two workers, one of which is killed."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from grader.evening import on_dask
from grader.evening.autograde_class import Class, Options, Stopped, autograde
from grader.evening.grading_process import Job
from grader.evening.on_dask import DaskPool, NoCluster
from testing.formgrader import formgrader_api
from testing.small_course import LAB
from testing.small_exchange import ExchangeCourse

pytestmark = pytest.mark.timeout(300)
STUDENTS = [f"student-{number}" for number in range(5)]


def test_a_worker_that_is_killed_costs_nobody_anything(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    distributed = pytest.importorskip("distributed", reason="the extra `cluster` is not installed")
    course = ExchangeCourse(tmp_path)
    with formgrader_api(course.folder, monkeypatch) as api:
        assert api.generate_assignment(LAB)["success"]
    for student in STUDENTS:
        course.submit(student, course.answered())
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None, local_directory=str(tmp_path)
    ) as cluster:
        first = cluster.workers[0].pid
        killer = threading.Thread(target=kill_at_first_result, args=(course.folder, first))
        options = Options(cluster=cluster.scheduler_address)

        def tell(found: Class) -> Any:
            killer.start()
            return count

        summary = autograde(course.folder, LAB, options, tell)
        killer.join()
        assert cluster.workers[0].pid != first
    assert summary.submissions == len(STUDENTS) and not summary.failed
    assert set(course.gradebook()) == set(STUDENTS)
    assert not (course.folder / "autograded" / ".unfinished").exists()
    with pytest.raises(Stopped, match="no Dask scheduler at"):
        monkeypatch.setattr(on_dask, "_ANSWER_S", 0.5)
        autograde(course.folder, LAB, Options(cluster="tcp://127.0.0.1:9"), lambda _: count)


def count(done: int) -> None:
    """A bar that nobody sees."""


def kill_at_first_result(course: Path, worker: int) -> None:
    """Kills a worker while it grades."""
    until = time.monotonic() + 120
    while time.monotonic() < until:
        if list((course / "autograded" / ".unfinished").glob("*/*.result.json")):
            break
        time.sleep(0.01)
    os.kill(worker, signal.SIGKILL)


def test_without_the_extra_the_message_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import builtins

    real: Any = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name == "distributed":
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(NoCluster, match=r"pip install 'ticklab\[cluster\]'"):
        DaskPool(tmp_path, "tcp://nowhere:1", tmp_path)


class LostCluster:
    """In place of a client whose scheduler is gone: all that is asked of it was cancelled."""

    def __init__(self, status: str, reason: str) -> None:
        self.status, self.reason = status, reason

    def map(self, _: object, asked: list[Any], **__: object) -> list[LostCluster]:
        return [self for _ in asked]

    def result(self) -> None:
        error = RuntimeError("cancelled")
        error.reason = self.reason  # type: ignore[attr-defined]
        raise error

    def close(self) -> None:
        self.status = "closed"


@pytest.mark.parametrize(
    ("status", "reason", "is_lost"),
    [
        ("connecting", "", True),
        ("running", "scheduler-connection-lost", True),
        ("running", "of the task", False),
    ],
)
def test_a_lost_scheduler_ends_the_run_and_a_lost_task_does_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, status: str, reason: str, is_lost: bool
) -> None:
    distributed = pytest.importorskip("distributed", reason="the extra `cluster` is not installed")
    client = LostCluster(status, reason)
    client.cancel = lambda _: None  # type: ignore[attr-defined]
    monkeypatch.setattr(distributed, "Client", lambda *_, **__: client)
    jobs = [Job(name, "", "") for name in STUDENTS]
    with DaskPool(tmp_path, "tcp://here:1", tmp_path) as cluster:
        if is_lost:
            with pytest.raises(NoCluster, match=r"tcp://here:1 was lost.*the same command"):
                list(cluster.each(jobs))
        else:
            told = [no.why for _, no in cluster.each(jobs) if no is not None]
            assert told == ["the cluster did not grade it: RuntimeError: cancelled"] * len(jobs)
    assert client.status == "closed"
