"""What a process of `grader feedback` does: the pages of one student, in an unfinished folder."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from grader.judging.worker import serve
from grader.with_nbgrader.pages.feedback_page import Grades, keep_beside, page_of


@dataclass(frozen=True)
class PageJob:
    """The pages of one student: the graded notebooks by name, and what each got.

    `missing` are notebooks that the gradebook does not have. `site` is the address of the docs, or
    empty.
    """

    student: str
    source: str
    unfinished: str
    notebooks: Mapping[str, Grades]
    missing: tuple[str, ...] = ()
    site: str = ""


_JOBS = TypeAdapter(PageJob)


@dataclass(frozen=True)
class Made:
    """What became of a job: `trouble` says why there are no pages; `error` is the OS's number."""

    student: str
    trouble: str = ""
    error: int = 0


def make_pages(job: PageJob) -> Made:
    """Writes a student's pages. Never raises: one student's fault costs nobody else anything."""
    if job.missing:
        missing = ", ".join(job.missing)
        return Made(job.student, f"the gradebook has no {missing} of them: run autograde first")
    source, unfinished = Path(job.source), Path(job.unfinished)
    try:
        keep_beside(source, unfinished)
        for name, grades in job.notebooks.items():
            page = page_of(source / f"{name}.ipynb", name, grades, job.site)
            (unfinished / f"{name}.html").write_text(page, encoding="utf-8")
    except Exception as error:
        number = error.errno if isinstance(error, OSError) else 0
        return Made(job.student, f"{type(error).__name__}: {error}", number or 0)
    return Made(job.student)


def make_stated(stated: dict[str, Any]) -> dict[str, Any]:
    """The same, for a job and an answer as objects of JSON."""
    return dataclasses.asdict(make_pages(_JOBS.validate_python(stated)))


if __name__ == "__main__":
    sys.exit(serve(make_stated))
