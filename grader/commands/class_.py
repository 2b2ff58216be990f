"""The command `grader class`: run the demonstration class."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from labs.commands.command_line import USAGE, sentence
from labs.course import lab_names
from labs.suggestions import complete_with, one_of, suggestion
from labs.terminal import say


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the subcommand and its options."""
    about = "make up a demonstration class and grade it with nbgrader"
    command = commands.add_parser(
        "class",
        help=about,
        description=sentence(about),
        examples=("grader class", "grader class my-course --lab 03-system-call"),
    )
    command.add_argument("folder", nargs="?", type=Path, metavar="DIR")
    lab = command.add_argument("--lab", metavar="LAB", help="the lab that its students hand in")
    complete_with(lab, one_of(lab_names.labs))
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Run the class and print its table. The exit status is 0, or 1 on error."""
    from grader.figures import LABS

    if arguments.lab and arguments.lab not in LABS:
        there = suggestion(arguments.lab, tuple(LABS))
        say(f"grader class: no lab {arguments.lab!r} has figures{there}", file=sys.stderr)
        return USAGE
    from grader import demonstration

    return demonstration.main(arguments.folder, arguments.lab or demonstration.DEFAULT_LAB)
