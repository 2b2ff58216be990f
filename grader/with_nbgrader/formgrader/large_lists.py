"""The formgrader's lists for a class of thousands, with the values that nbgrader gives.

nbgrader looks at the whole class for each page, also for a page about one student. :func:`install`
puts faster ways to the same values in the place of its methods, for courses with our settings only.
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from nbgrader.api import MissingEntry
from nbgrader.apps.api import NbGraderAPI
from nbgrader.server_extensions.formgrader.handlers import SubmissionNavigationHandler
from nbgrader.utils import as_timezone
from tornado.web import Finish

from grader.submissions.names import trouble_with_name
from grader.with_nbgrader.careful_course import is_ours, replace_method
from grader.with_nbgrader.formgrader.large_gradebook import LargeGradebook
from grader.with_nbgrader.pages.notes import KEY, notes_of


def install() -> None:
    """Replaces the methods; a second call changes nothing."""
    if not isinstance(NbGraderAPI.gradebook, _GradebookOfLists):
        NbGraderAPI.gradebook = _GradebookOfLists(NbGraderAPI.gradebook.fget)
    replace_method(NbGraderAPI, "get_submission", _get_submission)
    replace_method(NbGraderAPI, "get_submissions", _get_submissions)
    replace_method(NbGraderAPI, "get_notebook_submissions", _get_notebook_submissions)
    for name, ours in (
        ("_get_submission_ids", _submission_ids),
        ("_get_incorrect_submission_ids", _incorrect_submission_ids),
        ("_next", _next),
    ):
        replace_method(SubmissionNavigationHandler, name, ours, lambda handler: handler.api)


class _GradebookOfLists(property):
    """The gradebook of nbgrader's API: ours for our courses."""

    def __get__(self, api: Any, owner: type | None = None) -> Any:
        if api is None or not is_ours(api):
            return super().__get__(api, owner)
        return LargeGradebook(api.coursedir.db_url, api.course_id)


def _get_submission(
    old: Callable[..., Any],
    self: Any,
    assignment_id: str,
    student_id: str,
    ungraded: set[str] | None = None,
    students: dict[str, Any] | None = None,
) -> dict[str, Any] | None:
    """One submission. nbgrader lists the class to know whether it is graded."""
    if ungraded is not None:
        listed: dict[str, Any] | None = old(assignment_id, student_id, ungraded, students)
        return listed
    is_submitted = _folder(self, "submitted", assignment_id, student_id).is_dir()
    is_submitted &= trouble_with_name(student_id) is None
    with self.gradebook as gradebook:
        try:
            found = gradebook.find_submission(assignment_id, student_id)
        except MissingEntry:
            found = None
        is_graded = (
            found is not None
            and _folder(self, "autograded", assignment_id, student_id).is_dir()
            and self.get_submitted_timestamp(assignment_id, student_id) == found.timestamp
        )
        if is_graded:
            return {**found.to_dict(), **_shown(self, found.timestamp)}
    student = self.get_student(student_id, submitted=set())
    known = {student_id: student} if student else {}
    made: dict[str, Any] = old(assignment_id, student_id, {student_id}, known)
    if not is_submitted:
        made |= {"submitted": False, "timestamp": None, "display_timestamp": None}
    return made


def _get_submissions(_: Callable[..., Any], self: Any, assignment_id: str) -> list[dict[str, Any]]:
    """The submissions of a lab, with the notes of those that have any."""
    with self.gradebook as gradebook:
        graded = gradebook.submission_dicts(assignment_id)
        try:
            names = [each.name for each in gradebook.find_assignment(assignment_id).notebooks]
        except MissingEntry:
            names = []
        submitted = self.get_submitted_students(assignment_id)
        ungraded = submitted - _graded_students(self, assignment_id, graded)
        students = gradebook.names_of_students() if ungraded else {}
    listed = []
    for each in graded:
        if each["student"] not in ungraded:
            shown = {**each, **_shown(self, each["timestamp"])}
            when = each["timestamp"]
            shown["timestamp"] = when and when.isoformat()
            listed.append(_with_notes(self, shown, assignment_id, names))
    for student in ungraded:
        listed.append(self.get_submission(assignment_id, student, ungraded, students))
    return sorted(listed, key=lambda each: each["student"])


