"""The command `grader rerun`: run the C of one submission again, in a sandbox."""

from __future__ import annotations

import argparse
import sys

from grader.evening.command_options import add_course, add_lab
from labs.terminal import say


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the subcommand and its options."""
    about = "run the C of one submission again, in a sandbox"
    command = commands.add_parser(
        "rerun",
        help=about,
        description=f"{about.capitalize()}: does it compile, and does it print the samples that it "
        "is asked for? The result is a note for you. It changes no points.",
        examples=("grader rerun 03-system-call anna",),
    )
    add_lab(command)
    command.add_argument("student", metavar="STUDENT")
    command.add_argument("--figure", metavar="F", help="only the C behind this figure")
    add_course(command)
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Run it again. The exit status: 0, 1 if something is not as it should be, 2 if nothing ran."""
    from grader.evening.rerun_own_c import CannotRerun, note_of, rerun

    lab, student = str(arguments.lab).rstrip("/"), str(arguments.student)
    try:
        done = rerun(arguments.course, lab, student, arguments.figure)
    except CannotRerun as error:
        say(f"grader rerun: {error}", file=sys.stderr)
        return 2
    for each in done:
        say(f"{each.recording} ({', '.join(each.figures)})")
        for sentence in each.sentences():
            say(f"  {sentence}")
    if not done:
        say("The submission holds no C of the student's own for these figures. Nothing was run.")
        return 0
    say(f"Noted in {note_of(arguments.course, lab, student)}. No points were changed.")
    return 0 if all(each.as_it_should for each in done) else 1
