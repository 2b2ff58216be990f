"""Grades and feedback as files for other systems: plain CSV, Canvas, Moodle and Gradescope.

No cell of a table is a formula.
"""

from __future__ import annotations

import contextlib
import csv
import errno
import hashlib
import html
import io
import json
import os
import re
import shutil
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from glob import escape
from pathlib import Path
from typing import Any

from grader.class_grading.gradebook_grades import (
    Graded,
    Matched,
    Part,
    Row,
    Sheet,
    match,
    noted,
)
from grader.class_grading.upload_names import CANVAS, MOODLE, NOT_IN_FILES, moodle_id
from grader.submissions.safe_files import some, trouble_with_name
from labs.files import UNFINISHED, CannotWrite, read_bounded, remove_unfinished, write_atomically

# Tables as files that spreadsheets open: CSV in, CSV out, and no cell that is a formula.

#: A gradebook of 5,000 students and 100 columns has about 5 MB.
MOST_BYTES = 64 * 1024 * 1024
#: A spreadsheet computes a cell that begins so. (OWASP, "CSV Injection":
#: https://owasp.org/www-community/attacks/CSV_Injection; its ASVS, 1.2.10, asks for the quote.)
_FORMULA = re.compile(r"\s*[=+\-@\uff1d\uff0b\uff0d\uff20].")
#: Not text: a number with its sign.
_SIGNED = re.compile(r"\s*[+-]\d+([.,]\d+)?\s*")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]+")

Cell = str | float | int | None


class BadTable(Exception):
    """A file is no table as it was expected; the message says what is missing."""


def guarded(text: str) -> str:
    """`text` as a spreadsheet shows it and does not compute it; control characters are blanks."""
    plain = _CONTROL.sub(" ", text)
    begin = "'" if _is_computed(plain) else ""
    # Where a comma stands in decimals, a spreadsheet begins another cell after a semicolon.
    first, *others = plain.split(";")
    return ";".join([begin + first, *("'" * _is_computed(each) + each for each in others)])


def _is_computed(text: str) -> bool:
    return _FORMULA.match(text) is not None and _SIGNED.fullmatch(text) is None


def as_csv(rows: Iterable[Sequence[Cell]]) -> bytes:
    """The rows as CSV (RFC 4180, UTF-8). Text is guarded; a number stays one."""
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\r\n")
    for row in rows:
        writer.writerow([_shown(cell) for cell in row])
    return out.getvalue().encode("utf-8")


def write_table(path: Path, rows: Iterable[Sequence[Cell]]) -> None:
    """Puts the rows at `path` as a whole, as CSV that only its owner can read, as a gradebook is.

    Raises OSError, which says what to do.
    """
    remove_unfinished(path)
    write_atomically(path, as_csv(rows), private=True)


def _shown(cell: Cell) -> str:
    if cell is None:
        return ""
    return guarded(cell) if isinstance(cell, str) else f"{cell:.10g}"


def read_table(path: Path) -> list[list[str]]:
    """The rows of a CSV file that another system wrote; commas or semicolons separate its cells.

    Raises BadTable if it is no text or too long, and OSError.
    """
    try:
        text = read_bounded(path, MOST_BYTES).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadTable(f"{path} is not a CSV file in UTF-8: {error.reason}") from error
    first = text.partition("\n")[0]
    separator = ";" if first.count(";") > first.count(",") else ","
    try:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
        rows = [row for row in reader if row]
    except csv.Error as error:
        raise BadTable(f"{path} is not a CSV file: {error}") from error
    if not rows:
        raise BadTable(f"{path} is empty")
    return rows


@dataclass(frozen=True)
class Written:
    """The path that was written, how many grades (or `what`) it has, and notes, each a sentence."""

    path: Path
    grades: int
    notes: tuple[str, ...] = ()
    what: str = "grade"

    def as_text(self) -> str:
        """A line about the file, and one for each note."""
        grades = f"{self.grades:,} {self.what}{'' if self.grades == 1 else 's'}"
        return "\n".join([f"{self.path}: {grades}", *self.notes])


