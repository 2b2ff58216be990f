"""The settings that make nbgrader grade labs by their evidence.

The command line and the formgrader both read them, so both grade in the same way.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import Any

# nbgrader's own steps, some replaced by ours. They are names and not classes, because the
# formgrader shows a course's settings as JSON.
RELEASE_STEPS = [
    "nbgrader.preprocessors.IncludeHeaderFooter",
    "nbgrader.preprocessors.InstantiateTests",
    "nbgrader.preprocessors.LockCells",
    "grader.with_nbgrader.release.ClearSolutionsByCell",
    "nbgrader.preprocessors.ClearOutput",
    "nbgrader.preprocessors.CheckCellMetadata",
    "nbgrader.preprocessors.ComputeChecksums",
    "nbgrader.preprocessors.SaveCells",
    "nbgrader.preprocessors.ClearHiddenTests",
    "nbgrader.preprocessors.ClearMarkScheme",
    "nbgrader.preprocessors.ComputeChecksums",
    "nbgrader.preprocessors.CheckCellMetadata",
]
AUTOGRADE_STEPS = [
    "grader.with_nbgrader.replay.Replay",
    "nbgrader.preprocessors.IgnorePattern",
    "nbgrader.preprocessors.LimitOutput",
    "grader.with_nbgrader.replay.SaveVerdicts",
    "nbgrader.preprocessors.AssignLatePenalties",
    "nbgrader.preprocessors.CheckCellMetadata",
]


def configure(c: Any, course: str | Path | None = None) -> None:
    """Adds the settings of a course to nbgrader's configuration `c`; it may be called again.

    `course` is the course folder or a file in it. An existing id of the course in `c` stays.
    """
    from grader.with_nbgrader.gradebook_lock import wait_for
    from grader.with_nbgrader.installation import install

    install()
    _make_alembic_found()
    if "course_id" not in c.CourseDirectory:
        c.CourseDirectory.course_id = "ticklab"
    if course is not None:
        root = Path(course).absolute()
        root = root if root.is_dir() else root.parent
        c.CourseDirectory.root = str(root)
        # Several graders may write at once, so each waits for the lock and does not fail.
        c.CourseDirectory.db_url = f"sqlite:///{root / 'gradebook.db'}?timeout=60"
        wait_for(root / "gradebook.db")
    # In kB. Honest submissions are far smaller; labs/common/limits.py has the limits on reading.
    c.CourseDirectory.max_file_size = 20_000
    c.GenerateAssignment.preprocessors = RELEASE_STEPS
    c.Autograde.exporter_class = "grader.with_nbgrader.autograde.RebuildExporter"
    c.Autograde.autograde_preprocessors = AUTOGRADE_STEPS
    c.ExchangeFactory.collect = "grader.with_nbgrader.collect.CarefulCollect"
    c.ExchangeFactory.release_feedback = (
        "grader.with_nbgrader.release_feedback.CarefulReleaseFeedback"
    )
    c.HTMLExporter.filters = {"markdown2html": "grader.with_nbgrader.student_text.markdown2html"}


def _make_alembic_found() -> None:
    """Lets nbgrader find the command `alembic` that was installed with it.

    nbgrader calls this command by its bare name to make a new gradebook. In an environment that is
    not activated, it would not find the command.
    """
    if shutil.which("alembic") is None:
        programs = str(Path(sys.executable).parent)
        os.environ["PATH"] = os.pathsep.join([programs, os.environ.get("PATH", os.defpath)])
