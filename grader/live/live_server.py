"""The server of a class: what students' notebooks send, the wall, and the instructor's page.

The instructor's page is served on this machine only, or behind a hub. Students' messages have a
size, a rate and a form; what has another one is refused, and nothing of it is kept or shown.
"""

from __future__ import annotations

import asyncio
import logging
import resource
import secrets
import signal
import ssl
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, TypeVar
from urllib.parse import urlsplit

from pydantic import StringConstraints, ValidationError
from tornado.httpserver import HTTPServer
from tornado.iostream import IOStream
from tornado.netutil import bind_sockets
from tornado.web import Application, HTTPError, RequestHandler

from grader.live.class_keys import Bucket, Keys, certificate_for
from grader.live.class_state import ClassState
from grader.live.wall import stage
from labs import limits
from labs.course.in_class import Shared
from labs.html import filled
from labs.json_text import Form

_HERE = Path(__file__).parent
_FILES = {"live.js": "text/javascript", "live.css": "text/css"}
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; connect-src 'self'; "
    "style-src 'self' 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
    "Cross-Origin-Resource-Policy": "same-origin",
}
_WALL, _DESK = "ticklab-wall", "ticklab-desk"
#: Connections in all, and from one address: a class may be behind one.
_MOST_CONNECTIONS, _MOST_OF_ADDRESS = 3_000, 1_200
_HEADER_BYTES, _IDLE_S, _BODY_S = 8 * 1024, 40.0, 10.0

AnyForm = TypeVar("AnyForm", bound=Form)


@dataclass
class Room:
    """A class while it runs: where students find it, and what has been refused so far."""

    state: ClassState
    keys: Keys
    #: What students write to join, and the digits of the certificate.
    join_line: str = ""
    digits: str = ""
    #: The path below which a hub has the pages.
    base: str = ""
    refused: Counter[str] = field(default_factory=Counter)
    started: str = field(default_factory=lambda: secrets.token_hex(4))
    #: Of one address: requests, joining with the right code, wrong codes. Of one student: messages.
    requests: Bucket = field(default_factory=lambda: Bucket(6_000, 600))
    joins: Bucket = field(default_factory=lambda: Bucket(1_000, 10))
    wrong_codes: Bucket = field(default_factory=lambda: Bucket(20, 0.2))
    messages: Bucket = field(default_factory=lambda: Bucket(20, 2))
    _stages: dict[tuple[int, bool], dict[str, str]] = field(default_factory=dict)

    def stage(self, narrow: bool) -> dict[str, str]:
        """The wall, drawn once for each change."""
        wanted = (self.state.changes, narrow)
        if wanted not in self._stages:
            self._stages = {k: each for k, each in self._stages.items() if k[0] == wanted[0]}
            self._stages[wanted] = stage(self.state, narrow=narrow)
        return self._stages[wanted]

    async def do(self, action: str) -> None:
        """Carry out what a button of the instructor's page says. Raises KeyError, CannotWrite."""
        _ACTIONS[action](self)
        state = self.state
        self.keys.number, self.keys.is_open = state.number, state.is_open
        self.keys.revealed = sorted(state.revealed)
        await asyncio.to_thread(self.keys.write)  # a busy disk must not stop the class


def _new_code(room: Room) -> None:
    room.keys.new_code()
    room.state.changes += 1


def _let_in(room: Room, is_open: bool) -> None:
    room.state.is_open = is_open
    room.state.changes += 1


_ACTIONS: dict[str, Callable[[Room], object]] = {
    "reveal": lambda room: room.state.show(room.state.number, True),
    "hide": lambda room: room.state.show(room.state.number, False),
    "next": lambda room: room.state.show(room.state.number + 1),
    "previous": lambda room: room.state.show(room.state.number - 1),
    "freeze": lambda room: room.state.freeze(True),
    "follow": lambda room: room.state.freeze(False),
    "close": lambda room: _let_in(room, False),
    "open": lambda room: _let_in(room, True),
    "new-code": _new_code,
    "write": lambda room: room.state.write_data_set(),
}


class _Joining(Form):
    code: Annotated[str, StringConstraints(max_length=64)]
    lab: Annotated[str, StringConstraints(max_length=100)]


