"""Who may do what in a class: its code, students' tokens, two links, a certificate, and limits.

A file in the cache folder keeps the keys for a few hours, so that a class that is started anew is
still the same one. It holds nothing of a student.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
import ssl
import subprocess
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path

from pydantic import ValidationError

from labs import limits, paths
from labs.course.in_class import digits_of
from labs.files import read_bounded, write_atomically
from labs.json_text import Form

#: For so long, `grader live` goes on with the same class.
SAME_CLASS_S = 3 * 3600
_WORDS = (
    "acorn", "almond", "apple", "apricot", "badger", "banana", "basil", "beaver", "birch", "cedar",
    "cherry", "clover", "coral", "daisy", "falcon", "fennel", "ginger", "grape", "hazel", "heron",
    "jackal", "kiwi", "koala", "lemon", "lilac", "linden", "lotus", "mango", "maple", "melon",
    "mint", "olive", "orchid", "otter", "papaya", "peach", "penguin", "plum", "robin", "tulip",
)  # fmt: skip


class CannotShare(Exception):
    """There is no certificate for this address; the message says why and what to do."""


class _Stored(Form):
    made: float
    code: str
    secret: str
    wall: str
    desk: str
    number: int
    revealed: list[str]
    is_open: bool


@dataclass
class Keys:
    """The keys of a class, and which question its wall shows; `file` has them for a restart."""

    file: Path
    made: float = field(default_factory=time.time)
    code: str = ""
    secret: str = field(default_factory=secrets.token_hex)
    wall: str = field(default_factory=secrets.token_urlsafe)
    desk: str = field(default_factory=secrets.token_urlsafe)
    number: int = 0
    revealed: list[str] = field(default_factory=list)
    is_open: bool = True
    #: Opens the instructor's page once, and is '' from then on.
    once: str = field(default_factory=secrets.token_urlsafe)

    def write(self) -> None:
        """Store them. Raises CannotWrite."""
        stated = {name: each for name, each in asdict(self).items() if name in _Stored.model_fields}
        write_atomically(self.file, json.dumps(stated).encode(), private=True)

    def new_code(self) -> None:
        """Another code: who knows only the old one does not get in any more."""
        self.code = f"{secrets.choice(_WORDS)}-{1000 + secrets.randbelow(9000)}"

    def new_token(self) -> tuple[str, str]:
        """A new student, and the token that proves to be this one."""
        student = secrets.token_urlsafe(9)
        return student, f"{student}.{self._signed(student)}"

    def student_of(self, token: str) -> str:
        """The student whose token it is; '' if it is nobody's."""
        student, _, signature = token.partition(".")
        right = hmac.compare_digest(signature.encode(), self._signed(student).encode())
        return student if right else ""

    def name_of(self, student: str) -> str:
        """A student's pseudonym for the hour."""
        number = int.from_bytes(hashlib.sha256(student.encode()).digest()[:4], "big")
        return f"{_WORDS[number % len(_WORDS)]}-{number // len(_WORDS) % 100:02}"

    def is_code(self, code: str) -> bool:
        """Whether it is the code of this class."""
        return hmac.compare_digest(code.strip().lower().encode(), self.code.encode())

    def take_once(self, key: str) -> bool:
        """Whether this opens the instructor's page; it never does a second time."""
        right = bool(self.once) and hmac.compare_digest(key.encode(), self.once.encode())
        self.once = "" if right else self.once
        return right

    def _signed(self, student: str) -> str:
        return hmac.new(self.secret.encode(), student.encode(), hashlib.sha256).hexdigest()[:32]


def keys_of(lab: str, *, new: bool = False) -> Keys:
    """The keys of the class on `lab`: those of a class that began lately, else new ones.

    Raises CacheNotWritable, CannotWrite.
    """
    file = paths.cache() / "live" / f"class-{lab}.json"
    file.parent.mkdir(mode=0o700, exist_ok=True)
    keys = Keys(file)
    try:
        content = read_bounded(file, limits.MOST_JSON_BYTES)
        stored = _Stored.model_validate_json(content)
        if not new and 0 <= time.time() - stored.made < SAME_CLASS_S:
            keys = Keys(file, **stored.model_dump())
    except (OSError, ValidationError):
        pass  # there is none yet, or it is of another version
    if not keys.code:
        keys.new_code()
    keys.write()
    return keys


def certificate_for(address: str) -> tuple[ssl.SSLContext, str]:
    """TLS for `address` with a certificate made here, and the digits by which to compare it.

    It is made once and kept for the same class after a restart. Raises CannotShare.
    """
    folder = paths.cache() / "live" / f"tls-{hashlib.sha256(address.encode()).hexdigest()[:16]}"
    folder.mkdir(mode=0o700, exist_ok=True)
    key, public = folder / "key.pem", folder / "certificate.pem"
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    for made in (False, True):
        fresh = public.is_file() and time.time() - public.stat().st_mtime < SAME_CLASS_S
        if fresh or made:
            try:
                context.load_cert_chain(public, key)
                text = public.read_text(encoding="ascii")
                return context, digits_of(ssl.PEM_cert_to_DER_cert(text))
            except (OSError, ValueError) as error:
                if made:
                    raise CannotShare(f"openssl made no certificate: {error}") from error
        _make(key, public, address)
    raise AssertionError("a certificate is made at most once")


def _make(key: Path, public: Path, address: str) -> None:
    kind = "IP" if address.replace(".", "").isdigit() or ":" in address else "DNS"
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
    command += ["-nodes", "-keyout", str(key), "-out", str(public), "-days", "2"]
    command += ["-subj", "/CN=Ticklab class", "-addext", f"subjectAltName={kind}:{address}"]
    try:
        done = paths.run(command, 20)
    except (OSError, subprocess.TimeoutExpired) as error:
        why = "install the program openssl, or share by a JupyterHub"
        raise CannotShare(f"there is no certificate without openssl ({error}): {why}") from error
    if done.returncode:
        raise CannotShare(f"openssl made no certificate: {done.stderr.strip()[-200:]}")


class Bucket:
    """Lets each of many do something `burst` times at once, and `per_s` times a second later on."""

    def __init__(self, burst: float, per_s: float) -> None:
        self._burst, self._per_s = burst, per_s
        self._left: dict[str, tuple[float, float]] = {}

    def has_room(self, who: str) -> bool:
        """Whether `who` may do it once more now."""
        return self._now(who) >= 1

    def take(self, who: str) -> bool:
        """Count it; False if it was too much."""
        left = self._now(who)
        self._left.pop(who, None)
        self._left[who] = (max(left - 1, 0.0), time.monotonic())
        if len(self._left) > 2 * limits.MOST_IN_CLASS:  # the one not heard of for longest
            del self._left[next(iter(self._left))]
        return left >= 1

    def _now(self, who: str) -> float:
        left, when = self._left.get(who, (self._burst, 0.0))
        return min(self._burst, left + (time.monotonic() - when) * self._per_s)
