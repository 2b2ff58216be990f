"""The command `grader report`: what a class handed in, as a page and as a data set."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from grader.evening.command_options import add_course, add_lab
from labs.commands.command_line import sentence
from labs.terminal import say
from labs.units import plural


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the subcommand and its options."""
    about = "write a page about a graded lab, and the class's figures for its students"
    command = commands.add_parser(
        "report",
        help=about,
        description=sentence(about),
        examples=("grader report 01-timer-overhead", "grader report 01-timer-overhead --names"),
    )
    add_lab(command)
    command.add_argument(
        "--names", action="store_true", help="show names of students instead of pseudonyms"
    )
    add_course(command)
    command.add_argument(
        "--to",
        type=Path,
        metavar="DIR",
        help="where to write the report (default: report/LAB in the course folder)",
    )
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Write the report. The exit status is 0, or 1 on error."""
    from grader.evening.class_report import BadPseudonyms, write_report
    from grader.evening.graded_class import NoReport
    from labs.files import CannotWrite

    try:
        written = write_report(arguments.course, arguments.lab, arguments.to, names=arguments.names)
    except (NoReport, BadPseudonyms, CannotWrite) as error:
        say(f"grader report: {error}", file=sys.stderr)
        return 1
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
