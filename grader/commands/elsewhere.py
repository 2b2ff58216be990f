"""`grader gradescope` and `grader classroom`: have another platform check figures at once."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from grader.commands.cli import add_command, add_course, add_lab
from labs.commands.command_line import complain
from labs.course import lab_names
from labs.files import with_ending
from labs.terminal import say, suggestion


def add_gradescope(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add `grader gradescope` and its options."""
    about = "write an autograder for Gradescope, which gives verdicts at once"
    command = add_command(commands, "gradescope", about, "grader gradescope 01-timer-overhead")
    add_lab(command)
    command.add_argument(
        "file",
        nargs="?",
        type=lambda word: with_ending(Path(word), ".zip"),
        metavar="FILE",
        help="the zip file to write (default: LAB-autograder.zip)",
    )
    command.set_defaults(run=run_gradescope)


def run_gradescope(arguments: argparse.Namespace) -> int:
    """Write the zip file. The exit status is 0, or 1 on error."""

    def write(lab: str) -> str:
        from grader.class_grading.platforms import answers_for_a_person, write_autograder
        from grader.figures import figures_of
        from grader.judging.presentation import points_as_text

        path = arguments.file or Path(f"{lab}-autograder.zip")
        write_autograder(lab, path)
        points = points_as_text(sum(each.max_points for each in figures_of(lab)))
        by_person = points_as_text(sum(answers_for_a_person(lab).values()))
        return (
            f"{path}: upload it to Gradescope as the autograder of a programming assignment.\n"
            f"Autograder points: {points}. Answers that a person grades: {by_person} points."
        )

    return _written(arguments, write)


def add_classroom(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add `grader classroom` and its options."""
    about = "write a template repository for GitHub Classroom, which checks figures"
    command = add_command(commands, "classroom", about, "grader classroom 01-timer-overhead")
    add_lab(command)
    command.add_argument(
        "folder",
        nargs="?",
        type=Path,
        metavar="DIR",
        help="the new folder (default: LAB-classroom)",
    )
    add_course(command)
    command.set_defaults(run=run_classroom)


def run_classroom(arguments: argparse.Namespace) -> int:
    """Write the folder. The exit status is 0, or 1 on error."""

    def write(lab: str) -> str:
        from grader.class_grading.platforms import write_classroom

        folder = arguments.folder or Path(f"{lab}-classroom")
        write_classroom(lab, folder, arguments.course)
        return f"{folder}: push it to GitHub as a template repository."

    return _written(arguments, write)


def _written(arguments: argparse.Namespace, write: Callable[[str], str]) -> int:
    """Write for the lab that is asked for, and print what to do next."""
    from grader.class_grading.grade_exports import NotAnExport
    from grader.figures import LABS

    lab = lab_names.lab_meant(arguments.lab.rstrip("/")) or arguments.lab
    try:
        if lab not in LABS:
            raise NotAnExport(f"no lab {lab!r} has figures{suggestion(lab, tuple(LABS))}")
        say(write(lab))
    except (NotAnExport, OSError) as error:
        return complain(f"grader {arguments.command}", error)
    return 0
