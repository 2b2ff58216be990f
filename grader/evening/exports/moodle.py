"""Grades as a file for Moodle: a filled grading worksheet, or a file for the gradebook's import.

An assignment of Moodle gives and takes a *grading worksheet* if "Offline grading worksheet" is
among its feedback types (https://docs.moodle.org/en/Assignment_settings). Its upload needs the
columns `Identifier`, `Grade` and `Last modified (grade)`, all as Moodle wrote them, and takes
`Feedback comments`; it leaves out grades above the assignment's maximum
(`mod/assign/feedback/offline/importgradeslib.php` and `locallib.php` in Moodle's source). So we
fill in the worksheet that the instructor has downloaded, and change nothing else in it.

Without a worksheet, we write a file for Grades, Import, CSV file
(https://docs.moodle.org/en/Grade_import). There the instructor says which column is what.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from grader.evening.collect.naming import moodle_id
from grader.evening.exports.matching import Matched, match
from grader.evening.exports.sheet import Graded, Sheet
from grader.evening.exports.table_file import BadTable, Cell, read_table, write_table
from grader.evening.exports.written import Written, some

_IDENTIFIER, _GRADE, _FEEDBACK = "Identifier", "Grade", "Feedback comments"
_NEEDED = (_IDENTIFIER, _GRADE, "Last modified (grade)")
#: What may name a student. The site decides which of these a worksheet has.
_KEYS = ("Email address", "ID number", "Username")
_NAME, _MOST = "Full name", "Maximum Grade"
#: `Participant 1234`; the number is also in the names of the files that Moodle hands out.
_PARTICIPANT = re.compile(r"(\d+)$")
#: Moodle keeps five decimals, and shows two.
_DECIMALS = 2

#: The reasons for the figures of a student, by figure.
Reasons = Callable[[str], dict[str, str]]


def write(
    sheet: Sheet,
    path: Path,
    reasons: Reasons,
    worksheet: Path | None = None,
    *,
    unfinished: bool = False,
) -> Written:
    """Writes the grades with their reasons; `worksheet` is the file that Moodle gave.

    With `unfinished`, grades that wait for a person are written too. Raises BadTable, CannotWrite,
    and OSError.
    """
    students = sheet.so_far if unfinished else sheet.final
    if worksheet is None:
        write_table(path, _for_import(sheet, students, reasons))
        note = "In Moodle, map `Email address` or `ID number`, the grade, and the feedback."
        return Written(path, len(students), (note,))
    header, rows, found = read_worksheet(worksheet, students)
    filled: list[list[Cell]] = [[*header]]
    over = []
    for number, row in enumerate(rows):
        cells: list[Cell] = [*row, *([""] * (len(header) - len(row)))]
        graded = found.of_row.get(number)
        if graded is not None:
            cells[header.index(_GRADE)] = round(graded.score, _DECIMALS)
            if _FEEDBACK in header:
                comments = _comments(graded, reasons(graded.student))
                cells[header.index(_FEEDBACK)] = comments
            if graded.score > _most(header, row):
                over.append(graded.student)
        filled.append(cells)
    write_table(path, filled)
    return Written(path, len(found.of_row), (*not_found(found), *_notes(over)))


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
    keys = ((number, _keys(header, row)) for number, row in enumerate(rows))
    return header, rows, match(keys, students)


def participant(header: list[str], row: list[str]) -> tuple[str, str]:
    """The full name and the number of a row of the worksheet; '' if it does not have it."""
    number = _PARTICIPANT.search(row[header.index(_IDENTIFIER)].strip())
    name = header.index(_NAME) if _NAME in header else len(row)
    return row[name].strip() if name < len(row) else "", number[1] if number else ""


def not_found(found: Matched) -> list[str]:
    """Notes on the students who get nothing."""
    notes = []
    if found.without_row:
        notes.append(
            f"Not in Moodle's worksheet, so left out: {some(found.without_row)}. Students are "
            f"found by {', '.join(_KEYS)}, or the number in the column {_IDENTIFIER}."
        )
    if found.doubtful:
        notes.append(f"In doubt, because they fit several rows: {some(found.doubtful)}.")
    return notes


def _notes(over: list[str]) -> list[str]:
    notes = []
    if over:
        notes.append(
            f"Moodle refuses a grade above the assignment's maximum: {some(over)}. Set the maximum "
            "in Moodle to the lab's points."
        )
    return notes


def _keys(header: list[str], row: list[str]) -> Iterator[str]:
    for name in _KEYS:
        if name in header and header.index(name) < len(row):
            yield row[header.index(name)]
    name, number = participant(header, row)
    if number:
        yield from (number, f"Participant {number}")
        if name:
            yield moodle_id(name, number)  # as `grader collect` makes it


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
        comments = _comments(graded, reasons(graded.student))
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
