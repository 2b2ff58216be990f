"""nbgrader's autograding, which rebuilds each notebook and grades every submission.

nbgrader has a setting for the class that reads a notebook, which we set to
:class:`RebuildExporter`. It has no setting for the folders to grade and for copying their files. So
:class:`CourseAutograde` takes the place of `nbgrader.converters.Autograde`, which
:mod:`grader.with_nbgrader.settings` sees to.
"""

from __future__ import annotations

from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING, Any

import nbformat
from nbconvert.exporters import NotebookExporter
from nbgrader.converters import Autograde
from nbgrader.converters.base import BaseConverter, NbGraderException
from nbgrader.coursedir import CourseDirectory

from grader.submissions.safe_files import copy, printable
from grader.submissions.submitted_notebook import find_submitted, quoted, rebuild
from grader.with_nbgrader.course_folder import Staged
from grader.with_nbgrader.earlier_grades import on_due_date, on_release
from grader.with_nbgrader.release import earlier_releases
from grader.with_nbgrader.student_folders import (
    RECORD,
    folders_in,
    line,
    trusted_part,
)
from labs.course import figures
from labs.files import denied

if TYPE_CHECKING:
    from grader.judging.flags import AccountFlags

# nbgrader's own copying of a submission's files follows links, waits for pipes, and has no limit.


class RegularFilesOnly(BaseConverter):  # type: ignore[misc]
    """The part of a conversion that copies the other files of the submission.

    In the order of inheritance, this class is between nbgrader's conversion and `BaseConverter`. So
    the conversion calls this method, and not that of `BaseConverter`.
    """

    left_out: tuple[str, ...] = ()

    def init_assignment(self, assignment_id: str, student_id: str) -> None:
        """Copies the regular files of a submission; the notebook lists what was left out."""
        source = Path(self._format_source(assignment_id, student_id))
        destination = Path(self._format_dest(assignment_id, student_id))
        ignore = [*self.coursedir.ignore, "*.ipynb"]
        trusted = trusted_part(self.coursedir, self._input_directory)
        taken = copy(source, destination, ignore, trusted, first=(RECORD,), share=True)
        self.left_out = tuple(f"left out {quoted(note)}" for note in taken.left_out)


class RebuildExporter(NotebookExporter):
    """Reads the submitted notebook as the released one with the student's answers in it."""

    def from_filename(  # type: ignore[override]  # nbconvert: a node; its exporters: text
        self, filename: str, resources: dict[str, Any] | None = None, **kw: Any
    ) -> tuple[str, dict[str, Any]]:
        """Read a notebook; `nbconvert` calls this for each one, in each of nbgrader's two passes.

        In the first pass the file is the student's or missing, and we do not trust it. In the
        second pass it is the one that we wrote. Raises NbGraderException if nothing was released.
        """
        converter: Any = self.parent
        resources = resources or {}
        if converter._input_directory != converter.coursedir.submitted_directory:
            passed_on: Any = super().from_filename(filename, resources, **kw)
            return passed_on  # type: ignore[no-any-return]
        assignment, name = resources["nbgrader"]["assignment"], resources["nbgrader"]["notebook"]
        release = released_folder(converter.coursedir, assignment)
        released = read_released(release / f"{name}.ipynb")
        names = {each.stem for each in release.glob("*.ipynb")}
        found = find_submitted(Path(filename), released, names)
        earlier = [read_released(path) for path in earlier_releases(release, name)]
        notes = [*getattr(converter, "left_out", ()), *found.notes]
        rebuilt = rebuild(released, found.submitted, notes, earlier)
        student = resources["nbgrader"]["student"]
        for note in rebuilt.set_aside:
            converter.log.warning("%s, %s: %s", printable(student), name, note)
        resources["metadata"] = {"name": name, "path": str(Path(filename).parent)}
        return self.from_notebook_node(rebuilt.notebook, resources)  # type: ignore


