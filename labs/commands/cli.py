"""The command `labs`: start, doctor, measure, broken, survey, hand-in, progress, report."""

from __future__ import annotations

import argparse
import importlib
import sys

from labs.commands.exit_status import NOTHING_ASKED, status_of
from labs.common.terminal import say
from labs.common.version import __version__

#: The subcommands, each a module of this package, and what each does.
_COMMANDS = {
    "start": "put your own copy of the labs in a folder and open JupyterLab",
    "doctor": "report whether this machine can measure, and what would help",
    "measure": "measure one C kernel and print its figure",
    "broken": "run a C kernel that is wrong on purpose next to its repaired twin",
    "survey": "measure everything on this machine, next to published figures",
    "hand-in": "check a lab once more, and make the archive that you hand in",
    "progress": "show what you have done in all labs, and what comes next",
    "report": "write your own results over all labs as a page, and as a PDF",
}


_EXAMPLES = """\
examples:
  labs start                        open the labs in JupyterLab
  labs measure system_call          measure one C kernel
  labs COMMAND --help               show the options of a command
"""


def main(words: list[str] | None = None) -> int:
    """Run the command and return its exit status. A wrong option prints one line: status 2."""
    return status_of(lambda: _run(sys.argv[1:] if words is None else words))


def _run(words: list[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="labs",
        description="Measure what the operations of an operating system cost.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"ticklab {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    for name, about in _COMMANDS.items():
        command = commands.add_parser(name, help=about, description=about)
        # Only what was asked for is imported: most commands draw nothing.
        if name in words:
            module = importlib.import_module(f"labs.commands.{name.replace('-', '_')}")
            module.add_arguments(command)
            command.set_defaults(run=module.run)
    arguments = parser.parse_args(words)
    if arguments.command is None:
        say(parser.format_help().rstrip())
        return NOTHING_ASKED
    return int(arguments.run(arguments))


if __name__ == "__main__":
    sys.exit(main())
