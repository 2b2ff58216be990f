"""nbgrader's feedback: each student's pages appear as a whole, and nobody ends those of others."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from nbconvert.exporters import Exporter
from nbgrader.api import (
    BaseCell,
    Comment,
    Grade,
    Gradebook,
    GradeCell,
    MissingEntry,
    Student,
    SubmittedAssignment,
    SubmittedNotebook,
    TaskCell,
)
from nbgrader.converters import GenerateFeedback
from traitlets import TraitError, Unicode, default, validate

from grader.with_nbgrader.course_folder import Staged, full_disk_stops
from grader.with_nbgrader.pages.feedback_page import (
    Given,
    Grades,
    is_outdated,
    keep_beside,
    page_of,
)
from grader.with_nbgrader.student_folders import folders_in, line

# What the gradebook says of submissions, read in a few queries, however many there are.
#
# nbgrader's own step reads a page's grades with two queries for each cell.


def grades_of(
    gradebook: Gradebook, assignment: str, notebook: str, student: str | None = None
) -> dict[str, Grades]:
    """The grades of every student, or of one, who has the notebook in the gradebook."""
    db = gradebook.db
    try:
        asked = gradebook.find_notebook(notebook, assignment)
    except MissingEntry:
        return {}
    submitted = (
        db.query(SubmittedNotebook.id, Student.id, SubmittedNotebook.late_submission_penalty)
        .join(SubmittedAssignment, SubmittedNotebook.assignment_id == SubmittedAssignment.id)
        .join(Student, SubmittedAssignment.student_id == Student.id)
        .filter(SubmittedNotebook.notebook_id == asked.id)
    )
    if student is not None:
        submitted = submitted.filter(Student.id == student)
    most = {
        name: float(points or 0.0)
        for kind in (GradeCell, TaskCell)
        for name, points in db.query(kind.name, kind.max_score).filter(kind.notebook_id == asked.id)
    }
    by_id: dict[str, Grades] = {}
    found: dict[str, Grades] = {}
    for number, who, penalty in submitted:
        by_id[number] = found[who] = Grades(sum(most.values()), float(penalty or 0.0))
    only = next(iter(by_id)) if student is not None and by_id else None
    # In the order of names: a sum of floats depends on its order.
    grades = (
        db.query(Grade.notebook_id, BaseCell.name, Grade.score, Grade.needs_manual_grade)
        .join(BaseCell, Grade.cell_id == BaseCell.id)
        .filter(BaseCell.notebook_id == asked.id)
        .order_by(BaseCell.name)
    )
    comments = (
        db.query(Comment.notebook_id, BaseCell.name, Comment.comment)
        .join(BaseCell, Comment.cell_id == BaseCell.id)
        .filter(BaseCell.notebook_id == asked.id)
    )
    if only is not None:
        grades = grades.filter(Grade.notebook_id == only)
        comments = comments.filter(Comment.notebook_id == only)
    for number, name, score, waits in grades.yield_per(10_000):
        if number in by_id:
            by_id[number].cells[name] = Given(float(score or 0.0), most.get(name, 0.0), bool(waits))
    for number, name, comment in comments.yield_per(10_000):
        if number in by_id and comment:
            by_id[number].comments[name] = comment
    return found


def grades_in(course: Any, lab: str, notebook: str) -> dict[str, Grades]:
    """The same for every student of a course, of which nbgrader's CourseDirectory is given."""
    with Gradebook(course.db_url, course.course_id) as gradebook:
        return grades_of(gradebook, lab, notebook)


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


class CourseFeedback(Staged, GenerateFeedback):  # type: ignore[misc]
    """Feedback for every graded folder, made as :class:`Staged` makes it."""

    of_nbgrader = GenerateFeedback

    def init_assignment(self, assignment_id: str, student_id: str) -> None:
        """Copies only what belongs to a page. A student's recordings take a hundred times more."""
        source = Path(self._format_source(assignment_id, student_id))
        with full_disk_stops():
            keep_beside(source, Path(self._format_dest(assignment_id, student_id)))

    def start(self) -> None:
        """As in nbgrader; our page needs none of its preparations of a notebook."""
        self.preprocessors: list[object] = []
        super().start()

    def init_notebooks(self) -> None:
        """Lists the graded notebooks of each student.

        Raises NbGraderException if there are none.
        """
        course = self.coursedir
        asked = course.autograded_directory, course.assignment_id, course.student_id
        self.assignments, self.refused = {}, []
        # The grades of every student when this run began.
        self._grades = functools.cache(functools.partial(grades_in, course))
        for _, folder, trouble in folders_in(course, *asked):
            if trouble is not None:
                self.refused.append(line(course, folder, f"{trouble}; no feedback"))
                continue
            found = [path for path in folder.glob("*.ipynb") if path.is_file()]
            names = [str(path) for path in found if fnmatch(path.stem, course.notebook_id)]
            if names:
                self.assignments[str(folder)] = sorted(names)
        if not self.assignments and not self.refused:
            super().init_notebooks()  # raises nbgrader's own error

    def _is_due(self, final: Path, assignment_id: str, student_id: str) -> bool:
        """Whether pages are made again; also if points or comments have changed since."""
        if super()._is_due(final, assignment_id, student_id):
            return True
        pages = (final / name for name in self._results())
        grades = ((page, self._grades(assignment_id, page.stem)) for page in pages)
        return any(is_outdated(page, of.get(student_id)) for page, of in grades)
