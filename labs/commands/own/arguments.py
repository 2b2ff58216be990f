"""What the commands of this package do and take, with an example of each.

This imports nothing that measures or draws: help and completion wait for it.
"""

from __future__ import annotations

import argparse

from labs.commands.command_line import Command

_PACKAGE = "labs.commands.own"


def _new(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "name",
        metavar="NAME",
        help="the name of your C kernel; it goes to NAME.c in the current folder",
    )


#: These commands, in the order of the help.
OWN = {
    "new": Command(
        "write a C kernel of your own, to be changed, that can be measured at once",
        _new,
        ("labs new pipe_write",),
        _PACKAGE,
    ),
}
