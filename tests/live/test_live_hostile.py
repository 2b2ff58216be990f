"""Strangers and bored students against a real server: nobody gets in, and the class goes on.

After each case, a student of the class shares a new figure, and the wall shows it, with as many
students as before, and with nothing that a stranger wrote.
"""

from __future__ import annotations

import contextlib
import hashlib
import http.client
import itertools
import json
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tornado.web import create_signed_value

from labs import limits
from support.live_class import LiveClass, counts, message, running

#: No page of the class may ever hold it.
MARK = "hostile-mark"
Case = Callable[[LiveClass, str], None]
CASES: dict[str, Case] = {}
_versions = itertools.count(2)


def case(function: Case) -> Case:
    CASES[function.__name__.replace("_", " ")] = function
    return function


@pytest.fixture(scope="module")
def desk(room: LiveClass) -> str:
    return room.cookie(room.desk_link)


@pytest.fixture
def student(room: LiveClass) -> Iterator[str]:
    token = room.enter()
    yield token
    assert room.leave(token) == 200


# What a student of the class may send in place of a good message.


def bad(**changes: Any) -> dict[str, Any]:
    return {**message(), **changes}


FIGURE = {"value": 1, "unit": "ns", "low": 1, "high": 1}
BODIES: dict[str, Any] = {
    "nothing": b"",
    "no JSON": b"<script>alert(1)</script>",
    "not UTF-8": b'{"version": "\xff"}',
    "a list": [1, 2],
    "nested deeply": b"[" * 8_000,
    "more than the most bytes": b" " * (limits.MOST_SHARED_BYTES + 1),
    "a version as text": bad(version="1"),
    "a negative version": bad(version=-1),
    "a huge version": bad(version=10**30),
    "not a number": b'{"version":1,"figures":{},"predictions":{"a":{"value":NaN,"unit":"ns"}}}',
    "infinity": b'{"version":1,"figures":{},"predictions":{"a":{"value":1e999,"unit":"ns"}}}',
    "a huge number": message(value=1e300),
    "a number as text": message(low="1"),
    "true for a number": message(low=True),
    "a script as unit": message(unit=f"<script>{MARK}</script>"),
    "text from right to left as unit": message(unit="\u202ens"),
    "half of a character": b'{"version":1,"predictions":{"\\ud800":{}},"figures":{}}',
    "a script as figure": bad(figures={f"<img src=x onerror={MARK}>": FIGURE}),
    "a path as prediction": bad(predictions={"../../etc": {"value": 1, "unit": "ns"}}),
    "many figures": bad(figures={f"f{n}": FIGURE for n in range(41)}),
    "many findings": message(findings=["unit-slip"] * 21),
    "a long kind of machine": message(machine="x" * 41),
    "a script as finding": message(findings=[f"<script>{MARK}"]),
}


@pytest.mark.parametrize("body", BODIES)
def test_a_message_of_another_form_is_refused(
    room: LiveClass, desk: str, student: str, body: str
) -> None:
    with going_on(room, desk, student):
        if body == "more than the most bytes":
            with contextlib.suppress(OSError, http.client.HTTPException):
                assert room.share(student, BODIES[body]) >= 400
        else:
            assert room.share(student, BODIES[body]) == 400


# Everything else: who sends, how often, how slowly, and over which connection.


@case
def a_wrong_code(room: LiveClass, token: str) -> None:
    assert room.join(code="kiwi-0000")[0] == 403


@case
def a_code_of_another_alphabet(room: LiveClass, token: str) -> None:
    wide = "".join(chr(ord(each) + 0xFEE0) if each.isalnum() else each for each in room.code)
    assert room.join(code=wide)[0] == 403


@case
def a_code_of_a_megabyte(room: LiveClass, token: str) -> None:
    with contextlib.suppress(OSError, http.client.HTTPException):
        assert room.join(code="k" * 1_000_000)[0] >= 400


@case
def a_lab_that_is_a_script(room: LiveClass, token: str) -> None:
    status, content, headers = room.join(lab=f"<script>{MARK}</script>")
    assert status == 403
    assert MARK.encode() not in content
    assert headers["Content-Type"].startswith("application/json")


