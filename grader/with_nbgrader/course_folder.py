"""A course that others use too: results appear as a whole, one step at a time."""

from __future__ import annotations

import contextlib
import fcntl
import logging
import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from glob import escape
from pathlib import Path
from typing import Any

from nbgrader.apps.baseapp import NbGrader
from nbgrader.converters.base import BaseConverter, NbGraderException
from sqlalchemy.exc import SQLAlchemyError
from tqdm import tqdm

from grader.with_nbgrader.careful_course import OfOurCourses
from grader.with_nbgrader.locked_gradebook import cause_of, causes_as
from grader.with_nbgrader.student_folders import record_in, trusted_part
from labs.terminal import safe

# A conversion of nbgrader whose result appears as a whole, one student after the other.
#
# nbgrader makes each student's folder step by step, and takes a folder that exists for a finished
# one: what was half done when a power cut, `kill -9` or a full disk ended it, is never done again.
# We make the folder elsewhere and rename it as the last step, so a folder that exists is finished.

#: The folder of unfinished results, in that of the results; nbgrader's globs skip the dot.
UNFINISHED = ".unfinished"
#: What is added to the name of an unfinished folder: for an older result that was moved out of the
#: way, for the file that says what the gradebook gets, and for a folder that is being made.
_OLD, RESULT, PART = ".old", ".result.json", ".part-"
#: What is added to the name of a file that is being written.
NEW = ".new"


class Stop(BaseException):
    """Ends the batch; a BaseException, because nbgrader goes on after every other one."""


class Staged(OfOurCourses, BaseConverter):  # type: ignore[misc]
    """Comes first in the order of inheritance, before nbgrader's own conversion."""

    @property
    def _output_directory(self) -> str:
        """Where nbgrader writes: not yet where results are looked for."""
        return str(Path(super()._output_directory) / UNFINISHED)

    def final_folder(self, assignment_id: str, student_id: str) -> Path:
        """The folder of a finished result."""
        step = super()._output_directory
        return Path(self.coursedir.format_path(step, student_id, assignment_id))

    def unfinished_folder(self, assignment_id: str, student_id: str) -> Path:
        """The folder in which the result is made."""
        return Path(os.path.normpath(self._format_dest(assignment_id, student_id)))

    #: One line for each student whose folder was refused before anything was converted.
    refused: Sequence[str] = ()

    def convert_notebooks(self) -> None:
        """Converts each student's notebooks by itself; one that fails costs nobody else anything.

        Raises NbGraderException at the end if one was refused or failed.
        """
        everyone: dict[str, list[str]] = self.assignments  # type: ignore[has-type]
        self._begun: set[Path] = set()
        failed = len(self.refused)
        try:
            for folder in sorted(everyone):
                self.assignments = {folder: everyone[folder]}
                try:
                    super().convert_notebooks()
                except NbGraderException:
                    failed += 1
        except Stop as stop:
            self.log.error(
                "%s The finished results stay; the same command then makes the others.", stop
            )
            raise NbGraderException(str(stop)) from stop
        finally:
            self.assignments = everyone
            for unfinished in self._begun:
                remove_empty_above(unfinished)
        for line in self.refused:
            self.log.error("%s", line)
        if failed:
            count = f"{failed} of {len(everyone) + len(self.refused)}"
            message = f"{count} submissions were refused or failed; all others are done"
            self.log.error("%s. The lines above say why.", message)
            raise NbGraderException(message)

    def init_destination(self, assignment_id: str, student_id: str) -> bool:
        """Whether to convert this submission; if so, an older result is moved out of the way."""
        if student_id in self.coursedir.student_id_exclude.split(","):
            return False
        final = self.final_folder(assignment_id, student_id)
        unfinished = self.unfinished_folder(assignment_id, student_id)
        self._begun.add(unfinished)
        with full_disk_stops():
            remove_left(unfinished)
            if not self.is_wanted(assignment_id, student_id):
                self.log.info("Skipping existing assignment: %s", final)
                return False
            if final.is_dir() and self.coursedir.notebook_id == "*":
                self.log.warning("Replacing existing assignment: %s", final)
                _retire(final, unfinished)
            elif final.is_dir():  # the other notebooks stay
                shutil.copytree(final, unfinished)
                for name in self._results():
                    (unfinished / name).unlink(missing_ok=True)
        return True

    def is_wanted(self, assignment_id: str, student_id: str) -> bool:
        """Whether the notebooks of this submission are to be converted; this changes nothing."""
        if student_id in self.coursedir.student_id_exclude.split(","):
            return False
        final = self.final_folder(assignment_id, student_id)
        return not final.is_dir() or self._is_due(final, assignment_id, student_id)

    def _is_due(self, final: Path, assignment_id: str, student_id: str) -> bool:
        """Whether an existing result is made again: asked for, incomplete, or from older work."""
        if self.force or any(not (final / name).is_file() for name in self._results()):
            return True
        source = Path(self._format_source(assignment_id, student_id))
        records = [record_in(source), record_in(final)]
        if None not in records:
            return records[0] != records[1]
        new = self.coursedir.get_existing_timestamp(str(source))
        old = self.coursedir.get_existing_timestamp(str(final))
        return new is not None and old is not None and new > old

    def _results(self) -> list[str]:
        """The names of the files to make from the notebooks of the submission at hand."""
        return [Path(each).stem + self.exporter.file_extension for each in self.notebooks]

    def init_assignment(self, assignment_id: str, student_id: str) -> None:
        """As in nbgrader; a full disk or a locked gradebook ends the batch with one sentence."""
        with full_disk_stops():
            super().init_assignment(assignment_id, student_id)

    def convert_single_notebook(self, notebook_filename: str) -> None:
        """As in nbgrader; a full disk or a locked gradebook ends the batch with one sentence."""
        with full_disk_stops():
            super().convert_single_notebook(notebook_filename)

    def set_permissions(self, assignment_id: str, student_id: str) -> None:
        """Sets the permissions as nbgrader does; then puts the finished folder in its place."""
        super().set_permissions(assignment_id, student_id)
        with full_disk_stops():
            self.put_in_place(assignment_id, student_id)

    def put_in_place(self, assignment_id: str, student_id: str) -> None:
        """Renames the finished folder of a student, instead of an older one. Raises OSError."""
        unfinished = self.unfinished_folder(assignment_id, student_id)
        final = self.final_folder(assignment_id, student_id)
        final.parent.mkdir(parents=True, exist_ok=True)
        _retire(final, unfinished)
        unfinished.rename(final)
        if self.coursedir.groupshared:
            for folder in (final.parent, final.parent.parent):
                with contextlib.suppress(PermissionError):
                    folder.chmod((folder.stat().st_mode | 0o2770) & 0o2777)


