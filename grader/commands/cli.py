"""The command `grader`: what an instructor runs, and the check of a lab folder for everybody.

Also the options that several subcommands have, and the bar that shows how far one is.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from labs import terminal
from labs.commands.command_line import (
    NOTHING_ASKED,
    Parser,
    complete,
    is_completing,
    sentence,
    status_of,
    words_to_complete,
)
from labs.course import lab_names
from labs.terminal import complete_with, offered_folders, one_of, say
from labs.version import __version__

if TYPE_CHECKING:
    from tqdm import tqdm

#: The module of each subcommand, in the order in which help lists them.
MODULES = {
    "autograde": "grade",
    "check": "check",
    "classroom": "elsewhere",
    "collect": "collect",
    "course": "course",
    "export": "after_grading",
    "feedback": "after_grading",
    "gradescope": "elsewhere",
    "live": "live",
    "report": "after_grading",
    "rerun": "grade",
}

_EXAMPLES = (
    "grader check 01-timer-overhead  check a lab folder",
    "grader course my-demo --demo    make a course with a made-up class",
    "grader COMMAND --help           show the options of a command",
)


def main(words: list[str] | None = None) -> int:
    """Run the command and return its exit status. A wrong option is explained: status 2."""
    return status_of(lambda: _run(sys.argv[1:] if words is None else words))


def _run(words: list[str]) -> int:
    parser = Parser(
        prog="grader", description="Judge figures by their evidence.", examples=_EXAMPLES
    )
    parser.add_argument("--version", action="version", version=f"ticklab {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    first = (words_to_complete() if is_completing() else words)[:1]
    for name in _needed(first[0] if first else ""):
        module = importlib.import_module(f"grader.commands.{MODULES[name]}")
        getattr(module, f"add_{name}")(commands)
    if is_completing():
        complete(parser)
    arguments = parser.parse_args(words)
    if arguments.command is None:
        say(parser.format_help().rstrip())
        return NOTHING_ASKED
    meant = _lab_meant(arguments)
    if meant:
        parser.error(f"no lab {arguments.lab!r} in this course: did you mean {meant}?")
    return int(arguments.run(arguments))


def _needed(first: str) -> list[str]:
    """The subcommands that must be known to answer a command that begins with `first`."""
    if first == "--version":
        return []
    return [first] if first in MODULES else list(MODULES)


def add_command(
    commands: argparse._SubParsersAction[argparse.ArgumentParser],
    name: str,
    about: str,
    *examples: str,
    **options: Any,
) -> argparse.ArgumentParser:
    """The command `name`, whose help says only what it is about; `options` are as for a parser."""
    description = sentence(about)
    return commands.add_parser(
        name, help=about, description=description, examples=examples, **options
    )


def _lab_meant(arguments: argparse.Namespace) -> str:
    """The lab of the course that a misspelt one stands for; '' if it is there or like none."""
    lab, course = getattr(arguments, "lab", None), getattr(arguments, "course", None)
    if lab is None or course is None or not (course / "source").is_dir():
        return ""
    known = [path.name for path in (course / "source").iterdir() if path.is_dir()]
    return "" if lab.rstrip("/") in known else terminal.meant(lab, known)


# Options that several commands for a whole class have, and the bar that shows how far one is.


def add_lab(command: argparse.ArgumentParser) -> None:
    """`LAB`: which lab of the course."""
    lab = command.add_argument("lab", metavar="LAB", help="the lab, as in 01-timer-overhead")
    complete_with(lab, one_of(lab_names.labs))


def add_course(command: argparse.ArgumentParser) -> None:
    """`--course`: the course folder, as a path."""
    course = command.add_argument(
        "--course",
        type=Path,
        default=Path(),
        metavar="DIR",
        help="the course folder (default: this folder)",
    )
    complete_with(course, offered_folders)


def add_workers(command: argparse.ArgumentParser) -> None:
    """`--workers`: how many processes; 0 means one for each CPU."""
    command.add_argument(
        "--workers", type=_count, default=0, metavar="N", help="processes (default: one per CPU)"
    )


def _count(text: str) -> int:
    count = int(text)
    if count < 1:
        raise argparse.ArgumentTypeError("at least 1 process is needed")
    return count


class Bar:
    """A progress bar on standard error, from the moment at which the total is known."""

    def __init__(self, unit: str) -> None:
        self._unit = unit
        self._shown: tqdm[Any] | None = None

    def begin(self, total: int) -> Callable[[int], object]:
        """Show the bar, and return what is called with how many were done just now."""
        from tqdm import tqdm

        self._shown = tqdm(total=total, unit=self._unit, mininterval=0.5, file=sys.stderr)
        return self._shown.update

    def __enter__(self) -> Bar:
        return self

    def __exit__(self, *_: object) -> None:
        """Leave the bar as it is; what is printed next comes below it."""
        if self._shown is not None:
            self._shown.close()


if __name__ == "__main__":
    sys.exit(main())
