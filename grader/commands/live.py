"""`grader live`: show a class its predictions and figures while it works."""

from __future__ import annotations

import argparse
from pathlib import Path

from labs.commands.command_line import USAGE, complain, sentence
from labs.course import lab_names
from labs.terminal import complete_with, offered_folders, one_of, say


def add_live(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add `grader live` and its options."""
    about = "show a class its predictions and figures while it works"
    command = commands.add_parser(
        "live",
        help=about,
        description=f"{sentence(about)} The pages are served on this machine only, unless you "
        "share them. Nothing of a student is stored, unless you keep it.",
        examples=(
            "grader live 03-system-call --rehearse 30",
            "grader live 03-system-call --share --keep monday",
        ),
    )
    add = command.add_argument
    complete_with(add("lab", metavar="LAB"), one_of(lab_names.labs))
    add(
        "--share", nargs="?", const="", metavar="ADDRESS",
        help="let students on the network join, by TLS and one port higher than the pages, at this "
        "address of this machine (default: the one that leads to the network)",
    )  # fmt: skip
    add("--port", type=int, default=8765, metavar="N", help="the port of the pages (default: 8765)")
    keep = add("--keep", type=Path, metavar="DIR", help="keep what the class shares in this folder")
    complete_with(keep, offered_folders)
    add("--rehearse", type=int, metavar="N", help="play a made-up class of N students")
    add("--within", type=float, default=90, metavar="S", help="play it in S seconds (default: 90)")
    add("--new", action="store_true", help="begin a new class, with another code, in any case")
    command.set_defaults(run=run_live)


def run_live(arguments: argparse.Namespace) -> int:
    """Serve until Control-C. The exit status is 0, 1 if it cannot be served, 2 for a wrong word."""
    # Here: a shell that completes a command needs none of them.
    import asyncio
    import sqlite3

    from grader.demonstration import NoEvidence
    from grader.live import rehearsal
    from grader.live.class_keys import keys_of
    from grader.live.class_state import ClassState, questions_of
    from grader.live.live_server import Room, serve
    from labs.files import explained

    lab = lab_names.lab_meant(arguments.lab) or arguments.lab
    if not questions_of(lab):
        return complain("grader live", f"no lab {lab!r} has figures to show", USAGE)
    if arguments.rehearse is not None and not 1 <= arguments.rehearse <= 1_000:
        return complain("grader live", "--rehearse takes 1 to 1,000 students", USAGE)
    if not 0 <= arguments.port < 65_535:
        return complain("grader live", "--port takes 0 to 65534: students join one higher", USAGE)
    try:
        state, made_up = ClassState(lab, arguments.keep), []
        room = Room(state, *keys_of(lab, new=arguments.new))
        if arguments.rehearse:
            say(f"The figures of {lab} are measured here once, for the made-up class ...")
            saved, numbers = rehearsal.saved_run(lab), range(arguments.rehearse)
            made_up = [rehearsal.student(state, saved, n, arguments.within) for n in numbers]
        asyncio.run(serve(room, arguments.port, arguments.share, *made_up))
        written = state.write_data_set()
        state.close()
    except (NoEvidence, OSError, sqlite3.Error) as error:
        return complain("grader live", f"the class cannot be served or kept: {explained(error)}")
    say(f"The class has ended. Its data set is {written}." if written else "The class has ended.")
    return 0
