"""A student's part in a class that works together: what is shared, and how it gets there.

`grader live` shows the class its predictions and figures. A student who has joined shares the
numbers in `Shared` and nothing else. The whole of it is sent each time, with a version, so it does
not matter which message arrives first, twice or never. A lab goes on in the same way if nobody
answers, and what it has by then is sent later.
"""

from __future__ import annotations

import contextlib
import hashlib
import http.client
import json
import os
import random
import secrets
import ssl
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, StringConstraints, ValidationError

from labs import limits, paths
from labs.course import figures, predictions
from labs.course.figures import TIMES
from labs.files import read_bounded, write_atomically
from labs.html import Table
from labs.json_text import Form
from labs.recording.file import BadRecording, read
from labs.recording.origin import UNKNOWN, is_kind, kind_in_file
from labs.results.result import result_of
from labs.units import NAMES, SPELLINGS, rounded, unit_symbol

#: Where a hub has the address of its class, and after a `#` the code.
ADDRESS = "TICKLAB_LIVE"
_LARGEST = 1e15
_LIMIT_S = 10.0
#: How often the folder is looked at, after how long all is sent again (a class that was started
#: anew has then what it had), and after how long at most if nobody answered.
_LOOK_S, AGAIN_S, _RETRY_S = 1.0, 24.0, 8.0
#: A value is that of a variant if they differ by less than this share.
_SAME = 0.05

_Name = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9-]{0,63}$")]
_Number = Annotated[float, Field(ge=-_LARGEST, le=_LARGEST, allow_inf_nan=False)]
_Unit = Annotated[str, StringConstraints(pattern=rf"^({'|'.join((*NAMES, TIMES))})$")]


def _known_kind(text: str) -> str:
    return text if is_kind(text) else UNKNOWN


class SharedPrediction(Form):
    """What was expected, in `unit`."""

    value: _Number
    unit: _Unit

    def __str__(self) -> str:
        return f"{rounded(self.value, 6)} {unit_symbol(self.unit)}"


class SharedFigure(SharedPrediction):
    """A figure in `unit` with the ends of its interval, the kind of machine, codes of findings."""

    low: _Number | None = None
    high: _Number | None = None
    machine: Annotated[str, StringConstraints(max_length=40), AfterValidator(_known_kind)] = UNKNOWN
    findings: list[_Name] = Field(default=[], max_length=limits.MOST_SHARED_FINDINGS)


class Shared(Form):
    """All that one student shares. Of two messages, the one with the larger version counts."""

    version: int = Field(ge=0, le=2**53)
    predictions: dict[_Name, SharedPrediction] = Field(max_length=limits.MOST_SHARED)
    figures: dict[_Name, SharedFigure] = Field(max_length=limits.MOST_SHARED)

    def as_table(self) -> Table:
        """What leaves the machine, for its owner to read."""
        rows = [(id_, "prediction", str(each), *[""] * 3) for id_, each in self.predictions.items()]
        for name, found in self.figures.items():
            ends = (found.low, found.high)
            interval = " to ".join(rounded(end, 4) for end in ends if end is not None)
            codes = " ".join(found.findings)
            rows.append((name, "figure", str(found), interval, found.machine, codes))
        rows = rows or [("nothing yet", "", "", "", "", "")]
        header = ("", "what", "value", "95 % interval", "machine", "findings")
        return Table("What leaves this machine", header, tuple(rows)).without_empty()


#: By figure, the codes of the findings on it.
Findings = Mapping[str, Sequence[str]]


def shared_from(folder: Path, findings: Findings, version: int = 0) -> Shared:
    """What the lab in `folder` shares now. Raises ValueError if a file in it is unreadable."""
    made: dict[str, SharedPrediction] = {}
    found: dict[str, SharedFigure] = {}
    for name, versions in sorted(predictions.read(folder).items()):
        guess = predictions.counting(versions)
        with contextlib.suppress(ValidationError):  # it has a unit or a size that no figure has
            if guess is not None and len(made) < limits.MOST_SHARED:
                made[name] = SharedPrediction(value=float(guess.value), unit=_unit(guess.unit))
    for name, figure in sorted(figures.read(folder).items()):
        if not isinstance(figure, figures.Figure) or len(found) == limits.MOST_SHARED:
            continue
        path, unit = folder / (figure.recording or ""), _unit(figure.unit)
        low, high = _interval(path, figure.value, unit)
        with contextlib.suppress(ValidationError):  # the same, or it is a conclusion
            found[name] = SharedFigure(
                value=float(figure.value), unit=unit, low=low, high=high,
                machine=kind_in_file(path),
                findings=sorted(findings.get(name, ()))[: limits.MOST_SHARED_FINDINGS],
            )  # fmt: skip
    return Shared(version=version, predictions=made, figures=found)