@case
def a_secret_that_was_guessed(room: LiveClass, token: str) -> None:
    row = hashlib.sha256(token.encode()).hexdigest()
    for guess in ("", "x", token[:-1], token.upper(), f"{token}\n", "0" * 3_000, "é"):
        assert room.leave(guess) == 400
        assert room.join(guess or "-")[0] == 400
    for guess in (row, "0" * 64):  # of nobody: what the rows of the class have is no secret
        assert room.leave(guess) == 200
        assert room.join(guess, code="kiwi-0000")[0] == 403


@case
def the_token_of_another_as_a_cookie(room: LiveClass, token: str) -> None:
    headers = {"Cookie": f"ticklab-desk={token}; ticklab-wall={token}"}
    assert room.send("GET", "state", headers=headers)[0] == 403


@case
def a_cookie_that_is_no_ascii(room: LiveClass, token: str) -> None:
    headers = {"Cookie": "ticklab-wall=\xe9; ticklab-desk=\xff"}
    assert room.send("GET", "state", headers=headers)[0] == 403


@case
def an_old_message_replayed(room: LiveClass, token: str) -> None:
    assert room.share(token, message(1, value=7.0)) == 200  # the newer one counts


@case
def a_message_replayed_after_leaving(room: LiveClass, token: str) -> None:
    gone = room.enter()
    assert room.leave(gone) == 200
    assert room.share(gone, message()) == 403


@case
def the_instructors_link_stolen(room: LiveClass, token: str) -> None:
    assert room.cookie(room.desk_link) == ""
    path = room.desk_link.split("/", 3)[3]
    assert room.send("GET", path)[0] == 404  # on the network there is no such page at all


def desk_cookie(room: LiveClass) -> str:
    """The instructor's cookie, as the secret of the class signs it."""
    stored = json.loads(next(room.cache.rglob("class-*.json")).read_text())
    return f"ticklab-desk={create_signed_value(stored['secret'], 'ticklab-desk', '1').decode()}"


@case
def the_instructors_cookie_stolen(room: LiveClass, token: str) -> None:
    headers = {"Cookie": desk_cookie(room), "X-Live": "1"}
    assert room.send("POST", "desk", b"close", headers)[0] == 404
    assert room.send("POST", "wall", b"close", headers)[0] == 403


@case
def the_link_of_the_wall_for_buttons(room: LiveClass, token: str) -> None:
    assert room.press(room.cookie(room.wall_link), "close") == 403


@case
def a_button_pressed_by_another_site(room: LiveClass, token: str) -> None:
    headers = {"Cookie": desk_cookie(room), "Origin": "http://evil.example"}
    with contextlib.closing(http.client.HTTPConnection(f"127.0.0.1:{room.port}")) as own:
        own.request("POST", "/desk", "close", headers)
        assert own.getresponse().status == 403


@case
def a_name_that_leads_to_this_machine(room: LiveClass, token: str) -> None:
    with contextlib.closing(http.client.HTTPConnection(f"127.0.0.1:{room.port}")) as own:
        own.request("GET", room.wall_link[21:], headers={"Host": "evil.example"})
        assert own.getresponse().status == 404


@case
def paths_out_of_the_folder(room: LiveClass, token: str) -> None:
    for path in ("../class_keys.py", "live.js/../../x", "%2e%2e/live.py", "live.css%00", "//evil"):
        assert room.send("GET", path)[0] in (400, 404)


@case
def a_header_that_never_ends(room: LiveClass, token: str) -> None:
    with contextlib.suppress(OSError, http.client.HTTPException):
        assert room.send("GET", "", headers={"X": "x" * 100_000})[0] >= 400


@case
def other_methods(room: LiveClass, token: str) -> None:
    for method in ("PUT", "DELETE", "OPTIONS", "TRACE", "BREW"):
        assert room.send(method, "share", {})[0] in (404, 405)


def raw(room: LiveClass) -> ssl.SSLSocket:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    host, _, port = room.address.partition(":")
    return context.wrap_socket(socket.create_connection((host, int(port)), 20))


