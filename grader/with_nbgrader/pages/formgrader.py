"""What the formgrader shows: the page of a student's work, and the lists of a large class."""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jinja2 import BaseLoader, DictLoader, Environment
from markupsafe import Markup
from nbconvert.exporters import HTMLExporter
from nbgrader.api import (
    Assignment,
    Grade,
    Gradebook,
    GradeCell,
    MissingEntry,
    Notebook,
    Student,
    SubmittedAssignment,
    SubmittedNotebook,
    TaskCell,
)
from nbgrader.apps.api import NbGraderAPI
from nbgrader.server_extensions.formgrader.handlers import SubmissionNavigationHandler
from nbgrader.utils import as_timezone
from sqlalchemy import and_, case, func
from tornado.web import Finish

from grader.submissions.safe_files import trouble_with_name
from grader.with_nbgrader.careful_course import is_ours, replace_method
from grader.with_nbgrader.pages.student_text import markdown2html
from grader.with_nbgrader.verdict_cells import KEY, notes_of
from labs.course import rubric
from labs.html import filled

# The page on which the formgrader shows a student's work.
#
# It comes from nbconvert's HTMLExporter with a template of nbgrader. The template loads MathJax
# from another server, which then knows who is grading and when, and lets TeX draw anywhere on the
# page. `StudentPages` puts our own head in the place of MathJax: a policy that the browser follows,
# and a box around whatever a student wrote. Formulas are pictures already
# (:mod:`grader.with_nbgrader.pages.student_text`).

#: The setting of nbconvert that has our filter used.
FILTER = f"{markdown2html.__module__}.{markdown2html.__name__}"
_MACRO = "{%% macro mathjax(url='') %%}{%% raw %%}%s{%% endraw %%}{%% endmacro %%}"
_HEAD_OF_PAGE = Path(__file__).with_name("student_page_head.html.jinja")
_PROGRAM_OF_PAGE = Path(__file__).with_name("student_pages.js")

#: The formgrader's page has scripts of nbgrader, some of them in the page, and templates that they
#: compile. They may talk to the own server alone.
FORMGRADER_POLICY = (
    "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; "
    "script-src 'self' 'unsafe-inline' 'unsafe-eval'; object-src 'none'; frame-src 'none'; "
    "form-action 'self'; base-uri 'none'"
)


class StudentPages(HTMLExporter):
    """Writes such a page; its template imports the macro that we replace.

    The formgrader uses this class for all courses. A course that does not draw formulas with our
    filter keeps MathJax.
    """

    def __init__(self, config: Any = None, **kw: Any) -> None:
        super().__init__(config=config, **kw)  # type: ignore[no-untyped-call]
        if self.filters.get("markdown2html") != FILTER:
            return
        head = filled(
            _HEAD_OF_PAGE,
            policy=FORMGRADER_POLICY,
            program=_PROGRAM_OF_PAGE.read_text(encoding="utf-8"),
            rubrics=rubric.as_json(self._rubrics()),
        )
        self.extra_loaders = [DictLoader({"mathjax.html.j2": _MACRO % head})]

    def _rubrics(self) -> dict[str, rubric.Rubrics]:
        """Those of the course; the kit's own if the course's cannot be read."""
        course = Path(self.config.CourseDirectory.get("root", "."))
        try:
            return rubric.of_course(course)
        except rubric.BadRubric as error:
            self.log.error("%s: %s. The kit's rubrics are shown.", course, error)
            return rubric.of_labs()


# The formgrader's lists: names and addresses stay text, and leave the scores in sight.
#
# nbgrader writes names of students and parts of the address into its pages as they are, also into
# scripts. So an address with a program in it, to which an answer may link, ran that program in the
# browser of an instructor who is signed in. And one long name moved the scores of the whole class
# out of the window. nbgrader has no setting for either.

#: What ends a text, an attribute or a string of a script. An apostrophe ends none of them in
#: nbgrader's pages, and names have some.
_ENDS = {ord(each): f"&#{ord(each)};" for each in '<>"&\\\n\r\u2028\u2029'}
_HEAD_OF_LISTS = Path(__file__).with_name("formgrader_list_head.html.jinja")
_PROGRAM_OF_LISTS = Path(__file__).with_name("formgrader_lists.js")
_BASE = "base.tpl"


class ListEnvironment(Environment):
    """Takes the place of jinja's environment in the formgrader, for all pages but notebooks."""

    def __init__(self, loader: BaseLoader | None = None, **options: Any) -> None:
        settings = {"autoescape": True, "finalize": as_text, **options}
        super().__init__(loader=loader and _WithHead(loader), **settings)


