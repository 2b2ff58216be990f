"""The settings that make nbgrader grade labs by their evidence.

The command line and the formgrader both read them, so both grade in the same way.
"""

from __future__ import annotations

import functools
import importlib
import importlib.metadata
import inspect
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import nbgrader.api
import nbgrader.apps.api
import nbgrader.apps.autogradeapp
import nbgrader.apps.generateassignmentapp
import nbgrader.apps.generatefeedbackapp
import nbgrader.server_extensions.formgrader.formgrader as formgrader
from nbgrader import dbutil
from nbgrader.apps.dbapp import DbUpgradeApp
from nbgrader.exchange import ExchangeFactory
from sqlalchemy import create_engine

from grader.with_nbgrader import careful_course
from grader.with_nbgrader.pages.formgrader import ListEnvironment, install_lists
from labs import paths
from labs.hand_in.exchange import only_partly_another

# nbgrader's own steps, some replaced by ours. They are names and not classes, because the
# formgrader shows a course's settings as JSON.
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
    from grader.with_nbgrader.locked_gradebook import wait_for
    from grader.with_nbgrader.pages import formgrader
    from grader.with_nbgrader.release import RELEASE_STEPS
    from labs.terminal import keep_logs_safe

    keep_logs_safe()
    adapt()
    _take_our_exchange()
    if "course_id" not in c.CourseDirectory:
        c.CourseDirectory.course_id = "ticklab"
    if course is not None:
        root = Path(course).absolute()
        root = root if root.is_dir() else root.parent
        c.CourseDirectory.root = str(root)
        # Several graders may write at once, so each waits for the lock and does not fail.
        c.CourseDirectory.db_url = f"sqlite:///{root / 'gradebook.db'}?timeout=60"
        wait_for(root / "gradebook.db")
    # In kB. Honest submissions are far smaller; labs/limits.py has the limits on reading.
    c.CourseDirectory.max_file_size = 20_000
    c.GenerateAssignment.preprocessors = RELEASE_STEPS
    c.Autograde.exporter_class = "grader.with_nbgrader.autograde.RebuildExporter"
    c.Autograde.autograde_preprocessors = AUTOGRADE_STEPS
    c.HTMLExporter.filters = {"markdown2html": formgrader.FILTER}
    c.GenerateFeedback.exporter_class = "grader.with_nbgrader.feedback.FeedbackExporter"


def _take_our_exchange() -> None:
    """Makes our steps those of nbgrader's own exchange; a second call changes nothing.

    They are defaults, not settings: an exchange that settings name is used by every step. One that
    they name for some steps only ends the program.
    """
    from grader.with_nbgrader import nbgrader_exchange as ours

    ExchangeFactory.collect.default_value = ours.CarefulCollect
    ExchangeFactory.list.default_value = ours.CarefulList
    ExchangeFactory.release_feedback.default_value = ours.CarefulReleaseFeedback
    if hasattr(ExchangeFactory.__init__, "ticklab"):
        return
    old = ExchangeFactory.__init__

    def of_one_kind(self: Any, **kwargs: Any) -> None:
        old(self, **kwargs)
        trouble = only_partly_another(self)
        if trouble:
            raise SystemExit(trouble)

    of_one_kind.ticklab = True  # type: ignore[attr-defined]
    of_one_kind.__wrapped__ = old  # type: ignore[attr-defined] # for `differences_from_tested`
    ExchangeFactory.__init__ = of_one_kind


def execute_tagged_cells(c: Any) -> None:
    """Makes autograding execute the cells with the tag `execute`, in the sandbox.

    An instructor calls it in nbgrader_config.py, below `configure`; by default nothing is executed.
    """
    c.Autograde.autograde_preprocessors = [
        EXECUTE_STEP if step == AUTOGRADE_STEPS[0] else step
        for step in c.Autograde.autograde_preprocessors
    ]