@case
def slow_clients(room: LiveClass, token: str) -> None:
    """Many that never end their header, or their body; they stay open during the check below."""
    for n in range(100):
        open_one = raw(room)
        if n % 2:
            open_one.sendall(b"POST /share HTTP/1.1\r\nHost: x\r\nX: ")
        else:
            open_one.sendall(b"POST /share HTTP/1.1\r\nHost: x\r\nContent-Length: 9000\r\n\r\n{")
        _OPEN.append(open_one)


@case
def connections_without_a_handshake(room: LiveClass, token: str) -> None:
    host, _, port = room.address.partition(":")
    _OPEN.extend(socket.create_connection((host, int(port)), 20) for _ in range(200))


@case
def a_body_with_two_lengths(room: LiveClass, token: str) -> None:
    with raw(room) as one:
        one.sendall(
            b"POST /share HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n"
            b"Transfer-Encoding: chunked\r\n\r\n{}GET / HTTP/1.1\r\n\r\n"
        )
        with contextlib.suppress(OSError):
            assert b" 200 " not in one.recv(1_000)


@case
def noise_in_place_of_a_message(room: LiveClass, token: str) -> None:
    host, _, port = room.address.partition(":")
    for noise in (
        b"\0" * 10_000,
        b"\x16\x03\x01\xff\xff" + b"A" * 9_000,
        b"GET / HTTP/1.1\r\n\r\n",
    ):
        one = socket.create_connection((host, int(port)), 20)
        with one, contextlib.suppress(OSError):
            one.sendall(noise)


@case
def a_flood_of_messages_of_one_student(room: LiveClass, token: str) -> None:
    greedy = room.enter()
    found = set()
    with contextlib.closing(room.connect()) as connection:
        for n in range(200):
            body = json.dumps(room.sharing(greedy, message(n)))
            connection.request("POST", "/share", body)
            answer = connection.getresponse()
            answer.read()
            found.add(answer.status)
    assert found == {200, 429}
    assert room.leave(greedy) == 200  # has no limit


@case
def a_flood_of_connections(room: LiveClass, token: str) -> None:
    def ask() -> None:
        for _ in range(10):
            with contextlib.suppress(OSError, http.client.HTTPException):
                room.send("GET", "")

    threads = [threading.Thread(target=ask) for _ in range(20)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()


@case
def a_flood_of_wrong_codes(room: LiveClass, token: str) -> None:
    """The last case: from then on, nobody at this address joins for a while, with any code."""
    found = {room.join(code=f"kiwi-{n}")[0] for n in range(60)}
    assert found == {403, 429}
    assert room.join()[0] == 429


_OPEN: list[socket.socket] = []


@contextlib.contextmanager
def going_on(room: LiveClass, desk: str, token: str) -> Iterator[None]:
    """A student shares before and after, and the wall shows this and nothing else new."""
    figure = float(next(_versions))
    assert room.share(token, message(int(figure), value=figure)) == 200
    assert room.press(desk, "reveal") == 204
    before = counts(room.wall(desk))
    yield
    figure = float(next(_versions))
    assert room.share(token, message(int(figure), value=figure)) == 200
    wall = room.wall(desk)
    said = json.dumps(wall)
    after = counts(wall)
    assert after["measured"] == before["measured"] == 1
    (marks,) = (band["marks"] for band in wall["bands"] if band["sort"] == "measured")
    assert [value for value, _, _ in marks] == [figure]
    assert MARK not in said
    assert "\u202e" not in said
    assert room.process is not None
    assert room.process.poll() is None


@pytest.mark.parametrize("name", CASES)
def test_the_class_goes_on(room: LiveClass, desk: str, student: str, name: str) -> None:
    with going_on(room, desk, student):
        CASES[name](room, student)


def test_there_are_forty_cases_and_more() -> None:
    assert len(CASES) + len(BODIES) >= 40


@pytest.mark.measuring
@pytest.mark.slow
def test_five_hundred_join_at_once(tmp_path: Path) -> None:
    with running(tmp_path, "--share", "127.0.0.1") as room:
        tokens: list[str] = []

        def some() -> None:
            for _ in range(25):
                tokens.append(room.enter())

        threads = [threading.Thread(target=some) for _ in range(20)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        assert len(set(tokens)) == 500
        assert counts(room.wall(room.cookie(room.wall_link)))["here"] == 500
