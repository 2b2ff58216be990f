"""`grader autograde` and `grader rerun`: grade a class, and run a student's C again."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from grader.commands.cli import Bar, add_course, add_lab, add_workers
from labs.commands.command_line import complain
from labs.terminal import say

if TYPE_CHECKING:
    from grader.class_grading.autograde_class import Class


def add_autograde(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add `grader autograde` and its options."""
    about = "grade every submission of a lab in the course folder"
    command = commands.add_parser(
        "autograde",
        help=about,
        description="Grade every submission of a lab in the course folder, several at a time. What "
        "is graded already is skipped. A run that was interrupted goes on where it ended.",
        examples=(
            "grader autograde 01-timer-overhead",
            "grader autograde 01-timer-overhead --course ~/my-course --workers 4",
        ),
    )
    add = command.add_argument
    add_lab(command)
    add_course(command)
    add_workers(command)
    add("--dask", metavar="ADDRESS", help="grade on this Dask cluster instead")
    add(
        "--dask-tls",
        nargs=3,
        default=(),
        metavar=("CA", "CERTIFICATE", "KEY"),
        help="the files for its tls:// address (default: those of Dask's configuration)",
    )
    add(
        "--dask-open",
        action="store_true",
        help="use a cluster that other machines reach without TLS: they can change grades",
    )
    add("--resume", action="store_true", help="say first what an interrupted run has left")
    add("--force", action="store_true", help="grade again what has been graded before")
    command.set_defaults(run=run_autograde)


def run_autograde(arguments: argparse.Namespace) -> int:
    """Grade. The exit status: 0, or 1 if a submission has no result, or if the run ended early."""
    from grader.class_grading.autograde_class import Options, autograde, log_of
    from grader.class_grading.on_dask import Cluster
    from grader.with_nbgrader.course_folder import NotOurs, Stopped

    lab, course = str(arguments.lab).rstrip("/"), arguments.course.absolute()
    cluster = None
    if arguments.dask:
        cluster = Cluster(arguments.dask, tuple(arguments.dask_tls), arguments.dask_open)
    options = Options(arguments.workers, cluster, arguments.force)
    bar = Bar(" submissions")

    def tell(found: Class) -> Callable[[int], object]:
        _say_what_is_left(found, arguments.resume)
        return bar.begin(len(found.jobs))

    try:
        with bar:
            summary = autograde(course, lab, options, tell)
    except (NotOurs, Stopped) as error:
        return complain("grader autograde", error)
    except KeyboardInterrupt:
        say("What is graded stays. The same command grades the others.", file=sys.stderr)
        raise
    say(summary.as_text())
    say(f"\nLog: {log_of(course, lab)}")
    return 1 if summary.failed or summary.refused else 0


def _say_what_is_left(found: Class, aloud: bool) -> None:
    """What an earlier run has left; its results are used in any case, which is safe."""
    left = len(found.computed)
    if left:
        say(
            f"An earlier run was interrupted. Its {left:,} results of unchanged submissions are "
            "used; all others are computed now.",
            file=sys.stderr,
        )
    elif aloud:
        say("No earlier run has left results that can be used.", file=sys.stderr)


# `grader rerun`: one submission, in a sandbox.


def add_rerun(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add `grader rerun` and its options."""
    about = "run the C of one submission again, in a sandbox"
    command = commands.add_parser(
        "rerun",
        help=about,
        description=f"{about.capitalize()}: does it compile, and does it print the samples that it "
        "is asked for? The result is a note for you. It changes no points.",
        examples=("grader rerun 03-system-call anna",),
    )
    add = command.add_argument
    add_lab(command)
    add("student", metavar="STUDENT")
    add("--figure", metavar="F", help="only the C behind this figure")
    add_course(command)
    command.set_defaults(run=run_rerun)


def run_rerun(arguments: argparse.Namespace) -> int:
    """Run it again. The exit status: 0, 1 if something is not as it should be, 2 if nothing ran."""
    from grader.class_grading.rerun_own_c import CannotRerun, note_of, rerun

    lab, student = str(arguments.lab).rstrip("/"), str(arguments.student)
    try:
        done = rerun(arguments.course, lab, student, arguments.figure)
    except CannotRerun as error:
        return complain("grader rerun", str(error), 2)
    for each in done:
        say(f"{each.recording} ({', '.join(each.figures)})")
        for sentence in each.sentences():
            say(f"  {sentence}")
    if not done:
        say("The submission holds no C of the student's own for these figures. Nothing was run.")
        return 0
    say(f"Noted in {note_of(arguments.course, lab, student)}. No points were changed.")
    return 0 if all(each.as_it_should for each in done) else 1
