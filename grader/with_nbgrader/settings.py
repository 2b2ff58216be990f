"""The settings by which nbgrader grades labs by their evidence.

The command line and the formgrader both read them, so that both take the same path.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import Any

# nbgrader's own steps, and where one of ours stands instead. By name: the formgrader shows a
# course's settings as JSON.
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
    """Sets what a course needs on nbgrader's configuration `c`; may be called again.

    `course` is the course folder or a file in it. What `c` holds of the course's id stays.
    """
    from grader.with_nbgrader.autograde import install

    install()
    _make_alembic_found()
    if "course_id" not in c.CourseDirectory:
        c.CourseDirectory.course_id = "ticklab"
    if course is not None:
        root = Path(course).absolute()
        root = root if root.is_dir() else root.parent
        c.CourseDirectory.root = str(root)
        # Several graders may write at once: wait for the lock instead of ending the batch.
        c.CourseDirectory.db_url = f"sqlite:///{root / 'gradebook.db'}?timeout=60"
    # In kB. Far above an honest submission: labs/common/limits.py says what is read of one.
    c.CourseDirectory.max_file_size = 20_000
    c.GenerateAssignment.preprocessors = RELEASE_STEPS
    c.Autograde.exporter_class = "grader.with_nbgrader.autograde.RebuildExporter"
    c.Autograde.autograde_preprocessors = AUTOGRADE_STEPS
    c.ExchangeFactory.collect = "grader.with_nbgrader.collect.CarefulCollect"
    c.HTMLExporter.filters = {"markdown2html": "grader.with_nbgrader.student_text.markdown2html"}


def _make_alembic_found() -> None:
    """Lets nbgrader find the command `alembic` that was installed beside it.

    A new gradebook is made with it, by its bare name: in an environment that is used without being
    activated, nbgrader would not find its own dependency.
    """
    if shutil.which("alembic") is None:
        beside = str(Path(sys.executable).parent)
        os.environ["PATH"] = os.pathsep.join([beside, os.environ.get("PATH", os.defpath)])
