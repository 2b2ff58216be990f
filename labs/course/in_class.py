"""A student's part in a class that works together: what is shared, and how it gets there.

`grader live` shows the class its predictions and figures. A student who has joined shares the
numbers in `Shared` and nothing else. The whole of it is sent each time, with a version, so it does
not matter which message arrives first, twice or never. A lab goes on in the same way if nobody
answers, and what it has by then is sent later.
"""

from __future__ import annotations

import hashlib
import http.client
import json
import os
import random
import ssl
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlsplit

from pydantic import Field, StringConstraints

from labs import limits, paths
from labs.course import figures, predictions
from labs.course.figures import CHOICE, TIMES
from labs.files import CannotWrite, read_bounded, write_atomically
from labs.html import Table
from labs.json_text import BadJson, Form, parse_json, text_of
from labs.recording.file import BadRecording, read
from labs.recording.origin import UNKNOWN, kind_in_file
from labs.results.result import result_of
from labs.units import NAMES, UnknownUnit, canonical, rounded, unit_symbol

#: Where a hub has the address of its class, and after a `#` the code.
ADDRESS = "TICKLAB_LIVE"
_LARGEST = 1e15
_LIMIT_S = 10.0
#: How often the folder is looked at, and after how long everything is sent again: a class that was
#: started anew has then what it had.
_LOOK_S, _AGAIN_S = 1.0, 15.0
#: A value is that of a variant if they differ by less than this share.
_SAME = 0.05

_Name = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9-]{0,63}$")]
_Number = Annotated[float, Field(ge=-_LARGEST, le=_LARGEST, allow_inf_nan=False)]
_Unit = Annotated[str, StringConstraints(pattern=rf"^({'|'.join((*NAMES, TIMES))})$")]


class SharedPrediction(Form):
    """What was expected, in `unit`."""

    value: _Number
    unit: _Unit


class SharedFigure(Form):
    """A figure in `unit` with the ends of its interval, the kind of machine, codes of findings."""

    value: _Number
    unit: _Unit
    low: _Number | None = None
    high: _Number | None = None
    machine: Annotated[str, StringConstraints(max_length=40)] = UNKNOWN
    findings: list[_Name] = Field(default=[], max_length=limits.MOST_SHARED_FINDINGS)


class Shared(Form):
    """All that one student shares. Of two messages, the one with the larger version counts."""

    version: int = Field(ge=0, le=2**53)
    predictions: dict[_Name, SharedPrediction] = Field(max_length=limits.MOST_SHARED)
    figures: dict[_Name, SharedFigure] = Field(max_length=limits.MOST_SHARED)

    def as_table(self) -> Table:
        """What leaves the machine, for its owner to read."""
        rows = [
            (name, "prediction", f"{rounded(each.value, 6)} {unit_symbol(each.unit)}", "", "", "")
            for name, each in self.predictions.items()
        ]
        for name, found in self.figures.items():
            ends = (found.low, found.high)
            interval = " to ".join(rounded(end, 4) for end in ends if end is not None)
            value = f"{rounded(found.value, 6)} {unit_symbol(found.unit)}"
            rows.append((name, "figure", value, interval, found.machine, " ".join(found.findings)))
        if not rows:
            rows.append(("nothing yet", "", "", "", "", ""))
        header = ("", "what", "value", "95 % interval", "machine", "findings")
        return Table("What leaves this machine", header, tuple(rows)).without_empty()


#: By figure, the codes of the findings on it.
Findings = Mapping[str, Sequence[str]]


def shared_from(folder: Path, findings: Findings, version: int = 0) -> Shared:
    """What the lab in `folder` shares now. Raises ValueError if a file in it is unreadable."""
    made, found = {}, {}
    for name, versions in predictions.read(folder).items():
        guess = predictions.counting(versions)
        if guess is not None and (unit := _unit(guess.unit)) and guess.value <= _LARGEST:
            made[name] = SharedPrediction(value=float(guess.value), unit=unit)
    for name, figure in figures.read(folder).items():
        if not isinstance(figure, figures.Figure) or abs(figure.value) > _LARGEST:
            continue
        unit = _unit(figure.unit)
        if not unit or figure.unit == CHOICE:
            continue
        path = folder / figure.recording if figure.recording else None
        ends = _interval(path, figure.value, unit) if path else None
        found[name] = SharedFigure(
            value=float(figure.value),
            unit=unit,
            low=ends[0] if ends else None,
            high=ends[1] if ends else None,
            machine=kind_in_file(path) if path else UNKNOWN,
            findings=sorted(findings.get(name, ()))[: limits.MOST_SHARED_FINDINGS],
        )
    most = limits.MOST_SHARED
    return Shared(
        version=version,
        predictions=dict(sorted(made.items())[:most]),
        figures=dict(sorted(found.items())[:most]),
    )


