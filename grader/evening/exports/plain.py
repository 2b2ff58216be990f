"""Grades as a plain CSV file: nbgrader's columns, then one column for each part of the lab.

The first columns and their meaning are those of `nbgrader export`
(https://nbgrader.readthedocs.io/en/stable/command_line_tools/nbgrader-export.html), so a script
for that file reads this one too. nbgrader puts no quotes around a name with a comma.
"""

from __future__ import annotations

from pathlib import Path

from grader.evening.exports.sheet import Graded, Sheet
from grader.evening.exports.table_file import Cell, write_table
from grader.evening.exports.written import Written

_OF_NBGRADER = (
    "assignment", "duedate", "timestamp", "student_id", "last_name", "first_name", "email",
    "raw_score", "late_submission_penalty", "score", "max_score",
)  # fmt: skip


def write(sheet: Sheet, path: Path) -> Written:
    """Writes the grades of everybody in the course. Raises CannotWrite."""
    names = sorted({part.name for graded in sheet.students for part in graded.parts})
    rows: list[list[Cell]] = [[*_OF_NBGRADER, "waits_for_a_person", *names]]
    rows += [_row(sheet, graded, names) for graded in sheet.students]
    write_table(path, rows)
    return Written(path, len(sheet.so_far))


def _row(sheet: Sheet, graded: Graded, names: list[str]) -> list[Cell]:
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
