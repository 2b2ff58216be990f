"""What stands where a recording should: links, pipes, folders, and files of other kinds."""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

from support.hostile.case import Hostile, changed
from support.hostile.too_many import LAB, RECORDING, WITHOUT


def _linked(target: str, path: Path) -> None:
    path.symlink_to(target)


def _chain(path: Path) -> None:
    """A link to a link to a recording that is a copy of the honest one."""
    other = path.with_name("other.csv")
    other.symlink_to("own.csv")
    path.symlink_to("other.csv")


def _hard_linked(path: Path) -> None:
    os.link(path.with_name("own.csv"), path)


def _filled(content: bytes, path: Path) -> None:
    path.write_bytes(content)


KINDS: dict[str, Callable[[Path], None]] = {
    "a link to a file of the system": partial(_linked, "/etc/passwd"),
    "a link to an endless device": partial(_linked, "/dev/zero"),
    "a link to itself": partial(_linked, "fenced.csv"),
    "a link to nothing": partial(_linked, "gone.csv"),
    "a link to a link": _chain,
    "another name of another run": _hard_linked,
    "a pipe": os.mkfifo,
    "a folder": Path.mkdir,
    "an empty file": partial(_filled, b""),
    "a file of zero bytes": partial(_filled, bytes(100_000)),
    "one line without end": partial(_filled, b"# " + b"x" * 4_000_000),
    "only a header": partial(_filled, b"# ticklab recording: 1\n# kernel: timer_overhead\n"),
    "only rows": partial(_filled, b"variant,process,sample,batch,ticks\nfenced,0,0,64,90\n" * 2),
    "a compressed file": partial(_filled, gzip.compress(bytes(50_000_000))),
    "text in UTF-16": partial(_filled, "# ticklab recording: 1\n".encode("utf-16")),
    "a pickle": partial(_filled, b"\x80\x04\x95\x1e\x00\x00\x00\x8c\x05posix\x8c\x06system\x93."),
}


def _in_its_place(make: Callable[[Path], None], folder: Path) -> None:
    path = folder / RECORDING
    path.unlink()
    make(path)


CASES = [
    Hostile(name, "odd file", LAB, changed(LAB, partial(_in_its_place, make)), points=WITHOUT)
    for name, make in KINDS.items()
]
