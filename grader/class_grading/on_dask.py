"""Grades on a Dask cluster, whose workers share the file system with the course.

Each task is one submission, and its result is the file that it writes. If a worker dies, the
scheduler gives its submissions to another one; whatever it left is removed there first.

Whoever reaches a scheduler has its workers do anything that their account may do, and sends this
process objects that run code when they are read. No check of a result helps against that. So the
scheduler must be one that other machines do not reach, or that asks for a certificate.
"""

from __future__ import annotations

import dataclasses
import ipaddress
import logging
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grader.class_grading.grading_process import Job, NoResult, answer_of

if TYPE_CHECKING:
    from distributed import Future

#: A scheduler that is there answers within seconds.
_ANSWER_S = 30
#: They log a lost connection as a traceback; NoCluster says it in a sentence.
_LOUD = ("distributed.client", "tornado.application", "asyncio")
#: The reason that a future states when it was cancelled because the scheduler is gone.
_LOST = "scheduler-connection-lost"


class NoCluster(Exception):
    """The cluster cannot be used; the message says what to do."""


@dataclass(frozen=True)
class Cluster:
    """The address of a scheduler, and how it is reached.

    `tls` has the files of the authority's certificate, of the own one, and of its key; without
    them, they are those of Dask's configuration. With `open_to_all`, an address that other machines
    reach needs no TLS.
    """

    address: str
    tls: tuple[str, ...] = ()
    open_to_all: bool = False


class DaskPool:
    """The workers of a cluster."""

    def __init__(self, plan: Path, cluster: Cluster, course: Path) -> None:
        """`course` is where the workers look for the course's own modules. Raises NoCluster."""
        address = cluster.address
        try:
            from distributed import Client, Security
        except ImportError as error:
            raise NoCluster(
                "--dask needs the package distributed: pip install 'ticklab[cluster]'"
            ) from error
        for name in _LOUD:
            logging.getLogger(name).setLevel(logging.CRITICAL)
        _refuse_open(address, cluster)
        try:
            made: Any = Client
            names = ("tls_ca_file", "tls_client_cert", "tls_client_key")
            files: dict[str, Any] = dict(zip(names, cluster.tls, strict=False))
            self._client: Any = made(
                address,
                timeout=_ANSWER_S,
                set_as_default=False,
                security=Security(**files),  # type: ignore[no-untyped-call]
            )
        except (OSError, TimeoutError, ValueError, TypeError, RuntimeError) as error:
            raise NoCluster(f"there is no Dask scheduler at {address}: {error}") from error
        try:
            # What listens on all networks answers at an address of this machine too.
            known = self._client.scheduler_info()
            for each in (known["address"], *known["workers"]):
                _refuse_open(str(each), cluster)
        except NoCluster:
            self._client.close()
            raise
        self._address = address
        self._plan = str(plan)
        self._course = str(course)
        self._futures: list[Future[dict[str, Any] | None]] = []

    def each(self, jobs: Sequence[Job]) -> Iterator[tuple[Job, NoResult | None]]:
        """Grades each job, and yields it when its result file is written, in the order of `jobs`.

        With it comes why there is no result file, or None. Raises NoCluster if it is lost.
        """
        asked = [dataclasses.asdict(job) for job in jobs]
        self._futures = self._client.map(
            _grade, asked, plan=self._plan, course=self._course, pure=False
        )
        for job, future in zip(jobs, self._futures, strict=True):
            try:
                trouble = answer_of(future.result())
            except Exception as error:  # of the task, or of the cluster
                lost = getattr(error, "reason", "") == _LOST
                if lost or self._client.status != "running":
                    raise NoCluster(
                        f"the Dask scheduler at {self._address} was lost. What is graded stays. "
                        "Start a scheduler, then run the same command with its address."
                    ) from error
                trouble = NoResult(f"the cluster did not grade it: {type(error).__name__}: {error}")
            yield job, trouble

    def __enter__(self) -> DaskPool:
        return self

    def __exit__(self, *_: object) -> None:
        if self._client.status == "running":  # else there is nobody to be told
            self._client.cancel(self._futures)
        self._client.close()


def _refuse_open(address: str, cluster: Cluster) -> None:
    """Raises NoCluster if other machines can reach `address` without a certificate."""
    from distributed.comm.addressing import parse_address, parse_host_port

    try:
        scheme, place = parse_address(address)
        host = str(parse_host_port(place, 0)[0])
    except ValueError as error:
        raise NoCluster(f"{address} is not the address of a Dask scheduler: {error}") from error
    if scheme == "tls" or cluster.open_to_all or _is_of_this_machine(host):
        return
    raise NoCluster(
        f"whoever reaches {address} of the Dask cluster can change grades. Start schedulers and "
        "workers with --host 127.0.0.1, or with certificates, and name the scheduler's tls:// "
        "address. If nobody else can reach them, add --dask-open."
    )


def _is_of_this_machine(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _grade(stated: dict[str, Any], plan: str, course: str) -> dict[str, Any] | None:
    """On a worker: grades one submission. Returns why there is no result file, or None."""
    from grader.class_grading.grading_process import grade_stated

    if course not in sys.path:
        sys.path.append(course)
    return grade_stated(plan, **stated)
