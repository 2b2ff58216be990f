"""The grades of one lab from nbgrader's gradebook, their reasons, and tables to exchange them.

The gradebook is read in a few queries: nbgrader's own export asks it again for every student.
"""

from __future__ import annotations

import csv
import datetime
import io
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from nbgrader import api
from nbgrader.api import Gradebook, MissingEntry
from sqlalchemy.exc import SQLAlchemyError

from grader.submissions.safe_files import opened, read_regular
from grader.with_nbgrader.gradebook_lock import cause_of
from grader.with_nbgrader.student_folders import trouble_with, trusted_part
from labs.files import read_bounded, remove_unfinished, write_atomically
from labs.limits import MOST_JUDGEMENT_BYTES

#: More characters of one comment are left out.
MOST_CHARACTERS = 2_000


class NoGrades(Exception):
    """There is nothing to export; the message says why and what to do."""


@dataclass(frozen=True)
class Part:
    """The grade of one cell. While it `waits` for a person, its score is not final.

    `comment` is what a person wrote to the answer in this cell, or nbgrader if there is none.
    """

    name: str
    score: float
    most: float
    waits: bool = False
    comment: str = ""


@dataclass(frozen=True)
class Graded:
    """What one student has of the lab: one part for each graded cell, sorted by name.

    A student who has not handed in has neither `when` nor `parts`.
    """

    student: str
    first_name: str = ""
    last_name: str = ""
    email: str = ""
    lms_id: str = ""
    when: datetime.datetime | None = None
    penalty: float = 0.0
    parts: tuple[Part, ...] = ()
    handed_in: bool = False

    @property
    def raw(self) -> float:
        """The points so far, without the penalty for a late submission."""
        return sum(part.score for part in self.parts)

    @property
    def score(self) -> float:
        """The points so far, with the penalty."""
        return max(0.0, self.raw - self.penalty)

    @property
    def waits(self) -> bool:
        """Whether a part of it has no grade yet."""
        return any(part.waits for part in self.parts)


@dataclass(frozen=True)
class Sheet:
    """All students of a course, with what each of them has of `lab`; `most` is its full points."""

    lab: str
    most: float
    due: datetime.datetime | None
    students: tuple[Graded, ...]

    @cached_property
    def final(self) -> dict[str, Graded]:
        """Who has a grade that no person must still complete, by id."""
        return {g.student: g for g in self.students if g.handed_in and not g.waits}

    @cached_property
    def so_far(self) -> dict[str, Graded]:
        """Who has handed in, by id; some of the grades may not be complete."""
        return {g.student: g for g in self.students if g.handed_in}


def read_sheet(course: Any, lab: str) -> Sheet:
    """The grades of `lab` in the gradebook of `course`. Raises NoGrades.

    `course` is nbgrader's CourseDirectory.
    """
    kind, _, path = course.db_url.partition(":///")
    if kind == "sqlite" and not Path(path.partition("?")[0]).is_file():
        raise NoGrades(
            f"the course has no gradebook yet ({path.partition('?')[0]}); grade the lab first"
        )
    try:
        with Gradebook(course.db_url, course.course_id) as gradebook:
            return _sheet(gradebook, lab)
    except MissingEntry as error:
        raise NoGrades(f"the gradebook has no lab {lab}; grade the lab first") from error
    except (SQLAlchemyError, OSError) as error:
        raise NoGrades(cause_of(error) or f"the gradebook cannot be read: {error}") from error


def _sheet(gradebook: Gradebook, lab: str) -> Sheet:
    assignment = gradebook.find_assignment(lab)
    handed_in, parts = _submissions(gradebook, assignment.id), _parts(gradebook, assignment.id)
    who = api.Student
    rows = gradebook.db.query(who.id, who.first_name, who.last_name, who.email, who.lms_user_id)
    students = []
    for student, first, last, email, lms_id in rows.order_by(who.last_name, who.first_name, who.id):
        when, penalty, has_it = handed_in.get(student, (None, 0.0, False))
        students.append(
            Graded(
                student=student,
                first_name=first or "",
                last_name=last or "",
                email=email or "",
                lms_id=lms_id or "",
                when=when,
                penalty=penalty,
                parts=tuple(parts.get(student, ())),
                handed_in=has_it,
            )
        )
    return Sheet(lab, float(assignment.max_score), assignment.duedate, tuple(students))


def _submissions(gradebook: Gradebook, assignment: str) -> dict[str, tuple[Any, float, bool]]:
    """When each student handed in, and the penalty for that, by student."""
    of = api.SubmittedAssignment
    penalty = api.func.coalesce(api.func.sum(api.SubmittedNotebook.late_submission_penalty), 0.0)
    rows = (
        gradebook.db.query(of.student_id, of.timestamp, penalty)
        .outerjoin(api.SubmittedNotebook, api.SubmittedNotebook.assignment_id == of.id)
        .filter(of.assignment_id == assignment)
        .group_by(of.student_id, of.timestamp)
    )
    return {student: (when, float(late), True) for student, when, late in rows}


