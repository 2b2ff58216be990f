"""`labs join`: share the predictions and figures of a lab with a class, until Control-C."""

from __future__ import annotations

import argparse
import threading
from pathlib import Path

from labs.commands.command_line import USAGE, complain
from labs.course import handed_in, in_class
from labs.course.lab_names import folder_meant, labs
from labs.messages import Refused
from labs.notebook import joining
from labs.terminal import say


def run_join(arguments: argparse.Namespace) -> int:
    """Join, and send what is new. The exit status is 0, 1 without a class, 2 without a lab."""
    folder = arguments.dir.absolute()
    if folder.name not in labs():
        why = f"{folder} is not the folder of a lab{folder_meant(arguments.dir)}"
        return complain("labs join", why, USAGE)
    try:
        if arguments.show:
            say(in_class.shared_from(folder, _findings(folder)).as_table())
        elif arguments.leave:
            member = in_class.Member(folder, arguments.code, arguments.address, dict, say)
            say(joining.left(member))
        else:
            joining.joined(folder, arguments.code, arguments.address, lambda: _findings(folder))
            say("To send nothing more, press Control-C. What you shared stays until you leave.")
            threading.Event().wait()
    except Refused as refused:
        return complain(
            "labs join", "; ".join((refused.message.heading, *refused.message.sentences))
        )
    except (ValueError, in_class.NoClass) as error:
        return complain("labs join", error)
    except KeyboardInterrupt:
        say("")  # the terminal has printed ^C
    return 0


def _findings(folder: Path) -> dict[str, tuple[str, ...]]:
    """The findings on each figure, as the check gives them; none if it cannot check."""
    try:
        return {each.figure: each.findings for each in handed_in.check(folder)}
    except handed_in.CannotCheck:
        return {}