# Grades as a plain CSV file: nbgrader's columns, then one column for each part of the lab.
#
# The first columns and their meaning are those of `nbgrader export`
# (https://nbgrader.readthedocs.io/en/stable/command_line_tools/nbgrader-export.html), so a script
# for that file reads this one too. nbgrader puts no quotes around a name with a comma.

_OF_NBGRADER = (
    "assignment", "duedate", "timestamp", "student_id", "last_name", "first_name", "email",
    "raw_score", "late_submission_penalty", "score", "max_score",
)  # fmt: skip


def write_csv(sheet: Sheet, path: Path) -> Written:
    """Writes the grades of everybody in the course. Raises CannotWrite."""
    names = sorted({part.name for graded in sheet.students for part in graded.parts})
    rows: list[list[Cell]] = [[*_OF_NBGRADER, "waits_for_a_person", *names]]
    rows += [_csv_row(sheet, graded, names) for graded in sheet.students]
    write_table(path, rows)
    return Written(path, len(sheet.so_far))


def _csv_row(sheet: Sheet, graded: Graded, names: list[str]) -> list[Cell]:
    parts = {part.name: part for part in graded.parts}
    waits = "yes" if graded.waits else "no" if graded.handed_in else ""
    points = [
        parts[name].score if name in parts and not parts[name].waits else None for name in names
    ]
    return [
        sheet.lab,
        str(sheet.due or ""),
        str(graded.when or ""),
        graded.student,
        graded.last_name,
        graded.first_name,
        graded.email,
        graded.raw,
        graded.penalty,
        graded.score,
        sheet.most,
        waits,
        *points,
    ]


# Grades as a file for Canvas: Grades, Import.
#
# Canvas reads a CSV file with the columns of its own export: `Student`, `ID`, `SIS User ID`, `SIS
# Login ID`, `Section`, then the assignments as `Name (number)`, and a row `Points Possible` ("How
# do I import grades in the Gradebook?", Canvas Instructor Guide; what it does with each column is
# in its source, `lib/gradebook_importer.rb` of instructure/canvas-lms). It finds a student by `ID`,
# then by the SIS ids, then by name. It changes only what the file has, so the file has only the
# students with a grade and the column of the lab. A column that Canvas does not know becomes a new
# assignment.

#: What Canvas writes about a student, in its order; not every export has all of it.
_ABOUT_STUDENT = (
    "Student", "LastName", "FirstName", "ID", "SIS User ID", "SIS Login ID", "Integration ID",
    "Root Account", "Section",
)  # fmt: skip
_NUMBER = re.compile(r" \(\d+\)$")
_POINTS = "    Points Possible"
#: Canvas keeps two decimals.
_DECIMALS = 2


@dataclass(frozen=True)
class _CanvasExport:
    """What Canvas exported: where its columns are, its students, and the column of the lab."""

    about: dict[str, int]
    rows: list[list[str]]
    column: str | None
    possible: str
    at: int | None = None

    def cell(self, row: list[str], name: str) -> str:
        at = self.about.get(name)
        return row[at].strip() if at is not None and at < len(row) else ""

    def who(self, row: list[str]) -> Row:
        """What a row says of its student."""
        logins = (self.cell(row, "SIS User ID"), self.cell(row, "SIS Login ID"))
        names = (self.cell(row, name) for name in ("FirstName", "LastName"))
        name = self.cell(row, "Student") or " ".join(names).strip()
        return Row(tuple(filter(None, logins)), self.cell(row, "ID"), name)

    def points(self, row: list[str]) -> str:
        """What Canvas has for the lab; `EX` if the student is excused, whatever the case."""
        return row[self.at].strip() if self.at is not None and self.at < len(row) else ""