def _unit(text: str) -> str:
    return SPELLINGS.get(text.strip(), text.strip())


def _interval(path: Path, value: float, unit: str) -> tuple[float | None, float | None]:
    """The interval of the variant whose estimate the value is, in `unit`; None if there is none."""
    try:
        recording = read(path)
        every = [result_of(recording, name, unit).estimate for name in recording.variants]
    except (OSError, BadRecording, ValueError):
        return None, None
    near = [each for each in every if each and abs(each.value - value) <= _SAME * abs(value)]
    best = min(near, key=lambda each: abs(each.value - value), default=None)
    return (float(best.low), float(best.high)) if best else (None, None)


# The connection. A class in a room has a certificate that it made itself, so the student compares
# its first digits with those on the wall. A hub has a certificate of the usual kind, or no TLS.


class NoClass(Exception):
    """The class does not let this student in; the message says why and what to do."""


class _NoAnswer(Exception):
    """Nobody answered, or not in our language; it is tried again."""


def digits_of(certificate: bytes) -> str:
    """The first digits of a certificate's SHA-256, in groups of four."""
    text = hashlib.sha256(certificate).hexdigest()
    return " ".join(text[at : at + 4] for at in range(0, 16, 4))


class _Said(Form):
    """What the class answers: each answer has some of these."""

    name: str = Field(default="", max_length=40)
    version: int = 0
    error: str = "it gave no reason"


class _Kept(Form):
    """What makes a student the same one again: a secret, and the digits of the certificate."""

    student: str = Field(default_factory=secrets.token_hex)
    digits: str = ""