def _unit(text: str) -> str:
    """The unit in the kit's spelling; '' for one that no figure has."""
    if text == TIMES:
        return text
    try:
        return canonical(text)
    except UnknownUnit:
        return ""


def _interval(path: Path, value: float, unit: str) -> tuple[float, float] | None:
    """The interval of the variant whose estimate the value is, in `unit`; None if there is none."""
    try:
        recording = read(path)
        every = [result_of(recording, name, unit).estimate for name in recording.variants]
    except (OSError, BadRecording, ValueError):
        return None
    near = [each for each in every if each and abs(each.value - value) <= _SAME * abs(value)]
    best = min(near, key=lambda each: abs(each.value - value), default=None)
    if best is None or max(abs(best.low), abs(best.high)) > _LARGEST:
        return None
    return float(best.low), float(best.high)


# The connection. A class in a room has a certificate that it made itself, so the student compares
# its first digits with those on the wall. A hub has a certificate of the usual kind, or no TLS.


class NoClass(Exception):
    """The class does not let this student in; the message says why and what to do."""


class _NoAnswer(Exception):
    """Nobody answered, or not in our language; it is tried again."""


class _Unknown(Exception):
    """The class does not know this student any more."""


def digits_of(certificate: bytes) -> str:
    """The first digits of a certificate's SHA-256, in groups of four."""
    text = hashlib.sha256(certificate).hexdigest()
    return " ".join(text[at : at + 4] for at in range(0, 16, 4))


class _Connection:
    """The connection to the class at `address`, which stays open between two calls.

    `digits` are those of its certificate, '' where there is none to compare. Once known, another
    certificate is an error, before anything is sent.
    """

    def __init__(self, address: str, digits: str) -> None:
        named = address if "://" in address else f"room://{address}"
        try:
            parts = urlsplit(named)
            self._host, self._port, self._base = parts.hostname, parts.port, parts.path.rstrip("/")
        except ValueError:
            self._host = None
        if self._host is None or parts.scheme not in ("room", "http", "https"):
            raise NoClass(f"{address!r} is no address, such as 192.0.2.7:8766")
        self._scheme, self.digits = parts.scheme, digits
        self._open: http.client.HTTPConnection | None = None

    def post(self, path: str, stated: object, token: str = "") -> dict[str, Any]:
        """What the class answers. Raises NoClass, _NoAnswer, _Unknown."""
        try:
            connection = self._connected()
            headers = {"Content-Type": "application/json", "Authorization": f"Bearer {token}"}
            connection.request("POST", f"{self._base}/{path}", json.dumps(stated), headers)
            answer = connection.getresponse()
            content = answer.read(limits.MOST_SHARED_BYTES)
            said = parse_json(text_of(content))
        except (OSError, http.client.HTTPException, BadJson) as error:
            self.close()
            raise _NoAnswer(str(error) or type(error).__name__) from error
        if answer.status in (429, 503):
            raise _NoAnswer("the class is busy")
        if answer.status == 401:
            raise _Unknown
        if answer.status != 200 or not isinstance(said, dict):
            why = said.get("error") if isinstance(said, dict) else None
            raise NoClass(str(why or f"the class answered {answer.status}")[:200])
        return said

    def close(self) -> None:
        """End the connection, if there is one."""
        if self._open is not None:
            self._open.close()
            self._open = None

    def _connected(self) -> http.client.HTTPConnection:
        if self._open is not None:
            return self._open
        assert self._host is not None
        if self._scheme == "http":
            self._open = http.client.HTTPConnection(self._host, self._port, timeout=_LIMIT_S)
            return self._open
        if self._scheme == "room":
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        else:
            context = ssl.create_default_context()
        made = http.client.HTTPSConnection(
            self._host, self._port, timeout=_LIMIT_S, context=context
        )
        made.connect()
        shown = digits_of(made.sock.getpeercert(binary_form=True) or b"")
        if self._scheme == "room" and self.digits not in ("", shown):
            made.close()
            why = f"its certificate begins with {shown}, and before with {self.digits}"
            raise NoClass(f"this is another class than before: {why}; ask your instructor")
        self.digits = shown if self._scheme == "room" else ""
        self._open = made
        return made