def write_canvas(
    sheet: Sheet,
    path: Path,
    gradebook: Path | None = None,
    assignment: str | None = None,
    *,
    overwrite: bool = False,
) -> Written:
    """Writes the grades; `gradebook` is the file that Canvas exported.

    Without it, students are named by their ids alone. `assignment` is the lab's name in Canvas, if
    it is another one. With `overwrite`, those of students who are excused are written too. Raises
    BadTable, CannotWrite, and OSError.
    """
    students = sheet.exported
    if gradebook is None:
        rows, notes = _rows_by_ids(sheet, students, assignment or sheet.lab), [_BY_IDS_ALONE]
        count = len(students)
    else:
        export = _read_export(gradebook, assignment or sheet.lab, named=assignment is not None)
        rows, count, notes = _rows_by_export(sheet, students, export, overwrite)
    write_table(path, rows)
    return Written(path, count, tuple(notes))


_BY_IDS_ALONE = (
    "Canvas must find the students by their SIS Login ID. If it does not, export the gradebook in "
    "Canvas and name that file with --gradebook."
)


def _rows_by_ids(sheet: Sheet, students: dict[str, Graded], column: str) -> list[list[Cell]]:
    header: list[Cell] = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", column]
    rows = [header, [_POINTS, None, None, None, None, sheet.most]]
    for graded in students.values():
        name = ", ".join(filter(None, (graded.last_name, graded.first_name))) or graded.student
        points = round(graded.score, _DECIMALS)
        own = graded.number if graded.system == CANVAS.name else ""
        login = None if graded.student == own else graded.student
        rows.append([name, graded.lms_id or own, None, login, None, points])
    return rows


def _rows_by_export(
    sheet: Sheet, students: dict[str, Graded], export: _CanvasExport, overwrite: bool
) -> tuple[list[list[Cell]], int, list[str]]:
    found = match(map(export.who, export.rows), students, CANVAS.name)
    about = list(export.about)
    rows: list[list[Cell]] = [[*about, export.column or sheet.lab]]
    rows.append([_POINTS, *([None] * (len(about) - 1)), export.possible or sheet.most])
    excused: list[str] = []
    changed: list[str] = []
    for number, graded in found.of_row.items():
        row, points = export.rows[number], round(graded.score, _DECIMALS)
        if export.points(row).casefold() == _EXCUSED and not overwrite:
            excused.append(graded.student)
            continue
        changed += [graded.student] * _is_other(export.points(row), points)
        rows.append([*(export.cell(row, name) for name in about), points])
    notes = noted(
        (excused, f"Excused in Canvas (EX), so left out: {some(excused)}. {_OVERWRITE}"),
        (changed, _has_others("Canvas", changed)),
        (found.without_row, f"Not in Canvas's file, so left out: {some(found.without_row)}."),
    )
    notes = [*_notes_on_export(sheet, export), *notes, *found.notes("Canvas")]
    return rows, len(found.of_row) - len(excused), notes


_EXCUSED = "ex"
_OVERWRITE = "--overwrite writes over it."


def _is_other(before: str, points: float) -> bool:
    """Whether another system has other points than these; without points, it has none."""
    try:
        return round(float(before.replace(",", ".")), _DECIMALS) != points
    except ValueError:
        return False


def _has_others(system: str, changed: list[str]) -> str:
    return f"{system} had other points, which this file changes, for: {some(changed)}."


def _notes_on_export(sheet: Sheet, export: _CanvasExport) -> list[str]:
    if export.column is None:
        return [
            f"Canvas has no assignment {sheet.lab}; the import makes a new one. If it is there "
            "under another name, add --assignment NAME."
        ]
    try:
        possible = float(export.possible.replace(",", "."))
    except ValueError:
        return []
    if possible == sheet.most:
        return []
    return [
        f"In Canvas, {export.column} has {possible:g} points possible, and the lab has "
        f"{sheet.most:g}. The points are written as they are; change the assignment in Canvas."
    ]


