"""Write a page or a PDF in one piece, and never in place of a file that somebody else made."""

from __future__ import annotations

import errno
from pathlib import Path

from labs.common.files import CannotWrite, write_atomically
from labs.pages.page import generator

#: Pages state the program in their head, and PDFs in their last line.
_HEAD, _TAIL = 2_000, 200


def write_page(path: Path, text: str, command: str) -> None:
    """Write a page that `command` made. Raises CannotWrite."""
    refuse_others(path, command)
    write_atomically(path, text.encode("utf-8"))


def write_pdf(path: Path, content: bytes, command: str) -> None:
    """Write a PDF that `command` made; its last line is a comment that says so.

    Raises CannotWrite.
    """
    refuse_others(path, command)
    write_atomically(path, content.rstrip() + f"\n% {generator(command)}\n".encode())


def refuse_others(path: Path, command: str) -> None:
    """Raise CannotWrite if something is at `path` that `command` did not make."""
    if not path.is_symlink() and not path.exists():
        return
    if not _is_own(path, command):
        what = f"{path} was not made by `{command}`, so it stays as it is"
        raise CannotWrite(errno.EEXIST, f"{what}; choose another name, or move that file")


def _is_own(path: Path, command: str) -> bool:
    if path.is_symlink() or not path.is_file():
        return False
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD)
            file.seek(max(path.stat().st_size - _TAIL, 0))
            tail = file.read()
    except OSError:
        return False
    mark = generator(command).encode()
    if head.startswith(b"%PDF-"):
        return tail.endswith(b"% " + mark + b"\n")
    return b'<meta name="generator" content="' + mark + b'">' in head
