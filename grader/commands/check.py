"""The command `grader check`: check the figures of a lab folder, or of all labs of a student."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from labs.commands.command_line import complain
from labs.course import lab_names
from labs.terminal import complete_with, offered_folders, one_of, say, say_json, suggestion

if TYPE_CHECKING:
    from grader.check_folders import LabFolder
    from grader.figures.verdict import Verdict


def add_check(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add `grader check` and its options."""
    about = "check the figures of lab folders as the grader will"
    command = commands.add_parser(
        "check",
        help=about,
        description="Check the figures of lab folders as the grader will. Of a folder that holds "
        "labs, check all labs in it. The exit status is 0 if all figures pass, 1 if one fails, and "
        "2 if something cannot be graded.",
        examples=("grader check", "grader check 01-timer-overhead", "grader check ~/ticklab-labs"),
    )
    where = command.add_argument(
        "folders",
        nargs="*",
        type=Path,
        default=[Path()],
        metavar="DIR",
        help="the folder of a lab, or of all your labs (default: this folder)",
    )
    complete_with(where, offered_folders)
    lab = command.add_argument(
        "--lab", metavar="LAB", help="the lab: 03, or 03-system-call (default: from the folder)"
    )
    complete_with(lab, one_of(lab_names.labs))
    form = command.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print a list of objects")
    form.add_argument(
        "--github",
        action="store_true",
        help="in a workflow of GitHub: annotations, and the verdicts as the summary of the job",
    )
    command.set_defaults(run=run_check)


def run_check(arguments: argparse.Namespace) -> int:
    """Check, and print verdicts. The exit status: 0 passed, 1 failed, 2 something not graded."""
    from grader import check_folders
    from grader.figures import LABS
    from grader.judging.lab_folder import check_folder

    lab = arguments.lab and (lab_names.lab_meant(arguments.lab) or arguments.lab)
    if lab and lab not in LABS:
        return _stop(f"no lab {lab!r} has figures{suggestion(lab, tuple(LABS))}")
    if arguments.github and len(arguments.folders) > 1:
        return _stop("--github takes the folder of one lab")
    if len(arguments.folders) > 1:
        return check_folders.check_each(arguments.folders, lab, as_json=arguments.json)
    try:
        folder = check_folders.lab_folder(arguments.folders[0], lab)
    except check_folders.NotALab as error:
        if not (lab or arguments.github) and (found := check_folders.labs_in(arguments.folders[0])):
            return check_folders.check_all_labs(found, as_json=arguments.json)
        return _stop(str(error))
    verdicts = folder.only_asked(check_folder(folder.path, folder.lab))
    if arguments.json:
        say_json([verdict.as_json() for verdict in verdicts])
    elif arguments.github:
        _tell_github(folder, verdicts)
    else:
        say(folder.report(verdicts))
    return check_folders.status(verdicts)


def _tell_github(folder: LabFolder, verdicts: Sequence[Verdict]) -> None:
    """Annotations on standard output, and the report at the end of the file that GitHub names."""
    from grader.judging.presentation import as_annotation, as_summary

    for verdict in verdicts:
        say(as_annotation(verdict, f"{folder.path}/figures.json"))
    summary = os.environ.get("GITHUB_STEP_SUMMARY")
    closing = folder.closing(verdicts)
    say(closing)
    if summary is not None:
        with Path(summary).open("a", encoding="utf-8") as file:
            file.write(as_summary(closing, verdicts))


def _stop(why: str) -> int:
    from grader.check_folders import SOMETHING_NOT_GRADED

    return complain("grader check", why, SOMETHING_NOT_GRADED)
