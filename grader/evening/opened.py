"""Opens a course folder with its settings, as nbgrader would, and says what `grader` cannot do."""

from __future__ import annotations

import contextlib
import logging
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from nbgrader.apps.baseapp import NbGrader
from tqdm import tqdm
from traitlets.config import Config

from grader.with_nbgrader.autograde import CourseAutograde
from grader.with_nbgrader.careful_course import is_ours
from grader.with_nbgrader.settings import AUTOGRADE_STEPS
from labs.common.terminal import safe


class NotOurs(Exception):
    """This folder, or a setting of it, is nothing for `grader`; the message says what to do."""


def open_course(folder: Path, settings: Config | None = None) -> NbGrader:
    """The course in `folder` as an application of nbgrader. Raises NotOurs."""
    if not (folder / "nbgrader_config.py").is_file():
        raise NotOurs(
            f"{safe(str(folder))} is no course folder: it has no nbgrader_config.py. Go to your "
            "course folder, or name it with --course; `grader course DIR` makes one."
        )
    with contextlib.chdir(folder) if hasattr(contextlib, "chdir") else _in(folder):
        app = NbGrader(**({"config": settings} if settings else {}))
        app.initialize([], root=str(folder.absolute()))
    return app


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


@contextlib.contextmanager
def _in(folder: Path) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


@contextlib.contextmanager
def logged(app: NbGrader, file: Path) -> Iterator[None]:
    """Everything that is logged goes to `file`; what holds up the run also to the terminal."""
    to_file = logging.FileHandler(file, encoding="utf-8")
    to_file.setLevel(logging.INFO)
    to_file.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    to_terminal = _BesideTheBar(logging.WARNING)
    waiting = logging.getLogger("traitlets")
    before, passed_on = list(app.log.handlers), app.log.propagate
    app.log.handlers, app.log.propagate = [to_file], False
    waiting.addHandler(to_terminal)
    waiting.addHandler(to_file)
    try:
        yield
    finally:
        app.log.handlers, app.log.propagate = before, passed_on
        waiting.removeHandler(to_terminal)
        waiting.removeHandler(to_file)
        to_file.close()


class _BesideTheBar(logging.Handler):
    """Writes above a progress bar."""

    def emit(self, record: logging.LogRecord) -> None:
        tqdm.write(safe(record.getMessage()), file=sys.stderr)