def _read_export(path: Path, lab: str, *, named: bool = False) -> _CanvasExport:
    """Canvas's export. Raises BadTable if it is none, or if it has the lab several times.

    It must have an assignment that a person has `named`.
    """
    header, *rows = read_table(path)
    about = {name: header.index(name) for name in _ABOUT_STUDENT if name in header}
    name = ("LastName", "FirstName") if "LastName" in about else ("Student",)
    missing = [each for each in (*name, "ID", "Section") if each not in about]
    if missing:
        raise BadTable(
            f"{path} is no gradebook that Canvas exported: it has no column {', '.join(missing)}. "
            "In Canvas, choose Grades, Export, Export Entire Gradebook"
        )
    columns = [
        name
        for name in header
        if name not in about and lab in {name.strip(), _NUMBER.sub("", name).strip()}
    ]
    if len(columns) > 1:
        raise BadTable(f"{path} has {lab} more than once: {', '.join(columns)}")
    if named and not columns:
        there = [name for name in header if name not in about and _NUMBER.search(name)]
        raise BadTable(f"{path} has no assignment {lab}; it has: {some(there) or 'none'}")
    if not columns:
        return _CanvasExport(about, rows, None, "")
    at = header.index(columns[0])
    possible = [row[at] for row in rows if row[0].strip() == _POINTS.strip() and at < len(row)]
    return _CanvasExport(about, rows, columns[0], possible[0].strip() if possible else "", at)


# Grades as a file for Moodle: a filled grading worksheet, or a file for the gradebook's import.
#
# An assignment of Moodle gives and takes a *grading worksheet* if "Offline grading worksheet" is
# among its feedback types (https://docs.moodle.org/en/Assignment_settings). Its upload needs the
# columns `Identifier`, `Grade` and `Last modified (grade)`, all as Moodle wrote them, and takes
# `Feedback comments`; it leaves out grades above the assignment's maximum
# (`mod/assign/feedback/offline/importgradeslib.php` and `locallib.php` in Moodle's source). So we
# fill in the worksheet that the instructor has downloaded, and change nothing else in it.
#
# Without a worksheet, we write a file for Grades, Import, CSV file
# (https://docs.moodle.org/en/Grade_import). There the instructor says which column is what.

_IDENTIFIER, _GRADE, _FEEDBACK = "Identifier", "Grade", "Feedback comments"
_NEEDED = (_IDENTIFIER, _GRADE, "Last modified (grade)")
#: What may name a student. The site decides which of these a worksheet has.
_KEYS = ("Email address", "ID number", "Username")
_NAME, _MOST, _TEAM = "Full name", "Maximum Grade", "Group"
#: `Participant 1234`; the number is also in the names of the files that Moodle hands out.
_PARTICIPANT = re.compile(r"(\d+)$")


#: The reasons for the figures of a student, by figure.
Reasons = Callable[[str], dict[str, str]]


def write_moodle(
    sheet: Sheet,
    path: Path,
    reasons: Reasons,
    worksheet: Path | None = None,
    *,
    overwrite: bool = False,
) -> Written:
    """Writes the grades with their reasons; `worksheet` is the file that Moodle gave.

    With `overwrite`, comments take the place of those that a person wrote. Raises BadTable,
    CannotWrite, and OSError.
    """
    students = sheet.exported
    if worksheet is None:
        write_table(path, _for_import(sheet, students, reasons))
        note = "In Moodle, map `Email address` or `ID number`, the grade, and the feedback."
        return Written(path, len(students), (note,))
    header, rows, found = read_worksheet(worksheet, students)
    filled: list[list[Cell]] = [[*header]]
    over, kept, changed, late = [], [], [], []
    for number, row in enumerate(rows):
        cells: list[Cell] = [*row, *([""] * (len(header) - len(row)))]
        graded = found.of_row.get(number)
        if graded is not None:
            points = round(graded.score, _DECIMALS)
            changed += [graded.student] * _is_other(str(cells[header.index(_GRADE)]), points)
            cells[header.index(_GRADE)] = points
            if _FEEDBACK in header:
                at = header.index(_FEEDBACK)
                if overwrite or _is_ours(str(cells[at])):
                    cells[at] = _signed(_comments(graded, reasons(graded.work)))
                else:
                    kept.append(graded.student)
                    late += [graded.student] * bool(graded.penalty)
            if graded.score > _most(header, row):
                over.append(graded.student)
        filled.append(cells)
    write_table(path, filled)
    refused = (
        f"Moodle refuses a grade above the assignment's maximum: {some(over)}. Set the maximum "
        "in Moodle to the lab's points."
    )
    notes = noted(
        (over, refused),
        (changed, _has_others("Moodle", changed)),
        (kept, f"A person's comment in Moodle stays for: {some(kept)}. {_OVERWRITE}"),
        (late, f"Of these, no comment names the late penalty of: {some(late)}."),
    )
    return Written(path, len(found.of_row), (*not_found(found), *notes))


