"""`labs hand-in`: check a lab once more, pack it, and submit it to the exchange of its course."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from labs.common.files import CannotWrite
from labs.common.terminal import say
from labs.hand_in.archive import CannotHandIn
from labs.hand_in.hand_in import carry_out

SOMETHING_MISSING, FAILED = 1, 2


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `labs hand-in`."""
    parser.add_argument(
        "dir", nargs="?", type=Path, default=Path(), metavar="DIR",
        help="the folder of the lab (default: this folder)",
    )  # fmt: skip
    parser.add_argument(
        "--no-submit", action="store_true", help="pack only; do not look for an exchange"
    )
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Hand in and print what was done. The status is 1 if something is missing or not right yet."""
    try:
        report = carry_out(arguments.dir, submit=not arguments.no_submit)
    except (CannotHandIn, CannotWrite) as error:
        text = error.strerror if isinstance(error, CannotWrite) and error.strerror else str(error)
        say(f"labs hand-in: {text}", file=sys.stderr)
        return FAILED
    if arguments.json:
        say(json.dumps(report.as_json(), indent=2))
    else:
        say("\n".join(report.lines()))
    return SOMETHING_MISSING if report.missing or report.failed or report.trouble else 0
