"""A class as large as one likes: copies of one graded submission, in the gradebook and in folders.

The lists of the formgrader read the gradebook, look at folders, and read the end of each notebook.
All copies share one notebook, by hard links.
"""

from __future__ import annotations

import datetime
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from nbgrader.api import Gradebook, Student, SubmittedAssignment, SubmittedNotebook, new_uuid
from sqlalchemy import insert

from grader.with_nbgrader.settings import adapt

#: One of so many is only collected, has a graded report, or is flagged.
COLLECTED_ONLY, REPORT_GRADED, FLAGGED = 50, 3, 40
_BEFORE, _FIRST = (datetime.datetime(2026, 9, 1, hour, 0) for hour in (11, 12))
_PORTION = 500


def add_graded(course: Path, labs: Sequence[str], student: str, notebook: str) -> None:
    """Adds a lab with notebooks `labs`, the first of which names it, and a graded submission of it.

    Each notebook has a figure `cost`, a report and a task; `notebook` is the text of all of them.
    """
    adapt()  # nbgrader makes a gradebook with an alembic that it may not find
    lab = labs[0]
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
        gradebook.add_assignment(lab)
        for name in labs:
            gradebook.add_notebook(name, lab)
            cell = {"notebook": name, "assignment": lab}
            gradebook.add_grade_cell("cost", cell_type="code", max_score=4, **cell)
            gradebook.add_grade_cell("report", cell_type="markdown", max_score=4, **cell)
            gradebook.add_solution_cell("report", **cell)
            gradebook.add_task_cell("task", cell_type="markdown", max_score=3, **cell)
        gradebook.add_student(student, first_name="Ada", last_name="O'Neil")
        model = gradebook.add_submission(lab, student, timestamp=_BEFORE)
        for each in model.notebooks:
            for grade in each.grades:
                if grade.name == "cost":
                    grade.auto_score, grade.extra_credit = 4.0, 0.25
                    grade.needs_manual_grade = False
        gradebook.db.commit()
    for step in ("submitted", "autograded"):
        folder = course / step / student / lab
        folder.mkdir(parents=True)
        (folder / "timestamp.txt").write_text(f"{_BEFORE}.000000 UTC\n")
        (folder / f"{lab}.ipynb").write_text(notebook)


def enlarge(course: Path, lab: str, graded: str, students: int, begin: int = 0) -> None:
    """Adds students with copies of what the student `graded` handed in, counted from `begin`."""
    numbers = range(begin, begin + students)
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
        model = gradebook.find_submission(lab, graded)
        for first in range(0, students, _PORTION):
            rows: dict[type, list[dict[str, Any]]] = {}
            for number in numbers[first : first + _PORTION]:
                for kind, row in _rows(model, _name(number), number):
                    rows.setdefault(kind, []).append(row)
            for kind, several in rows.items():
                table = kind.__table__  # type: ignore[attr-defined]
                gradebook.db.execute(insert(table), several)
            gradebook.db.commit()
    for number in numbers:
        _lay_folders(course, lab, graded, _name(number), number)


def _name(number: int) -> str:
    return f"student-{number:05d}"


def _rows(
    model: SubmittedAssignment, student: str, number: int
) -> Iterator[tuple[type, dict[str, Any]]]:
    """The rows of a student and of a copy of the submission `model`."""
    yield Student, {"id": student, "first_name": f"First {number % 97}", "last_name": "Family"}
    if number % COLLECTED_ONLY == 1:
        return
    submission = new_uuid()
    yield (
        SubmittedAssignment,
        {
            "id": submission,
            "assignment_id": model.assignment_id,
            "student_id": student,
            "timestamp": _when(number),
        },
    )
    for notebook in model.notebooks:
        copy = new_uuid()
        yield (
            SubmittedNotebook,
            {
                "id": copy,
                "assignment_id": submission,
                "notebook_id": notebook.notebook_id,
                "flagged": number % FLAGGED == 2,
            },
        )
        for grade in notebook.grades:
            auto, is_open = grade.auto_score, grade.needs_manual_grade
            if auto is not None:
                auto *= (number % 7) / 6
            marked = is_open and number % REPORT_GRADED == 0
            yield (
                type(grade),
                {
                    "id": new_uuid(),
                    "notebook_id": copy,
                    "cell_id": grade.cell_id,
                    "auto_score": auto,
                    "manual_score": float(number % 3) if marked else grade.manual_score,
                    "extra_credit": None,
                    "needs_manual_grade": is_open and not marked,
                },
            )
        for comment in notebook.comments:
            row = {"id": new_uuid(), "notebook_id": copy, "cell_id": comment.cell_id}
            yield type(comment), {**row, "auto_comment": comment.auto_comment}


def _when(number: int) -> datetime.datetime:
    return _FIRST + datetime.timedelta(minutes=number)


def _lay_folders(course: Path, lab: str, graded: str, student: str, number: int) -> None:
    """What collect and autograde leave: the time, and the notebook for a person to look at."""
    is_graded = number % COLLECTED_ONLY != 1
    for step in ("submitted", "autograded")[: 1 + is_graded]:
        folder = course / step / student / lab
        folder.mkdir(parents=True)
        (folder / "timestamp.txt").write_text(f"{_when(number)} UTC\n")
        for notebook in (course / step / graded / lab).glob("*.ipynb"):
            os.link(notebook, folder / notebook.name)
