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
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, StringConstraints, ValidationError

from labs import limits, paths
from labs.course import figures, predictions
from labs.files import read_bounded, write_atomically
from labs.html import Table
from labs.json_text import Form
from labs.messages import Message
from labs.recording.file import BadRecording, read
from labs.recording.run_conditions import UNKNOWN, is_kind, kind_in_file
from labs.results.result import result_of
from labs.units import NAMES, rounded, spelled, unit_symbol

if TYPE_CHECKING:
    from typing_extensions import Self

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
_Unit = Annotated[str, StringConstraints(pattern=rf"^({'|'.join((*NAMES, figures.TIMES))})$")]


def _known_kind(text: str) -> str:
    return text if is_kind(text) else UNKNOWN


class SharedPrediction(Form):
    """What was expected, in `unit`."""

    value: _Number
    unit: _Unit

    def __str__(self) -> str:
        return f"{rounded(self.value, 6)} {unit_symbol(self.unit)}"


class SharedFigure(SharedPrediction):
    """A figure in `unit`, the kind of machine, codes of findings, and the ends of its interval.

    A figure without an interval has both ends at its value.
    """

    low: _Number
    high: _Number
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
            ends = f"{rounded(found.low, 4)} to {rounded(found.high, 4)}"
            interval, codes = ends if found.low < found.high else "", " ".join(found.findings)
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
    for name, versions in sorted(predictions.read(folder).items())[: limits.MOST_SHARED]:
        guess = predictions.counting(versions)
        with contextlib.suppress(ValidationError):  # it has a unit or a size that no figure has
            if guess is not None:
                made[name] = SharedPrediction(value=float(guess.value), unit=spelled(guess.unit))
    for name, figure in sorted(figures.read(folder).items())[: limits.MOST_SHARED]:
        if not isinstance(figure, figures.Figure):
            continue
        path, unit = folder / (figure.recording or ""), spelled(figure.unit)
        low, high = _interval(path, float(figure.value), unit)
        with contextlib.suppress(ValidationError):  # the same, or it is a conclusion
            found[name] = SharedFigure(
                value=float(figure.value), unit=unit, low=low, high=high,
                machine=kind_in_file(path),
                findings=sorted(findings.get(name, ()))[: limits.MOST_SHARED_FINDINGS],
            )  # fmt: skip
    return Shared(version=version, predictions=made, figures=found)


def _interval(path: Path, value: float, unit: str) -> tuple[float, float]:
    """The interval of the variant whose estimate the value is, in `unit`."""
    try:
        recording = read(path)
        every = [result_of(recording, name, unit).estimate for name in recording.variants]
    except (OSError, BadRecording, ValueError):
        every = []
    near = [each for each in every if each and abs(each.value - value) <= _SAME * abs(value)]
    best = min(near, key=lambda each: abs(each.value - value), default=None)
    return (float(best.low), float(best.high)) if best else (value, value)


# The connection. A class in a room has a certificate that it made itself, so the student compares
# its first digits with those on the wall. A hub has a certificate of the usual kind, or no TLS.


class NoClass(ValueError):
    """The class does not let this student in; the message says why and what to do."""


class _NoAnswer(Exception):
    """Nobody answered, or not in our language; it is tried again."""


class Kept(Form, frozen=False):
    """What makes somebody in the class the same one after a restart: a file in the cache folder."""

    @classmethod
    def read(cls, file: Path) -> Self:
        """What is in `file`; a new one if there is none, or one of another version."""
        with contextlib.suppress(OSError, ValidationError):
            return cls.model_validate_json(read_bounded(file, limits.MOST_JSON_BYTES))
        return cls()

    def write(self, file: Path) -> None:
        """Store it for a restart. Raises CannotWrite."""
        file.parent.mkdir(mode=0o700, exist_ok=True)
        write_atomically(file, self.model_dump_json().encode(), private=True)


class _Student(Kept):
    """A student's secret, and the digits of the certificate of the class."""

    secret: str = Field(default_factory=secrets.token_hex)
    digits: str = ""


class _Said(Form):
    """What the class answers: each answer has some of these."""

    name: str = Field(default="", max_length=40)
    version: int = 0
    error: str = "it gave no reason"


def digits_of(certificate: bytes) -> str:
    """The first digits of a certificate's SHA-256, in groups of four."""
    text = hashlib.sha256(certificate).hexdigest()
    return " ".join(text[at : at + 4] for at in range(0, 16, 4))


class _Room(http.client.HTTPSConnection):
    """A connection to a class in a room: no authority knows its certificate."""

    def __init__(self, student: _Student, host: str, port: int | None, timeout: float) -> None:
        own = ssl.create_default_context()
        own.check_hostname, own.verify_mode = False, ssl.CERT_NONE
        super().__init__(host, port, timeout=timeout, context=own)
        self._student = student

    def connect(self) -> None:
        """Connect, and raise NoClass before anything is sent if the certificate is another one."""
        super().connect()
        shown, known = digits_of(self.sock.getpeercert(True) or b""), self._student.digits
        if known not in ("", shown):
            self.close()
            why = f"its certificate begins with {shown}, and before with {known}"
            raise NoClass(f"this is another class than before: {why}; ask your instructor")
        self._student.digits = shown


_EXPLAINED = (
    "The table shows what leaves this machine. It changes before anything else leaves. No name and "
    "no recording is in it. Your lab goes on in the same way if the class does not answer."
)


