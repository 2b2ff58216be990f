"""Grades as a file for Canvas: Grades, Import.

Canvas reads a CSV file with the columns of its own export: `Student`, `ID`, `SIS User ID`,
`SIS Login ID`, `Section`, then the assignments as `Name (number)`, and a row `Points Possible`
("How do I import grades in the Gradebook?", Canvas Instructor Guide; what it does with each column
is in its source, `lib/gradebook_importer.rb` of instructure/canvas-lms). It finds a student by
`ID`, then by the SIS ids, then by name. It changes only what the file has, so the file has only the
students with a grade and the column of the lab. A column that Canvas does not know becomes a new
assignment.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from grader.evening.exports.matching import match
from grader.evening.exports.sheet import Graded, Sheet
from grader.evening.exports.table_file import BadTable, Cell, read_table, write_table
from grader.evening.exports.written import Written, some

#: What Canvas writes about a student, in its order; not every export has all of it.
_ABOUT_STUDENT = (
    "Student", "ID", "SIS User ID", "SIS Login ID", "Integration ID", "Root Account", "Section",
)  # fmt: skip
_NUMBER = re.compile(r" \(\d+\)$")
_POINTS = "    Points Possible"
#: Canvas keeps two decimals.
_DECIMALS = 2


@dataclass(frozen=True)
class _Export:
    """What Canvas exported: where its columns are, its students, and the column of the lab."""

    about: dict[str, int]
    rows: list[list[str]]
    column: str | None
    possible: str

    def cell(self, row: list[str], name: str) -> str:
        at = self.about.get(name)
        return row[at] if at is not None and at < len(row) else ""


def write(
    sheet: Sheet, path: Path, gradebook: Path | None = None, *, unfinished: bool = False
) -> Written:
    """Writes the grades; `gradebook` is the file that Canvas exported.

    Without it, students are named by their ids alone. With `unfinished`, grades that wait for a
    person are written too. Raises BadTable, CannotWrite, and OSError.
    """
    students = sheet.so_far if unfinished else sheet.final
    if gradebook is None:
        rows, notes = _rows_by_ids(sheet, students), [_by_ids_alone()]
        count = len(students)
    else:
        rows, count, notes = _rows_by_export(sheet, students, _read(gradebook, sheet.lab))
    write_table(path, rows)
    return Written(path, count, tuple(notes))


def _by_ids_alone() -> str:
    return (
        "Canvas must find the students by their SIS Login ID. If it does not, export the gradebook "
        "in Canvas and name that file with --gradebook."
    )


def _rows_by_ids(sheet: Sheet, students: dict[str, Graded]) -> list[list[Cell]]:
    header: list[Cell] = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", sheet.lab]
    rows = [header, [_POINTS, None, None, None, None, sheet.most]]
    for graded in students.values():
        name = ", ".join(filter(None, (graded.last_name, graded.first_name))) or graded.student
        points = round(graded.score, _DECIMALS)
        rows.append([name, graded.lms_id, None, graded.student, None, points])
    return rows


def _rows_by_export(
    sheet: Sheet, students: dict[str, Graded], export: _Export
) -> tuple[list[list[Cell]], int, list[str]]:
    keys = ("ID", "SIS User ID", "SIS Login ID")
    found = match(
        (
            (number, [export.cell(row, key) for key in keys])
            for number, row in enumerate(export.rows)
        ),
        students,
    )
    about = list(export.about)
    points_row: list[Cell] = [_POINTS, *([None] * (len(about) - 1))]
    rows: list[list[Cell]] = [[*about, export.column or sheet.lab]]
    rows.append([*points_row, export.possible or sheet.most])
    for number, graded in found.of_row.items():
        known = [export.cell(export.rows[number], name) for name in about]
        rows.append([*known, round(graded.score, _DECIMALS)])
    notes = _notes(sheet, export)
    if found.without_row:
        notes.append(f"Not in Canvas's file, so left out: {some(found.without_row)}.")
    if found.doubtful:
        notes.append(f"In doubt, because they fit several rows: {some(found.doubtful)}.")
    return rows, len(found.of_row), notes


def _notes(sheet: Sheet, export: _Export) -> list[str]:
    if export.column is None:
        return [f"Canvas has no assignment {sheet.lab}; the import makes a new one."]
    try:
        possible = float(export.possible)
    except ValueError:
        return []
    if possible == sheet.most:
        return []
    return [
        f"In Canvas, {export.column} has {possible:g} points possible, and the lab has "
        f"{sheet.most:g}. The points are written as they are; change the assignment in Canvas."
    ]


def _read(path: Path, lab: str) -> _Export:
    """Canvas's export. Raises BadTable if it is none, or if it has the lab several times."""
    header, *rows = read_table(path)
    about = {name: header.index(name) for name in _ABOUT_STUDENT if name in header}
    missing = [name for name in ("Student", "ID", "Section") if name not in about]
    if missing:
        raise BadTable(
            f"{path} is no gradebook that Canvas exported: it has no column {', '.join(missing)}. "
            "In Canvas, choose Grades, Export, Export Entire Gradebook"
        )
    columns = [
        name for name in header if name not in about and _NUMBER.sub("", name).strip() == lab
    ]
    if len(columns) > 1:
        raise BadTable(f"{path} has {lab} more than once: {', '.join(columns)}")
    if not columns:
        return _Export(about, rows, None, "")
    at = header.index(columns[0])
    possible = [row[at] for row in rows if row[0].strip() == _POINTS.strip() and at < len(row)]
    return _Export(about, rows, columns[0], possible[0].strip() if possible else "")
