"""The command `grader feedback`: make every student's feedback, side by side."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from grader.evening.command_options import add_course, add_lab, add_workers
from labs.terminal import safe, say

if TYPE_CHECKING:
    from tqdm import tqdm

    from grader.evening.class_feedback import Feedback


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the subcommand and its options."""
    about = "make the feedback of a graded lab in the course folder"
    command = commands.add_parser(
        "feedback",
        help=about,
        description="Make the feedback of a graded lab, several students at a time. It is the same "
        "as that of nbgrader generate_feedback. Feedback that exists is kept, so a run that was "
        "interrupted goes on where it ended.",
        examples=("grader feedback 01-timer-overhead",),
    )
    add_lab(command)
    add_course(command)
    add_workers(command)
    command.add_argument(
        "--resume", action="store_true", help="say first how many have their feedback already"
    )
    command.add_argument(
        "--force", action="store_true", help="make it again, after scores or comments have changed"
    )
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Make feedback. The exit status: 0, or 1 if a student has none, or if the run ended early."""
    from tqdm import tqdm

    from grader.evening.autograde_class import Stopped
    from grader.evening.class_feedback import log_of, make_feedback
    from grader.evening.course_folder import NotOurs

    lab, course = str(arguments.lab).rstrip("/"), arguments.course.absolute()
    bar: tqdm[Any] | None = None

    def tell(due: int, skipped: int) -> Callable[[int], object]:
        nonlocal bar
        if arguments.resume:
            say(f"{skipped:,} students have their feedback, {due:,} have none.", file=sys.stderr)
        made: tqdm[Any] = tqdm(total=due, unit=" students", mininterval=0.5, file=sys.stderr)
        bar = made
        return made.update

    try:
        done = make_feedback(course, lab, arguments.workers, arguments.force, tell)
    except (NotOurs, Stopped) as error:
        _close(bar)
        say(f"grader feedback: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        _close(bar)
        say("What is made stays. The same command makes the rest.", file=sys.stderr)
        raise
    _close(bar)
    _say(done)
    say(f"Log: {log_of(course, lab)}")
    return 1 if done.failed or done.refused else 0


def _close(bar: tqdm[Any] | None) -> None:
    if bar is not None:
        bar.close()


def _say(done: Feedback) -> None:
    """Print what was done, and who has no feedback."""
    say(f"Feedback made: {done.made:,}. Kept as it was: {done.skipped:,}.")
    if done.skipped:
        say("If you have changed points or comments since, add --force to make all pages again.")
    for student, why in sorted(done.failed.items()):
        say(f"  no feedback for {safe(student)}: {safe(why)}")
    for line in done.refused:
        say(f"  {safe(line)}")