def as_text(value: Any) -> Any:
    """A value as the text that it is; what a template has made stays."""
    return value if hasattr(value, "__html__") else Markup(str(value).translate(_ENDS))


class _WithHead(BaseLoader):
    """Puts our own head at the end of the head that all lists have."""

    def __init__(self, templates: BaseLoader) -> None:
        self.templates = templates

    def get_source(
        self, environment: Environment, template: str
    ) -> tuple[str, str | None, Callable[[], bool] | None]:
        source, file, is_fresh = self.templates.get_source(environment, template)
        if template == _BASE:
            program = _PROGRAM_OF_LISTS.read_text(encoding="utf-8")
            head = filled(_HEAD_OF_LISTS, policy=FORMGRADER_POLICY, program=program)
            head = f"{{% raw %}}{head}{{% endraw %}}"
            source = source.replace("</head>", f"{head}</head>", 1)
        return source, file, is_fresh

    def list_templates(self) -> list[str]:
        return self.templates.list_templates()


# The gradebook as the formgrader's lists read it, by a few queries for the whole class.
#
# nbgrader asks the gradebook several questions for each submission, or joins each table with each
# other. With 5,000 submissions that takes half a minute (its issues 785 and 929). `LargeGradebook`
# answers the same questions with the same values. A query here reads each grade of the lab once.

_GRADED, _TASK = GradeCell.__table__, TaskCell.__table__


@dataclass(frozen=True)
class ListedStudent:
    """A student as far as a list needs one."""

    id: str


@dataclass(frozen=True)
class ListedNotebook:
    """A notebook that a student handed in, as far as a list needs it."""

    id: str
    name: str
    student: ListedStudent


@dataclass
class _Sums:
    """The points of one submission, by kind of cell."""

    score: dict[str, float] = field(default_factory=dict)
    most: dict[str, float] = field(default_factory=dict)
    needs_manual_grade: bool = False
    failed_tests: bool = False

    def as_json(self) -> dict[str, float]:
        made = {"score": sum(self.score.values()), "max_score": sum(self.most.values())}
        for kind in ("code", "written", "task"):
            made[f"{kind}_score"] = self.score.get(kind, 0.0)
            made[f"max_{kind}_score"] = self.most.get(kind, 0.0)
        return {**made, "needs_manual_grade": self.needs_manual_grade}


def _copies_of(notebook: str, assignment: str) -> Any:
    """The condition for the copies of a notebook that students handed in."""
    return and_(Assignment.name == assignment, Notebook.name == notebook)


