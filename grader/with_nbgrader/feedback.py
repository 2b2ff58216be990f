"""nbgrader's feedback: each student's pages appear as a whole, and nobody ends those of others."""

from __future__ import annotations

from fnmatch import fnmatch
from pathlib import Path

from nbgrader.converters import GenerateFeedback

from grader.with_nbgrader.careful_course import is_ours
from grader.with_nbgrader.places import line, students_in, trouble_with
from grader.with_nbgrader.regular_files import RegularFilesOnly
from grader.with_nbgrader.staged import Staged


class CourseFeedback(Staged, GenerateFeedback, RegularFilesOnly):  # type: ignore[misc]
    """Feedback for every graded folder, made as :class:`Staged` makes it."""

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

    def not_copied(self) -> list[str]:
        """A page of the student's with the name of a page of feedback would be in its place."""
        return [f"{Path(path).stem}.html" for path in self.notebooks]
