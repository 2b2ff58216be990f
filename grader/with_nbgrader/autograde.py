"""nbgrader's autograding, which rebuilds each notebook and grades every submission.

nbgrader has a setting for the class that reads a notebook, which we set to
:class:`RebuildExporter`. It has no setting for the folders to grade and for copying their files. So
:class:`CourseAutograde` takes the place of `nbgrader.converters.Autograde`, which
:mod:`grader.with_nbgrader.adapter` sees to.
"""

from __future__ import annotations

import datetime
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import nbformat
from nbconvert.exporters import NotebookExporter
from nbgrader.converters import Autograde
from nbgrader.converters.base import BaseConverter, NbGraderException
from nbgrader.coursedir import CourseDirectory
from nbgrader.utils import parse_utc

from grader.submissions.rebuild import known_answers, quoted, rebuild
from grader.submissions.safe_copy import printable, read_regular, take_in
from grader.submissions.student_notebook import Submitted, read_submitted


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
        released = _read_released(release / f"{name}.ipynb")
        submitted, notes = _find(
            Path(filename), released, {p.stem for p in release.glob("*.ipynb")}
        )
        rebuilt = rebuild(released, submitted, [*getattr(converter, "left_out", ()), *notes])
        student = resources["nbgrader"]["student"]
        for note in rebuilt.set_aside:
            converter.log.warning("%s, %s: %s", printable(student), name, note)
        resources["metadata"] = {"name": name, "path": str(Path(filename).parent)}
        return self.from_notebook_node(rebuilt.notebook, resources)  # type: ignore


class RegularFilesOnly(BaseConverter):  # type: ignore[misc]
    """The part of a conversion that copies the other files of the submission.

    In the order of inheritance, this class is between `Autograde` and `BaseConverter`. So
    `Autograde` calls this method, and not the one that follows links and waits for pipes.
    """

    left_out: tuple[str, ...] = ()

    def init_assignment(self, assignment_id: str, student_id: str) -> None:
        """Copies the regular files of a submission; the notebook lists what was left out."""
        if not _is_ours(self):
            super().init_assignment(assignment_id, student_id)
            return
        source = Path(self._format_source(assignment_id, student_id))
        destination = Path(self._format_dest(assignment_id, student_id))
        left_out = take_in(source, destination, [*self.coursedir.ignore, "*.ipynb"])
        self.left_out = tuple(f"left out {quoted(note)}" for note in left_out)


class CarefulCourse(CourseDirectory):  # type: ignore[misc]
    """A course folder that does not trust a student's `timestamp.txt`."""

    def get_existing_timestamp(self, dest_path: str) -> datetime.datetime | None:
        """When the submission was made; None, with a warning, if the file holds no time."""
        path = Path(dest_path) / "timestamp.txt"
        if not path.exists():
            return None
        try:
            text = read_regular(path, 200).decode("utf-8").strip()
            when: datetime.datetime | None = parse_utc(text) if text else None
        # The parser of dates raises exceptions of many kinds.
        except Exception as error:
            self.log.warning("%s holds no time: %s", printable(str(path), 300), error)
            return None
        return when


class CourseAutograde(Autograde, RegularFilesOnly):  # type: ignore[misc]
    """Autograding that grades every submitted folder, with or without a readable notebook."""

    def __init__(self, coursedir: CourseDirectory | None = None, **kwargs: Any) -> None:
        super().__init__(coursedir=coursedir, **kwargs)
        if _is_ours(self) and coursedir is not None:
            settings = {
                name: getattr(coursedir, name) for name in coursedir.trait_names(config=True)
            }
            self.coursedir = CarefulCourse(parent=coursedir.parent, **settings)

    def init_notebooks(self) -> None:
        """Lists, for each submitted folder, its notebooks *and* those that it should have.

        Raises NbGraderException if nothing was released or nothing was submitted.
        """
        if not _is_ours(self):
            super().init_notebooks()
            return
        course = self.coursedir
        release = released_folder(course, course.assignment_id)
        expected = [p.stem for p in release.glob("*.ipynb") if fnmatch(p.stem, course.notebook_id)]
        if not expected:
            message = _not_released(release)
            self.log.error(message)
            raise NbGraderException(message)
        self.assignments = {}
        # nbgrader uses the whole path as a glob, which fails if a folder's name has a bracket.
        pattern = self._format_source(course.assignment_id, course.student_id)
        root = Path(course.root)
        for folder in sorted(root.glob(str(Path(pattern).relative_to(root)))):
            if not folder.is_dir():
                self.log.warning("%s is not a folder: not graded", printable(str(folder), 300))
                continue
            there = {str(path) for path in folder.glob(f"{course.notebook_id}.ipynb")}
            wanted = {str(folder / f"{name}.ipynb") for name in expected}
            self.assignments[str(folder)] = sorted(there | wanted)
        if not self.assignments:
            super().init_notebooks()  # raises nbgrader's own error

    def init_assignment(self, assignment_id: str, student_id: str) -> None:
        """As in nbgrader, but files of the source never overwrite the student's evidence."""
        if _is_ours(self):
            source = Path(
                self.coursedir.format_path(self.coursedir.source_directory, ".", assignment_id)
            )
            evidence = [str(p.relative_to(source)) for p in source.glob("recordings/**/*")]
            excluded: dict[str, list[str]] = self.exclude_overwriting  # type: ignore[has-type]
            names = {*excluded.get(assignment_id, []), *evidence, "figures.json"}
            self.exclude_overwriting = {**excluded, assignment_id: sorted(names)}
        super().init_assignment(assignment_id, student_id)


def released_folder(course: CourseDirectory, assignment: str) -> Path:
    """The folder of the released notebooks of `assignment`."""
    return Path(course.format_path(course.release_directory, ".", assignment))


def _is_ours(converter: BaseConverter) -> bool:
    """Whether this course is configured for rebuilding; another course may share the process."""
    return issubclass(converter.exporter_class, RebuildExporter)


def _not_released(folder: Path) -> str:
    return (
        f"There is no released notebook in {folder}, and grading starts from it. First run "
        f"`nbgrader generate_assignment {folder.name}` in the course folder."
    )


def _read_released(path: Path) -> nbformat.NotebookNode:
    """The released notebook. Raises NbGraderException if there is none."""
    if not path.is_file():
        raise NbGraderException(_not_released(path.parent))
    text = path.read_text(encoding="utf-8")
    notebook: nbformat.NotebookNode = nbformat.reads(text, as_version=4)  # type: ignore
    return notebook


def _find(
    path: Path, released: nbformat.NotebookNode, names: set[str]
) -> tuple[Submitted, list[str]]:
    """The submitted notebook, also if the student renamed it, and notes about this."""
    submitted = read_submitted(path)
    if path.exists() or path.is_symlink():
        return submitted, []
    others = [p for p in sorted(path.parent.glob("*.ipynb")) if p.stem not in names]
    read = [(other, read_submitted(other)) for other in others[:10]]
    best = max(read, key=lambda pair: known_answers(released, pair[1]), default=None)
    if best is not None and known_answers(released, best[1]):
        return best[1], [f"the notebook was found under the name {quoted(best[0].name)}"]
    unread = [
        f"{quoted(other.name)}: {one.trouble or 'no cell of this lab'}" for other, one in read
    ]
    return submitted, unread