# `adapt` changes nbgrader itself, where nbgrader has no setting. Nothing else does.
#
# Tested with nbgrader 0.9.5 and 0.9.6. They have no setting for these:
#
# - The classes that release, grade and make feedback. Both the command line
#   (`nbgrader.apps.generateassignmentapp`, `autogradeapp` and `generatefeedbackapp`) and the
#   formgrader (`nbgrader.apps.api`) look up `GenerateAssignment`, `Autograde` and
#   `GenerateFeedback` in their own module.
# - How the time of a submission and the names of students are read
#   (:mod:`grader.with_nbgrader.careful_course`).
# - How the lists of the formgrader are read from the gradebook
#   (:mod:`grader.with_nbgrader.pages.formgrader`).
# - The classes that write the formgrader's pages of submissions and its lists (`HTMLExporter` and
#   `Environment` in `nbgrader.server_extensions.formgrader.formgrader`).
# - The program that makes and updates a gradebook. nbgrader starts `alembic` by its bare name,
#   which it finds only if the Python environment is activated. We start the alembic of this Python.
# - That its own schema of marks is checked for each cell
#   (:func:`grader.with_nbgrader.careful_course.trust_schemas`), and that each opening of the
#   gradebook makes an engine.
#
# The changes last until the process ends, because nbgrader looks up these names whenever it needs
# them. A course that does not use our settings is graded as before.
#
# Before anything is changed, `adapt` compares nbgrader with `RELIED_ON`: all that we replace or
# override, with the parameters that we know.

#: The versions of nbgrader that the tests of this kit ran with, for older and newer Pythons.
TESTED_WITH = ("0.9.5", "0.9.6")

_API = "nbgrader.apps.api:NbGraderAPI"
_CONVERTER = "nbgrader.converters.base:BaseConverter"
_FORMGRADER = "nbgrader.server_extensions.formgrader.formgrader"
_NAVIGATION = "nbgrader.server_extensions.formgrader.handlers:SubmissionNavigationHandler"

#: What we replace or override, by its full name, with the names of its parameters.
RELIED_ON = {
    **{
        f"nbgrader.apps.{module}:{step}.__init__": "self, coursedir, kwargs"
        for step in ("Autograde", "GenerateFeedback", "GenerateAssignment")
        for module in ("api", f"{step.lower()}app")
    },
    "nbgrader.preprocessors:SaveCells._create_notebook": "self, nb",
    "nbgrader.nbgraderformat.common:jsonschema.validate": "instance, schema, cls, args, kwargs",
    "nbgrader.api:create_engine": "url, kwargs",
    "nbgrader.api:get_alembic_version": "",
    "nbgrader.dbutil:upgrade": "db_url, revision",
    "nbgrader.apps.dbapp:DbUpgradeApp._backup_db_file": "self, db_file",
    f"{_FORMGRADER}:HTMLExporter.__init__": "self, config, kw",
    f"{_FORMGRADER}:FormgradeExtension.init_tornado_settings": "self, webapp",
    f"{_CONVERTER}.init_notebooks": "self",
    f"{_CONVERTER}.convert_notebooks": "self",
    f"{_CONVERTER}.convert_single_notebook": "self, notebook_filename",
    f"{_CONVERTER}.init_destination": "self, assignment_id, student_id",
    f"{_CONVERTER}.set_permissions": "self, assignment_id, student_id",
    f"{_CONVERTER}.init_assignment": "self, assignment_id, student_id",
    f"{_CONVERTER}._format_source": "self, assignment_id, student_id, escape",
    f"{_CONVERTER}._format_dest": "self, assignment_id, student_id, escape",
    "nbgrader.coursedir:CourseDirectory.get_existing_timestamp": "self, dest_path",
    f"{_API}.get_submitted_timestamp": "self, assignment_id, student_id",
    f"{_API}.get_submitted_students": "self, assignment_id",
    f"{_API}.get_assignments": "self",
    f"{_API}.gradebook.fget": "self",
    f"{_API}.get_submission": "self, assignment_id, student_id, ungraded, students",
    f"{_API}.get_submissions": "self, assignment_id",
    f"{_API}.get_notebook_submissions": "self, assignment_id, notebook_id",
    f"{_API}.get_notebook_submission_indices": "self, assignment_id, notebook_id",
    f"{_API}._filter_existing_notebooks": "self, assignment_id, notebooks",
    "nbgrader.api:Gradebook.student_dicts": "self",
    "nbgrader.api:Gradebook.submission_dicts": "self, assignment_id",
    "nbgrader.api:Gradebook.notebook_submission_dicts": "self, notebook_id, assignment_id",
    "nbgrader.api:Gradebook.notebook_submissions": "self, notebook, assignment",
    f"{_NAVIGATION}._get_submission_ids": "self, assignment_id, notebook_id",
    f"{_NAVIGATION}._get_incorrect_submission_ids": "self, assignment_id, notebook_id, submission",
    f"{_NAVIGATION}._next": "self, assignment_id, notebook_id, submission",
    "nbgrader.exchange:ExchangeFactory.__init__": "self, kwargs",
    "nbgrader.exchange:ExchangeFactory.collect.default_value": "coursedir, authenticator, kwargs",
    "nbgrader.exchange.default:ExchangeCollect.init_src": "self",
    "nbgrader.exchange.default:ExchangeCollect.copy_files": "self",
    "nbgrader.exchange.default:ExchangeReleaseFeedback.copy_files": "self",
    "nbgrader.exchange.default:ExchangeList.init_dest": "self",
}


