"""The condition `account` of a recording: which account made it, without the account's name.

    account: 9c3f... on 51aa...     an account of the OS, and the place that its runs are made in
    account: 9c3f... on a hub       an account of a JupyterHub, which is the same on each machine
    account: 9c3f...                an account whose place is unknown
    account: none: REASON           no account is named, and why

Both numbers are HMAC-SHA256 with the course's id as the key, shortened to 128 bits: so the same
account has other numbers in another course, and nobody without the id can try names.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import unicodedata
from dataclasses import dataclass

KEY = "account"
NONE = "none: "
_HUB = "a hub"
_DIGITS = 32
_FORM = re.compile(rf"([0-9a-f]{{{_DIGITS}}})(?: on ({_HUB}|[0-9a-f]{{{_DIGITS}}}))?")


@dataclass(frozen=True)
class Account:
    """A named account: the hash of its name, and of its place ("" if it is unknown)."""

    name: str
    place: str = ""

    @property
    def on_hub(self) -> bool:
        """Whether it is an account of a hub."""
        return self.place == _HUB

    def __str__(self) -> str:
        return f"{self.name} on {self.place}" if self.place else self.name


def account_of(course: str, name: str, place: str | None, *, on_hub: bool = False) -> Account:
    """The account `name` as recordings name it in the course with the id `course`.

    `place` is what only the runs of this account on this machine have; None if it is unknown.
    """
    if on_hub:
        return Account(name_hash(course, name), _HUB)
    return Account(
        name_hash(course, name), "" if place is None else _hash(course, "place", name, place)
    )


def name_hash(course: str, name: str) -> str:
    """The hash of an account's name; letter case and blanks at the ends make no difference."""
    return _hash(course, "name", unicodedata.normalize("NFC", name.strip()).casefold())


def parse(text: str) -> Account | None:
    """The account that the condition names; None if it has another form or names none."""
    match = _FORM.fullmatch(text)
    return None if match is None else Account(match[1], match[2] or "")


def _hash(course: str, *words: str) -> str:
    content = "\0".join(words).encode("utf-8", "surrogateescape")
    return hmac.new(course.encode("ascii"), content, hashlib.sha256).hexdigest()[:_DIGITS]
