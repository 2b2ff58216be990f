"""Feedback for a whole class: processes make the pages, and each student's appear as a whole."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nbgrader.api import Gradebook
from nbgrader.converters.base import NbGraderException

from grader.class_grading.feedback_process import Made, PageJob, make_pages
from grader.judging.worker import Lost, ProcessPool
from grader.submissions.safe_files import printable
from grader.with_nbgrader import course_folder, locked_gradebook
from grader.with_nbgrader.careful_course import is_ours
from grader.with_nbgrader.feedback import CourseFeedback, FeedbackExporter, grades_of
from grader.with_nbgrader.pages.feedback_page import Grades
from grader.with_nbgrader.student_folders import students_in


@dataclass
class Feedback:
    """What a run did: whose pages were made, who had them already, and who has none and why."""

    made: int = 0
    skipped: int = 0
    failed: dict[str, str] = field(default_factory=dict)
    refused: list[str] = field(default_factory=list)


#: Called with the number of students before the first page is made; gives what is called with the
#: number of students who were done just now.
Tell = Callable[[int, int], Callable[[int], object]]


def log_of(course: Path, lab: str) -> Path:
    """The file in the course folder to which a run adds what happened."""
    return course / f"feedback-{lab}.log"


def make_feedback(course: Path, lab: str, workers: int, force: bool, tell: Tell) -> Feedback:
    """Makes the feedback of `lab` that is due, as `nbgrader generate_feedback` does.

    Raises NotOurs for another course, and Stopped if the run ends early. Then the same call goes on
    where this one ended.
    """
    app = course_folder.open_course(course)
    converter = _converter(app, lab)
    converter.force = force
    try:
        step = converter.coursedir.feedback_directory
        with (
            course_folder.stopping(),
            course_folder.logged(app, log_of(course, lab)),
            course_folder.alone(converter, step, "feedback"),
        ):
            converter.init_notebooks()
            jobs, done = _jobs(converter), Feedback(refused=converter.refused)
            done.skipped = len(converter.assignments) - len(jobs)
            count = max(1, min(workers or os.cpu_count() or 1, len(jobs)))
            _carry_out(converter, jobs, count, done, tell(len(jobs), done.skipped))
            for line in done.refused:
                app.log.error("%s", line)
            for student, why in done.failed.items():
                app.log.error("%s: no feedback: %s", printable(student), printable(why, 300))
    except course_folder.Stop as stop:
        raise course_folder.Stopped(str(stop)) from stop
    except NbGraderException as error:
        raise course_folder.Stopped(f"{error}: run `grader autograde {lab}` first") from error
    return done


def _converter(app: Any, lab: str) -> Any:
    """nbgrader's feedback of `lab`, from which we take settings and folders. Raises NotOurs."""
    app.coursedir.assignment_id = lab
    converter: Any = CourseFeedback(coursedir=app.coursedir, parent=app)
    ours = is_ours(converter) and converter.exporter_class is FeedbackExporter
    hooks = converter.pre_convert_hook, converter.post_convert_hook
    if not ours or hooks != (None, None) or converter.coursedir.notebook_id != "*":
        raise course_folder.NotOurs(
            "this course has settings for feedback that only nbgrader can carry out: use "
            f"`nbgrader generate_feedback {lab}`"
        )
    converter.exporter = converter.exporter_class(parent=converter, config=converter.config)
    return converter


def _jobs(converter: Any) -> list[PageJob]:
    """The students whose feedback is due, with their grades."""
    course = converter.coursedir
    lab = course.assignment_id
    folders = students_in(course, course.autograded_directory, lab, course.student_id)
    names = {str(path): student for student, path in folders.items()}
    due: dict[str, list[str]] = {}
    for folder in sorted(converter.assignments):
        converter.notebooks = converter.assignments[folder]
        if converter.is_wanted(lab, names[folder]):
            due[folder] = [Path(path).stem for path in converter.notebooks]
    grades: dict[str, dict[str, Grades]] = {}
    with Gradebook(course.db_url, course.course_id) as gradebook:
        for name in sorted({name for every in due.values() for name in every}):
            grades[name] = grades_of(gradebook, lab, name)
    jobs = []
    for folder, notebooks in due.items():
        student = names[folder]
        known = {name: grades[name][student] for name in notebooks if student in grades[name]}
        unfinished = Path(course.root) / converter.unfinished_folder(lab, student)
        course_folder.remove_left(unfinished)
        missing = tuple(name for name in notebooks if name not in known)
        site = converter.exporter.site
        jobs.append(PageJob(student, folder, str(unfinished), known, missing, site))
    return jobs


def _carry_out(
    converter: Any, jobs: list[PageJob], workers: int, done: Feedback, tell: Callable[[int], object]
) -> None:
    """Makes all pages and puts each student's into place. Raises Stopped if the disk is full."""
    by_student = {job.student: job for job in jobs}
    for made in _made(jobs, workers):
        job = by_student[made.student]
        cause = locked_gradebook.cause_of(OSError(made.error, made.trouble))
        if cause is not None:
            raise course_folder.Stopped(cause)
        if made.trouble:
            course_folder.remove_left(Path(job.unfinished))
            done.failed[made.student] = made.trouble
        else:
            converter.set_permissions(converter.coursedir.assignment_id, made.student)
            done.made += 1
        course_folder.remove_empty_above(Path(job.unfinished))
        tell(1)


def _made(jobs: list[PageJob], workers: int) -> Iterator[Made]:
    """What became of each job. A single worker is this process."""
    if workers == 1:
        yield from map(make_pages, jobs)
        return
    with ProcessPool("grader.class_grading.feedback_process", workers) as pool:
        answers = pool.answers([dataclasses.asdict(job) for job in jobs])
        for job, came in zip(jobs, answers, strict=True):
            if isinstance(came, Lost):
                yield Made(job.student, f"the process that makes the page {came.why}")
            else:
                yield Made(**came)
