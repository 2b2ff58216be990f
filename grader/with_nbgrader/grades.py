"""What the gradebook says of submissions, read in a few queries, however many there are.

nbgrader's own step reads a page's grades with two queries for each cell.
"""

from __future__ import annotations

from nbgrader.api import (
    BaseCell,
    Comment,
    Grade,
    Gradebook,
    GradeCell,
    MissingEntry,
    Student,
    SubmittedAssignment,
    SubmittedNotebook,
    TaskCell,
)

from grader.with_nbgrader.pages.given import Given, Grades


def grades_of(
    gradebook: Gradebook, assignment: str, notebook: str, student: str | None = None
) -> dict[str, Grades]:
    """The grades of every student, or of one, who has the notebook in the gradebook."""
    db = gradebook.db
    try:
        asked = gradebook.find_notebook(notebook, assignment)
    except MissingEntry:
        return {}
    submitted = (
        db.query(SubmittedNotebook.id, Student.id, SubmittedNotebook.late_submission_penalty)
        .join(SubmittedAssignment, SubmittedNotebook.assignment_id == SubmittedAssignment.id)
        .join(Student, SubmittedAssignment.student_id == Student.id)
        .filter(SubmittedNotebook.notebook_id == asked.id)
    )
    if student is not None:
        submitted = submitted.filter(Student.id == student)
    most = {
        name: float(points or 0.0)
        for kind in (GradeCell, TaskCell)
        for name, points in db.query(kind.name, kind.max_score).filter(kind.notebook_id == asked.id)
    }
    by_id: dict[str, Grades] = {}
    found: dict[str, Grades] = {}
    for number, who, penalty in submitted:
        by_id[number] = found[who] = Grades(sum(most.values()), float(penalty or 0.0))
    only = next(iter(by_id)) if student is not None and by_id else None
    # In the order of names: a sum of floats depends on its order.
    grades = (
        db.query(Grade.notebook_id, BaseCell.name, Grade.score, Grade.needs_manual_grade)
        .join(BaseCell, Grade.cell_id == BaseCell.id)
        .filter(BaseCell.notebook_id == asked.id)
        .order_by(BaseCell.name)
    )
    comments = (
        db.query(Comment.notebook_id, BaseCell.name, Comment.comment)
        .join(BaseCell, Comment.cell_id == BaseCell.id)
        .filter(BaseCell.notebook_id == asked.id)
    )
    if only is not None:
        grades = grades.filter(Grade.notebook_id == only)
        comments = comments.filter(Comment.notebook_id == only)
    for number, name, score, waits in grades.yield_per(10_000):
        if number in by_id:
            given = Given(float(score or 0.0), most.get(name, 0.0), bool(waits))
            by_id[number].cells[name] = given
    for number, name, comment in comments.yield_per(10_000):
        if number in by_id and comment:
            by_id[number].comments[name] = comment
    return found
