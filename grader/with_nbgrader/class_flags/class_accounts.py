"""Which accounts the recordings of a class name, read before anybody is graded.

All of them are read first, so that a flag does not depend on who is graded before whom. Only the
heads of the recordings that figures name are read, and nothing of a student's file ends the batch.
"""

from __future__ import annotations

import os
import re
from pathlib import Path, PurePosixPath
from typing import Any

from grader.judging.accounts import AccountFlags, Stated, flags_of_class
from grader.submissions.folders import open_folder, open_regular, opened
from grader.submissions.safe_copy import evidence_in
from grader.with_nbgrader.places import students_in, trouble_with, trusted_part
from labs.common.limits import MOST_HEAD_BYTES
from labs.course.account import FILE_NAME, read_course

_CONDITION = re.compile(rb"# (account|created|ticklab): ([^\r\n]*)")


def account_flags(course: Any) -> AccountFlags:
    """The flags of the submissions of the lab that is graded; none if the course has no id.

    `course` is nbgrader's CourseDirectory. Raises BadCourse.
    """
    try:
        identity = read_course(Path(course.root) / FILE_NAME)
    except FileNotFoundError:
        return AccountFlags()
    step, lab = course.submitted_directory, course.assignment_id
    folders = {
        student: folder
        for student, folder in students_in(course, step, lab, "*").items()
        if trouble_with(course, step, lab, student) is None
    }
    trusted = trusted_part(course, step)
    stated = {student: stated_in(folder, trusted) for student, folder in folders.items()}
    return flags_of_class(identity, stated, _students(course, trusted))


def _students(course: Any, submitted: Path) -> list[str]:
    """All students with a folder below `submitted`, also if they did not hand in this lab."""
    shape = Path(course.directory_structure).parts
    if shape[:2] != ("{nbgrader_step}", "{student_id}"):
        return []
    try:
        return sorted(each.name for each in submitted.iterdir() if each.name[0] != ".")
    except OSError:
        return []


def stated_in(folder: Path, trusted: Path) -> dict[str, Stated]:
    """What each recording states that a figure in `folder` names; those that cannot be read are
    left out, and no level below `trusted` may be a link."""
    found: dict[str, Stated] = {}
    try:
        with opened(folder, trusted) as top:
            for path in map(PurePosixPath, evidence_in(folder)):
                if path.suffix == ".csv" and len(path.parts) == 2:
                    stated = _stated(top, *path.parts)
                    if stated is not None:
                        found[str(path)] = stated
    except OSError:
        pass
    return found


def _stated(top: int, below: str, name: str) -> Stated | None:
    try:
        folder = open_folder(below, top)
    except OSError:
        return None
    try:
        with os.fdopen(open_regular(name, folder), "rb") as file:
            return stated_by(file.read(MOST_HEAD_BYTES))
    except OSError:
        return None
    finally:
        os.close(folder)


def stated_by(head: bytes) -> Stated:
    """What the first lines of a recording state, down to the first line about a process."""
    known: dict[str, str] = {}
    for line in head.removeprefix(b"\xef\xbb\xbf").split(b"\n"):
        if not line.startswith(b"#") or line.startswith(b"# process."):
            break
        match = _CONDITION.match(line)
        if match is not None:
            known.setdefault(match[1].decode(), match[2].decode("utf-8", "replace").strip())
    return Stated(known.get("account"), known.get("created"), known.get("ticklab"))