def read_worksheet(
    worksheet: Path, students: Mapping[str, Graded]
) -> tuple[list[str], list[list[str]], Matched]:
    """The header and the rows of the worksheet, and which student each row is. Raises BadTable."""
    header, *rows = read_table(worksheet)
    missing = [name for name in _NEEDED if name not in header]
    if missing:
        raise BadTable(
            f"{worksheet} is no grading worksheet of Moodle: it has no column "
            f"{', '.join(missing)}. Set Moodle to English, then download it again"
        )
    return header, rows, match((_who(header, row) for row in rows), students, MOODLE.name)


def participant(header: list[str], row: list[str]) -> tuple[str, str]:
    """The full name and the number of a row of the worksheet; '' if it does not have it."""
    number = _PARTICIPANT.search(row[header.index(_IDENTIFIER)].strip())
    name = header.index(_NAME) if _NAME in header else len(row)
    return row[name].strip() if name < len(row) else "", number[1] if number else ""


def not_found(found: Matched) -> list[str]:
    """Notes on the students who get nothing."""
    left_out = (
        f"Not in Moodle's worksheet, so left out: {some(found.without_row)}. Students are found by "
        f"{', '.join(_KEYS)}, or the number in the column {_IDENTIFIER}."
    )
    return [*noted((found.without_row, left_out)), *found.notes("Moodle")]


def _who(header: list[str], row: list[str]) -> Row:
    """What a row of the worksheet says of its student."""
    cells = dict(zip(header, row, strict=False))
    name, number = participant(header, row)
    logins = [cells.get(key, "").strip() for key in _KEYS]
    if number:  # as `grader collect` makes it, also where marking is blind
        logins += [moodle_id(name or "Participant", number)]
    return Row(tuple(filter(None, logins)), number, name, cells.get(_TEAM, "").strip())


def _most(header: list[str], row: list[str]) -> float:
    """The full points that Moodle knows; infinite if it states none."""
    try:
        return float(row[header.index(_MOST)].replace(",", "."))
    except (ValueError, IndexError):
        return float("inf")


def _for_import(sheet: Sheet, students: dict[str, Graded], reasons: Reasons) -> list[list[Cell]]:
    header: list[Cell] = ["First name", "Last name", "ID number", "Email address", sheet.lab,
                          f"{sheet.lab} feedback"]  # fmt: skip
    rows = [header]
    for graded in students.values():
        comments = _comments(graded, reasons(graded.work))
        points = round(graded.score, _DECIMALS)
        rows.append(
            [graded.first_name, graded.last_name, graded.student, graded.email, points, comments]
        )
    return rows


def _comments(graded: Graded, reasons: dict[str, str]) -> str:
    """What each part got and why, or what a person wrote, as HTML, which Moodle takes it for."""
    lines = []
    for part in graded.parts:
        got = "not graded yet" if part.waits else f"{part.score:g} of {part.most:g} points"
        reason = reasons.get(part.name, "") or part.comment
        text = html.escape(f"{part.name}: {got}. {reason}".strip())
        lines.append("<br>".join(text.splitlines()))
    if graded.penalty:
        lines.append(f"Handed in late: {graded.penalty:g} points less.")
    return "<br>".join(lines)


# A worksheet that is exported again has the comments of before. Moodle gives them back as they were
# sent, and keeps the class of an element. So the class says which text was ours: what a person has
# changed since has another hash, and is a person's.

_SIGNED_TEXT = re.compile(r'<div class="ticklab-(\w+)">(.*)</div>', re.DOTALL)


def _signed(comments: str) -> str:
    return f'<div class="ticklab-{_hash_of(comments)}">{comments}</div>'