def _parts(gradebook: Gradebook, assignment: str) -> dict[str, list[Part]]:
    """The graded cells of each student, by name."""
    comments = _comments(gradebook, assignment)
    grade, book, of = api.Grade, api.SubmittedNotebook, api.SubmittedAssignment
    found: dict[str, list[Part]] = {}
    for cell_of in (api.GradeCell, api.TaskCell):
        rows = (
            gradebook.db.query(
                of.student_id, cell_of.name, grade.score, grade.needs_manual_grade,
                cell_of.max_score, book.id,
            )
            .select_from(grade)
            .join(book, grade.notebook_id == book.id)
            .join(of, book.assignment_id == of.id)
            .join(cell_of, grade.cell_id == cell_of.id)
            .filter(of.assignment_id == assignment)
        )  # fmt: skip
        for student, name, score, waits, most, notebook in rows:
            comment = comments.get((notebook, name), "")
            part = Part(name, float(score), float(most), waits, comment)
            found.setdefault(student, []).append(part)
    return {student: sorted(parts, key=lambda part: part.name) for student, parts in found.items()}


def _comments(gradebook: Gradebook, assignment: str) -> dict[tuple[str, str], str]:
    """The comments on cells, by the id of the submitted notebook and the name of the cell."""
    comment, book, of = api.Comment, api.SubmittedNotebook, api.SubmittedAssignment
    rows = (
        gradebook.db.query(book.id, api.BaseCell.name, comment.manual_comment, comment.auto_comment)
        .select_from(comment)
        .join(book, comment.notebook_id == book.id)
        .join(of, book.assignment_id == of.id)
        .join(api.BaseCell, comment.cell_id == api.BaseCell.id)
        .filter(of.assignment_id == assignment)
    )
    found = {(book, name): (by_hand or by_itself) for book, name, by_hand, by_itself in rows}
    return {key: text.strip()[:MOST_CHARACTERS] for key, text in found.items() if text}


def due_in_words(due: datetime.datetime) -> str:
    """A due date, which a gradebook has in UTC, with its zone, and in the zone of this machine."""
    there = due.replace(tzinfo=datetime.timezone.utc)
    here = there.astimezone()
    words = f"{there:%Y-%m-%d %H:%M} UTC"
    return words if not here.utcoffset() else f"{words} ({here:%Y-%m-%d %H:%M %Z})"


# Why each figure has its points, as the autograded notebooks say it.

#: More characters of one reason are left out.
_MOST_CHARACTERS = 2_000


def reasons_of(course: Any, lab: str, student: str) -> dict[str, str]:
    """The reason for each figure of one student, by figure; empty if none can be read.

    The notebook is one that our grading wrote. Its folder is opened without following a link, and
    a reason is text and no more, since it may quote what the student wrote.
    """
    step = course.autograded_directory
    if trouble_with(course, step, lab, student) is not None:
        return {}
    folder = Path(course.format_path(step, student, lab))
    try:
        with opened(folder, trusted_part(course, step)) as top:
            notebook = json.loads(read_regular(f"{lab}.ipynb", MOST_JUDGEMENT_BYTES, top))
        stated = [cell["metadata"].get("ticklab", {}) for cell in notebook["cells"]]
        return {
            str(each["figure"]): str(each["reason"])[:_MOST_CHARACTERS]
            for each in stated
            if "figure" in each and "reason" in each
        }
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}


# Which student of the gradebook a row of another system's table is.


@dataclass(frozen=True)
class Matched:
    """The students by the number of their row; who has no row; and rows that fit several."""

    of_row: Mapping[int, Graded]
    without_row: tuple[str, ...]
    doubtful: tuple[str, ...]


def match(rows: Iterable[tuple[int, Iterable[str]]], students: Mapping[str, Graded]) -> Matched:
    """Finds the student of each row by its keys: logins, e-mail addresses and numbers, no names.

    Two people may have the same name. Letter case and blanks do not count. A row that fits two
    students, or a student who fits two rows, is doubtful, and gets no grade.
    """
    by_key: dict[str, set[str]] = {}
    for student, graded in students.items():
        for key in (student, graded.email, graded.lms_id):
            if key.strip():
                by_key.setdefault(_plain(key), set()).add(student)
    found: dict[int, set[str]] = {}
    for row, keys in rows:
        fits = {one for key in keys if key.strip() for one in by_key.get(_plain(key), ())}
        if fits:
            found[row] = fits
    times: dict[str, int] = {}
    for fits in found.values():
        for student in fits:
            times[student] = times.get(student, 0) + 1
    of_row = {
        row: students[next(iter(fits))]
        for row, fits in found.items()
        if len(fits) == 1 and times[next(iter(fits))] == 1
    }
    sure = {graded.student for graded in of_row.values()}
    doubtful = sorted(student for student in times if student not in sure)
    without = sorted(student for student in students if student not in times)
    return Matched(of_row, tuple(without), tuple(doubtful))


def _plain(key: str) -> str:
    return key.strip().lstrip("'").casefold()


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
    """Puts the rows at `path` as a whole, as CSV. Raises OSError, which says what to do."""
    remove_unfinished(path)
    write_atomically(path, as_csv(rows))


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
        rows = [
            row for row in csv.reader(io.StringIO(text, newline=""), delimiter=separator) if row
        ]
    except csv.Error as error:
        raise BadTable(f"{path} is not a CSV file: {error}") from error
    if not rows:
        raise BadTable(f"{path} is empty")
    return rows


_MOST_NAMES = 10


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


def some(names: Sequence[str]) -> str:
    """The names, or the first of them and how many more there are."""
    shown = ", ".join(names[:_MOST_NAMES])
    more = len(names) - _MOST_NAMES
    return f"{shown} and {more:,} more" if more > 0 else shown
