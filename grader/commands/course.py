"""`grader course`: make a course folder, with a made-up class if that is asked for."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path

from grader.commands.cli import add_command
from labs.commands.command_line import complain
from labs.files import who_can_read
from labs.terminal import say

DEFAULT_LAB = "01-timer-overhead"


def add_course(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add `grader course` and its options."""
    about = "make a course folder with the labs and the settings that nbgrader needs"
    examples = "grader course my-course", "grader course my-demo --demo"
    command = add_command(commands, "course", about, *examples)
    add = command.add_argument
    add("folder", type=Path, metavar="DIR")
    add(
        "--labs",
        type=Path,
        metavar="FROM",
        help="where the labs come from: a folder of labs, or an archive of Ticklab's source, which "
        "has the solutions (default: the labs of this package)",
    )
    add(
        "--demo",
        action="store_true",
        help="add a made-up class that has handed in a lab, which is ready to be graded",
    )
    add("--lab", metavar="LAB", help=f"the lab that this class hands in (default: {DEFAULT_LAB})")
    command.set_defaults(run=run_course)


def run_course(arguments: argparse.Namespace) -> int:
    """Make the course folder. The exit status is 0, or 1 on error."""
    from grader.with_nbgrader.course import NoLabs

    folder, lab = arguments.folder, arguments.lab or DEFAULT_LAB
    if arguments.lab and not arguments.demo:
        return complain("grader course", "--lab names the lab of the made-up class; add --demo")
    try:
        if arguments.demo:
            report = _with_class(folder, arguments.labs, lab)
        else:
            names, report = _lay_out(folder, arguments.labs)
            lab = lab if lab in names else names[0]
    except (NoLabs, _NoClass) as error:
        return complain("grader course", str(error))
    except OSError as error:
        return complain(
            "grader course", f"cannot write {error.filename or folder}: {error.strerror or error}"
        )
    say(report)
    say(_next(folder, lab, collected=arguments.demo))
    return 0


class _NoClass(Exception):
    """There is no made-up class in the course; the message says why."""


def _lay_out(folder: Path, labs_from: Path | None) -> tuple[list[str], str]:
    """Makes the course; returns the labs that it has, and a line about it."""
    from grader.with_nbgrader.course import make_course, source_labs

    source = folder / "source"
    is_new = not source.exists()
    with source_labs(labs_from) as labs:
        came = make_course(folder, labs.folder, add=labs_from is not None)
        what = "with their solutions" if labs.solved else "without solutions"
        if is_new:
            ready = f"{folder} is ready. Labs in it: {len(labs.names)}, {what}."
            return labs.names, f"{ready} {who_can_read(folder)}"
        new = [name for name in labs.names if name in came]
        line = f"{folder} is ready. New labs in it: {', '.join(new)}." if new else ""
        line = line or f"{folder} is ready. Its labs are as they were."
        if labs_from is not None and len(new) < len(labs.names):
            line += (
                f" {len(labs.names) - len(new)} of {labs_from} were there already and stay: to "
                f"take one anew, move it out of {source} first."
            )
        return labs.names, line


def _with_class(folder: Path, labs_from: Path | None, lab: str) -> str:
    """Makes the course and its class; returns what to report. Raises _NoClass."""
    from grader import demonstration

    try:
        demonstration.must_be_fillable(folder, lab)
        _, line = _lay_out(folder, labs_from)
        return f"{line}\n{demonstration.fill(folder, lab)}"
    except demonstration.CannotFill as error:
        raise _NoClass(str(error)) from error


def _next(folder: Path, lab: str, *, collected: bool) -> str:
    """The commands that an instructor needs next."""
    steps = [
        (f"nbgrader generate_assignment {lab}", "make the students' lab"),
        (f"nbgrader release_assignment {lab}", "give it out, by an exchange"),
        (f"grader collect SOURCE --lab {lab}", "take what they handed in"),
        (f"grader autograde {lab}", "grade it"),
        (f"grader feedback {lab}", "write a page for each student"),
        ("jupyter lab", "menu Nbgrader, Formgrader"),
    ]
    width = max(len(command) for command, _ in steps)
    lines = [f"  {command:<{width}}   {what}" for command, what in steps[3 if collected else 0 :]]
    return "\n".join(["Next:", f"  cd {shlex.quote(str(folder))}", *lines])
