"""`labs hand-in`: check a lab once more, pack it, and submit it to the exchange of its course."""

from __future__ import annotations

import argparse
import sys

from labs.common.files import CannotWrite, explained
from labs.common.terminal import say, say_json
from labs.hand_in.archive import CannotHandIn
from labs.hand_in.hand_in import carry_out

SOMETHING_MISSING, FAILED = 1, 2


def run(arguments: argparse.Namespace) -> int:
    """Hand in and print what was done. The status is 1 if something is missing or not right yet."""
    try:
        report = carry_out(arguments.dir, submit=not arguments.no_submit)
    except (CannotHandIn, CannotWrite) as error:
        text = explained(error)
        say(f"labs hand-in: {text}", file=sys.stderr)
        return FAILED
    if arguments.json:
        say_json(report.as_json())
    else:
        say("\n".join(report.lines()))
    return SOMETHING_MISSING if report.missing or report.failed or report.trouble else 0