class _Handler(RequestHandler):
    """What all have in common: limits, headers, and errors as a sentence in JSON."""

    def initialize(self, room: Room) -> None:
        self.room = room
        self.who = str(self.request.remote_ip)

    def set_default_headers(self) -> None:
        self.clear_header("Server")
        for name, value in _HEADERS.items():
            self.set_header(name, value)

    def prepare(self) -> None:
        if not self.room.requests.take(self.who):
            raise self.refusal(429, "too many requests")

    def compute_etag(self) -> None:
        return None

    def refusal(self, status: int, why: str) -> HTTPError:
        """An error to raise, which is counted."""
        self.room.refused[why] += 1
        return HTTPError(status, reason=why)

    def write_error(self, status_code: int, **_: object) -> None:
        self.finish({"error": self._reason})

    def form(self, kind: type[AnyForm]) -> AnyForm:
        """The body of the message. Raises HTTPError if it has another form."""
        try:
            return kind.model_validate_json(self.request.body)
        except ValidationError:
            raise self.refusal(400, "a message has a wrong form") from None

    def student(self) -> str:
        """Who sends this. Raises HTTPError if it is nobody of this class."""
        word, _, token = self.request.headers.get("Authorization", "").partition(" ")
        student = self.room.keys.student_of(token) if word == "Bearer" else ""
        if not student:
            raise self.refusal(401, "not of this class")
        return student

    def may(self, *roles: str) -> bool:
        """Whether the browser has the cookie of one of these roles."""
        keys = {_WALL: self.room.keys.wall, _DESK: self.room.keys.desk}
        return any(_is_same(self.get_cookie(role, "") or "", keys[role]) for role in roles)

    def enter(self, role: str, key: str) -> None:
        """Give the browser the cookie of a role, and take the key out of its address."""
        secure = self.request.protocol == "https"
        self.set_cookie(
            role, key, httponly=True, samesite="Strict", secure=secure, path=f"{self.room.base}/"
        )
        self.redirect(self.request.path, status=303)

    def page(self, template: str, **values: object) -> None:
        room = self.room
        self.finish(filled(_HERE / template, lab=room.state.lab, digits=room.digits, **values))


def _is_same(given: str, key: str) -> bool:
    return secrets.compare_digest(given.encode(), key.encode())


class _Join(_Handler):
    def post(self) -> None:
        given, room = self.form(_Joining), self.room
        if not room.wrong_codes.has_room(self.who):
            raise self.refusal(429, "too many wrong codes from one address")
        if not room.keys.is_code(given.code):
            room.wrong_codes.take(self.who)
            raise self.refusal(403, "this is not the code on the wall")
        if given.lab != room.state.lab:
            raise self.refusal(403, f"this class works on {room.state.lab}: join from that lab")
        if not room.state.is_open:
            raise self.refusal(403, "the instructor has closed the class to newcomers")
        if not room.joins.take(self.who):
            raise self.refusal(429, "too many join from one address")
        student, token = room.keys.new_token()
        if not room.state.enter(student):
            raise self.refusal(403, f"this class is full: {limits.MOST_IN_CLASS:,} have joined")
        self.finish({"token": token, "name": room.keys.name_of(student)})


class _Share(_Handler):
    def post(self) -> None:
        student = self.student()
        if not self.room.messages.take(student):  # leaving has no such limit
            raise self.refusal(429, "too many messages of one student")
        shared = self.form(Shared)
        state = self.room.state
        if state.has_left(student):
            raise self.refusal(403, "this student has left the class")
        if not state.knows(student) and not state.enter(student):
            raise self.refusal(503, "this class is full")
        state.take(student, shared)
        self.finish({"version": state.version_of(student)})


class _Leave(_Handler):
    def post(self) -> None:
        self.room.state.leave(self.student())
        self.finish({})


class _Welcome(_Handler):
    def get(self) -> None:
        self.page("welcome.html.jinja")


class _File(_Handler):
    def get(self, name: str) -> None:
        self.set_header("Content-Type", f"{_FILES[name]}; charset=utf-8")
        self.finish((_HERE / name).read_bytes())


class _Wall(_Handler):
    def get(self) -> None:
        key = self.get_query_argument("key", "")
        if _is_same(key, self.room.keys.wall):
            self.enter(_WALL, key)
        elif self.may(_WALL, _DESK):
            self.page("wall.html.jinja", desk=False)
        else:
            raise self.refusal(403, "this link does not open the wall")


class _Desk(_Handler):
    def get(self) -> None:
        key = self.get_query_argument("key", "")
        if key and self.room.keys.take_once(key):
            self.enter(_DESK, self.room.keys.desk)
        elif self.may(_DESK):
            self.page("wall.html.jinja", desk=True, keeps=self.room.state.keeps)
        else:
            raise self.refusal(403, "this link opened the instructor's page once, and no more")

    async def post(self) -> None:
        # No page of another site can send this header.
        if not self.may(_DESK) or self.request.headers.get("X-Live") != "1":
            raise self.refusal(403, "not from the instructor's page")
        try:
            await self.room.do(self.request.body[:40].decode("ascii"))
        except (KeyError, UnicodeDecodeError):
            raise self.refusal(400, "no such button") from None
        self.set_status(204)
        self.finish()


