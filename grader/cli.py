"""The command `grader`: check a lab folder, make a course folder, run the demonstration class."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from grader.cases.verdict import Outcome, Verdict
from grader.figures import LABS
from grader.judging.lab_folder import check_folder, handed_in_for_practice, lab_of
from grader.judging.presentation import as_text, points_as_text
from labs.commands.exit_status import status_of

ALL_PASSED, SOMETHING_FAILED, SOMETHING_NOT_GRADED = 0, 1, 2


def main(words: list[str] | None = None) -> int:
    """Run the command and return its exit status."""
    return status_of(lambda: _run(words))


def _run(words: list[str] | None) -> int:
    parser = argparse.ArgumentParser(prog="grader", description="Judge figures by their evidence.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    about = "check the figures of a lab folder as the grader will"
    command = commands.add_parser("check", help=about, description=about)
    command.add_argument("folder", nargs="?", type=Path, default=Path(), metavar="DIR")
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
    folder: Path = arguments.folder
    if not folder.is_dir():
        print(f"grader check: {folder} is not a folder", file=sys.stderr)
        return SOMETHING_NOT_GRADED
    practice = None if arguments.lab else handed_in_for_practice(folder)
    if practice is not None and not practice:
        print(f"grader check: there is no figure in {folder.resolve()} yet", file=sys.stderr)
        return SOMETHING_NOT_GRADED
    try:
        lab = arguments.lab or lab_of(folder)
    except LookupError as error:
        print(f"grader check: {error}; name it with --lab", file=sys.stderr)
        return SOMETHING_NOT_GRADED
    verdicts = check_folder(folder, lab)
    if practice is not None:
        verdicts = [verdict for verdict in verdicts if verdict.figure in practice]
    if arguments.json:
        print(json.dumps([verdict.as_json() for verdict in verdicts], indent=2))
    else:
        print(_report(lab, verdicts, counts=practice is None))
    outcomes = {verdict.outcome for verdict in verdicts}
    if Outcome.NOT_GRADED in outcomes:
        return SOMETHING_NOT_GRADED
    return SOMETHING_FAILED if Outcome.FAILED in outcomes else ALL_PASSED


def _report(lab: str, verdicts: list[Verdict], *, counts: bool) -> str:
    report = "\n\n".join(as_text(verdict) for verdict in verdicts)
    if not counts:
        return f"{report}\n\nfor practice: nothing counts in this folder"
    got = points_as_text(sum(verdict.points for verdict in verdicts))
    most = points_as_text(sum(verdict.max_points for verdict in verdicts))
    return f"{report}\n\n{lab}: {got} of {most} points"


def _class(arguments: argparse.Namespace) -> int:
    from grader.demonstration import course

    return course.main(arguments.folder, arguments.lab or course.DEFAULT_LAB)


def _course(arguments: argparse.Namespace) -> int:
    from grader.with_nbgrader.course import make_course

    if not any(arguments.labs.glob("*/*.ipynb")):
        print(
            f"grader course: {arguments.labs} holds no labs; name the folder with --labs",
            file=sys.stderr,
        )
        return 1
    make_course(arguments.folder, arguments.labs)
    print(f"{arguments.folder} is ready: cd {arguments.folder} && nbgrader generate_assignment LAB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
