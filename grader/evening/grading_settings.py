"""The settings of a course for grading, if `grader` can carry them out, and where it logs."""

from __future__ import annotations

import contextlib
import logging
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from nbgrader.apps.baseapp import NbGrader

from grader.evening.course_folder import NotOurs
from grader.with_nbgrader.autograde import CourseAutograde
from grader.with_nbgrader.careful_course import is_ours
from grader.with_nbgrader.gradebook_lock import cause_of
from grader.with_nbgrader.settings import AUTOGRADE_STEPS


def autograder(app: NbGrader, lab: str) -> CourseAutograde:
    """nbgrader's autograding of `lab`, from which our run takes its settings and folders.

    Raises NotOurs if the course grades otherwise than we do.
    """
    app.coursedir.assignment_id = lab
    converter = CourseAutograde(coursedir=app.coursedir, parent=app)
    if not is_ours(converter):
        raise NotOurs(
            "this course does not have the settings of Ticklab, so nbgrader would run the code of "
            "the students: call `configure(c, __file__)` in its nbgrader_config.py"
        )
    changed = [name for name, is_so in _settings(converter).items() if not is_so]
    if changed:
        raise NotOurs(
            f"this course has its own {' and '.join(changed)}, which only nbgrader can carry out: "
            f"use `nbgrader autograde {lab}`"
        )
    return converter


def _settings(converter: Any) -> dict[str, bool]:
    """Whether each of the settings that we do not carry out is as we know it."""
    plain = CourseAutograde(coursedir=converter.coursedir)
    names = [_name(step) for step in converter.autograde_preprocessors]
    return {
        "c.Autograde.autograde_preprocessors": names == AUTOGRADE_STEPS,
        "c.Autograde.sanitize_preprocessors": converter.sanitize_preprocessors
        == plain.sanitize_preprocessors,
        "c.Autograde.pre_convert_hook": converter.pre_convert_hook is None,
        "c.Autograde.post_convert_hook": converter.post_convert_hook is None,
        "c.CourseDirectory.notebook_id": converter.coursedir.notebook_id == "*",
    }


def _name(step: Any) -> str:
    if isinstance(step, str):
        return step
    ours = not step.__module__.startswith("nbgrader.")
    return f"{step.__module__ if ours else 'nbgrader.preprocessors'}.{step.__name__}"


class _LogFile(logging.FileHandler):
    """A log for which there may be no room; the command says itself that the disk is full."""

    def handleError(self, record: logging.LogRecord) -> None:
        error = sys.exc_info()[1]
        if not (isinstance(error, OSError) and cause_of(error)):
            super().handleError(record)


@contextlib.contextmanager
def logged(app: NbGrader, file: Path) -> Iterator[None]:
    """Everything that is logged goes to `file`."""
    to_file = _LogFile(file, encoding="utf-8")
    to_file.setLevel(logging.INFO)
    to_file.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    waiting = logging.getLogger("traitlets")
    before, passed_on = list(app.log.handlers), app.log.propagate
    app.log.handlers, app.log.propagate = [to_file], False
    waiting.addHandler(to_file)
    try:
        yield
    finally:
        app.log.handlers, app.log.propagate = before, passed_on
        waiting.removeHandler(to_file)
        to_file.close()
