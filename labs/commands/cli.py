"""The command `labs`: start, doctor, measure, broken, survey, progress."""

from __future__ import annotations

import argparse
import sys

import labs
from labs.commands import broken, doctor, measure, progress, start, survey
from labs.commands.exit_status import status_of


def main(words: list[str] | None = None) -> int:
    """Run the command and return its exit status. A wrong option prints one line: status 2."""
    return status_of(lambda: _run(words))


def _run(words: list[str] | None) -> int:
    parser = argparse.ArgumentParser(
        prog="labs", description="Measure what the operations of an operating system cost."
    )
    parser.add_argument("--version", action="version", version=f"ticklab {labs.__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, module, about in (
        ("start", start, "put your own copy of the labs in a folder and open JupyterLab"),
        ("doctor", doctor, "report whether this machine can measure, and what would help"),
        ("measure", measure, "measure one C kernel and print its figure"),
        ("broken", broken, "run a C kernel that is wrong on purpose next to its repaired twin"),
        ("survey", survey, "measure everything on this machine, next to published figures"),
        ("progress", progress, "show what you have done in all labs, and what comes next"),
    ):
        command = commands.add_parser(name, help=about, description=about)
        module.add_arguments(command)
        command.set_defaults(run=module.run)
    arguments = parser.parse_args(words)
    return int(arguments.run(arguments))


if __name__ == "__main__":
    sys.exit(main())
