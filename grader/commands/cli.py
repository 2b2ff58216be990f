"""The command `grader`: what an instructor runs, and the check of a lab folder for everybody."""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import sys

import grader.commands
from labs import suggestions
from labs.commands.command_line import Parser, complete, is_completing, words_to_complete
from labs.commands.exit_status import NOTHING_ASKED, status_of
from labs.terminal import say
from labs.version import __version__

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
    for module in _needed(first[0] if first else ""):
        importlib.import_module(f"{grader.commands.__name__}.{module}").add(commands)
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
    """The modules of the subcommands that must be known to answer a command beginning with `first`.

    A module is named like its subcommand; a name that Python does not allow ends in an underscore.
    """
    modules = [module.name for module in pkgutil.iter_modules(grader.commands.__path__)]
    modules.remove("cli")
    named = [one for one in modules if one.rstrip("_").replace("_", "-") == first]
    return [] if first == "--version" else named or modules


def _lab_meant(arguments: argparse.Namespace) -> str:
    """The lab of the course that a misspelt one stands for; '' if it is there or like none."""
    lab, course = getattr(arguments, "lab", None), getattr(arguments, "course", None)
    if lab is None or course is None or not (course / "source").is_dir():
        return ""
    known = [path.name for path in (course / "source").iterdir() if path.is_dir()]
    return "" if lab.rstrip("/") in known else suggestions.meant(lab, known)


if __name__ == "__main__":
    sys.exit(main())
