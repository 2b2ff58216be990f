"""What the list of students says of those who handed in, entered into the gradebook.

The formgrader shows the id of a student without a name, and Gradescope finds students by their
e-mail addresses.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from nbgrader.api import Gradebook, MissingEntry

from grader.evening.collect.items import NotTaken
from grader.evening.collect.roster import Student
from grader.with_nbgrader import gradebook_lock


def enter(course: Any, students: Iterable[Student]) -> None:
    """Enters names, e-mail addresses and Canvas's ids. What the gradebook has already stays.

    Raises NotTaken if the gradebook cannot be written.
    """
    known = [each for each in students if any(_entries(each).values())]
    if not known:
        return
    try:
        with Gradebook(course.db_url, course.course_id) as gradebook:
            for each in known:
                _enter_one(gradebook, each)
            gradebook.db.commit()
    except Exception as error:
        cause = gradebook_lock.cause_of(error)
        if cause is None:
            raise
        raise NotTaken(cause) from error


def _enter_one(gradebook: Gradebook, student: Student) -> None:
    try:
        person = gradebook.find_student(student.student)
    except MissingEntry:
        person = gradebook.add_student(student.student)
    for name, value in _entries(student).items():
        if value and not getattr(person, name):
            setattr(person, name, value)


def _entries(student: Student) -> dict[str, str]:
    """What is known of a student, by the names that nbgrader's gradebook has for it."""
    first, last = student.names
    return {
        "first_name": first,
        "last_name": last,
        "email": student.email,
        "lms_user_id": student.lms_id,
    }