class _State(_Handler):
    def get(self) -> None:
        if not self.may(_WALL, _DESK):
            raise self.refusal(403, "this link does not open the wall")
        room, state = self.room, self.room.state
        desk = self.may(_DESK)
        refused = sum(room.refused.values()) if desk else 0
        now = f"{room.started}-{state.changes}-{refused}"
        if self.get_query_argument("since", "") == now:
            self.set_status(204)
            self.finish()
            return
        said: dict[str, Any] = {
            "now": now,
            **room.stage(self.get_query_argument("narrow", "") == "1"),
        }
        said["join"] = room.join_line.format(code=room.keys.code) if state.is_open else ""
        if desk:
            said["pressed"] = {
                "reveal": state.question.figure in state.revealed,
                "freeze": state.frozen,
                "close": not state.is_open,
            }
            said["refused"] = [f"{n:,} times: {why}" for why, n in room.refused.most_common(8)]
        self.finish(said)


_STUDENTS = (("join", _Join), ("share", _Share), ("leave", _Leave), ("", _Welcome))
_PAGES = (("wall", _Wall), ("state", _State))


def application(room: Room, *, desk: bool, base: str = "", hosts: str = ".*") -> Application:
    """The pages below `base`, for requests to one of the `hosts`; with `desk`, the instructor's."""
    named = [*_STUDENTS, *_PAGES, *([("desk", _Desk)] if desk else [])]
    rules: list[Any] = [(rf"{base}/{name}", kind, {"room": room}) for name, kind in named]
    rules.append((rf"{base}/({'|'.join(_FILES)})", _File, {"room": room}))
    made = Application(
        log_function=lambda _: None,
        default_handler_class=_Nothing,
        default_handler_args={"room": room},
    )
    made.add_handlers(hosts, rules)
    return made


class _Nothing(_Handler):
    def prepare(self) -> None:
        super().prepare()
        raise self.refusal(404, "there is nothing at this address")


class LimitedServer(HTTPServer):
    """A server with limits on connections, sizes and times."""

    def initialize(self, *arguments: Any, **options: Any) -> None:
        self._by_address: Counter[str] = Counter()
        options |= {
            "max_body_size": limits.MOST_SHARED_BYTES,
            "max_header_size": _HEADER_BYTES,
            "max_buffer_size": 4 * limits.MOST_SHARED_BYTES,
            "idle_connection_timeout": _IDLE_S,
            "body_timeout": _BODY_S,
        }
        super().initialize(*arguments, **options)

    def handle_stream(self, stream: IOStream, address: tuple[Any, ...]) -> None:
        who = str(address[0])
        if (
            self._by_address.total() >= _MOST_CONNECTIONS
            or self._by_address[who] >= _MOST_OF_ADDRESS
        ):
            stream.close()
            return
        self._by_address[who] += 1
        super().handle_stream(stream, address)

    def on_close(self, server_conn: Any) -> None:
        who = str(server_conn.context.address[0])
        self._by_address[who] -= 1
        self._by_address += Counter()  # drops those at 0
        super().on_close(server_conn)


@dataclass(frozen=True)
class Place:
    """Where the server listens: `port` on this machine, and `share`, an address of its own, with
    TLS one port higher; or `hub`, the address and the path that a JupyterHub gives its service."""

    port: int
    share: str = ""
    hub: tuple[str, str] = ("", "")


async def serve(room: Room, place: Place, ready: Callable[[str], object]) -> None:
    """Serve the class until SIGINT or SIGTERM. `ready` gets the address of the pages.

    Raises CannotShare, and OSError if nothing can be served at this place.
    """
    logging.getLogger("tornado").setLevel(logging.CRITICAL)  # what strangers send fills no terminal
    ended = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, ended.set)
    if place.hub[0]:
        url, room.base = urlsplit(place.hub[0]), place.hub[1].rstrip("/")
        _listen(application(room, desk=True, base=room.base), url.port or 80, url.hostname or "")
        room.join_line = 'lab.join("{code}")'
        ready(room.base)
    else:
        own = application(room, desk=True, hosts=r"(127\.0\.0\.1|localhost)")
        port = _listen(own, place.port, "127.0.0.1")
        room.join_line = f'lab.join("{{code}}", "http://127.0.0.1:{port}")'
        if place.share:
            tls, room.digits = certificate_for(place.share)
            wanted = place.port + 1 if place.port else 0
            outside = _listen(application(room, desk=False), wanted, place.share, tls)
            room.join_line = f'lab.join("{{code}}", "{place.share}:{outside}")'
        ready(f"http://127.0.0.1:{port}")
    await ended.wait()


def _listen(pages: Application, port: int, address: str, tls: ssl.SSLContext | None = None) -> int:
    """Serve `pages` there, and return the port; 0 takes any. Raises OSError."""
    # A class can be larger than the number of files that a process may have open at first.
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = (
        2 * _MOST_CONNECTIONS
        if hard == resource.RLIM_INFINITY
        else min(hard, 2 * _MOST_CONNECTIONS)
    )
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, most), hard))
    sockets = bind_sockets(port, address, backlog=limits.MOST_IN_CLASS)
    LimitedServer(pages, ssl_options=tls).add_sockets(sockets)
    return int(sockets[0].getsockname()[1])
