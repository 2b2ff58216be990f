"""What a process of `grader feedback` does: the pages of one student, in an unfinished folder."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from multiprocessing.connection import wait
from pathlib import Path

from grader.with_nbgrader.feedback import keep_beside, page_of
from grader.with_nbgrader.gradebook_lock import cause_of
from grader.with_nbgrader.grades import Grades
from grader.with_nbgrader.staged import remove_left


@dataclass(frozen=True)
class PageJob:
    """The pages of one student: the graded notebooks by name, and what each got.

    `missing` are notebooks that the gradebook does not have.
    """

    student: str
    source: str
    unfinished: str
    notebooks: Mapping[str, Grades]
    missing: tuple[str, ...] = ()


@dataclass(frozen=True)
class Made:
    """What became of a job: `trouble` says why there are no pages, and `stops` ends the run."""

    student: str
    trouble: str = ""
    stops: bool = False


def make_pages(job: PageJob) -> Made:
    """Writes a student's pages. Never raises: one student's fault costs nobody else anything."""
    if job.missing:
        missing = ", ".join(job.missing)
        return Made(job.student, f"the gradebook has no {missing} of them: run autograde first")
    source, unfinished = Path(job.source), Path(job.unfinished)
    try:
        remove_left(unfinished)
        keep_beside(source, unfinished)
        for name, grades in job.notebooks.items():
            page = page_of(source / f"{name}.ipynb", name, grades)
            (unfinished / f"{name}.html").write_text(page, encoding="utf-8")
    except Exception as error:
        with contextlib.suppress(OSError):
            remove_left(unfinished)
        cause = cause_of(error)
        return Made(job.student, cause or f"{type(error).__name__}: {error}", cause is not None)
    return Made(job.student)


def end_with_parent() -> None:
    """This process ends when the one that started it does, however that ends."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_follow, args=(parent.sentinel,), daemon=True).start()


def _follow(sentinel: int) -> None:
    wait([sentinel])
    os._exit(1)