class Member:
    """One student in the class: `tell` shows the table of what leaves, before it leaves.

    A thread sends what is new, and all of it again now and then. Joining again with the same code
    goes on as the same one. `findings` gives the codes on each figure, when something has changed.
    """

    def __init__(
        self, folder: Path, code: str, address: str,
        findings: Callable[[], Findings], tell: Callable[[Table], None],
    ) -> None:  # fmt: skip
        stated, _, stated_code = os.environ.get(ADDRESS, "").partition("#")
        self._folder, self._findings, self._tell = folder, findings, tell
        self._code, address = code.strip().lower() or stated_code, address.strip() or stated
        if not self._code or not address:
            raise NoClass(
                'write the code and the address on the wall: ("kiwi-4207", "192.0.2.7:8766")'
            )
        words = "\n".join((str(folder.absolute()), self._code, address)).encode()
        self._kept = paths.cache() / "live" / f"member-{hashlib.sha256(words).hexdigest()[:16]}"
        known = self._read_kept()
        self._class = _Connection(address, known.get("digits", ""))
        self._token = known.get("token", "")
        self.name = known.get("name", "")
        self._shared = Shared(version=0, predictions={}, figures={})
        self._seen: list[int] = []
        self._last = 0
        self._ended, self._busy = threading.Event(), threading.Lock()
        self._thread = threading.Thread(target=self._run, daemon=True, name="ticklab-class")

    @property
    def digits(self) -> str:
        """The first digits of the certificate of the class; '' where none needs comparing."""
        return self._class.digits

    def join(self) -> None:
        """Enter the class, show what leaves, and begin to send it. Raises NoClass, CannotWrite."""
        try:
            self._enter()
        except _NoAnswer as error:
            raise NoClass(f"nobody answers there ({error}); try again in a moment") from error
        self.look()
        self._thread.start()

    def end(self) -> None:
        """Send nothing more; what was shared stays in the class."""
        self._ended.set()

    def leave(self) -> bool:
        """Have the class forget this student; False if it did not answer. Raises NoClass."""
        self.end()
        self._kept.unlink(missing_ok=True)
        with self._busy:
            try:
                if self._token:
                    self._class.post("leave", {}, self._token)
            except (_NoAnswer, _Unknown) as error:
                return isinstance(error, _Unknown)
            finally:
                self._class.close()
        return True

    def look(self) -> bool:
        """Show what is new in the folder, before it is sent; False if nothing is."""
        with self._busy:
            seen = [self._time_of(name) for name in (predictions.FILE_NAME, figures.FILE_NAME)]
            if seen == self._seen:
                return False
            self._last = max(self._last + 1, time.time_ns() // 1_000_000)
            try:
                new = shared_from(self._folder, self._findings(), self._last)
            except ValueError:
                return False  # a file is broken: the lab itself says so
            self._seen = seen
            same = new.model_copy(update={"version": self._shared.version}) == self._shared
            if same and self._thread.is_alive():
                return False
            self._tell(new.as_table())
            self._shared = new  # only now may it leave
            return True

    def _time_of(self, name: str) -> int:
        try:
            return (self._folder / name).stat().st_mtime_ns
        except OSError:
            return 0

    def _enter(self) -> None:
        """Ask the class for a place, unless this student has one."""
        if self._token:
            return
        said = self._class.post("join", {"code": self._code, "lab": self._folder.name})
        self._token, self.name = str(said.get("token"))[:100], str(said.get("name"))[:40]
        kept = {"token": self._token, "name": self.name, "digits": self.digits}
        self._kept.parent.mkdir(mode=0o700, exist_ok=True)
        write_atomically(self._kept, json.dumps(kept).encode(), private=True)

    def _read_kept(self) -> dict[str, str]:
        try:
            return dict(parse_json(text_of(read_bounded(self._kept, limits.MOST_COURSE_BYTES))))
        except (OSError, BadJson):
            return {}

    def _run(self) -> None:
        due, wait = 0.0, 1.0
        while not self._ended.is_set():
            if self.look() or time.monotonic() >= due:
                try:
                    self._send()
                    due, wait = time.monotonic() + _AGAIN_S * random.uniform(0.8, 1.2), 1.0
                except _NoAnswer:
                    due = time.monotonic() + wait * random.uniform(0.5, 1.5)
                    wait = min(2 * wait, _AGAIN_S)
                except (NoClass, CannotWrite):
                    return  # the class is over, or of others: the lab goes on
            self._ended.wait(_LOOK_S)
        self._class.close()

    def _send(self) -> None:
        with self._busy:
            if self._ended.is_set():
                return
            try:
                known = self._post()
            except _Unknown:
                self._token = ""
                self._enter()
                known = self._post()
            if known > self._shared.version:  # the clock of this machine was set back
                self._last = known + 1
                self._shared = self._shared.model_copy(update={"version": self._last})
                self._post()

    def _post(self) -> int:
        """Send everything; returns the version that counts there."""
        said = self._class.post("share", self._shared.model_dump(), self._token)
        version = said.get("version")
        return version if isinstance(version, int) else 0
