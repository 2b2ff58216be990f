"""The course into which submissions are collected, and which of its labs a source holds."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from nbgrader.api import Gradebook, MissingEntry

from grader.evening.collect.items import Item, NotTaken
from grader.evening.collect.naming import hand_in_archive
from grader.submissions.safe_copy import printable
from grader.with_nbgrader import gradebook_lock
from labs.common.spelling import meant


def labs_of(course: Any) -> list[str]:
    """The labs of the course: the folders that were released, or else the sources."""
    for step in (course.release_directory, course.source_directory):
        folder = Path(course.format_path(step, ".", "."))
        found = [path.name for path in folder.glob("*") if (path / f"{path.name}.ipynb").is_file()]
        if found:
            return sorted(found)
    return []


def lab_of(items: Sequence[Item], labs: Sequence[str], asked: str | None) -> str:
    """The lab that is collected: the one that was asked for, or the only one in the files' names.

    Raises NotTaken if that is not one lab of the course.
    """
    named = ", ".join(labs) or "none"
    if asked is not None:
        if asked not in labs:
            close = meant(asked, labs)
            there = f": did you mean {close}?" if close else f"; its labs are: {named}"
            raise NotTaken(f"the course has no lab {printable(asked)}{there}")
        return asked
    if len(labs) == 1:
        return labs[0]
    known = set(labs)
    found = set()
    for item in items:
        own = item.parts[-1].rpartition("_")[2]  # a platform puts its part before
        archive = hand_in_archive(own)
        found |= known & {*item.parts, *item.parts[0].split("+"), own.removesuffix(".ipynb")}
        found |= known & {archive[0] if archive else ""}
    if len(found) != 1:
        raise NotTaken(f"name the lab with --lab; the labs of the course are: {named}")
    return found.pop()


def duedate_of(course: Any, lab: str) -> datetime.datetime | None:
    """When the lab is due, in UTC, by the gradebook; None if there is none or no due date.

    Raises NotTaken if the gradebook cannot be read.
    """
    kind, _, path = course.db_url.partition(":///")
    if kind == "sqlite" and not Path(path.partition("?")[0]).is_file():
        return None
    try:
        with Gradebook(course.db_url, course.course_id) as gradebook:
            when: datetime.datetime | None = gradebook.find_assignment(lab).duedate
    except MissingEntry:
        return None
    except Exception as error:
        cause = gradebook_lock.cause_of(error)
        if cause is None:
            raise
        raise NotTaken(cause) from error
    return when
