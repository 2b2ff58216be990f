"""Opens a course folder with its settings, as nbgrader would."""

from __future__ import annotations

import contextlib
import logging
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from nbgrader.apps.baseapp import NbGrader
from tqdm import tqdm
from traitlets.config import Config

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
