"""Grades on a Dask cluster, whose workers share the file system with the course.

Each task is one submission, and its result is the file that it writes. If a worker dies, the
scheduler gives its submissions to another one; whatever it left is removed there first.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from grader.evening.graded import Job

if TYPE_CHECKING:
    from distributed import Future

#: A scheduler that is there answers within seconds.
_ANSWER_S = 30


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
        try:
            made: Any = Client
            self._client: Any = made(address, timeout=_ANSWER_S, set_as_default=False)
        except (OSError, TimeoutError, ValueError) as error:
            raise NoCluster(f"there is no Dask scheduler at {address}: {error}") from error
        self._plan = str(plan)
        self._course = str(course)
        self._futures: list[Future[str]] = []

    def each(self, jobs: Sequence[Job]) -> Iterator[tuple[Job, str]]:
        """Grades each job, and yields it when its result file is written, in the order of `jobs`.

        With it comes why there is no result file, or "".
        """
        stated = [dataclasses.asdict(job) for job in jobs]
        self._futures = self._client.map(
            _grade, stated, plan=self._plan, course=self._course, pure=False
        )
        for job, future in zip(jobs, self._futures, strict=True):
            try:
                trouble = str(future.result())
            except Exception as error:  # of the task, or of the cluster
                trouble = f"the cluster did not grade it: {type(error).__name__}: {error}"
            yield job, trouble

    def __enter__(self) -> DaskPool:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._client.cancel(self._futures)
        self._client.close()


def _grade(stated: dict[str, Any], plan: str, course: str) -> str:
    """On a worker: grades one submission. Returns why there is no result file, or ""."""
    from grader.evening.compute import grade

    if course not in sys.path:
        sys.path.append(course)
    try:
        grade(plan, Job(**stated))
    except OSError as error:
        return error.strerror or str(error)
    return ""
