"""A class graded on a Dask cluster: a real scheduler and two workers, one of which is killed."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from grader.class_grading import grading_process, on_dask
from grader.class_grading.autograde_class import Class, Options, autograde
from grader.class_grading.grading_process import Job, NoResult, answer_of
from grader.class_grading.on_dask import Cluster, DaskPool, NoCluster
from grader.with_nbgrader.course_folder import Stopped
from support.formgrader import formgrader_api
from support.small_course import LAB
from support.small_exchange import ExchangeCourse

STUDENTS = [f"student-{number}" for number in range(5)]


def released_course(folder: Path, monkeypatch: pytest.MonkeyPatch) -> ExchangeCourse:
    course = ExchangeCourse(folder)
    with formgrader_api(course.folder, monkeypatch) as api:
        assert api.generate_assignment(LAB)["success"]
    return course


def test_a_worker_that_is_killed_costs_nobody_anything(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    distributed = pytest.importorskip("distributed", reason="the extra `cluster` is not installed")
    course = released_course(tmp_path, monkeypatch)
    for student in STUDENTS:
        course.submit(student, course.answered())
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None, local_directory=str(tmp_path)
    ) as cluster:
        first = cluster.workers[0].pid
        killer = threading.Thread(target=kill_at_first_result, args=(course.folder, first))
        options = Options(cluster=Cluster(cluster.scheduler_address))

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
        autograde(
            course.folder, LAB, Options(cluster=Cluster("tcp://127.0.0.1:9")), lambda _: count
        )


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
        DaskPool(tmp_path, Cluster("tcp://nowhere:1"), tmp_path)


class LostCluster:
    """In place of a client whose scheduler is gone: all that is asked of it was cancelled."""

    def __init__(self, status: str, reason: str) -> None:
        self.status, self.reason = status, reason

    def scheduler_info(self) -> dict[str, Any]:
        return {"address": "tcp://127.0.0.1:1", "workers": {}}

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
    with DaskPool(tmp_path, Cluster("tcp://127.0.0.1:1"), tmp_path) as cluster:
        if is_lost:
            with pytest.raises(NoCluster, match=r"tcp://127.0.0.1:1 was lost.*the same command"):
                list(cluster.each(jobs))
        else:
            told = [no.why for _, no in cluster.each(jobs) if no is not None]
            assert told == ["the cluster did not grade it: RuntimeError: cancelled"] * len(jobs)
    assert client.status == "closed"


# Whoever reaches a cluster can change grades.


@pytest.mark.parametrize(
    "address",
    [
        "tcp://192.0.2.7:8786",
        "192.0.2.7:8786",
        "tcp://dask.uni.example:8786",
        "tcp://0.0.0.0:8786",
        "tcp://[2001:db8::1]:8786",
        "tcp://127.0.0.1.uni.example:8786",
        "tcp://127.0.0.1@uni.example:8786",
        "ws://192.0.2.7:8786",
        "TLS://192.0.2.7:8786",
    ],
)
def test_an_address_of_another_machine_needs_tls_or_a_word(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    distributed = pytest.importorskip("distributed", reason="the extra `cluster` is not installed")
    asked: list[str] = []

    def client(address: str, **_: Any) -> None:
        asked.append(address)
        raise OSError("nobody answers")

    monkeypatch.setattr(distributed, "Client", client)
    with pytest.raises(NoCluster, match=r"can change grades.*tls://.*--dask-open"):
        DaskPool(tmp_path, Cluster(address), tmp_path)
    assert asked == []
    secure = "tls://192.0.2.7:8786"
    for cluster in (Cluster(address, open_to_all=True), Cluster(secure)):
        with pytest.raises(NoCluster, match="there is no Dask scheduler"):
            DaskPool(tmp_path, cluster, tmp_path)
    assert asked == [address, secure]


def test_a_scheduler_that_listens_on_all_networks_is_refused_at_a_local_address(
    tmp_path: Path,
) -> None:
    distributed = pytest.importorskip("distributed", reason="the extra `cluster` is not installed")
    with distributed.LocalCluster(
        n_workers=0, host="0.0.0.0", dashboard_address=None, processes=False, protocol="tcp://"
    ) as cluster:
        port = cluster.scheduler_address.rpartition(":")[2]
        if cluster.scheduler_address.startswith("tcp://127."):
            pytest.skip("this machine has no network but its own")
        local = f"tcp://127.0.0.1:{port}"
        with pytest.raises(NoCluster, match="can change grades"):
            DaskPool(tmp_path, Cluster(local), tmp_path)
        with DaskPool(tmp_path, Cluster(local, open_to_all=True), tmp_path):
            pass


def test_with_certificates_a_cluster_is_reached_and_without_them_not(tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed", reason="the extra `cluster` is not installed")
    if shutil.which("openssl") is None:
        pytest.skip("openssl makes the certificate")
    key, certificate = str(tmp_path / "key.pem"), str(tmp_path / "certificate.pem")
    make = ("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=course")
    subprocess.run(
        [*make, "-keyout", key, "-out", certificate],
        check=True,
        capture_output=True,
    )
    ends = {
        f"tls_{end}_{what}": file
        for end in ("client", "scheduler", "worker")
        for what, file in (("cert", certificate), ("key", key))
    }
    security = distributed.Security(tls_ca_file=certificate, require_encryption=True, **ends)
    with distributed.LocalCluster(
        n_workers=0, dashboard_address=None, processes=False, security=security, protocol="tls://"
    ) as cluster:
        address = cluster.scheduler_address
        assert address.startswith("tls://")
        with DaskPool(tmp_path, Cluster(address, (certificate, certificate, key)), tmp_path):
            pass
        for tls in ((), (certificate, certificate, str(tmp_path / "other.pem"))):
            with pytest.raises(NoCluster, match=f"there is no Dask scheduler at {address}"):
                DaskPool(tmp_path, Cluster(address, tls), tmp_path)


def test_points_that_no_cell_has_are_not_entered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The worker, here a thread, states 6,000 points for each cell."""
    distributed = pytest.importorskip("distributed", reason="the extra `cluster` is not installed")
    course = released_course(tmp_path, monkeypatch)
    course.submit("ada", course.answered())
    real = grading_process.write_result

    def lie(path: Path, result: grading_process.Result) -> None:
        for scores in result.scores.values():
            scores.update(dict.fromkeys(scores, 6_000.0))
        real(path, result)

    monkeypatch.setattr(grading_process, "write_result", lie)
    with distributed.LocalCluster(
        n_workers=1, dashboard_address=None, processes=False, host="127.0.0.1", protocol="tcp://"
    ) as cluster:
        options = Options(cluster=Cluster(cluster.scheduler_address))
        summary = autograde(course.folder, LAB, options, lambda _: count)
    assert summary.submissions == 0
    assert "6000 points for" in summary.failed["ada"]
    assert not any(course.folder.glob("autograded/ada/*"))


def test_an_answer_of_another_form_is_no_result() -> None:
    forms: tuple[object, ...] = ([], "done", 5, {"why": 5}, {"stops": True}, {"why": None})
    for came in forms:
        no = answer_of(came)
        assert no is not None and "answer of another form" in no.why and not no.stops
    assert answer_of(None) is None
    assert answer_of({"why": "full", "stops": True}) == NoResult("full", stops=True)
