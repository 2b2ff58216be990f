"""The server of a class: what students' notebooks send, the wall, and the instructor's page.

The instructor's page is served on this machine only, or behind a hub. Students' messages have a
size, a rate and a form; what has another one is refused, and nothing of it is kept or shown.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import os
import resource
import secrets
import signal
import socket
import ssl
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, ClassVar
from urllib.parse import urlsplit

from pydantic import StringConstraints, ValidationError
from tornado import httpserver, iostream, netutil, web

from grader.live.class_keys import Keys, certificate_of, new_code, pseudonym
from grader.live.class_state import ClassState, NotTaken, Question
from grader.live.wall import stage
from labs import limits
from labs.course.in_class import ADDRESS, Shared
from labs.html import filled
from labs.json_text import Form
from labs.terminal import say
from labs.units import times

_HERE = Path(__file__).parent
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; connect-src 'self'; "
    "style-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
    "Cross-Origin-Resource-Policy": "same-origin",
}
#: Connections in all, and from one address: a class may be behind one.
_MOST_CONNECTIONS, _MOST_OF_ADDRESS = 3_000, 1_200
_LIMITS: dict[str, Any] = {
    "max_body_size": limits.MOST_SHARED_BYTES,
    "max_header_size": 8 * 1024,
    "max_buffer_size": 4 * limits.MOST_SHARED_BYTES,
    "idle_connection_timeout": 40.0,
    "body_timeout": 10.0,
}
#: How often each may come from one address (messages: from one student) in so many seconds.
_WINDOW_S = 60.0
_MOST = {"requests": 36_000, "wrong codes": 20, "messages": 120}


@dataclass
class Room:
    """A class while it runs: where students find it, and what has been refused so far."""

    state: ClassState
    keys: Keys
    file: Path
    #: What students write to join, and the digits of the certificate.
    join_line: str = ""
    digits: str = ""
    #: The path below which a hub has the pages.
    base: str = ""
    #: The keys of the two links. That of the instructor's page opens once, and is '' from then on.
    links: dict[str, str] = field(
        default_factory=lambda: {"wall": secrets.token_urlsafe(), "desk": secrets.token_urlsafe()}
    )
    refused: Counter[str] = field(default_factory=Counter)
    _counted: Counter[tuple[str, str]] = field(default_factory=Counter)

    @property
    def question(self) -> Question:
        """The question on the wall; after the last comes the first."""
        return self.state.questions[self.keys.number % len(self.state.questions)]

    def is_too_much(self, what: str, who: str, count: int = 1) -> bool:
        """Whether there is too much of this from `who` lately, with so many more."""
        if not self._counted[what, who]:
            asyncio.get_running_loop().call_later(_WINDOW_S, self._counted.pop, (what, who), None)
        self._counted[what, who] += count
        return self._counted[what, who] >= _MOST[what] + count

    async def press(self, button: str) -> None:
        """Carry out what a button of the instructor's page says. Raises KeyError, CannotWrite."""
        _BUTTONS[button](self)
        self.state.changes += 1
        await asyncio.to_thread(self.keys.write, self.file)  # a busy disk must not stop the class


_BUTTONS: dict[str, Callable[[Room], object]] = {
    "reveal": lambda room: room.keys.revealed.add(room.question.spec.id),
    "hide": lambda room: room.keys.revealed.discard(room.question.spec.id),
    "next": lambda room: setattr(room.keys, "number", room.keys.number + 1),
    "previous": lambda room: setattr(room.keys, "number", room.keys.number - 1),
    "freeze": lambda room: room.state.freeze(True),
    "follow": lambda room: room.state.freeze(False),
    "close": lambda room: setattr(room.keys, "is_open", False),
    "open": lambda room: setattr(room.keys, "is_open", True),
    "new-code": lambda room: setattr(room.keys, "code", new_code()),
}


class _Leaving(Form):
    #: A secret that the student's notebook has made up.
    student: Annotated[str, StringConstraints(pattern="^[0-9a-f]{64}$")]

    @property
    def row(self) -> str:
        """The student in the rows of the class: nobody who reads them can speak for one."""
        return hashlib.sha256(self.student.encode()).hexdigest()[:24]


class _Sharing(_Leaving):
    code: Annotated[str, StringConstraints(max_length=64)]
    lab: Annotated[str, StringConstraints(max_length=100)]
    shared: Shared


