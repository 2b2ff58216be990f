"""The origin of a recording: which account made it, without its name, and which kind of machine.

The condition `account` of a recording:

    account: 9c3f... on 51aa...     an account of the OS, and the place that its runs are made in
    account: 9c3f... on a hub       an account of a JupyterHub, which is the same on each machine
    account: 9c3f...                an account whose place is unknown
    account: none: REASON           no account is named, and why

Both numbers are HMAC-SHA256 with the course's id as the key, shortened to 128 bits. So the same
account has other numbers in another course, and nobody without the id can try names.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from labs.files import read_head
from labs.limits import MOST_HEAD_BYTES

ACCOUNT_KEY = "account"
NO_ACCOUNT = "none: "
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


def parse_account(text: str) -> Account | None:
    """The account that the condition names; None if it has another form or names none."""
    match = _FORM.fullmatch(text)
    return None if match is None else Account(match[1], match[2] or "")


def _hash(course: str, *words: str) -> str:
    content = "\0".join(words).encode("utf-8", "surrogateescape")
    return hmac.new(course.encode("ascii"), content, hashlib.sha256).hexdigest()[:_DIGITS]


# The kind of machine: architecture, maker of the CPU, virtual or not.
#
# The conditions of a recording are a student's text. So each part of a kind is one of the few words
# below, and nothing of that text is shown.

#: A machine about which its recording says nothing that we know, and a student with several kinds.
UNKNOWN, SEVERAL = "unknown machine", "several machines"

_CONDITION = re.compile(rb"# (os|machine\.cpu|machine\.virtual): ([^\r\n]*)")
_ARCHITECTURES = {"x86_64": "x86-64", "amd64": "x86-64", "aarch64": "Arm", "arm64": "Arm"}
_ARCHITECTURES |= {"riscv64": "RISC-V"}
#: The makers of CPUs by a word in the name of the CPU, the most exact first.
_MAKERS = (
    ("amd", "AMD"),
    ("intel", "Intel"),
    ("apple", "Apple"),
    ("ampere", "Ampere"),
    ("graviton", "Graviton"),
    ("neoverse", "Neoverse"),
    ("cortex", "Cortex"),
)
_VIRTUAL = {"True": "virtual", "False": "not virtual"}


def kind_of(conditions: Mapping[str, str]) -> str:
    """The kind that the `conditions` of a recording state, such as `x86-64, AMD, virtual`."""
    system = conditions.get("os", "")
    parts = [
        _ARCHITECTURES.get(system.rpartition(" ")[2], ""),
        _maker(conditions.get("machine.cpu", "")),
        # WSL 2 is a virtual machine that does not show its hypervisor on every version.
        "WSL"
        if "microsoft" in system.lower()
        else _VIRTUAL.get(conditions.get("machine.virtual", ""), ""),
    ]
    return ", ".join(filter(None, parts)) or UNKNOWN


def is_kind(text: str) -> bool:
    """Whether `kind_of` can give this text: then it holds nothing that a student wrote."""
    parts = text.split(", ")
    words = (_ARCHITECTURES.values(), (name for _, name in _MAKERS), ("WSL", *_VIRTUAL.values()))
    return text in (UNKNOWN, SEVERAL) or (
        len(parts) == len(set(parts)) and set(parts) <= {word for some in words for word in some}
    )


def kind_in_head(head: bytes) -> str:
    """The same from the first bytes of a recording, down to its first line about a process."""
    known: dict[str, str] = {}
    for line in head.removeprefix(b"\xef\xbb\xbf").split(b"\n"):
        if not line.startswith(b"#") or line.startswith(b"# process."):
            break
        match = _CONDITION.match(line)
        if match is not None:
            known.setdefault(match[1].decode(), match[2].decode("utf-8", "replace").strip())
    return kind_of(known)


def kind_in_file(path: Path) -> str:
    """The same from a recording's file; UNKNOWN if it cannot be read."""
    try:
        return kind_in_head(read_head(path, MOST_HEAD_BYTES))
    except OSError:
        return UNKNOWN


def kind_of_all(kinds: Iterable[str]) -> str:
    """The kind that all have in common; SEVERAL if they differ, and UNKNOWN if there is none."""
    counted = Counter(kinds)
    if not counted:
        return UNKNOWN
    return next(iter(counted)) if len(counted) == 1 else SEVERAL


def _maker(cpu: str) -> str:
    words = cpu.lower()
    return next((name for word, name in _MAKERS if re.search(rf"\b{word}\b", words)), "")
