"""What the commands of this package do and take, with an example of each.

This imports nothing that measures or draws: help and completion wait for it.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from labs.commands.command_line import Command
from labs.common.completing import complete_with, files, folders
from labs.common.files import with_ending
from labs.run import declared_options

_PACKAGE = "labs.commands.own"


def _new(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "name",
        metavar="NAME",
        help="the name of your C kernel; it goes to NAME.c in the current folder",
    )


def _record(parser: argparse.ArgumentParser) -> None:
    declared_options.add_line(parser)
    save = parser.add_argument(
        "--save",
        type=Path,
        metavar="FILE",
        help="write the recording to this file (default: the C kernel's name with .csv in the "
        "current folder, or with a number if that is taken)",
    )
    complete_with(save, files(".csv"))
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def _compare(parser: argparse.ArgumentParser) -> None:
    declared_options.add_pair(parser)
    save = parser.add_argument(
        "--save",
        type=Path,
        metavar="DIR",
        help="write the recordings to this folder, and C of your own next to them; it must be "
        "there",
    )
    complete_with(save, folders)
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--markdown", action="store_true", help="print a table in Markdown")
    form.add_argument("--csv", action="store_true", help="print a table as CSV")
    form.add_argument("--json", action="store_true", help="print the result as JSON")


def _show(parser: argparse.ArgumentParser) -> None:
    recording = parser.add_argument(
        "recording", type=Path, metavar="RECORDING", help="a recording that was saved, a .csv file"
    )
    complete_with(recording, files(".csv"))
    parser.add_argument(
        "--variant",
        default="",
        metavar="V[,V...]",
        help="the variants to show (default: all of the recording)",
    )
    parser.add_argument(
        "--unit", default="ns", metavar="UNIT", help="ticks, cycles, ns, us, ms or s"
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--text", action="store_true", help="print it, and write no page")
    form.add_argument(
        "--output",
        type=lambda word: with_ending(Path(word), ".html"),
        metavar="FILE",
        help="write the page to this file (default: the recording's name with .html, in the "
        "current folder)",
    )


#: These commands, in the order of the help.
OWN = {
    "new": Command(
        "write a C kernel of your own, to be changed, that can be measured at once",
        _new,
        ("labs new pipe_write",),
        _PACKAGE,
    ),
    "record": Command(
        "measure one C kernel and keep its recording, with counts of events if --perf is given",
        _record,
        ("labs record pipe_write.c", "labs record pipe_write.c --perf"),
        _PACKAGE,
    ),
    "compare": Command(
        "measure two variants, C kernels or files in turns, and say by how much they differ",
        _compare,
        (
            "labs compare system_call:getppid system_call:read0",
            "labs compare mine.c:write other.c:write --markdown",
        ),
        _PACKAGE,
    ),
    "show": Command(
        "show what a saved recording says: its figures, warnings, plots and conditions",
        _show,
        ("labs show run.csv", "labs show run.csv --text"),
        _PACKAGE,
    ),
}
