"""The command `grader`: check a lab folder, make a course folder, run the demonstration class."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from grader.figures import LABS
from grader.judging import several
from grader.judging.lab_folder import check_folder
from grader.judging.several import SOMETHING_NOT_GRADED
from labs.commands.exit_status import status_of
from labs.common.terminal import say


def main(words: list[str] | None = None) -> int:
    """Run the command and return its exit status."""
    return status_of(lambda: _run(words))


def _run(words: list[str] | None) -> int:
    parser = argparse.ArgumentParser(prog="grader", description="Judge figures by their evidence.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    about = "check the figures of lab folders as the grader will"
    command = commands.add_parser("check", help=about, description=about)
    command.add_argument("folders", nargs="*", type=Path, default=[Path()], metavar="DIR")
    command.add_argument("--lab", choices=sorted(LABS), help="the lab (default: from the folder)")
    command.add_argument("--json", action="store_true", help="print a list of objects")
    command.set_defaults(run=_check)
    about = "make up a demonstration class and grade it with nbgrader"
    command = commands.add_parser("class", help=about, description=about)
    command.add_argument("folder", nargs="?", type=Path, metavar="DIR")
    command.add_argument("--lab", choices=sorted(LABS), help="the lab that its students hand in")
    command.set_defaults(run=_class)
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
    command.set_defaults(run=_course)
    arguments = parser.parse_args(words)
    return int(arguments.run(arguments))


def _check(arguments: argparse.Namespace) -> int:
    if len(arguments.folders) > 1:
        return several.check(arguments.folders, arguments.lab, as_json=arguments.json)
    try:
        folder = several.lab_folder(arguments.folders[0], arguments.lab)
    except several.NotALab as error:
        say(f"grader check: {error}", file=sys.stderr)
        return SOMETHING_NOT_GRADED
    verdicts = folder.only_asked(check_folder(folder.path, folder.lab))
    if arguments.json:
        say(json.dumps([verdict.as_json() for verdict in verdicts], indent=2))
    else:
        say(folder.report(verdicts))
    return several.status(verdicts)


def _class(arguments: argparse.Namespace) -> int:
    from grader.demonstration import course

    return course.main(arguments.folder, arguments.lab or course.DEFAULT_LAB)


def _course(arguments: argparse.Namespace) -> int:
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


if __name__ == "__main__":
    sys.exit(main())