class Member:
    """One student in the class: `tell` shows the table of what leaves, before it leaves.

    A thread sends what is new, and all of it again now and then. Joining again with the same code
    goes on as the same one. `findings` gives the codes on each figure in the folder, when something
    has changed. Raises NoClass for a wrong address, and CacheNotWritable.
    """

    def __init__(
        self, folder: Path, code: str, address: str,
        findings: Callable[[Path], Findings], tell: Callable[[Table], object],
    ) -> None:  # fmt: skip
        stated, _, stated_code = os.environ.get(ADDRESS, "").partition("#")
        self._folder, self._findings, self._tell = folder, findings, tell
        self._code, address = code.strip().lower() or stated_code, address.strip() or stated
        if not self._code or not address:
            raise NoClass('write the code and address on the wall: ("kiwi-4207", "192.0.2.7:8766")')
        words = "\n".join((str(folder.absolute()), self._code, address)).encode()
        self._file = paths.cache() / "live" / f"member-{hashlib.sha256(words).hexdigest()[:16]}"
        self._student, self.name = _Student.read(self._file), ""
        kinds: dict[str, Callable[..., http.client.HTTPConnection]] = {
            "http": http.client.HTTPConnection,
            "https": http.client.HTTPSConnection,
            "": partial(_Room, self._student),
        }
        try:
            parts = urlsplit(address if "://" in address else f"//{address}")
            self._http = kinds[parts.scheme](parts.hostname or "", parts.port, timeout=_LIMIT_S)
        except (KeyError, ValueError):
            raise NoClass(f"{address!r} is no address, such as 192.0.2.7:8766") from None
        self._base = parts.path.rstrip("/")
        self._shared = Shared(version=0, predictions={}, figures={})
        self._seen: list[int] = []
        self._ended, self._busy = threading.Event(), threading.Lock()
        self._thread = threading.Thread(target=self._run, daemon=True, name="ticklab-class")

    def join(self) -> Message:
        """Enter the class, show what leaves, and begin to send it. Raises NoClass, CannotWrite."""
        try:
            self._share()  # with nothing in it yet
        except _NoAnswer as error:
            raise NoClass(f"nobody answers there ({error}); try again in a moment") from error
        self._student.write(self._file)
        self.look()
        self._thread.start()
        words = [_EXPLAINED]
        if self._student.digits:
            words.append(
                f"The certificate of the class begins with {self._student.digits}. If the wall "
                "shows other digits, leave: somebody stands between you and the class."
            )
        return Message("done", f"you are in the class as {self.name}", tuple(words))

    def end(self) -> None:
        """Send nothing more; what was shared stays in the class."""
        self._ended.set()

    def leave(self) -> Message:
        """Send nothing more, and have the class forget this student, if it answers."""
        self.end()
        self._file.unlink(missing_ok=True)
        with self._busy, contextlib.closing(self._http):
            self._http.close()  # since the last message, it may have become useless
            try:
                self._post("leave")
            except (NoClass, _NoAnswer) as error:
                why = f"What you shared before may still be in the class ({error})."
                return Message("note", "nothing more is sent", (why,))
        return Message("done", "you have left the class", ("It has forgotten what you shared.",))

    def look(self) -> bool:
        """Show what is new in the folder, before it is sent; False if nothing is."""
        files = [self._folder / each for each in (predictions.FILE_NAME, figures.FILE_NAME)]
        try:
            seen = [each.stat().st_mtime_ns if each.exists() else 0 for each in files]
            if seen == self._seen:
                return False
            new = shared_from(self._folder, self._findings(self._folder), self._shared.version + 1)
        except (OSError, ValueError):
            return False  # a file is broken: the lab itself says so
        self._tell(new.as_table())
        self._seen, self._shared = seen, new  # only now may it leave
        return True

    def _run(self) -> None:
        due = 0.0
        while not self._ended.is_set():
            if self.look() or time.monotonic() >= due:
                try:
                    self._share()
                    wait = AGAIN_S * random.uniform(0.8, 1.2)
                except _NoAnswer:
                    wait = random.uniform(0, _RETRY_S)
                except NoClass:
                    break  # the class is over, or of others: the lab goes on
                due = time.monotonic() + wait
            self._ended.wait(_LOOK_S)

    def _share(self) -> None:
        """Send everything. Raises NoClass, _NoAnswer."""
        with self._busy:
            if self._ended.is_set():
                return
            whole = {"code": self._code, "lab": self._folder.name}
            said = self._post("share", **whole, shared=self._shared.model_dump())
            self.name = said.name
            if said.version > self._shared.version:
                # An earlier notebook of this student has been there.
                self._shared = self._shared.model_copy(update={"version": said.version + 1})

    def _post(self, path: str, **stated: object) -> _Said:
        """What the class answers to this student. Raises NoClass, _NoAnswer."""
        try:
            body = json.dumps({"student": self._student.secret, **stated})
            self._http.request("POST", f"{self._base}/{path}", body)
            answer = self._http.getresponse()
            said = _Said.model_validate_json(answer.read(limits.MOST_SHARED_BYTES))
        except (OSError, http.client.HTTPException, ValidationError) as error:
            self._http.close()
            raise _NoAnswer(str(error) or type(error).__name__) from error
        if answer.status in (429, 503):
            raise _NoAnswer("the class is busy")
        if answer.status != 200:
            raise NoClass(said.error[:200])
        return said
