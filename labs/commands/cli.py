"""The command `labs`; `labs.commands.arguments` lists its subcommands."""

from __future__ import annotations

import importlib
import sys

from labs.commands.command_line import NOTHING_ASKED, Parser, complete, is_completing, status_of
from labs.terminal import say
from labs.version import __version__

_EXAMPLES = (
    "labs start                open the labs in JupyterLab",
    "labs list                 list what can be measured",
    "labs measure system_call  measure one C kernel",
    "labs COMMAND --help       show the options of a command",
)


def main(words: list[str] | None = None) -> int:
    """Run the command and return its exit status. A wrong option is explained: status 2."""
    return status_of(lambda: _run(sys.argv[1:] if words is None else words))


def _run(words: list[str]) -> int:
    parser = Parser(
        prog="labs",
        description="Measure what the operations of an operating system cost.",
        examples=_EXAMPLES,
    )
    parser.add_argument("--version", action="version", version=f"ticklab {__version__}")
    if words != ["--version"]:
        _add_commands(parser)
    if is_completing():
        complete(parser)
    arguments = parser.parse_args(words)
    if arguments.command is None:
        say(parser.format_help().rstrip())
        return NOTHING_ASKED
    # Only what was asked for is imported: most commands draw nothing.
    from labs.commands.arguments import COMMANDS

    name = arguments.command.replace("-", "_")
    module = importlib.import_module(f"labs.commands.{COMMANDS[arguments.command].module or name}")
    return int(getattr(module, f"run_{name}")(arguments))


def _add_commands(parser: Parser) -> None:
    from labs.commands.arguments import COMMANDS

    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    for name, command in COMMANDS.items():
        command.parser(commands, name)


if __name__ == "__main__":
    sys.exit(main())
