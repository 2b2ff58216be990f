"""Grades a whole class: workers compute, one writer enters, and a summary says what came of it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from nbgrader.converters.base import NbGraderException
from sqlalchemy.exc import SQLAlchemyError

from grader.evening.compute import result_path
from grader.evening.course_folder import open_course
from grader.evening.enter import Entering
from grader.evening.graded import Job, NoResult, Plan, Result, read_result
from grader.evening.grading_settings import autograder, logged
from grader.evening.on_dask import DaskPool, NoCluster
from grader.evening.penalties import CannotEnter
from grader.evening.pool import LocalPool
from grader.evening.run import Class, Run, Stopped
from grader.evening.summary import Summary
from grader.evening.write import opened
from grader.submissions.safe_copy import printable
from grader.with_nbgrader.gradebook_lock import cause_of

#: So many students are one transaction of the gradebook.
BATCH = 100


class Pool(Protocol):
    """What grades: processes of this machine or of a cluster."""

    def each(self, jobs: Sequence[Job]) -> Iterator[tuple[Job, NoResult | None]]:
        """Yields each job in order when it is done, with the reason if there is no result file."""


@dataclass(frozen=True)
class Options:
    """How to grade. `cluster` is the address of a Dask scheduler, or ""."""

    workers: int = 0
    cluster: str = ""
    force: bool = False


#: Called with the submissions of a run before any of them is graded; gives what is called with the
#: number of submissions that were done just now.
Tell = Callable[[Class], Callable[[int], object]]


def log_of(course: Path, lab: str) -> Path:
    """The file in the course folder to which a run adds what happened."""
    return course / f"autograde-{lab}.log"


def autograde(course: Path, lab: str, options: Options, tell: Tell) -> Summary:
    """Grades every submission of `lab` that is due.

    Raises NotOurs for another course, and Stopped if the run ends early. Then the same call goes on
    where this one ended.
    """
    app = open_course(course)
    converter = autograder(app, lab)
    converter.force = options.force
    try:
        with logged(app, log_of(course, lab)), Run(converter) as run:
            return _graded(run, app, options, course, tell)
    except (NbGraderException, CannotEnter, NoCluster) as error:
        raise Stopped(str(error)) from error
    except (OSError, SQLAlchemyError) as error:
        cause = cause_of(error)
        if cause is None and not isinstance(error, SQLAlchemyError):
            raise
        raise Stopped(cause or f"the gradebook cannot be used: {error}") from error


def _graded(run: Run, app: Any, options: Options, course: Path, tell: Tell) -> Summary:
    converter: Any = run.converter
    where = app.coursedir.db_url, app.coursedir.course_id, run.lab
    with opened(*where, converter) as writer:
        plan, path = run.plan(writer)
        found = run.find(plan)
        done = tell(found)
        with _pool(path, plan, options, len(found.to_compute), course) as pool:
            entering = Entering(plan, writer, converter)
            summary = Summary(skipped=found.skipped, refused=converter.refusals())
            _carry_out(found, pool, entering, summary, run, done)
    return summary


def _pool(
    path: Path, plan: Plan, options: Options, jobs: int, course: Path
) -> AbstractContextManager[Pool]:
    if options.cluster:
        return DaskPool(path, options.cluster, course.absolute())
    count = max(1, min(options.workers or os.cpu_count() or 1, jobs))
    return LocalPool(path, count, Path(plan.trusted))


def _carry_out(
    found: Class,
    pool: Pool,
    entering: Entering,
    summary: Summary,
    run: Run,
    done: Callable[[int], object],
) -> None:
    """Grades and enters everything. Raises Stopped if the disk is full."""
    batch: list[Result] = []
    for result in _results(found, pool):
        for line in result.log:
            run.log.warning("%s", line)
        if result.trouble:
            summary.failed[result.student] = result.trouble
            run.forget(result.student)
        else:
            batch.append(result)
        if len(batch) >= BATCH or result.stops:
            entering.enter(batch, summary)
            batch = []
        if result.stops:
            raise Stopped(result.trouble)
        done(1)
    entering.enter(batch, summary)
    for line in summary.refused:
        run.log.error("%s", line)
    for student, why in summary.failed.items():
        run.log.error("%s: not graded: %s", printable(student), why)


def _results(found: Class, pool: Pool) -> Iterator[Result]:
    """The results in the order of nbgrader's, computed now or earlier."""
    computing = pool.each(found.to_compute)
    for job in found.jobs:
        no = None
        if job.student not in found.computed:
            _, no = next(computing)
        result = read_result(result_path(Path(job.unfinished))) if no is None else None
        if result is None:
            no = no or NoResult("its result file cannot be read")
            result = Result(job.student, trouble=no.why, stops=no.stops)
        yield result
