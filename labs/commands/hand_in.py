"""`labs hand-in`: check a lab once more, pack it, and submit it to the exchange of its course."""

from __future__ import annotations

import argparse

from labs.commands.said import complain, in_language
from labs.common.files import CannotWrite
from labs.common.terminal import say, say_json
from labs.hand_in.archive import CannotHandIn
from labs.hand_in.hand_in import carry_out

SOMETHING_MISSING, FAILED = 1, 2


def run(arguments: argparse.Namespace) -> int:
    """Hand in and print what was done. The status is 1 if something is missing or not right yet."""
    try:
        report = carry_out(arguments.dir, submit=not arguments.no_submit)
    except (CannotHandIn, CannotWrite) as error:
        complain("labs hand-in", error)
        return FAILED
    if arguments.json:
        say_json(report.as_json())
    else:
        say("\n".join(map(in_language, report.lines())))
    return SOMETHING_MISSING if report.missing or report.failed or report.trouble else 0
