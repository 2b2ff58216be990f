"""The folders of students' work in a course, and why one of them is refused."""

from __future__ import annotations

import contextlib
import datetime
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

from grader.submissions.safe_files import opened, printable, read_regular, trouble_with_name


def trusted_part(course: Any, step: str) -> Path:
    """The folder of a step, such as `submitted`: the part of the path that names no student.

    The instructor makes it, and it may be a link to another disk.
    """
    folder = Path(course.root)
    for part in Path(course.directory_structure).parts:
        if "{student_id}" in part or "{assignment_id}" in part:
            break
        folder /= part.format(nbgrader_step=step)
    return folder


def trouble_with(course: Any, step: str, assignment_id: str, student_id: str) -> str | None:
    """Why the folder of a student's work is refused; None if it can be opened."""
    trouble = trouble_with_name(student_id)
    if trouble is not None:
        return trouble
    folder = Path(course.format_path(step, student_id, assignment_id))
    try:
        with opened(folder, trusted_part(course, step)) as descriptor, os.scandir(descriptor):
            return None
    except OSError as error:
        return error.strerror or str(error)


def line(course: Any, folder: Path, trouble: str) -> str:
    """The line that says why a folder of the course is refused."""
    return f"{printable(os.path.relpath(folder, course.root), 200)} is refused: {trouble}"


def students_in(course: Any, step: str, assignment_id: str, pattern: str) -> dict[str, Path]:
    """The folder of each student whose name matches the glob `pattern`, whatever it holds."""
    path = course.format_path(step, pattern, assignment_id)
    # nbgrader uses the whole path as a glob, which fails if a folder's name has a bracket.
    root = Path(course.root)
    relative = Path(path).relative_to(root)
    found = sorted({*root.glob(str(relative)), *_hidden_from_us(root, relative)})
    name = re.compile(
        re.escape(str(Path(course.format_path(step, "\0", assignment_id)))).replace(
            re.escape("\0"), "(.*)", 1
        ),
        re.DOTALL,
    )
    names = {match[1]: path for path in found if (match := name.fullmatch(str(path)))}
    # As in nbgrader, a star is not for hidden folders; some of them are ours.
    return {name: path for name, path in names.items() if not name.startswith(".")}


def folders_in(
    course: Any, step: str, assignment_id: str, pattern: str
) -> Iterator[tuple[str, Path, str | None]]:
    """Each of these students with the folder, and why it is refused; None if it is not."""
    for student, folder in students_in(course, step, assignment_id, pattern).items():
        yield student, folder, trouble_with(course, step, assignment_id, student)


def _hidden_from_us(root: Path, pattern: Path) -> list[Path]:
    """The paths of `pattern` in folders that we may not enter, which a glob leaves out."""
    hidden = []
    for folder in root.glob(str(pattern.parent)):
        try:
            (folder / pattern.name).lstat()
        except PermissionError:
            hidden.append(folder / pattern.name)
        except OSError:
            continue
    return hidden


def released_notebooks(course: Any, lab: str) -> dict[str, NotebookNode]:
    """The released notebooks of `lab` by name; those that cannot be read are left out."""
    found = {}
    for path in Path(course.format_path(course.release_directory, ".", lab)).glob("*.ipynb"):
        with contextlib.suppress(OSError, ValueError, nbformat.ValidationError):
            text = path.read_text(encoding="utf-8")
            found[path.stem] = nbformat.reads(text, as_version=4)  # type: ignore[no-untyped-call]
    return found


# The record that our collect writes into each collected folder; results carry a copy of it.

#: Which entry of the exchange the folder is, when it was handed in, and whose it was.
RECORD = ".ticklab-collected.json"
_MOST_BYTES = 1_000_000


def record_in(folder: Path) -> bytes | None:
    """The record in `folder` as it is; None if there is none."""
    try:
        raw = read_regular(folder / RECORD, _MOST_BYTES)
    except OSError:
        return None
    return raw if len(raw) <= _MOST_BYTES else None


def parsed(raw: bytes | None) -> dict[str, Any]:
    """The record as an object; empty if there is none or if it is not one of ours."""
    try:
        found = json.loads(raw or b"{}")
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def time_in_record(folder: Path) -> datetime.datetime | None:
    """When the folder was handed in, as its name in the exchange said; None if it has no record."""
    try:
        return datetime.datetime.fromisoformat(parsed(record_in(folder))["when"])
    except (KeyError, TypeError, ValueError):
        return None
