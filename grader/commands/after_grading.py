"""What is made of a graded lab: `grader feedback`, `grader report` and `grader export`."""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grader.commands.cli import Bar, add_command, add_course, add_lab, add_workers
from labs.commands.command_line import complain
from labs.files import with_ending
from labs.terminal import safe, say
from labs.units import plural

if TYPE_CHECKING:
    from grader.class_grading.class_feedback import Feedback
    from grader.class_grading.grade_exports import Written
    from grader.class_grading.gradebook_grades import Sheet


# `grader feedback`: every student's page, side by side.


def add_feedback(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add `grader feedback` and its options."""
    about = "make the feedback of a graded lab in the course folder"
    command = commands.add_parser(
        "feedback",
        help=about,
        description="Make the feedback of a graded lab, several students at a time. It is the same "
        "as that of nbgrader generate_feedback. A page is kept as long as the points and comments "
        "on it hold, so a run that was interrupted goes on where it ended.",
        examples=("grader feedback 01-timer-overhead",),
    )
    add = command.add_argument
    add_lab(command)
    add_course(command)
    add_workers(command)
    add("--resume", action="store_true", help="say first how many have their feedback already")
    add("--force", action="store_true", help="make all pages again")
    command.set_defaults(run=run_feedback)


def run_feedback(arguments: argparse.Namespace) -> int:
    """Make feedback. The exit status: 0, or 1 if a student has none, or if the run ended early."""
    from grader.class_grading.class_feedback import log_of, make_feedback
    from grader.with_nbgrader.course_folder import NotOurs, Stopped

    lab, course = str(arguments.lab).rstrip("/"), arguments.course.absolute()
    bar = Bar(" students")

    def tell(due: int, skipped: int) -> Callable[[int], object]:
        if arguments.resume:
            say(f"{skipped:,} students have their feedback, {due:,} have none.", file=sys.stderr)
        return bar.begin(due)

    try:
        with bar:
            done = make_feedback(course, lab, arguments.workers, arguments.force, tell)
    except (NotOurs, Stopped) as error:
        return complain("grader feedback", error)
    except KeyboardInterrupt:
        say("What is made stays. The same command makes the rest.", file=sys.stderr)
        raise
    _say(done)
    say(f"Log: {log_of(course, lab)}")
    return 1 if done.failed or done.refused else 0


def _say(done: Feedback) -> None:
    """Print what was done, and who has no feedback."""
    say(f"Feedback made: {done.made:,}. Kept as it was: {done.skipped:,}.")
    for student, why in sorted(done.failed.items()):
        say(f"  no feedback for {safe(student)}: {safe(why)}")
    for line in done.refused:
        say(f"  {safe(line)}")


# `grader report`: what a class handed in, as a page and as a data set.


def add_report(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add `grader report` and its options."""
    about = "write a page about a graded lab, and the class's figures for its students"
    examples = "grader report 01-timer-overhead", "grader report 01-timer-overhead --names"
    command = add_command(commands, "report", about, *examples)
    add = command.add_argument
    add_lab(command)
    add("--names", action="store_true", help="show names of students instead of pseudonyms")
    add_course(command)
    add(
        "--to",
        type=Path,
        metavar="DIR",
        help="where to write the report (default: report/LAB in the course folder)",
    )
    command.set_defaults(run=run_report)


def run_report(arguments: argparse.Namespace) -> int:
    """Write the report. The exit status is 0, or 1 on error."""
    from grader.class_grading.class_report import write_report
    from grader.class_grading.class_roster import BadPseudonyms
    from grader.class_grading.graded_class import NoReport
    from labs.files import CannotWrite

    try:
        written = write_report(arguments.course, arguments.lab, arguments.to, names=arguments.names)
    except (NoReport, BadPseudonyms, CannotWrite) as error:
        return complain("grader report", str(error))
    graded = written.graded
    say(f"{plural(len(graded.submissions), 'graded submission')} of {graded.lab}: {written.page}")
    if graded.unread:
        say(f"{len(graded.unread):,} could not be read; the page names them")
    if graded.waiting:
        say(f"{len(graded.waiting):,} were handed in and are not graded yet")
    if written.data_set is None:
        say("No data set for the class: too few figures were accepted.")
    else:
        say(f"For the class, without names: {written.data_set.name} next to the page")
    return 0


# `grader export`: the grades, in the form that another system takes.

_EXPORTS = (
    "grader export 01-timer-overhead --csv grades.csv",
    "grader export 01-timer-overhead --canvas up.csv --gradebook from-canvas.csv",
    "grader export 01-timer-overhead --moodle up.csv --worksheet from-moodle.csv",
    "grader export 01-timer-overhead --moodle-feedback up.zip --worksheet from-moodle.csv",
    "grader export 01-timer-overhead --gradescope autograder",
)


def add_export(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add `grader export` and its options."""
    about = "write the grades of a lab for Canvas, Moodle, Gradescope, or as CSV"
    command = add_command(commands, "export", about, *_EXPORTS)
    add = command.add_argument
    add_lab(command)
    add_course(command)
    target = command.add_mutually_exclusive_group(required=True)
    for name, about in (
        ("--csv", "nbgrader's columns, and each part"),
        ("--canvas", "for Grades, Import in Canvas"),
        ("--moodle", "for Moodle"),
    ):
        target.add_argument(
            name, type=lambda word: with_ending(Path(word), ".csv"), metavar="FILE", help=about
        )
    target.add_argument(
        "--moodle-feedback",
        type=lambda word: with_ending(Path(word), ".zip"),
        metavar="FILE",
        help="the feedback pages as a zip file for Moodle; needs --worksheet",
    )
    target.add_argument("--gradescope", type=Path, metavar="DIR", help="results.json files")
    add("--gradebook", type=Path, metavar="FILE", help="the gradebook that Canvas has exported")
    add("--assignment", metavar="NAME", help="the lab's name in Canvas, if it is another one")
    add("--worksheet", type=Path, metavar="FILE", help="the grading worksheet that Moodle gave")
    add(
        "--visibility",
        choices=("after_published", "after_due_date", "visible", "hidden"),
        help="when students see the results in Gradescope (default: after_published)",
    )
    add(
        "--unfinished",
        action="store_true",
        help="write the points so far of students whose grade still waits for a person",
    )
    add(
        "--overwrite",
        action="store_true",
        help="also write over EX in Canvas, and over a person's comments in Moodle's worksheet",
    )
    command.set_defaults(run=run_export)


def run_export(arguments: argparse.Namespace) -> int:
    """Write the file. The exit status is 0, or 1 on error."""
    from grader.class_grading.grade_exports import BadTable, NotAnExport
    from grader.class_grading.gradebook_grades import NoGrades, read_sheet, with_sources
    from grader.with_nbgrader.course_folder import NotOurs, open_course

    wrong = _trouble_with(arguments)
    if wrong:
        return complain("grader export", wrong)
    lab = str(arguments.lab).rstrip("/")
    try:
        app = open_course(arguments.course)
        course = app.coursedir
        sheet = with_sources(course, read_sheet(course, lab))
        sheet = replace(sheet, unfinished=arguments.unfinished)
        exported = _exported(arguments, course, sheet).as_text()
        say("\n".join([exported, *sheet.notes, *_on_earlier(app, lab)]))
    except (NotOurs, NoGrades, BadTable, NotAnExport, OSError) as error:
        return complain("grader export", error)
    waiting = len(sheet.so_far) - len(sheet.final)
    if waiting and arguments.csv is None:
        what = "marked as not final" if arguments.gradescope else "written as they are"
        what = what if arguments.unfinished else "left out; --unfinished writes them too"
        say(f"Grades that wait for a person: {waiting:,}, {what}.")
    return 0


def _on_earlier(app: Any, lab: str) -> Iterator[str]:
    """When the lab was due, and whose grades are those of another due date or release."""
    from grader.class_grading.autograde_class import autograder
    from grader.class_grading.gradebook_grades import due_in_words
    from grader.with_nbgrader.course_folder import NotOurs
    from grader.with_nbgrader.earlier_grades import CannotEnter, on_due_date, on_release
    from grader.with_nbgrader.nbgrader_exchange import due_date

    course = app.coursedir
    said: list[str] = []
    app.log.setLevel(logging.WARNING)  # the plugin for penalties logs each of them
    try:
        converter = autograder(app, lab)
        if (due := due_date(course, lab)) is not None:
            yield f"Due {due_in_words(due)}."
        said += on_due_date(course, lab, converter)
    except (NotOurs, CannotEnter):  # only nbgrader knows the penalties of this course
        pass
    for each in (*said, *on_release(course, lab)):
        yield f"{each}, and export again."


def _trouble_with(arguments: argparse.Namespace) -> str:
    """What is wrong with the options; '' if nothing is."""
    feedback = arguments.moodle_feedback is not None
    if feedback and arguments.worksheet is None:
        return "--moodle-feedback needs --worksheet, the grading worksheet that Moodle gave"
    for option, needed in (
        ("gradebook", "canvas"),
        ("assignment", "canvas"),
        ("worksheet", "moodle"),
        ("visibility", "gradescope"),
    ):
        if option == "worksheet" and feedback:
            continue
        if getattr(arguments, option) is not None and getattr(arguments, needed) is None:
            return f"--{option} is for --{needed}"
    return ""


def _exported(arguments: argparse.Namespace, course: Any, sheet: Sheet) -> Written:
    from grader.class_grading import grade_exports
    from grader.class_grading.gradebook_grades import reasons_of

    reasons, overwrite = partial(reasons_of, course, sheet.lab), bool(arguments.overwrite)
    if arguments.canvas is not None:
        theirs = arguments.gradebook, arguments.assignment
        return grade_exports.write_canvas(sheet, arguments.canvas, *theirs, overwrite=overwrite)
    if arguments.moodle is not None:
        file, worksheet = arguments.moodle, arguments.worksheet
        return grade_exports.write_moodle(sheet, file, reasons, worksheet, overwrite=overwrite)
    if arguments.moodle_feedback is not None:
        pages, outdated = partial(_page_of, course, sheet.lab), _outdated(course, sheet.lab)
        file, worksheet = arguments.moodle_feedback, arguments.worksheet
        return grade_exports.write_moodle_feedback(sheet, file, pages, worksheet, outdated)
    if arguments.gradescope is not None:
        visibility = arguments.visibility or grade_exports.VISIBILITIES[0]
        return grade_exports.write_gradescope(sheet, arguments.gradescope, reasons, visibility)
    return grade_exports.write_csv(sheet, arguments.csv)


def _page_of(course: Any, lab: str, student: str) -> Path:
    """Where `grader feedback` writes the page of a student."""
    return Path(course.format_path(course.feedback_directory, student, lab)) / f"{lab}.html"


def _outdated(course: Any, lab: str) -> Callable[[str], bool]:
    """Whether the page of a student is older than the grades in the gradebook."""
    from grader.with_nbgrader.feedback import grades_in
    from grader.with_nbgrader.pages.feedback_page import is_outdated

    grades = grades_in(course, lab, lab)
    return lambda student: is_outdated(_page_of(course, lab, student), grades.get(student))
