"""Feedback pages as a zip file for Moodle: *Upload multiple feedback files in a zip*.

An assignment of Moodle takes the file if "Feedback files" is among its feedback types
(https://docs.moodle.org/en/Assignment_settings). It finds the student of a file by its name,
`Full name_1234_assignsubmission_file_PAGE.html`, in which the number counts: that of the column
`Identifier` of the grading worksheet. What comes before the number must have no underscore
(`mod/assign/feedback/file/importziplib.php` in Moodle's source).
"""

from __future__ import annotations

import contextlib
import errno
import os
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

from grader.evening.collect.naming import NOT_IN_FILES
from grader.evening.exports.moodle import not_found, participant, read_worksheet
from grader.evening.exports.sheet import Sheet
from grader.evening.exports.written import Written, some
from labs.common.files import UNFINISHED, CannotWrite, read_bounded, remove_unfinished

#: A page takes about 120 KB; one with many plots a few times as much.
_MOST_BYTES = 64 * 1024 * 1024
#: A fixed time, so that the same pages make the same file.
_TIME = (2000, 1, 1, 0, 0, 0)

#: Where the feedback page of a student is.
Pages = Callable[[str], Path]


def write(
    sheet: Sheet, path: Path, pages: Pages, worksheet: Path, *, unfinished: bool = False
) -> Written:
    """Puts the pages of the students in `worksheet`, which Moodle gave, into the zip file `path`.

    With `unfinished`, students whose grade waits for a person get their page too. Raises BadTable,
    CannotWrite, and OSError.
    """
    students = sheet.so_far if unfinished else sheet.final
    header, rows, found = read_worksheet(worksheet, students)
    without_page, without_number, count = [], [], 0
    with _new_zip(path) as archive:
        for row, graded in found.of_row.items():
            name, number = participant(header, rows[row])
            if not number:
                without_number.append(graded.student)
                continue
            try:
                page = read_bounded(pages(graded.student), _MOST_BYTES)
            except FileNotFoundError:
                without_page.append(graded.student)
                continue
            plain = NOT_IN_FILES.sub("", name.replace("_", " ")).strip() or "Participant"
            member = f"{plain}_{number}_assignsubmission_file_{sheet.lab}.html"
            archive.writestr(zipfile.ZipInfo(member, _TIME), page, zipfile.ZIP_DEFLATED)
            count += 1
    notes = not_found(found)
    if without_page:
        notes.append(
            f"No feedback page yet: {some(without_page)}. Run: grader feedback {sheet.lab}"
        )
    if without_number:
        notes.append(f"Moodle's worksheet has no number of a participant: {some(without_number)}.")
    return Written(path, count, tuple(notes), "page")


@contextlib.contextmanager
def _new_zip(path: Path) -> Iterator[zipfile.ZipFile]:
    """A zip file that is at `path` when it is complete. Raises CannotWrite."""
    if path.is_dir():
        raise CannotWrite(errno.EISDIR, f"{path} is a folder; name a file, such as {path.name}.zip")
    remove_unfinished(path)
    try:
        handle, unfinished = tempfile.mkstemp(UNFINISHED, f".{path.name}.", path.parent)
    except OSError as error:
        raise CannotWrite(error.errno, f"cannot write {path}: {error.strerror}") from error
    try:
        with os.fdopen(handle, "wb") as file, zipfile.ZipFile(file, "w") as archive:
            yield archive
        Path(unfinished).replace(path)
    except BaseException:
        Path(unfinished).unlink(missing_ok=True)
        raise