class _Handler(web.RequestHandler):
    """What all have in common: limits, headers, and errors as a sentence in JSON."""

    def initialize(self, room: Room) -> None:
        self.room = room
        self.who = str(self.request.remote_ip)

    def set_default_headers(self) -> None:
        self.clear_header("Server")
        for name, value in _HEADERS.items():
            self.set_header(name, value)

    def prepare(self) -> None:
        if self.room.is_too_much("requests", self.who):
            raise self.refusal(429, "too many requests")

    def refusal(self, status: int, why: str) -> web.HTTPError:
        """An error to raise, which is counted."""
        self.room.refused[why] += 1
        return web.HTTPError(status, reason=why)

    def write_error(self, status_code: int, **_: object) -> None:
        self.finish({"error": self._reason})

    def form(self, kind: type[Form]) -> Any:
        """The body of the message. Raises HTTPError if it has another form."""
        try:
            return kind.model_validate_json(self.request.body)
        except ValidationError:
            raise self.refusal(400, "a message has a wrong form") from None

    def may(self, *pages: str) -> bool:
        """Whether the browser has the cookie of one of these pages."""
        return any(self.get_signed_cookie(f"ticklab-{page}", max_age_days=1) for page in pages)

    def show(self, template: str, **values: object) -> None:
        room = self.room
        self.finish(filled(_HERE / template, lab=room.state.lab, digits=room.digits, **values))


class _Share(_Handler):
    def post(self) -> None:
        given, room = self.form(_Sharing), self.room
        if room.state.version(given.row) is None:
            self.let_in(given)
        if room.is_too_much("messages", given.row):  # leaving has no such limit
            raise self.refusal(429, "too many messages of one student")
        try:
            version = room.state.take(given.row, given.shared)
        except NotTaken as error:
            raise self.refusal(403, str(error)) from None
        self.finish({"version": version, "name": pseudonym(given.row)})

    def let_in(self, given: _Sharing) -> None:
        """Raise HTTPError unless it may be a student of this class."""
        room = self.room
        if room.is_too_much("wrong codes", self.who, 0):
            raise self.refusal(429, "too many wrong codes from one address")
        if given.code.strip().lower() != room.keys.code:
            room.is_too_much("wrong codes", self.who)
            raise self.refusal(403, "this is not the code on the wall")
        if given.lab != room.state.lab:
            raise self.refusal(403, f"this class works on {room.state.lab}: join from that lab")
        if not room.keys.is_open:
            raise self.refusal(403, "the instructor has closed the class to newcomers")


class _Leave(_Handler):
    def post(self) -> None:
        row = self.form(_Leaving).row
        if self.room.state.version(row) is not None:
            self.room.state.leave(row)
        self.finish({})


class _Welcome(_Handler):
    def get(self) -> None:
        self.show("welcome.html.jinja")


class _Page(_Handler):
    """The wall, and the instructor's page, which its link opens only once."""

    def get(self, page: str) -> None:
        key, links = self.get_query_argument("key", ""), self.room.links
        if key and secrets.compare_digest(key.encode(), links[page].encode()):
            links["desk"] = "" if page == "desk" else links["desk"]
            # The browser has the cookie from now on, and its address has no key.
            self.set_signed_cookie(
                f"ticklab-{page}", "1", expires_days=None, path=f"{self.room.base}/",
                httponly=True, samesite="Strict", secure=self.request.protocol == "https",
            )  # fmt: skip
            self.redirect(self.request.path, status=303)
        elif self.may(page, "desk"):
            self.show("wall.html.jinja", desk=page == "desk")
        else:
            raise self.refusal(403, f"this link does not open the {page}, or did so once")

    async def post(self, page: str) -> None:
        # No page of another site can send this header.
        if page != "desk" or not self.may("desk") or self.request.headers.get("X-Live") != "1":
            raise self.refusal(403, "not from the instructor's page")
        try:
            await self.room.press(self.request.body[:40].decode("ascii"))
        except (KeyError, UnicodeDecodeError):
            raise self.refusal(400, "no such button") from None
        self.set_status(204)


class _State(_Handler):
    def get(self) -> None:
        if not self.may("wall", "desk"):
            raise self.refusal(403, "not from the wall")
        room, keys = self.room, self.room.keys
        now = room.state.changes + room.refused.total()
        if self.get_query_argument("since", "") == str(now):
            self.set_status(204)  # nothing is new
            return
        shown = stage(room.state, room.question, room.question.spec.id in keys.revealed)
        join = room.join_line.format(code=keys.code) if keys.is_open else ""
        refused = [f"{times(n)}: {why}" for why, n in room.refused.most_common(8)]
        self.finish({**shown, "now": now, "join": join, "refused": refused})


