"""Copies the files next to a notebook from one step of nbgrader to the next.

nbgrader's own copying follows links, waits for pipes, and has no limit.
"""

from __future__ import annotations

from pathlib import Path

from nbgrader.converters.base import BaseConverter

from grader.submissions.rebuild import quoted
from grader.submissions.safe_copy import take_in
from grader.with_nbgrader.careful_course import is_ours
from grader.with_nbgrader.places import trusted_part


class RegularFilesOnly(BaseConverter):  # type: ignore[misc]
    """The part of a conversion that copies the other files of the submission.

    In the order of inheritance, this class is between nbgrader's conversion and `BaseConverter`. So
    the conversion calls this method, and not that of `BaseConverter`.
    """

    left_out: tuple[str, ...] = ()
    #: Whether recordings are the same files as in the step before, under a second name.
    shares_evidence = False

    def not_copied(self) -> list[str]:
        """Globs for the names of more files that stay behind."""
        return []

    def init_assignment(self, assignment_id: str, student_id: str) -> None:
        """Copies the regular files of a submission; the notebook lists what was left out."""
        if not is_ours(self):
            super().init_assignment(assignment_id, student_id)
            return
        source = Path(self._format_source(assignment_id, student_id))
        destination = Path(self._format_dest(assignment_id, student_id))
        ignore = [*self.coursedir.ignore, "*.ipynb", *self.not_copied()]
        trusted = trusted_part(self.coursedir, self._input_directory)
        left_out = take_in(source, destination, ignore, trusted=trusted, share=self.shares_evidence)
        self.left_out = tuple(f"left out {quoted(note)}" for note in left_out)
