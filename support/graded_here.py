"""A pool for `grader autograde` that grades in this process: a test has no time for more."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from grader.class_grading.grading_process import Job, NoResult, grade


class GradedHere:
    """Takes the place of :class:`grader.class_grading.grading_process.LocalPool`."""

    def __init__(self, plan: Path, count: int, trusted: Path) -> None:
        self._plan = str(plan)

    def __enter__(self) -> GradedHere:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def each(self, jobs: Sequence[Job]) -> Iterator[tuple[Job, NoResult | None]]:
        """Grades each job when it is asked for."""
        for job in jobs:
            grade(self._plan, job)
            yield job, None
