"""The settings that make nbgrader grade labs by their evidence.

The command line and the formgrader both read them, so both grade in the same way.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from grader.with_nbgrader.adapter import adapt

# nbgrader's own steps, some replaced by ours. They are names and not classes, because the
# formgrader shows a course's settings as JSON.
RELEASE_STEPS = [
    "nbgrader.preprocessors.IncludeHeaderFooter",
    "nbgrader.preprocessors.InstantiateTests",
    "nbgrader.preprocessors.LockCells",
    "grader.with_nbgrader.release.ClearSolutionsByCell",
    "nbgrader.preprocessors.ClearOutput",
    "grader.with_nbgrader.course.NameCourse",
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

#: Replay, and then cells are executed in the sandbox; only a course that asks for it has this step.
EXECUTE_STEP = "grader.with_nbgrader.execute.ReplayAndExecute"


def configure(c: Any, course: str | Path | None = None) -> None:
    """Adds the settings of a course to nbgrader's configuration `c`; it may be called again.

    `course` is the course folder or a file in it. An existing id of the course in `c` stays. Raises
    NbgraderDiffers, which ends the program.
    """
    from grader.with_nbgrader.autograde import CourseAutograde
    from grader.with_nbgrader.feedback import CourseFeedback
    from grader.with_nbgrader.gradebook_lock import wait_for
    from grader.with_nbgrader.pages import student_pages
    from labs.common.terminal import keep_logs_safe

    keep_logs_safe()
    adapt(CourseAutograde, CourseFeedback, student_pages.StudentPages)
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
    c.ExchangeFactory.release_feedback = (
        "grader.with_nbgrader.exchange.release_feedback.CarefulReleaseFeedback"
    )
    c.ExchangeFactory.collect = "grader.with_nbgrader.exchange.collect.CarefulCollect"
    c.ExchangeFactory.list = "grader.with_nbgrader.exchange.inbound_list.CarefulList"
    c.HTMLExporter.filters = {"markdown2html": student_pages.FILTER}
    c.GenerateFeedback.exporter_class = "grader.with_nbgrader.feedback.FeedbackExporter"


def execute_tagged_cells(c: Any) -> None:
    """Makes autograding execute the cells with the tag `execute`, in the sandbox.

    An instructor calls it in nbgrader_config.py, below `configure`; by default nothing is executed.
    """
    c.Autograde.autograde_preprocessors = [
        EXECUTE_STEP if step == AUTOGRADE_STEPS[0] else step
        for step in c.Autograde.autograde_preprocessors
    ]
