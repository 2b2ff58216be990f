"""The command `grader collect`: take in what a class has handed in."""

from __future__ import annotations

import argparse
import contextlib
import logging
import re
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grader.commands.cli import add_command, add_course
from labs.commands.command_line import complain
from labs.course import lab_names
from labs.terminal import complete_with, one_of, say

if TYPE_CHECKING:
    from grader.class_grading.collect_class import Report

NOT_ALL, NOTHING = 1, 2
_MORE = """\
SOURCE is one of these:
  the zip file in which Canvas, Moodle, Blackboard, Brightspace, Gradescope, ILIAS or Sakai gives \
you all submissions, or its folder, unpacked;
  a folder or a zip file with one folder or zip file for each student;
  the word `exchange`, for nbgrader's exchange.

The exit status is 0 if everything was collected, and 2 if nothing could be done. It is 1 if \
something was not collected, or if a person must choose. The output says what and why, and all \
else is collected. A folder that can be one student's or a class's is not collected: the output \
says which option decides."""
_EXAMPLES = (
    "grader collect download.zip",
    "grader collect download.zip --lab 01-timer-overhead --dry-run",
    "grader collect exchange --lab 01-timer-overhead",
)


def add_collect(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add `grader collect` and its options."""
    about = "collect a class: from a folder, a zip file or nbgrader's exchange"
    command = add_command(commands, "collect", about, *_EXAMPLES, epilog=_MORE)
    add = command.add_argument
    add("source", metavar="SOURCE", help="a folder, a zip file, or `exchange`")
    lab = add("--lab", metavar="LAB", help="the lab (default: from the files' names)")
    complete_with(lab, one_of(lab_names.labs))
    add_course(command)
    add(
        "--roster",
        type=Path,
        metavar="FILE",
        help="a CSV file that says which id in a file name is which student",
    )
    add(
        "--names",
        metavar="REGEX",
        help="how files are named, as nbgrader's named_regexp; (?P<student_id>...) and "
        "(?P<file_id>...), and perhaps (?P<timestamp>...)",
    )
    for option, which in (("--newest", "the newest submission"), ("--earlier", "the earlier one")):
        add(
            option,
            default="",
            metavar="STUDENTS",
            help=f"{which} of these students counts, if the newest one lacks what an earlier one "
            "has; commas between the ids",
        )
    add("--dry-run", action="store_true", help="write nothing, and print what would be done")
    command.set_defaults(run=run_collect)


def run_collect(arguments: argparse.Namespace) -> int:
    """Collect, write the receipts and print a summary. Returns the exit status."""
    from grader.class_grading import collect_class
    from grader.class_grading.uploaded_archives import NotTaken
    from grader.submissions.safe_files import NO_ROOM
    from grader.with_nbgrader.course_folder import NotOurs, open_course

    try:
        app = open_course(arguments.course)
        if arguments.source == "exchange":
            report = _from_exchange(app, arguments)
        else:
            report = _from_files(app.coursedir, arguments)
        summary = collect_class.as_text(report)
        if not arguments.dry_run:
            table = collect_class.write_receipts(app.coursedir, report.lab, report.not_collected)
            summary += f"\n\nReceipts: {table.with_suffix('')}, and for the class {table}"
        say(summary)
    except (NotOurs, NotTaken) as error:
        return complain("grader collect", str(error), NOTHING)
    except BlockingIOError:
        why = "another collect of this lab is running; wait for it"
        return complain("grader collect", why, NOTHING)
    except OSError as error:
        what = " ".join(filter(None, (error.filename, error.strerror))) or str(error)
        remedy = "Free some space, then run" if error.errno in NO_ROOM else "Run"
        again = f"What was collected is whole. {remedy} the same command again."
        return complain("grader collect", f"{what}. {again}", NOTHING)
    return 0 if report.complete else NOT_ALL


def _from_exchange(app: Any, arguments: argparse.Namespace) -> Report:
    from nbgrader.auth import Authenticator
    from nbgrader.exchange import ExchangeError

    from grader.class_grading import collect_class
    from grader.class_grading.collect_class import lab_of, labs_of
    from grader.class_grading.uploaded_archives import NotTaken
    from grader.with_nbgrader.nbgrader_exchange import collect_another

    if arguments.roster is not None or arguments.names is not None:
        raise NotTaken("--roster and --names are for files, and not for the exchange")
    lab = lab_of([], labs_of(app.coursedir), arguments.lab)
    app.authenticator = Authenticator(parent=app)
    app.log.setLevel(logging.WARNING)  # the summary counts what the log would list
    report = collect_class.collect_from_exchange(app, lab, arguments.dry_run, _words(arguments))
    if report is not None:
        return report
    with tempfile.TemporaryDirectory(prefix="ticklab-collect-") as scratch:
        folder = Path(scratch) / "exchange"
        folder.mkdir()
        try:
            collect_another(app, lab, folder)
        except ExchangeError as error:
            raise NotTaken(str(error) or "the exchange cannot be read") from error
        arguments.source, arguments.lab = str(folder), lab
        arguments.names = rf"(?P<student_id>[^/]+)/{re.escape(lab)}/(?P<file_id>.+)"
        report = _from_files(app.coursedir, arguments)
        report.layout = "the exchange that your settings name"
        return report


def _words(arguments: argparse.Namespace) -> dict[str, str]:
    """Which submission counts, by student, where a person has chosen. Raises NotTaken."""
    from grader.class_grading.collect_class import NEWEST, STAYS
    from grader.class_grading.uploaded_archives import NotTaken

    found: dict[str, str] = {}
    for word, stated in ((NEWEST, arguments.newest), (STAYS, arguments.earlier)):
        for student in filter(None, map(str.strip, stated.split(","))):
            if found.setdefault(student, word) != word:
                raise NotTaken(f"--newest and --earlier both name {student}")
    return found


def _from_files(course: Any, arguments: argparse.Namespace) -> Report:
    from tqdm import tqdm

    from grader.class_grading import class_roster
    from grader.class_grading.class_roster import enter_students
    from grader.class_grading.collect_class import Collect, lab_of, labs_of
    from grader.class_grading.upload_names import by_pattern
    from grader.class_grading.uploaded_archives import NotTaken
    from grader.with_nbgrader.locked_gradebook import GradebookUnavailable
    from grader.with_nbgrader.nbgrader_exchange import due_date

    known = None if arguments.roster is None else class_roster.read_roster(arguments.roster)
    try:
        layout = None if arguments.names is None else by_pattern(arguments.names)
    except ValueError as error:
        raise NotTaken(f"--names: {error}") from error
    path = Path(arguments.source)
    with contextlib.ExitStack() as stack:
        items = stack.enter_context(class_roster.opened_source(path))
        labs = labs_of(course)
        lab = lab_of(items, labs, arguments.lab)
        try:
            due = due_date(course, lab)
        except GradebookUnavailable as error:
            raise NotTaken(str(error)) from error
        collect = Collect(course, lab, labs, due, arguments.dry_run, _words(arguments))
        report = collect.run(
            path.name or str(path),
            items,
            layout,
            known,
            # None: only in a terminal
            lambda students: tqdm(students, unit=" students", disable=None, leave=False),
        )
    if not arguments.dry_run:
        here = {line.student for line in report.lines}
        people = [*(known.students if known else ()), *report.people]
        enter_students(course, [each for each in people if each.student in here])
    return report