def _is_ours(text: str) -> bool:
    """Whether a comment is empty, or one that an export wrote and nobody changed."""
    found = _SIGNED_TEXT.fullmatch(text.strip())
    return not text.strip() or (found is not None and found[1] == _hash_of(found[2]))


def _hash_of(comments: str) -> str:
    """The hash of the words, whatever an editor makes of blanks and breaks between them."""
    words = html.unescape(re.sub(r"<[^>]*>", " ", comments)).replace("'", " ").split()
    return hashlib.sha256(" ".join(words).encode()).hexdigest()[:12]


# Feedback pages as a zip file for Moodle: *Upload multiple feedback files in a zip*.
#
# An assignment of Moodle takes the file if "Feedback files" is among its feedback types
# (https://docs.moodle.org/en/Assignment_settings). It finds the student of a file by its name,
# `Full name_1234_assignsubmission_file_PAGE.html`, in which the number counts: that of the column
# `Identifier` of the grading worksheet. What comes before the number must have no underscore
# (`mod/assign/feedback/file/importziplib.php` in Moodle's source).

#: A page takes about 120 KB; one with many plots a few times as much.
_MOST_PAGE_BYTES = 64 * 1024 * 1024
#: A fixed time, so that the same pages make the same file.
_TIME = (2000, 1, 1, 0, 0, 0)

#: Where the feedback page of a student is.
Pages = Callable[[str], Path]


def write_moodle_feedback(
    sheet: Sheet,
    path: Path,
    pages: Pages,
    worksheet: Path,
    outdated: Callable[[str], bool] = lambda student: False,
) -> Written:
    """Puts the pages of the students in `worksheet`, which Moodle gave, into the zip file `path`.

    A page that is `outdated`, older than the grades of its student, is left out. Raises BadTable,
    CannotWrite, and OSError.
    """
    header, rows, found = read_worksheet(worksheet, sheet.exported)
    without_page, without_number, old, count = [], [], [], 0
    with new_zip(path) as archive:
        for row, graded in found.of_row.items():
            name, number = participant(header, rows[row])
            if not number:
                without_number.append(graded.student)
                continue
            if outdated(graded.work):
                old.append(graded.student)
                continue
            try:
                page = read_bounded(pages(graded.work), _MOST_PAGE_BYTES)
            except FileNotFoundError:
                without_page.append(graded.student)
                continue
            plain = NOT_IN_FILES.sub("", name.replace("_", " ")).strip() or "Participant"
            member = f"{plain}_{number}_assignsubmission_file_{sheet.lab}.html"
            archive.writestr(zipfile.ZipInfo(member, _TIME), page, zipfile.ZIP_DEFLATED)
            count += 1
    run, nobody = f"grader feedback {sheet.lab}", some(without_number)
    stale = f"Older than its points or comments, so not packed, is the page of: {some(old)}."
    notes = noted(
        (without_page, f"No feedback page yet: {some(without_page)}. Run: {run}"),
        (old, f"{stale} Run first: {run}"),
        (without_number, f"Moodle's worksheet has no number of a participant: {nobody}."),
    )
    return Written(path, count, (*not_found(found), *notes), "page")


@contextlib.contextmanager
def new_zip(path: Path) -> Iterator[zipfile.ZipFile]:
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


# Grades as `results.json` files for Gradescope, and an autograder that hands them out.
#
# Gradescope takes results from an autograder only: a zip file with `setup.sh` and `run_autograder`,
# which leaves `/autograder/results/results.json`
# (https://gradescope-autograders.readthedocs.io/en/latest/specs/). Who handed in is in
# `/autograder/submission_metadata.json`
# (https://gradescope-autograders.readthedocs.io/en/latest/submission_metadata/). Our
# `run_autograder` looks there for the student's e-mail address and copies that student's file; it
# runs nothing of the student's.

VISIBILITIES = ("after_published", "after_due_date", "visible", "hidden")
_INDEX = "students.json"
_SETUP = "#!/bin/sh\n# Nothing to install: the image of Gradescope has Python.\n"
_RUN = Path(__file__).with_name("gradescope_autograder.py")


