"""nbgrader's feedback: each student's pages appear as a whole, and nobody ends those of others."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from nbconvert.exporters import Exporter
from nbgrader.api import Gradebook, MissingEntry
from nbgrader.converters import GenerateFeedback
from nbgrader.converters.base import BaseConverter
from traitlets import TraitError, Unicode, default, validate

from grader.with_nbgrader.careful_course import is_ours
from grader.with_nbgrader.grades import grades_of
from grader.with_nbgrader.pages.feedback_files import keep_beside, page_of
from grader.with_nbgrader.places import line, students_in, trouble_with
from grader.with_nbgrader.staged import Staged


class FeedbackExporter(Exporter):
    """Makes the page of a graded notebook for nbgrader."""

    site = Unicode(
        help="Address of the built docs. If it is set, each finding links to its page there."
    ).tag(config=True)

    @validate("site")
    def _is_address(self, proposal: Any) -> str:
        """Refuses what a browser would not open as a page, such as a script."""
        if proposal["value"] and not re.match(r"https?://\S+$", proposal["value"]):
            raise TraitError(
                f"FeedbackExporter.site must begin with https:// or http://, not "
                f"{proposal['value']!r}"
            )
        return str(proposal["value"]).rstrip("/")

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
        page = page_of(Path(filename), of["notebook"], found[of["student"]], self.site)
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
