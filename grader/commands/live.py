"""`grader live`: show a class its predictions and figures while it works."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from labs.commands.command_line import USAGE, complain, sentence
from labs.course import lab_names
from labs.terminal import complete_with, offered_folders, one_of, say

if TYPE_CHECKING:
    from grader.live.live_server import Room
    from grader.live.rehearsal import Event

_PORT = 8765


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
        help="let students on the network join, by TLS, at this address of this machine (default: "
        "the one that leads to the network)",
    )  # fmt: skip
    add(
        "--port", type=int, default=_PORT, metavar="N",
        help=f"the port of the pages; students join one higher (default: {_PORT})",
    )  # fmt: skip
    keep = add("--keep", type=Path, metavar="DIR", help="keep what the class shares in this folder")
    complete_with(keep, offered_folders)
    add("--rehearse", type=int, metavar="N", help="play a made-up class of N students")
    add(
        "--within", type=float, default=90, metavar="S",
        help="how long the made-up class takes, in seconds (default: 90)",
    )  # fmt: skip
    add("--new", action="store_true", help="begin a new class, with another code, in any case")
    command.set_defaults(run=run_live)


def run_live(arguments: argparse.Namespace) -> int:
    """Serve until Control-C. The exit status is 0, 1 if it cannot be served, 2 for a wrong word."""
    # Here: a shell that completes a command needs none of them.
    import asyncio
    import sqlite3

    from grader.demonstration import NoEvidence
    from grader.live import rehearsal
    from grader.live.class_keys import CannotShare, keys_of
    from grader.live.class_state import ClassState, questions_of
    from grader.live.live_server import Room
    from labs.files import CannotWrite
    from labs.paths import CacheNotWritable

    lab = lab_names.lab_meant(arguments.lab) or arguments.lab
    if not questions_of(lab):
        return complain("grader live", f"no lab {lab!r} has figures to show", USAGE)
    if arguments.rehearse is not None and not 1 <= arguments.rehearse <= 1_000:
        return complain("grader live", "--rehearse takes 1 to 1,000 students", USAGE)
    try:
        state, events = ClassState(lab, arguments.keep), list[rehearsal.Event]()
        if arguments.rehearse:
            say(f"The figures of {lab} are measured here once, for the made-up class ...")
            saved = rehearsal.saved_run(lab)
            events = rehearsal.made_up(state.questions, saved, arguments.rehearse)
        room = Room(state, *keys_of(lab, new=arguments.new))
        asyncio.run(_serve(room, arguments, events))
        written = state.write_data_set()
        state.close()
    except (NoEvidence, CacheNotWritable, CannotWrite, CannotShare) as error:
        return complain("grader live", error)
    except (OSError, sqlite3.Error) as error:
        return complain("grader live", f"cannot serve or keep the class: {error}")
    say(f"The class has ended. Its data set is {written}." if written else "The class has ended.")
    return 0


async def _serve(room: Room, arguments: argparse.Namespace, events: Sequence[Event]) -> None:
    """Serve the class as a hub says, or else here, and say where; until it is ended."""
    import asyncio

    from grader.live import rehearsal
    from grader.live.class_keys import certificate_of
    from grader.live.live_server import listen, until_ended
    from labs.course.in_class import ADDRESS

    hub = os.environ.get("JUPYTERHUB_SERVICE_URL", "")
    room.base = os.environ.get("JUPYTERHUB_SERVICE_PREFIX", "").rstrip("/") if hub else ""
    if hub:
        url, pages = urlsplit(hub), room.base
        room.keys.code = os.environ.get(ADDRESS, "").partition("#")[2] or room.keys.code
        listen(room, url.hostname or "", url.port or 80, desk=True)
        room.join_line = 'lab.join("{code}")'
    else:
        port = listen(room, "127.0.0.1", arguments.port, desk=True)
        pages, address = f"http://127.0.0.1:{port}", f"http://127.0.0.1:{port}"
        if arguments.share is not None:
            share = arguments.share or _own_address()
            tls, room.digits = certificate_of(room.file)
            address = f"{share}:{listen(room, share, port + 1, desk=False, tls=tls)}"
        room.join_line = f'lab.join("{{code}}", "{address}")'
    say(f"The instructor's page; this link opens it once:\n  {pages}/desk?key={room.links['desk']}")
    say(f"The page for the projector:\n  {pages}/wall?key={room.links['wall']}")
    say(f"Students join:\n  {room.join_line.format(code=room.keys.code)}")
    if room.digits:
        say(f"Their notebooks show the certificate that begins with:\n  {room.digits}")
    if hub:
        say(f"Students' servers need: {ADDRESS}={hub}{room.base}#{room.keys.code}")
    say("To end the class, press Control-C.")
    playing = asyncio.ensure_future(rehearsal.play(room.state, events, arguments.within))
    await until_ended()
    playing.cancel()


def _own_address() -> str:
    """The address of this machine that leads to the network; nothing is sent to find it.

    Raises OSError without a network.
    """
    import socket

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(("192.0.2.1", 9))
        return str(probe.getsockname()[0])
