"""The command `grader course`: make a course folder."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from labs.common.terminal import say


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the subcommand and its options."""
    about = "make a course folder with the labs and the settings that nbgrader needs"
    command = commands.add_parser("course", help=about, description=about)
    command.add_argument("folder", type=Path, metavar="DIR")
    command.add_argument(
        "--labs",
        type=Path,
        default=Path("notebooks"),
        metavar="DIR",
        help="the folder of the labs (default: %(default)s)",
    )
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Make the course folder. The exit status is 0, or 1 on error."""
    from grader.with_nbgrader.course import make_course

    if not any(arguments.labs.glob("*/*.ipynb")):
        say(
            f"grader course: {arguments.labs} holds no labs; name the folder with --labs",
            file=sys.stderr,
        )
        return 1
    make_course(arguments.folder, arguments.labs)
    say(f"{arguments.folder} is ready: cd {arguments.folder} && nbgrader generate_assignment LAB")
    return 0