def _graded_students(self: Any, assignment_id: str, graded: list[dict[str, Any]]) -> set[str]:
    """Those who have handed in nothing since they were graded, and whose graded folder is there."""
    return {
        each["student"]
        for each in graded
        if _folder(self, "autograded", assignment_id, each["student"]).is_dir()
        and self.get_submitted_timestamp(assignment_id, each["student"]) == each["timestamp"]
    }


def _get_notebook_submissions(
    old: Callable[..., Any], self: Any, assignment_id: str, notebook_id: str
) -> list[dict[str, Any]]:
    """The copies of a notebook, with the notes of those that have any."""
    listed: list[dict[str, Any]] = old(assignment_id, notebook_id)
    return [_with_notes(self, each, assignment_id, [notebook_id]) for each in listed]


def _with_notes(
    self: Any, listed: dict[str, Any], assignment_id: str, names: list[str]
) -> dict[str, Any]:
    """An entry of a list; the program of our own in the page shows what is under the new key."""
    if listed["id"] is None:
        return listed
    notes: dict[str, list[str]] = {}
    course = self.coursedir
    folder = course.format_path(course.autograded_directory, listed["student"], assignment_id)
    for name in names:
        for kind, words in notes_of(Path(f"{folder}/{name}.ipynb")).items():
            notes.setdefault(kind, []).extend(words)
    return {**listed, KEY: notes} if any(notes.values()) else listed


def _shown(self: Any, when: datetime.datetime | None) -> dict[str, Any]:
    text = when and as_timezone(when, self.timezone).strftime(self.timestamp_format)
    return {"display_timestamp": text, "autograded": True, "submitted": True}


def _folder(self: Any, step: str, assignment_id: str, student_id: str) -> Path:
    course = self.coursedir
    return Path(course.format_path(getattr(course, f"{step}_directory"), student_id, assignment_id))


def _submission_ids(
    _: Callable[..., Any], self: Any, assignment_id: str, notebook_id: str
) -> list[str]:
    """What the links to the next and the previous submission step through."""
    return sorted(self.api.get_notebook_submission_indices(assignment_id, notebook_id))


def _incorrect_submission_ids(
    _: Callable[..., Any], self: Any, assignment_id: str, notebook_id: str, submission: Any
) -> list[str]:
    """The same, for the submissions in which a test failed, and the one that is open."""
    api = self.api
    there = set(api.get_notebook_submission_indices(assignment_id, notebook_id))
    with api.gradebook as gradebook:
        failed = gradebook.failed_notebooks(notebook_id, assignment_id)
    return sorted((failed & there) | {submission.id})


def _next(
    old: Callable[..., str], self: Any, assignment_id: str, notebook_id: str, submission: Any
) -> str:
    """Where the link to the next submission leads.

    With `?waiting` the answer is no redirection. It is the id of the next submission in which
    something waits for a person, as JSON, or null: our page asks for it and goes there itself.
    """
    if self.get_argument("waiting", None) is None:
        return old(assignment_id, notebook_id, submission)
    with self.api.gradebook as gradebook:
        waiting = gradebook.waiting_notebooks(notebook_id, assignment_id)
    behind = [each for each in waiting if each.id > submission.id]
    before = [each for each in waiting if each.id < submission.id]
    there = (
        each.id
        for each in (*behind, *before)
        if (
            _folder(self.api, "autograded", assignment_id, each.student.id) / f"{notebook_id}.ipynb"
        ).is_file()
    )
    self.finish(json.dumps(next(there, None)))
    raise Finish
