"""Releases feedback to the exchange; one student's files do not end the release of the others.

A page's name in the exchange is a hash of the secret that the student handed in, so only this
student finds it. nbgrader ends at the first secret that is missing or is not text.
"""

from __future__ import annotations

import shutil
from collections import defaultdict
from pathlib import Path

from nbgrader.exchange.default import ExchangeReleaseFeedback
from nbgrader.utils import notebook_hash

from grader.submissions.safe_copy import printable, read_regular
from grader.with_nbgrader import gradebook_lock
from grader.with_nbgrader.places import line, students_in, trouble_with
from labs.common.limits import MOST_SECRET_BYTES


class CarefulReleaseFeedback(ExchangeReleaseFeedback):  # type: ignore[misc]
    """nbgrader's release of feedback, student by student."""

    def copy_files(self) -> None:
        """Releases every page whose student can be told by it.

        Raises ExchangeError at the end if feedback of somebody could not be released.
        """
        course = self.coursedir
        step, excluded = course.feedback_directory, course.student_id_exclude.split(",")
        pages: dict[str, list[Path]] = defaultdict(list)
        refused: list[str] = []
        for student, folder in students_in(
            course, step, course.assignment_id, course.student_id or "*"
        ).items():
            if student in excluded:
                continue
            trouble = trouble_with(course, step, course.assignment_id, student)
            try:
                if trouble is not None:
                    raise ValueError(trouble)
                for name, page in _names_in_exchange(folder).items():
                    pages[name].append(page)
            except ValueError as error:
                refused.append(line(course, folder, f"{error}; feedback is not released"))
        for name, found in pages.items():
            if len(found) > 1:
                students = ", ".join(printable(page.parent.parent.name) for page in found)
                refused.append(
                    f"{students} handed in the same submission_secret.txt, so one of them has "
                    "the other's file. Their feedback is not released; a person must look"
                )
            else:
                self._release(found[0], name)
        for each in refused:
            self.log.error("%s", each)
        if refused:
            self.fail(f"{len(refused)} were refused, see above; all others are released.")

    def _release(self, page: Path, name: str) -> None:
        """Puts one page into the exchange by a rename. Raises ExchangeError if it cannot."""
        target = Path(self.dest_path) / f"{name}.html"
        unfinished = target.with_name(f"{name}-tmp.html")
        try:
            shutil.copy(page, unfinished)
            unfinished.replace(target)
        except OSError as error:
            unfinished.unlink(missing_ok=True)
            cause = gradebook_lock.cause_of(error) or f"{error.strerror}. Then run it again."
            self.fail(f"{target} could not be written: {cause}")
        where = printable(str(page), 300)
        self.log.info("Feedback released: %s as %s", where, target.name)


def _names_in_exchange(folder: Path) -> dict[str, Path]:
    """The pages of feedback in `folder` by their names in the exchange.

    Raises ValueError with a sentence if the student's secret cannot be used.
    """
    name = "submission_secret.txt"
    try:
        raw = read_regular(folder / name, MOST_SECRET_BYTES)
    except FileNotFoundError as error:
        raise ValueError(f"the student handed in no {name}") from error
    except OSError as error:
        raise ValueError(f"{name} cannot be read: {error.strerror or error}") from error
    if len(raw) > MOST_SECRET_BYTES:
        raise ValueError(f"{name} is longer than {MOST_SECRET_BYTES} bytes")
    try:
        # Python's text files, which nbgrader reads on the student's side, turn all line ends so.
        secret = raw.decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as error:
        raise ValueError(f"{name} is not UTF-8 text") from error
    if not secret.strip():
        raise ValueError(f"{name} is empty")
    made = {path.stem for path in folder.glob("*.html") if path.is_file()}
    return {
        notebook_hash(secret=secret, notebook_id=stem): folder / f"{stem}.html"
        for stem in sorted(made)
        if stem.isprintable()
    }
