"""Makes a course folder, in which an instructor runs nbgrader, and gives the course its id."""

from __future__ import annotations

import contextlib
import datetime
import json
import os
import secrets
import tempfile
from pathlib import Path
from typing import Any

from nbformat import NotebookNode
from nbgrader.converters.base import NbGraderException
from nbgrader.preprocessors import NbGraderPreprocessor

from grader.with_nbgrader.release import copy_labs
from labs.common.files import write_atomically
from labs.common.version import __version__
from labs.course.account import FILE_NAME, BadCourse, Course, read_course

CONFIG = """\
# The settings of this course. Your settings below the call override those of the call.
try:
    from grader.nbgrader_config import configure
except Exception as error:
    # nbgrader only logs an error in this file. Then it would grade by its own settings, and run
    # the code of the students.
    raise SystemExit(f"{__file__}: Ticklab's grader is not there: {error!r}. Nothing was graded.")

c = get_config()
configure(c, __file__)
"""
_ABOUT = "The id of this course, which recordings use. Please keep this file with the labs."


def make_course(course: Path, source: Path, *, add: bool = False) -> list[str]:
    """Makes `course` a course folder with the labs under `source`; existing files stay.

    If it has labs already, those of `source` that it lacks come only with `add`: an instructor may
    have removed them. Returns the names of the labs and other entries that came.

    Raises OSError if the folder cannot be written.
    """
    course.mkdir(parents=True, exist_ok=True)
    config = course / "nbgrader_config.py"
    if not config.exists():
        write_atomically(config, CONFIG.encode())
    came = _take_labs(course, source, add)
    with contextlib.suppress(BadCourse):  # the first release says what is wrong with it
        identified(course)
    return came


def _take_labs(course: Path, source: Path, add: bool) -> list[str]:
    target = course / "source"
    is_new = not target.exists()
    if not (is_new or add):
        return []
    # A copy that is interrupted must not look like a course with fewer labs.
    with tempfile.TemporaryDirectory(dir=course, prefix=".labs-") as scratch:
        copied = Path(scratch) / "source"
        copy_labs(source, copied)
        came = sorted(each.name for each in copied.iterdir() if not (target / each.name).exists())
        if is_new:
            copied.rename(target)
        else:
            for name in came:
                (copied / name).rename(target / name)
    return came


def identified(course: Path) -> Course:
    """The id of the course in the folder `course`, made when it is first needed.

    It is random: nbgrader's own id of a course can be guessed, and then so can what is hashed with
    it. Raises BadCourse if it is there but cannot be read, and OSError if it cannot be written.
    """
    file = course / FILE_NAME
    with contextlib.suppress(FileNotFoundError):
        return read_course(file)
    now = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
    made = {"course": secrets.token_hex(16), "since": now, "ticklab": __version__}
    new = course / f".{FILE_NAME}.{made['course']}"
    write_atomically(new, json.dumps({"about": _ABOUT, **made}, indent=1).encode() + b"\n")
    try:
        # Unlike a rename, a link fails if another command has made an id in the meantime.
        os.link(new, file)
    except FileExistsError:
        pass
    except OSError:  # a file system without links
        new.replace(file)
    finally:
        new.unlink(missing_ok=True)
    return read_course(file)


class NameCourse(NbGraderPreprocessor):  # type: ignore[misc]
    """Puts the id of the course next to each released notebook."""

    def preprocess(
        self, nb: NotebookNode, resources: dict[str, Any]
    ) -> tuple[NotebookNode, dict[str, Any]]:
        """Has nbgrader write the file. Raises NbGraderException if the course has a bad one."""
        course = Path(self.parent.parent.coursedir.root)
        try:
            identified(course)
            content = (course / FILE_NAME).read_bytes()
        except BadCourse as error:
            message = (
                f"The id of the course cannot be read: {error}. Restore the file from a copy or "
                "from a released lab, or remove it: the course then gets a new id."
            )
            self.log.error(message)
            raise NbGraderException(message) from error
        resources["outputs"] = {**(resources.get("outputs") or {}), FILE_NAME: content}
        return nb, resources