class LargeGradebook(Gradebook):  # type: ignore[misc]
    """A gradebook for lists; what it does not override is nbgrader's."""

    def student_dicts(self) -> list[dict[str, Any]]:
        """All students with their points, as nbgrader gives them."""
        most = self.db.query(func.sum(Assignment.max_score)).scalar()
        if not most:
            listed: list[dict[str, Any]] = super().student_dicts()
            return listed
        scores = dict(
            self.db.query(SubmittedAssignment.student_id, func.sum(Grade.score))
            .join(SubmittedNotebook, SubmittedNotebook.assignment_id == SubmittedAssignment.id)
            .join(Grade, Grade.notebook_id == SubmittedNotebook.id)
            .group_by(SubmittedAssignment.student_id)
            .all()
        )
        students = self.db.query(
            Student.id, Student.first_name, Student.last_name, Student.email, Student.lms_user_id
        )
        return [
            {**each._asdict(), "score": scores.get(each.id, 0.0), "max_score": most}
            for each in students
        ]

    def names_of_students(self) -> dict[str, dict[str, Any]]:
        """The first and the last name of each student."""
        rows = self.db.query(Student.id, Student.first_name, Student.last_name)
        return {own: {"first_name": first, "last_name": last} for own, first, last in rows}

    def submission_dicts(self, assignment_id: str) -> list[dict[str, Any]]:
        """The graded submissions of a lab, as nbgrader gives them."""
        sums = self._sums(SubmittedNotebook.assignment_id, Assignment.name == assignment_id)
        rows = (
            self.db.query(
                SubmittedAssignment.id,
                SubmittedAssignment.timestamp,
                Student.first_name,
                Student.last_name,
                Student.id.label("student"),
            )
            .join(Assignment, Assignment.id == SubmittedAssignment.assignment_id)
            .join(Student, Student.id == SubmittedAssignment.student_id)
            .filter(Assignment.name == assignment_id)
        )
        return [
            {"name": assignment_id, **each._asdict(), **sums[each.id].as_json()}
            for each in rows
            if each.id in sums
        ]

    def notebook_submission_dicts(
        self, notebook_id: str, assignment_id: str
    ) -> list[dict[str, Any]]:
        """The graded copies of one notebook of a lab, as nbgrader gives them."""
        wanted = _copies_of(notebook_id, assignment_id)
        sums = self._sums(SubmittedNotebook.id, wanted)
        rows = self._notebooks(wanted).with_entities(
            SubmittedNotebook.id,
            SubmittedNotebook.flagged,
            Student.id.label("student"),
            Student.first_name,
            Student.last_name,
        )
        return [
            {
                "name": notebook_id,
                **each._asdict(),
                **sums[each.id].as_json(),
                "failed_tests": sums[each.id].failed_tests,
            }
            for each in rows
            if each.id in sums
        ]

    def notebook_submissions(self, notebook: str, assignment: str) -> list[ListedNotebook]:
        """Who handed in a notebook of a lab: what the formgrader counts and steps through."""
        rows = self._notebooks(_copies_of(notebook, assignment))
        rows = rows.with_entities(SubmittedNotebook.id, Student.id)
        return [ListedNotebook(own, notebook, ListedStudent(student)) for own, student in rows]

    def waiting_notebooks(self, notebook: str, assignment: str) -> list[tuple[str, str]]:
        """The copies of a notebook in which something waits for a person, with their students.

        They are in the order of their ids.
        """
        rows = (
            self._notebooks(and_(_copies_of(notebook, assignment), Grade.needs_manual_grade))
            .join(Grade, Grade.notebook_id == SubmittedNotebook.id)
            .with_entities(SubmittedNotebook.id, Student.id)
            .distinct()
            .order_by(SubmittedNotebook.id)
        )
        return [(own, student) for own, student in rows]

    def failed_notebooks(self, notebook: str, assignment: str) -> set[str]:
        """The ids of the copies of a notebook in which a test failed."""
        sums = self._sums(SubmittedNotebook.id, _copies_of(notebook, assignment))
        return {each for each, found in sums.items() if found.failed_tests}

    def _notebooks(self, wanted: Any) -> Any:
        """A query of the notebooks that students handed in, with what they belong to."""
        return (
            self.db.query(SubmittedNotebook)
            .join(SubmittedAssignment, SubmittedAssignment.id == SubmittedNotebook.assignment_id)
            .join(Assignment, Assignment.id == SubmittedAssignment.assignment_id)
            .join(Notebook, Notebook.id == SubmittedNotebook.notebook_id)
            .join(Student, Student.id == SubmittedAssignment.student_id)
            .filter(wanted)
        )

    def _sums(self, key: Any, wanted: Any) -> dict[str, _Sums]:
        """The sums of the grades for each value of the column `key`."""
        found: dict[str, _Sums] = {}
        for table in (_GRADED, _TASK):
            is_failed = and_(table.c.cell_type == "code", Grade.auto_score < table.c.max_score)
            rows = (
                self._notebooks(wanted)
                .join(Grade, Grade.notebook_id == SubmittedNotebook.id)
                .join(table, table.c.id == Grade.cell_id)
                .with_entities(
                    key,
                    table.c.cell_type,
                    func.sum(Grade.score),
                    func.sum(table.c.max_score),
                    func.max(case((Grade.needs_manual_grade, 1), else_=0)),
                    func.max(case((is_failed, 1), else_=0)),
                )
                .group_by(key, table.c.cell_type)
            )
            for own, cell_type, score, most, is_open, has_failed in rows:
                sums = found.setdefault(own, _Sums())
                kind = "task" if table is _TASK else {"markdown": "written"}.get(cell_type, "code")
                sums.score[kind], sums.most[kind] = score, most
                sums.needs_manual_grade |= bool(is_open)
                sums.failed_tests |= bool(has_failed) and table is _GRADED
        return found


# The formgrader's lists for a class of thousands, with the values that nbgrader gives.
#
# nbgrader looks at the whole class for each page, also for a page about one student. So
# `install_lists` replaces its methods by faster ones, for courses with our settings only.


def install_lists() -> None:
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
    listed = [
        self.get_submission(assignment_id, student, ungraded, students) for student in ungraded
    ]
    for each in graded:
        if each["student"] not in ungraded:
            when = each["timestamp"]
            shown = {**each, **_shown(self, when), "timestamp": when and when.isoformat()}
            listed.append(_with_notes(self, shown, assignment_id, names))
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
    behind = [each for each in waiting if each[0] > submission.id]
    before = [each for each in waiting if each[0] < submission.id]
    for own, student in (*behind, *before):
        folder = _folder(self.api, "autograded", assignment_id, student)
        if (folder / f"{notebook_id}.ipynb").is_file():
            self.finish(json.dumps(own))
            raise Finish
    self.finish(json.dumps(None))
    raise Finish
