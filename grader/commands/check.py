"""The command `grader check`: check the figures of lab folders."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from grader.figures import LABS
from grader.judging import several
from grader.judging.lab_folder import check_folder
from labs.common.terminal import say


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the subcommand and its options."""
    about = "check the figures of lab folders as the grader will"
    command = commands.add_parser("check", help=about, description=about)
    command.add_argument("folders", nargs="*", type=Path, default=[Path()], metavar="DIR")
    command.add_argument("--lab", choices=sorted(LABS), help="the lab (default: from the folder)")
    command.add_argument("--json", action="store_true", help="print a list of objects")
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Check, and print verdicts. The exit status: 0 passed, 1 failed, 2 something not graded."""
    if len(arguments.folders) > 1:
        return several.check(arguments.folders, arguments.lab, as_json=arguments.json)
    try:
        folder = several.lab_folder(arguments.folders[0], arguments.lab)
    except several.NotALab as error:
        say(f"grader check: {error}", file=sys.stderr)
        return several.SOMETHING_NOT_GRADED
    verdicts = folder.only_asked(check_folder(folder.path, folder.lab))
    if arguments.json:
        say(json.dumps([verdict.as_json() for verdict in verdicts], indent=2))
    else:
        say(folder.report(verdicts))
    return several.status(verdicts)
