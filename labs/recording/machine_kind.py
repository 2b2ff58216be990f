"""The kind of machine that made a recording: architecture, maker of the CPU, virtual or not.

The conditions of a recording are a student's text. So each part of a kind is one of a few words
that stand here, and nothing of that text is shown.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

from labs.common.limits import MOST_HEAD_BYTES

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
        with path.open("rb") as file:
            return kind_in_head(file.read(MOST_HEAD_BYTES))
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
