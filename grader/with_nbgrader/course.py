"""Lays out a course folder, in which nbgrader is run."""

from __future__ import annotations

from pathlib import Path

from grader.with_nbgrader.release import copy_labs

CONFIG = """\
# The settings of this course. What is set below the call holds instead of what it sets.
from grader.nbgrader_config import configure

c = get_config()
configure(c, __file__)
"""


def lay_out(course: Path, source: Path) -> None:
    """Makes `course` a course folder with the labs under `source` (an existing file stays).

    Raises OSError where the folder cannot be written.
    """
    course.mkdir(parents=True, exist_ok=True)
    config = course / "nbgrader_config.py"
    if not config.exists():
        config.write_text(CONFIG, encoding="utf-8")
    if not (course / "source").exists():
        copy_labs(source, course / "source")
