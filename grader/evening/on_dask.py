"""Grades on a Dask cluster, whose workers share the file system with the course.

Each task is one submission, and its result is the file that it writes. If a worker dies, the
scheduler gives its submissions to another one; whatever it left is removed there first.
"""

from __future__ import annotations

import dataclasses
import logging
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from grader.evening.grading_process import Job, NoResult

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


class DaskPool:
    """The workers of the cluster whose scheduler has this address."""

    def __init__(self, plan: Path, address: str, course: Path) -> None:
        """`course` is where the workers look for the course's own modules. Raises NoCluster."""
        try:
            from distributed import Client
        except ImportError as error:
            raise NoCluster(
                "--dask needs the package distributed: pip install 'ticklab[cluster]'"
            ) from error
        for name in _LOUD:
            logging.getLogger(name).setLevel(logging.CRITICAL)
        try:
            made: Any = Client
            self._client: Any = made(address, timeout=_ANSWER_S, set_as_default=False)
        except (OSError, TimeoutError, ValueError) as error:
            raise NoCluster(f"there is no Dask scheduler at {address}: {error}") from error
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
                stated = future.result()
                trouble = None if stated is None else NoResult(**stated)
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

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._client.status == "running":  # else there is nobody to be told
            self._client.cancel(self._futures)
        self._client.close()


def _grade(stated: dict[str, Any], plan: str, course: str) -> dict[str, Any] | None:
    """On a worker: grades one submission. Returns why there is no result file, or None."""
    from grader.evening.grading_process import grade_stated

    if course not in sys.path:
        sys.path.append(course)
    return grade_stated(plan, **stated)
