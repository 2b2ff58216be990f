"""Makes a course folder, in which an instructor runs nbgrader."""

from __future__ import annotations

from pathlib import Path

from grader.with_nbgrader.release import copy_labs

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


def make_course(course: Path, source: Path) -> None:
    """Makes `course` a course folder with the labs under `source`; existing files stay.

    Raises OSError if the folder cannot be written.
    """
    course.mkdir(parents=True, exist_ok=True)
    config = course / "nbgrader_config.py"
    if not config.exists():
        config.write_text(CONFIG, encoding="utf-8")
    if not (course / "source").exists():
        copy_labs(source, course / "source")
