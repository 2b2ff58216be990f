"""A real server of a class in a process of its own, and what its students and strangers send."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import re
import secrets
import signal
import socket
import ssl
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from support.paths import REPOSITORY

LAB = "03-system-call"


def free_port() -> int:
    """A port that nobody uses now, with the next one free too."""
    while True:
        with socket.socket() as first, socket.socket() as second:
            first.bind(("127.0.0.1", 0))
            port = int(first.getsockname()[1])
            with contextlib.suppress(OSError, OverflowError):
                second.bind(("127.0.0.1", port + 1))
                return port


@dataclass
class LiveClass:
    """`grader live` in a process, with the links and the code that it prints."""

    cache: Path
    options: tuple[str, ...] = ()
    lab: str = LAB
    port: int = field(default_factory=free_port)
    process: subprocess.Popen[str] | None = None
    said: str = ""

    def start(self) -> None:
        """Start the server, and wait until it serves."""
        command = [sys.executable, "-m", "grader.commands.cli", "live", self.lab]
        command += ["--port", str(self.port), *self.options]
        self.process = subprocess.Popen(
            command, cwd=REPOSITORY, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            env={**os.environ, "TICKLAB_CACHE": str(self.cache), "PYTHONUNBUFFERED": "1"},
        )  # fmt: skip
        assert self.process.stdout is not None
        self.said = ""
        for line in self.process.stdout:
            self.said += line
            if line.startswith("To end the class"):
                break
        else:
            raise AssertionError(f"the server did not start: {self.said}")
        threading.Thread(target=self._drain, args=(self.process,), daemon=True).start()

    def _drain(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        for line in process.stdout:
            self.said += line

    def stop(self, *, kill: bool = False) -> int:
        """End it as Control-C does, or kill it, and return its status."""
        assert self.process is not None
        self.process.send_signal(signal.SIGKILL if kill else signal.SIGINT)
        return self.process.wait(60)

    @property
    def code(self) -> str:
        """The code on the wall."""
        return self._found(r'lab\.join\("([\w-]+)"')

    @property
    def address(self) -> str:
        """The address on the wall."""
        return self._found(r'lab\.join\("[\w-]+", "([^"]+)"\)')

    @property
    def desk_link(self) -> str:
        """The link that opens the instructor's page once."""
        return self._found(r"(\S+/desk\?key=\S+)")

    @property
    def wall_link(self) -> str:
        """The link for the projector."""
        return self._found(r"(\S+/wall\?key=\S+)")

    def _found(self, pattern: str) -> str:
        match = re.search(pattern, self.said)
        assert match is not None, self.said
        return match[1]

    # Plain HTTP, as a stranger would send it.

    def connect(self, timeout: float = 20) -> http.client.HTTPConnection:
        """A connection to where students join."""
        if self.address.startswith("http://"):
            return http.client.HTTPConnection(self.address[7:], timeout=timeout)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        return http.client.HTTPSConnection(self.address, timeout=timeout, context=context)

    def send(
        self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None
    ) -> tuple[int, bytes, dict[str, str]]:
        """The status, the content and the headers of the answer. A body of bytes is sent as is."""
        content = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        with contextlib.closing(self.connect()) as connection:
            connection.request(method, f"/{path}", content, headers or {})
            answer = connection.getresponse()
            return answer.status, answer.read(), dict(answer.getheaders())

    def sharing(self, student: str, shared: Any, **changes: str) -> dict[str, Any]:
        """A whole message of a student, whose secret is `student`."""
        return {"student": student, "code": self.code, "lab": self.lab, "shared": shared, **changes}

    def join(self, student: str = "", **changes: str) -> tuple[int, bytes, dict[str, str]]:
        """The answer to somebody who joins, with another code or lab if these are `changes`."""
        nothing = {"version": 0, "predictions": {}, "figures": {}}
        made = self.sharing(student or secrets.token_hex(), nothing, **changes)
        return self.send("POST", "share", made)

    def enter(self) -> str:
        """The secret of a new student."""
        student = secrets.token_hex()
        status, content, _ = self.join(student)
        assert status == 200, content
        return student

    def share(self, student: str, shared: Any) -> int:
        """The status of what a student shares. What is bytes is sent as is, within the message."""
        if not isinstance(shared, bytes):
            return self.send("POST", "share", self.sharing(student, shared))[0]
        before, after = json.dumps(self.sharing(student, "HERE")).encode().split(b'"HERE"')
        return self.send("POST", "share", before + shared + after)[0]

    def leave(self, student: str) -> int:
        """The status of leaving."""
        return self.send("POST", "leave", {"student": student})[0]

    def cookie(self, link: str) -> str:
        """The cookie that a link gives a browser; '' if it opens nothing."""
        path = link.split("/", 3)[3]
        with contextlib.closing(http.client.HTTPConnection(f"127.0.0.1:{self.port}")) as own:
            own.request("GET", f"/{path}")
            answer = own.getresponse()
            answer.read()
            return (answer.getheader("Set-Cookie") or "").partition(";")[0]

    def wall(self, cookie: str) -> dict[str, Any]:
        """What the page for the projector is told."""
        with contextlib.closing(http.client.HTTPConnection(f"127.0.0.1:{self.port}")) as own:
            own.request("GET", "/state", headers={"Cookie": cookie})
            answer = own.getresponse()
            content = answer.read()
            assert answer.status == 200, content
            return dict(json.loads(content))

    def press(self, cookie: str, action: str) -> int:
        """The status after a button of the instructor's page."""
        with contextlib.closing(http.client.HTTPConnection(f"127.0.0.1:{self.port}")) as own:
            own.request("POST", "/desk", action, {"Cookie": cookie, "X-Live": "1"})
            answer = own.getresponse()
            answer.read()
            return answer.status


@contextlib.contextmanager
def running(
    cache: Path, *options: str, lab: str = LAB, port: int | None = None
) -> Iterator[LiveClass]:
    """A class on `lab` that ends with the block."""
    made = LiveClass(cache, options, lab, free_port() if port is None else port)
    made.start()
    try:
        yield made
    finally:
        if made.process is not None and made.process.poll() is None:
            made.stop()


def counts(wall: dict[str, Any]) -> dict[str, int]:
    """The counts on the wall by their words: here, predicted, measured."""
    return {what: count for count, what in wall["counts"]}


def message(version: int = 1, value: float = 100.0, **figure: Any) -> dict[str, Any]:
    """A good message of a student, with a prediction and a figure of LAB."""
    found = {
        "value": value, "unit": "ns", "low": value * 0.9, "high": value * 1.1,
        "machine": "x86-64, AMD, virtual", "findings": [], **figure,
    }  # fmt: skip
    return {
        "version": version,
        "predictions": {"system-call-getppid": {"value": 2 * value, "unit": "ns"}},
        "figures": {"system-call-getppid": found},
    }
