"""Opens a course folder with its settings, as nbgrader would, for one step at a time."""

from __future__ import annotations

import contextlib
import fcntl
import logging
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from nbgrader.apps.baseapp import NbGrader
from sqlalchemy.exc import SQLAlchemyError
from tqdm import tqdm
from traitlets.config import Config

from grader.with_nbgrader.gradebook_lock import UNFINISHED, cause_of, remove_empty_above
from grader.with_nbgrader.student_folders import trusted_part
from labs.terminal import safe


class NotOurs(Exception):
    """This folder, or a setting of it, is nothing for `grader`; the message says what to do."""


def open_course(folder: Path, settings: Config | None = None) -> NbGrader:
    """The course in `folder` as an application of nbgrader. Raises NotOurs.

    From now on, this process says in the terminal what holds it up, as a gradebook that is locked.
    """
    folder = folder.absolute()
    if not (folder / "nbgrader_config.py").is_file():
        raise NotOurs(
            f"{safe(str(folder))} is no course folder: it has no nbgrader_config.py. Go to your "
            "course folder, or name it with --course; `grader course DIR` makes one."
        )
    waiting = logging.getLogger("traitlets")
    if not any(isinstance(each, _BesideTheBar) for each in waiting.handlers):
        waiting.addHandler(_BesideTheBar(logging.WARNING))
    # nbgrader reads the settings of the current folder, and these may name files in it.
    with current(folder):
        app = NbGrader(**({"config": settings} if settings else {}))
        app.initialize([], root=str(folder))
    return app


class _BesideTheBar(logging.Handler):
    """Writes above a progress bar, if there is one."""

    def emit(self, record: logging.LogRecord) -> None:
        tqdm.write(safe(record.getMessage()), file=sys.stderr)


@contextlib.contextmanager
def current(folder: Path | str) -> Iterator[None]:
    """Make `folder` the current one of this process, for a while."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


# One step for a whole class: alone on its lab, with its log, ended by a full disk in one sentence.


class Stopped(Exception):
    """The run ended early; the message says why, and what to do."""


@contextlib.contextmanager
def alone(converter: Any, step: str, command: str) -> Iterator[Path]:
    """The folder of the unfinished results of a step, in which no student can write.

    No other run of `command` works on this lab meanwhile. Raises Stopped.
    """
    course = converter.coursedir
    lab = course.assignment_id
    aside = trusted_part(course, step) / UNFINISHED
    aside.mkdir(parents=True, exist_ok=True)
    path = aside / f".lock-{lab}"
    with path.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise Stopped(
                f"another `grader {command} {lab}` is at work in this course; wait for it"
            ) from error
        try:
            yield aside
        finally:
            path.unlink(missing_ok=True)
            remove_empty_above(aside / "student")


@contextlib.contextmanager
def stopping() -> Iterator[None]:
    """Raises Stopped, with what to do, if the disk or the gradebook ends a run."""
    try:
        yield
    except (OSError, SQLAlchemyError) as error:
        cause = cause_of(error)
        if cause is None and not isinstance(error, SQLAlchemyError):
            raise
        raise Stopped(cause or f"the gradebook cannot be used: {error}") from error


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
