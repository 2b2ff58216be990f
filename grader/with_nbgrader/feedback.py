"""nbgrader's feedback: each student's pages appear as a whole, and nobody ends those of others."""

from __future__ import annotations

import json
from collections.abc import Mapping
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from nbconvert.exporters import Exporter
from nbgrader.api import Gradebook, MissingEntry
from nbgrader.converters import GenerateFeedback
from nbgrader.converters.base import BaseConverter
from traitlets import default

from grader.submissions.safe_copy import read_regular
from grader.with_nbgrader.careful_course import is_ours
from grader.with_nbgrader.grades import Grades, grades_of
from grader.with_nbgrader.pages.feedback_page import feedback_page
from grader.with_nbgrader.places import line, students_in, trouble_with
from grader.with_nbgrader.record import RECORD
from grader.with_nbgrader.staged import Staged
from labs.common.limits import MOST_FOLDER_BYTES

#: What lies next to a page: when the work was handed in, and what the release of feedback needs.
KEPT = ("timestamp.txt", "submission_secret.txt", RECORD)
_MOST_KEPT_BYTES = 1_000_000


def page_of(path: Path, lab: str, grades: Grades) -> str:
    """The page for the graded notebook at `path`. Raises OSError and ValueError if it is none."""
    raw = read_regular(path, MOST_FOLDER_BYTES)
    try:
        page = feedback_page(json.loads(raw), lab, grades)
    except (KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"{path} is no graded notebook: {error!r}") from error
    # JSON may hold halves of characters, which no file can.
    return page.encode("utf-8", "replace").decode("utf-8")


def keep_beside(source: Path, destination: Path) -> None:
    """Copies what lies next to a page; the evidence stays with the graded notebook.

    Raises OSError if `destination` cannot be written.
    """
    destination.mkdir(parents=True, exist_ok=True)
    for name in KEPT:
        try:
            content = read_regular(source / name, _MOST_KEPT_BYTES)
        except OSError:  # no such file, or none that a person may read; release says what it misses
            continue
        if len(content) <= _MOST_KEPT_BYTES:
            (destination / name).write_bytes(content)


class FeedbackExporter(Exporter):
    """Makes the page of a graded notebook for nbgrader."""

    @default("file_extension")
    def _html(self) -> str:
        return ".html"

    def from_filename(  # type: ignore[override]
        self, filename: str, resources: dict[str, Any] | None = None, **kw: Any
    ) -> tuple[str, dict[str, Any]]:
        """The page and its resources. Raises MissingEntry if the gradebook lacks the notebook."""
        of: Mapping[str, str] = (resources or {})["nbgrader"]
        with Gradebook(of["db_url"]) as gradebook:
            found = grades_of(gradebook, of["assignment"], of["notebook"], of["student"])
        if of["student"] not in found:
            raise MissingEntry(
                f"the gradebook has no {of['notebook']} of {of['student']}: run nbgrader autograde"
            )
        page = page_of(Path(filename), of["notebook"], found[of["student"]])
        return page, {**(resources or {}), "output_extension": self.file_extension}


class FewFiles(BaseConverter):  # type: ignore[misc]
    """The part of a conversion that copies the files next to a page.

    In the order of inheritance, this class is between nbgrader's conversion and `BaseConverter`. So
    the conversion calls this method, and not that of `BaseConverter`.
    """

    def init_assignment(self, assignment_id: str, student_id: str) -> None:
        """Copies only what belongs to a page. A student's recordings take a hundred times more."""
        if not is_ours(self):
            super().init_assignment(assignment_id, student_id)
            return
        source = Path(self._format_source(assignment_id, student_id))
        keep_beside(source, Path(self._format_dest(assignment_id, student_id)))


class CourseFeedback(Staged, GenerateFeedback, FewFiles):  # type: ignore[misc]
    """Feedback for every graded folder, made as :class:`Staged` makes it."""

    def start(self) -> None:
        """As in nbgrader; our page needs none of its preparations of a notebook."""
        if is_ours(self):
            self.preprocessors: list[object] = []
        super().start()

    def init_notebooks(self) -> None:
        """Lists the graded notebooks of each student.

        Raises NbGraderException if there are none.
        """
        if not is_ours(self):
            super().init_notebooks()
            return
        course = self.coursedir
        step = course.autograded_directory
        self.assignments, self.refused = {}, []
        for student, folder in students_in(
            course, step, course.assignment_id, course.student_id
        ).items():
            trouble = trouble_with(course, step, course.assignment_id, student)
            if trouble is not None:
                self.refused.append(line(course, folder, f"{trouble}; no feedback"))
                continue
            found = [path for path in folder.glob("*.ipynb") if path.is_file()]
            names = [str(path) for path in found if fnmatch(path.stem, course.notebook_id)]
            if names:
                self.assignments[str(folder)] = sorted(names)
        if not self.assignments and not self.refused:
            super().init_notebooks()  # raises nbgrader's own error

    def refusals(self) -> list[str]:
        """One line for each graded folder that cannot be opened."""
        return list(self.refused)
