"""The command `grader class`: run the demonstration class."""

from __future__ import annotations

import argparse
from pathlib import Path

from grader.figures import LABS


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the subcommand and its options."""
    about = "make up a demonstration class and grade it with nbgrader"
    command = commands.add_parser("class", help=about, description=about)
    command.add_argument("folder", nargs="?", type=Path, metavar="DIR")
    command.add_argument("--lab", choices=sorted(LABS), help="the lab that its students hand in")
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Run the class and print its table. The exit status is 0, or 1 on error."""
    from grader.demonstration import course

    return course.main(arguments.folder, arguments.lab or course.DEFAULT_LAB)