def remove_left(unfinished: Path) -> None:
    """Removes what runs that were ended have left of one student's result."""
    shutil.rmtree(unfinished, ignore_errors=True)
    shutil.rmtree(unfinished.with_name(unfinished.name + _OLD), ignore_errors=True)
    for part in unfinished.parent.glob(f"{escape(unfinished.name)}{PART}*"):
        shutil.rmtree(part, ignore_errors=True)
    for name in (unfinished.name + RESULT, unfinished.name + RESULT + NEW):
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            unfinished.with_name(name).unlink()


def remove_empty_above(unfinished: Path) -> None:
    """Removes the folders above one student's unfinished result that are empty."""
    for folder in unfinished.parents:
        with contextlib.suppress(OSError):
            folder.rmdir()
        if folder.name == UNFINISHED:
            break


def _retire(final: Path, unfinished: Path) -> None:
    """Takes the folder `final` away at once, if there is one, and then removes it."""
    if final.is_dir():
        old = unfinished.with_name(unfinished.name + _OLD)
        old.parent.mkdir(parents=True, exist_ok=True)
        final.rename(old)
        shutil.rmtree(old)


def full_disk_stops() -> contextlib.AbstractContextManager[None]:
    """Ends the batch where the next student could not be graded either."""
    return causes_as(Stop)


# Opens a course folder with its settings, as nbgrader would.


class NotOurs(Exception):
    """This folder, or a setting of it, is nothing for `grader`; the message says what to do."""


def open_course(folder: Path) -> NbGrader:
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
        app = NbGrader()
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
