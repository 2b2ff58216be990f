"""Opens a course folder with its settings, as nbgrader would."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from nbgrader.apps.baseapp import NbGrader

from grader.evening.exports.sheet import NoGrades


def coursedir_of(folder: Path) -> Any:
    """nbgrader's CourseDirectory of the course in `folder`. Raises NoGrades."""
    folder = folder.absolute()
    if not (folder / "nbgrader_config.py").is_file():
        raise NoGrades(
            f"{folder} is no course folder: it has no nbgrader_config.py. Go to your course "
            "folder, or name it with --course"
        )
    with _in(folder):
        app = NbGrader()
        app.initialize([], root=str(folder))
    return app.coursedir


@contextlib.contextmanager
def _in(folder: Path) -> Iterator[None]:
    """nbgrader reads the settings of the current folder."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)
