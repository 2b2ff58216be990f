"""The command `grader`: what an instructor runs, and the check of a lab folder for everybody."""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import sys

import grader.commands
from labs.commands.exit_status import NOTHING_ASKED, status_of
from labs.common.terminal import say
from labs.common.version import __version__

_EXAMPLES = """\
examples:
  grader check 01-timer-overhead   check a lab folder, as the grader will
  grader course my-course          make a course folder for nbgrader
  grader COMMAND --help            show the options of a command
"""


def main(words: list[str] | None = None) -> int:
    """Run the command and return its exit status. A wrong option prints one line: status 2."""
    return status_of(lambda: _run(sys.argv[1:] if words is None else words))


def _run(words: list[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="grader",
        description="Judge figures by their evidence.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"ticklab {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    for module in _needed(words[0] if words else ""):
        importlib.import_module(f"{grader.commands.__name__}.{module}").add(commands)
    arguments = parser.parse_args(words)
    if arguments.command is None:
        say(parser.format_help().rstrip())
        return NOTHING_ASKED
    return int(arguments.run(arguments))


def _needed(first: str) -> list[str]:
    """The modules of the subcommands that must be known to answer a command beginning with `first`.

    Each import takes time, and some take half a second. A module is named like its subcommand; a
    name that Python does not allow ends in an underscore.
    """
    modules = [module.name for module in pkgutil.iter_modules(grader.commands.__path__)]
    modules.remove("cli")
    named = [one for one in modules if one.rstrip("_").replace("_", "-") == first]
    return [] if first == "--version" else named or modules


if __name__ == "__main__":
    sys.exit(main())