class CourseAutograde(Staged, Autograde, RegularFilesOnly):  # type: ignore[misc]
    """Autograding that grades every submitted folder, with or without a readable notebook."""

    of_nbgrader = Autograde

    @property
    def _input_directory(self) -> str:
        """The submissions; in the second pass, the notebooks that the first pass wrote."""
        return str(super()._input_directory) if self._sanitizing else self._output_directory

    def init_notebooks(self) -> None:
        """Lists, for each submitted folder, the notebooks that it should have.

        Raises NbGraderException if nothing was released or nothing was submitted.
        """
        course = self.coursedir
        release = released_folder(course, course.assignment_id)
        expected = [p.stem for p in release.glob("*.ipynb") if fnmatch(p.stem, course.notebook_id)]
        if not expected:
            message = _not_released(release)
            self.log.error(message)
            raise NbGraderException(message)
        asked = course.submitted_directory, course.assignment_id, course.student_id
        self.assignments, self.refused = {}, []
        for _, folder, trouble in folders_in(course, *asked):
            trouble = trouble or _denied_evidence(folder)
            if trouble is None:
                self.assignments[str(folder)] = [str(folder / f"{n}.ipynb") for n in expected]
            else:
                self.refused.append(line(course, folder, f"{trouble}; not graded"))
        self.accounts = self._accounts()
        if not self.assignments and not self.refused:
            super().init_notebooks()  # raises nbgrader's own error

    def convert_notebooks(self) -> None:
        """As in nbgrader; then says whose grades no longer hold, because they were skipped."""
        try:
            super().convert_notebooks()
        finally:
            self._say_what_no_longer_holds()

    def _say_what_no_longer_holds(self) -> None:
        course, lab = self.coursedir, self.coursedir.assignment_id
        try:
            for each in (*on_due_date(course, lab, self), *on_release(course, lab)):
                self.log.warning("%s.", each)
        except Exception as error:
            self.log.warning("Late penalties were not compared with the due date: %s", error)

    def _accounts(self) -> AccountFlags:
        """The flags on the accounts that recordings name; flags cost no points, so none on errors.

        What is true of the class and not of one student is logged here, once.
        """
        # Here: nbgrader's other steps import this module too, and need none of what judges.
        from grader.judging.flags import AccountFlags
        from grader.with_nbgrader.class_flags import account_flags

        lab = self.coursedir.assignment_id
        try:
            found = account_flags(self.coursedir)
        except Exception as error:
            self.log.warning("Accounts of recordings were not compared: %s", error)
            return AccountFlags()
        for count in found.shared:
            self.log.warning(
                "%s: %d students measured under accounts of one name. So many students do not "
                "copy from one, so none of them gets a flag.", printable(lab), count
            )  # fmt: skip
        return found

    def init_assignment(self, assignment_id: str, student_id: str) -> None:
        """As in nbgrader, but files of the source never overwrite the student's evidence."""
        self.keep_evidence(assignment_id)
        super().init_assignment(assignment_id, student_id)

    def keep_evidence(self, assignment_id: str) -> None:
        """Excludes evidence from the files of the source that replace the student's."""
        source = Path(
            self.coursedir.format_path(self.coursedir.source_directory, ".", assignment_id)
        )
        evidence = [str(p.relative_to(source)) for p in source.glob("recordings/**/*")]
        excluded: dict[str, list[str]] = self.exclude_overwriting  # type: ignore[has-type]
        names = {*excluded.get(assignment_id, []), *evidence, "figures.json"}
        self.exclude_overwriting = {**excluded, assignment_id: sorted(names)}


def released_folder(course: CourseDirectory, assignment: str) -> Path:
    """The folder of the released notebooks of `assignment`."""
    return Path(course.format_path(course.release_directory, ".", assignment))


def _not_released(folder: Path) -> str:
    return (
        f"There is no released notebook in {folder}, and grading starts from it. First run "
        f"`nbgrader generate_assignment {folder.name}` in the course folder."
    )


def read_released(path: Path) -> nbformat.NotebookNode:
    """The released notebook. Raises NbGraderException if there is none."""
    if not path.is_file():
        raise NbGraderException(_not_released(path.parent))
    text = path.read_text(encoding="utf-8")
    notebook: nbformat.NotebookNode = nbformat.reads(text, as_version=4)  # type: ignore
    return notebook


def _denied_evidence(folder: Path) -> str | None:
    """What `labs.files.denied` says of the evidence that `figures.json` in `folder` names."""
    trouble = denied(folder, figures.FILE_NAME)
    if trouble is not None:
        return trouble
    try:
        submitted = figures.read(folder)
    except figures.BadFigures:
        return None
    names = [name for figure in submitted.values() for name in figures.evidence_of(figure)]
    return denied(folder, *names) if names else None