class _Connection:
    """The connection to the class at `address`, which stays open between two calls.

    `digits` are those of its certificate, '' where there is none to compare. Once known, another
    certificate is an error, before anything is sent.
    """

    def __init__(self, address: str, digits: str) -> None:
        self.digits = digits
        own = ssl.create_default_context()
        own.check_hostname, own.verify_mode = False, ssl.CERT_NONE
        kinds: dict[str, Callable[..., http.client.HTTPConnection]] = {
            "http": http.client.HTTPConnection,
            "https": http.client.HTTPSConnection,
            "room": partial(http.client.HTTPSConnection, context=own),
        }
        try:
            parts = urlsplit(address if "://" in address else f"room://{address}")
            self._is_room, self._base = parts.scheme == "room", parts.path.rstrip("/")
            self._http = kinds[parts.scheme](parts.hostname or "", parts.port, timeout=_LIMIT_S)
        except (KeyError, ValueError):
            raise NoClass(f"{address!r} is no address, such as 192.0.2.7:8766") from None

    def post(self, path: str, stated: object) -> _Said:
        """What the class answers. Raises NoClass, _NoAnswer."""
        try:
            if self._http.sock is None:
                self._http.connect()
                self._compare()
            headers = {"Content-Type": "application/json"}
            self._http.request("POST", f"{self._base}/{path}", json.dumps(stated), headers)
            answer = self._http.getresponse()
            said = _Said.model_validate_json(answer.read(limits.MOST_SHARED_BYTES))
        except (OSError, http.client.HTTPException, ValidationError) as error:
            self.close()
            raise _NoAnswer(str(error) or type(error).__name__) from error
        if answer.status in (429, 503):
            raise _NoAnswer("the class is busy")
        if answer.status != 200:
            raise NoClass(said.error[:200])
        return said

    def close(self) -> None:
        """End the connection, if there is one."""
        self._http.close()

    def _compare(self) -> None:
        """Raise NoClass if it is not the certificate that is known."""
        if self._is_room and isinstance(self._http.sock, ssl.SSLSocket):
            shown = digits_of(self._http.sock.getpeercert(binary_form=True) or b"")
            if self.digits not in ("", shown):
                self.close()
                why = f"its certificate begins with {shown}, and before with {self.digits}"
                raise NoClass(f"this is another class than before: {why}; ask your instructor")
            self.digits = shown


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
        self._file = paths.cache() / "live" / f"member-{hashlib.sha256(words).hexdigest()[:16]}"
        self._kept, self.name = _Kept(), ""
        with contextlib.suppress(OSError, ValidationError):  # it has not joined yet
            content = read_bounded(self._file, limits.MOST_COURSE_BYTES)
            self._kept = _Kept.model_validate_json(content)
        self._class = _Connection(address, self._kept.digits)
        self._shared = Shared(version=0, predictions={}, figures={})
        self._seen: list[int] = []
        self._ended, self._busy = threading.Event(), threading.Lock()
        self._thread = threading.Thread(target=self._run, daemon=True, name="ticklab-class")

    @property
    def digits(self) -> str:
        """The first digits of the certificate of the class; '' where none needs comparing."""
        return self._class.digits

    def join(self) -> None:
        """Enter the class, show what leaves, and begin to send it. Raises NoClass, CannotWrite."""
        try:
            self._post()  # with nothing in it yet
        except _NoAnswer as error:
            raise NoClass(f"nobody answers there ({error}); try again in a moment") from error
        kept = self._kept.model_copy(update={"digits": self.digits})
        self._file.parent.mkdir(mode=0o700, exist_ok=True)
        write_atomically(self._file, kept.model_dump_json().encode(), private=True)
        self.look()
        self._thread.start()

    def end(self) -> None:
        """Send nothing more; what was shared stays in the class."""
        self._ended.set()

    def leave(self) -> bool:
        """Have the class forget this student; False if it did not answer. Raises NoClass."""
        self.end()
        self._file.unlink(missing_ok=True)
        with self._busy:
            try:
                self._class.post("leave", {"student": self._kept.student})
            except _NoAnswer:
                return False
            finally:
                self._class.close()
        return True

    def look(self) -> bool:
        """Show what is new in the folder, before it is sent; False if nothing is."""
        with self._busy:
            files = [self._folder / each for each in (predictions.FILE_NAME, figures.FILE_NAME)]
            try:
                seen = [each.stat().st_mtime_ns if each.exists() else 0 for each in files]
                if seen == self._seen:
                    return False
                new = shared_from(self._folder, self._findings(), self._shared.version)
            except (OSError, ValueError):
                return False  # a file is broken: the lab itself says so
            self._seen = seen
            if new == self._shared and self._thread.is_alive():
                return False
            self._tell(new.as_table())
            self._shared = new  # only now may it leave
            self._renew(time.time_ns() // 1_000_000)
            return True

    def _renew(self, version: int) -> None:
        """Give what is shared a larger version, of at least `version`."""
        larger = max(version, self._shared.version + 1)
        self._shared = self._shared.model_copy(update={"version": larger})

    def _run(self) -> None:
        due = 0.0
        while not self._ended.is_set():
            if self.look() or time.monotonic() >= due:
                try:
                    due = time.monotonic() + self._send() * random.uniform(0.8, 1.2)
                except NoClass:
                    break  # the class is over, or of others: the lab goes on
            self._ended.wait(_LOOK_S)
        self._class.close()

    def _send(self) -> float:
        """Send everything; returns after how many seconds it is due again. Raises NoClass."""
        with self._busy:
            try:
                version = 0 if self._ended.is_set() else self._post()
            except _NoAnswer:
                return random.uniform(0, _RETRY_S)
            if version <= self._shared.version:
                return AGAIN_S
            self._renew(version + 1)  # the clock of this machine was set back
            return 0.0

    def _post(self) -> int:
        """Send everything; returns the version that counts there. Raises NoClass, _NoAnswer."""
        whole = {"student": self._kept.student, "code": self._code, "lab": self._folder.name}
        said = self._class.post("share", {**whole, "shared": self._shared.model_dump()})
        self.name = said.name
        return said.version