class NotAnExport(Exception):
    """The folder holds something else, which we do not replace; the message says so."""


def write_gradescope(
    sheet: Sheet,
    folder: Path,
    reasons: Reasons,
    visibility: str = VISIBILITIES[0],
) -> Written:
    """Writes `results/STUDENT/results.json` and the autograder into `folder`, in one step.

    An earlier export is replaced as a whole, so that nobody's old results stay. Only the folder's
    owner can enter it. Raises NotAnExport and OSError.
    """
    ours = not folder.exists() or (folder / _INDEX).is_file()
    if not ours and not (folder.is_dir() and not any(folder.iterdir())):
        raise NotAnExport(f"{folder} is no earlier export, and it is not empty; name a new folder")
    students = sheet.exported
    taken = {name: each for name, each in students.items() if trouble_with_name(name) is None}
    folder = folder.absolute()
    folder.parent.mkdir(parents=True, exist_ok=True)
    # By one that was killed.
    for left in folder.parent.glob(f".{escape(folder.name)}.*{UNFINISHED}"):
        shutil.rmtree(left, ignore_errors=True)
    with tempfile.TemporaryDirectory(UNFINISHED, f".{folder.name}.", folder.parent) as scratch:
        new = Path(scratch) / "new"
        new.mkdir(mode=0o700)
        for student, graded in taken.items():
            path = new / "results" / student / "results.json"
            path.parent.mkdir(parents=True)
            _write_json(path, _results(graded, reasons(graded.work), visibility))
        known = _autograder(new, taken)
        if folder.exists():
            folder.rename(Path(scratch) / "old")
        new.rename(folder)
    refused = [student for student in students if student not in taken]
    unknown = [student for student in taken if student not in known]
    return Written(folder, len(taken), _notes_on_names(unknown, refused))


def _autograder(folder: Path, students: dict[str, Graded]) -> set[str]:
    """Writes the autograder; returns the students whom it can find by their address."""
    emails = {
        student: graded.email or (student if "@" in student else "")
        for student, graded in students.items()
    }
    named = {email.strip().casefold(): student for student, email in emails.items() if email}
    _write_json(folder / _INDEX, named)
    for name, text in (("setup.sh", _SETUP), ("run_autograder", _RUN.read_text(encoding="utf-8"))):
        (folder / name).write_text(text, encoding="utf-8")
        (folder / name).chmod(0o755)
    return set(named.values())


def _write_json(path: Path, content: object) -> None:
    path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def _notes_on_names(unknown: list[str], refused: list[str]) -> tuple[str, ...]:
    names = some(sorted(unknown))
    no_address = (
        f"The gradebook has no e-mail address, or not one of their own, of {names}. So the "
        "autograder cannot find their results. Add it in the formgrader, under Manage "
        "Students, or by a file with the columns id and email: nbgrader db student import FILE"
    )
    left_out = f"Left out, because the name cannot be a folder's: {some(refused)}."
    return tuple(noted((unknown, no_address), (refused, left_out)))


def _results(graded: Graded, reasons: dict[str, str], visibility: str) -> dict[str, Any]:
    """One results.json. Its score counts, and not the sum of the tests: a penalty may be in it."""
    output = ["Graded by Ticklab from your figures and recordings."]
    if graded.penalty:
        output.append(f"Handed in late: {graded.penalty:g} points less.")
    if graded.waits:
        output.append("Some parts wait for a person, so this score is not final.")
    return {
        "score": round(graded.score, 4),
        "output": "\n".join(output),
        "visibility": visibility,
        "tests": [_test(part, reasons.get(part.name, ""), visibility) for part in graded.parts],
    }


def _test(part: Part, reason: str, visibility: str) -> dict[str, Any]:
    test: dict[str, Any] = {
        "name": part.name,
        "max_score": part.most,
        "output": reason or part.comment or ("A person grades this part." if part.waits else ""),
        "output_format": "text",
        "visibility": visibility,
    }
    if not part.waits:
        full = part.score >= part.most
        test |= {"score": round(part.score, 4), "status": "passed" if full else "failed"}
    return test