class NbgraderDiffers(SystemExit):
    """This nbgrader is not one that we can adapt; the message says where it differs.

    It ends the program: nbgrader only logs any other exception of a settings file. Then it would
    grade with its own settings, which run the code of the students.
    """


def adapt() -> None:
    """Make nbgrader release, grade, make feedback and write the formgrader's pages by our classes.

    It also finds alembic, and reads what students hand in with care. A second call changes nothing.

    Raises NbgraderDiffers, and changes nothing, if nbgrader is not as this module knows it.
    """
    differences = differences_from_tested()
    if differences:
        raise NbgraderDiffers(
            f"nbgrader {importlib.metadata.version('nbgrader')} differs from nbgrader "
            f"{' and '.join(TESTED_WITH)}, which Ticklab was tested with: "
            f"{'; '.join(differences)}. Nothing was graded. Install one of these: "
            f"{sys.executable} -m pip install nbgrader=={TESTED_WITH[-1]}"
        )
    from grader.with_nbgrader.autograde import CourseAutograde
    from grader.with_nbgrader.feedback import CourseFeedback
    from grader.with_nbgrader.pages.formgrader import StudentPages
    from grader.with_nbgrader.release import CourseRelease

    for module in (nbgrader.apps.api, nbgrader.apps.autogradeapp):
        module.Autograde = CourseAutograde
    for module in (nbgrader.apps.api, nbgrader.apps.generatefeedbackapp):
        module.GenerateFeedback = CourseFeedback
    for module in (nbgrader.apps.api, nbgrader.apps.generateassignmentapp):
        module.GenerateAssignment = CourseRelease
    careful_course.install()
    install_lists()
    formgrader.HTMLExporter = StudentPages
    formgrader.Environment = ListEnvironment
    nbgrader.api.create_engine = one_engine
    nbgrader.api.get_alembic_version = alembic_version
    dbutil.upgrade = upgrade
    DbUpgradeApp._backup_db_file = copy_of_gradebook


def differences_from_tested() -> list[str]:
    """How this nbgrader differs from :data:`RELIED_ON`, one phrase for each difference."""
    found = []
    for full_name, known in RELIED_ON.items():
        module, _, path = full_name.partition(":")
        try:
            owner = importlib.import_module(module)
            for part in path.split("."):
                owner = getattr(owner, part)
            parameters = ", ".join(inspect.signature(owner).parameters)  # type: ignore[arg-type]
        except (ImportError, AttributeError, TypeError, ValueError):
            found.append(f"{module} has no {path}")
            continue
        if parameters != known:
            found.append(f"{path} of {module} takes ({parameters}), not ({known})")
    return found


#: nbgrader opens the gradebook anew for each step of each notebook. An engine remembers the SQL of
#: each query, and a new one would make all of it again.
one_engine = functools.lru_cache(maxsize=8)(create_engine)


def alembic_version() -> str:
    """The newest version of a gradebook's tables. nbgrader starts `alembic heads` for it."""
    # Here: only a new gradebook needs it.
    from alembic.script import ScriptDirectory

    newest = ScriptDirectory(dbutil.ALEMBIC_DIR).get_current_head()
    assert newest is not None, "nbgrader has no versions of its tables"
    return newest


_COPY = DbUpgradeApp._backup_db_file


def copy_of_gradebook(self: DbUpgradeApp, db_file: str) -> None:
    """Copy the gradebook before its tables are updated.

    nbgrader takes all after the scheme of its address for the file, also `?timeout=60`.
    """
    _COPY(self, db_file.partition("?")[0])


def upgrade(db_url: str, revision: str = "head") -> None:
    """Update the tables of the gradebook `db_url`. Raises CalledProcessError."""
    kind, mark, file = db_url.partition(":///")
    if kind == "sqlite" and file not in {"", ":memory:"}:
        db_url = kind + mark + os.path.abspath(file)  # noqa: PTH100 -- it may end in ?timeout=60
    with dbutil._temp_alembic_ini(db_url) as settings:
        command = paths.python_command("alembic", "-c", settings, "upgrade", revision)
        with paths.start(command) as upgrading:
            status = upgrading.wait()
    if status:
        raise subprocess.CalledProcessError(status, command)
