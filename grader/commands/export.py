"""The command `grader export`: the grades of a lab, in the form that another system takes."""

from __future__ import annotations

import argparse
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grader.evening.command_options import add_course, add_lab
from labs.files import explained, with_ending
from labs.terminal import say

if TYPE_CHECKING:
    from grader.evening.grade_sheet import Sheet, Written

_EXAMPLES = (
    "grader export 01-timer-overhead --csv grades.csv",
    "grader export 01-timer-overhead --canvas up.csv --gradebook from-canvas.csv",
    "grader export 01-timer-overhead --moodle up.csv --worksheet from-moodle.csv",
    "grader export 01-timer-overhead --moodle-feedback up.zip --worksheet from-moodle.csv",
    "grader export 01-timer-overhead --gradescope autograder",
)


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the subcommand and its options."""
    about = "write the grades of a lab for Canvas, Moodle, Gradescope, or as CSV"
    command = commands.add_parser(
        "export",
        help=about,
        description="Write the grades of a lab for Canvas, Moodle, Gradescope, or as CSV.",
        examples=_EXAMPLES,
    )
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
    command.add_argument(
        "--gradebook", type=Path, metavar="FILE", help="the gradebook that Canvas has exported"
    )
    command.add_argument(
        "--worksheet", type=Path, metavar="FILE", help="the grading worksheet that Moodle gave"
    )
    command.add_argument(
        "--visibility",
        choices=("after_published", "after_due_date", "visible", "hidden"),
        help="when students see the results in Gradescope (default: after_published)",
    )
    command.add_argument(
        "--unfinished",
        action="store_true",
        help="write the points so far of students whose grade still waits for a person",
    )
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Write the file. The exit status is 0, or 1 on error."""
    from grader.evening.course_folder import NotOurs, open_course
    from grader.evening.exports import NotAnExport
    from grader.evening.grade_sheet import BadTable, NoGrades, read_sheet

    wrong = _trouble_with(arguments)
    if wrong:
        return _refused(wrong)
    lab = str(arguments.lab).rstrip("/")
    try:
        course = open_course(arguments.course).coursedir
        sheet = read_sheet(course, lab)
        say(_written(arguments, course, sheet).as_text())
    except (NotOurs, NoGrades, BadTable, NotAnExport, OSError) as error:
        return _refused(explained(error))
    waiting = len(sheet.so_far) - len(sheet.final)
    if waiting and arguments.csv is None:
        what = "marked as not final" if arguments.gradescope else "written as they are"
        what = what if arguments.unfinished else "left out; --unfinished writes them too"
        say(f"Grades that wait for a person: {waiting:,}, {what}.")
    return 0


def _trouble_with(arguments: argparse.Namespace) -> str:
    """What is wrong with the options; '' if nothing is."""
    feedback = arguments.moodle_feedback is not None
    if feedback and arguments.worksheet is None:
        return "--moodle-feedback needs --worksheet, the grading worksheet that Moodle gave"
    for option, needed in (
        ("gradebook", "canvas"),
        ("worksheet", "moodle"),
        ("visibility", "gradescope"),
    ):
        if option == "worksheet" and feedback:
            continue
        if getattr(arguments, option) is not None and getattr(arguments, needed) is None:
            return f"--{option} is for --{needed}"
    return ""


def _written(arguments: argparse.Namespace, course: Any, sheet: Sheet) -> Written:
    from grader.evening import exports
    from grader.evening.grade_sheet import reasons_of

    reasons, unfinished = partial(reasons_of, course, sheet.lab), bool(arguments.unfinished)
    if arguments.canvas is not None:
        return exports.write_canvas(
            sheet, arguments.canvas, arguments.gradebook, unfinished=unfinished
        )
    if arguments.moodle is not None:
        return exports.write_moodle(
            sheet, arguments.moodle, reasons, arguments.worksheet, unfinished=unfinished
        )
    if arguments.moodle_feedback is not None:
        return exports.write_moodle_feedback(
            sheet,
            arguments.moodle_feedback,
            partial(_page, course, sheet.lab),
            arguments.worksheet,
            unfinished=unfinished,
        )
    if arguments.gradescope is not None:
        visibility = arguments.visibility or exports.VISIBILITIES[0]
        return exports.write_gradescope(
            sheet, arguments.gradescope, reasons, visibility, unfinished=unfinished
        )
    return exports.write_csv(sheet, arguments.csv)


def _page(course: Any, lab: str, student: str) -> Path:
    """Where `grader feedback` writes the page of a student."""
    return Path(course.format_path(course.feedback_directory, student, lab)) / f"{lab}.html"


def _refused(why: str) -> int:
    say(f"grader export: {why}", file=sys.stderr)
    return 1