class _Server(httpserver.HTTPServer):
    """A server with limits on connections."""

    #: By address, of all servers together.
    connections: ClassVar[Counter[str]] = Counter()

    def handle_stream(self, stream: iostream.IOStream, address: tuple[Any, ...]) -> None:
        every, of_it = self.connections.total(), self.connections[address[0]]
        if every >= _MOST_CONNECTIONS or of_it >= _MOST_OF_ADDRESS:
            stream.close()
        else:
            self.connections[address[0]] += 1
            super().handle_stream(stream, address)

    def on_close(self, server_conn: Any) -> None:
        self.connections[server_conn.context.address[0]] -= 1
        super().on_close(server_conn)


def _listen(
    room: Room, address: str, port: int, *, desk: bool, tls: ssl.SSLContext | None = None
) -> None:
    """Serve the class there, with `desk` also the instructor's page.

    Nobody reaches loopback by another name. Raises OSError.
    """
    pages = "(wall|desk)" if desk else "(wall)"
    kinds = {"share": _Share, "leave": _Leave, "": _Welcome, pages: _Page, "state": _State}
    rules: list[Any] = [(f"{room.base}/{at}", kind, {"room": room}) for at, kind in kinds.items()]
    rules.append((rf"{room.base}/(live\.(?:js|css))", web.StaticFileHandler, {"path": str(_HERE)}))
    made = web.Application(log_function=lambda _: None, cookie_secret=room.keys.secret)
    made.add_handlers(r"(127\.0\.0\.1|localhost)" if desk and not room.base else ".*", rules)
    # A class can be larger than the number of files that a process may have open at first.
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    most = 2 * _MOST_CONNECTIONS if hard < 0 else min(hard, 2 * _MOST_CONNECTIONS)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    server = _Server(made, ssl_options=tls, **_LIMITS)
    server.add_sockets(netutil.bind_sockets(port, address, backlog=limits.MOST_IN_CLASS))


async def serve(room: Room, port: int, share: str | None, *beside: Awaitable[None]) -> None:
    """Serve the class as a hub says, or else at `port` here, and say where; until it is ended.

    What is `beside` runs meanwhile. With `share`, students on the network reach it at this address
    of this machine, one port higher; '' is the one that leads to the network. Raises OSError.
    """
    hub = os.environ.get("JUPYTERHUB_SERVICE_URL", "")
    if hub:
        url, pages = urlsplit(hub), os.environ.get("JUPYTERHUB_SERVICE_PREFIX", "").rstrip("/")
        room.keys.code = os.environ.get(ADDRESS, "").partition("#")[2].lower() or room.keys.code
        room.base, room.join_line = pages, 'lab.join("{code}")'
        _listen(room, url.hostname or "", url.port or 80, desk=True)
    else:
        pages = address = f"http://127.0.0.1:{port}"
        _listen(room, "127.0.0.1", port, desk=True)
        if share is not None:
            share, (tls, room.digits) = share or _own_address(), certificate_of(room.file)
            _listen(room, share, port + 1, desk=False, tls=tls)
            address = f"{share}:{port + 1}"
        room.join_line = f'lab.join("{{code}}", "{address}")'
    say(f"The instructor's page; this link opens it once:\n  {pages}/desk?key={room.links['desk']}")
    say(f"The page for the projector:\n  {pages}/wall?key={room.links['wall']}")
    say(f"Students join:\n  {room.join_line.format(code=room.keys.code)}")
    if room.digits:
        say(f"Their notebooks show the certificate that begins with:\n  {room.digits}")
    if hub:
        say(f"Students' servers need: {ADDRESS}={hub}{room.base}#{room.keys.code}")
    say("To end the class, press Control-C.")
    logging.getLogger("tornado").setLevel(logging.CRITICAL)  # what strangers send fills no terminal
    ended = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, ended.set)
    playing = asyncio.gather(*beside)
    await ended.wait()
    playing.cancel()


def _own_address() -> str:
    """The address of this machine that leads to the network; nothing is sent to find it.

    Raises OSError without a network.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(("192.0.2.1", 9))
        return str(probe.getsockname()[0])
