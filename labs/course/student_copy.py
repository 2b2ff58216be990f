"""Lay down a student's copy of the released labs, and keep it up to date without loss.

What a student changed is theirs: it is never written to. A file counts as unchanged only if it has
the content that was laid down last, which the manifest in the copy remembers. Of a notebook the
content is its cells, outputs included: JupyterLab rewrites the notebook's own metadata by itself.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from labs.common.files import CannotWrite, read_bounded, write_atomically

MANIFEST = ".ticklab.json"
_MOST_MANIFEST = 1 << 20  # bytes
_MOST_FILE = 1 << 28

_REMEDIES = {
    errno.ENOSPC: "The disk is full: free some space, then start again.",
    errno.EDQUOT: "Your disk quota is used up: delete something, then start again.",
    errno.ENOTDIR: "A part of that path is a file: name another folder, labs start DIR.",
    errno.EEXIST: "Something else is in the way: name another folder, labs start DIR.",
}


class CannotLayDown(Exception):
    """The copy cannot be made or updated there; the message says where, why, and what to do.

    Nothing that lay there before is lost.
    """


@dataclass(frozen=True)
class LaidDown:
    """What was done, by path within the copy."""

    added: list[str] = field(default_factory=list)
    updated: list[str] = field(default_factory=list)
    beside: list[tuple[str, str]] = field(default_factory=list)  # the student's file, the newer one
    manifest_lost: bool = False


def is_copy(folder: Path) -> bool:
    """Whether `folder` is a student's copy of the labs."""
    return (folder / MANIFEST).is_file()


def lay_down(released: Path, folder: Path) -> LaidDown:
    """Bring the copy in `folder` up to date with `released`; made if it is not there.

    A file that the student changed is kept, and a newer version of it is laid beside it once:
    `NAME.new.ipynb`. A file that the student deleted comes back. Raises CannotLayDown.
    """
    with _errors_in_words(folder):
        folder.mkdir(parents=True, exist_ok=True)
        versions, lost = _read_manifest(folder)
        done = LaidDown(manifest_lost=lost)
        before = dict(versions)
        try:
            for source in _files(released):
                _lay_one(source.relative_to(released).as_posix(), source, folder, versions, done)
        except BaseException:
            # What was laid down until now is known as ours next time, if that can still be written.
            with contextlib.suppress(OSError):
                _write_manifest(folder, versions)
            raise
        if versions != before or lost or not is_copy(folder):
            _write_manifest(folder, versions)
    return done


def _lay_one(
    name: str, source: Path, folder: Path, versions: dict[str, str], done: LaidDown
) -> None:
    content = source.read_bytes()
    newest = _hash(name, content)
    target = folder / name
    there = os.path.lexists(target)
    present = _hash_of(target) if there else None
    if not there:
        write_atomically(target, content)
        done.added.append(name)
    elif present == newest:
        pass
    elif present is not None and present == versions.get(name):
        write_atomically(target, content)
        done.updated.append(name)
    elif versions.get(name) != newest:
        beside = _lay_beside(name, content, newest, folder, versions)
        done.beside.append((name, beside))
    # Of a file kept for the student as well: this version need not be offered again.
    versions[name] = newest


def _lay_beside(
    name: str, content: bytes, newest: str, folder: Path, versions: dict[str, str]
) -> str:
    """Put a newer version beside a changed file, in place of an older one nobody has changed."""
    path = Path(name)
    for number in range(1, 1000):
        label = "new" if number == 1 else f"new-{number}"
        beside = path.with_name(f"{path.stem}.{label}{path.suffix}").as_posix()
        target = folder / beside
        present = _hash_of(target) if os.path.lexists(target) else None
        free = not os.path.lexists(target)
        if free or (present is not None and present in (newest, versions.get(beside))):
            if present != newest:
                write_atomically(target, content)
            versions[beside] = newest
            return beside
    raise CannotLayDown(
        f"{folder / name} has a thousand newer versions beside it. Move them away and start again."
    )


def _files(released: Path) -> list[Path]:
    """All files of the labs, but nothing hidden and nothing that a run leaves behind."""
    return sorted(
        file
        for file in released.rglob("*")
        if file.is_file()
        and not any(
            part.startswith(".") or part == "__pycache__"
            for part in file.relative_to(released).parts
        )
    )


def _hash_of(file: Path) -> str | None:
    """The content's hash; None for whatever is not a regular file of ours to read."""
    try:
        return _hash(file.name, read_bounded(file, _MOST_FILE))
    except OSError:
        return None


def _hash(name: str, content: bytes) -> str:
    """The hash of what a student sees of a file: of a notebook its cells, else every byte."""
    if name.endswith(".ipynb"):
        with contextlib.suppress(ValueError, TypeError, KeyError, RecursionError):
            cells = json.loads(content)["cells"]
            for cell in cells:
                cell["source"] = "".join(cell["source"])
            content = json.dumps(cells, sort_keys=True).encode()
    return hashlib.sha256(content).hexdigest()


def _read_manifest(folder: Path) -> tuple[dict[str, str], bool]:
    """The hash laid down last of each file, and whether a manifest was there but unreadable."""
    if not os.path.lexists(folder / MANIFEST):
        return {}, False
    try:
        read = json.loads(read_bounded(folder / MANIFEST, _MOST_MANIFEST))
        files = read["files"]
        if not all(isinstance(word, str) for pair in files.items() for word in pair):
            return {}, True
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return {}, True
    return dict(files), False


def _write_manifest(folder: Path, versions: dict[str, str]) -> None:
    about = "Laid down by `labs start`: which version of each file. Leave it alone."
    text = json.dumps({"about": about, "files": versions}, indent=1, sort_keys=True)
    write_atomically(folder / MANIFEST, text.encode() + b"\n")


@contextlib.contextmanager
def _errors_in_words(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        number = error.errno or 0
        where = error.filename
        why = os.strerror(number) if number else str(error)
        if isinstance(error, CannotWrite) and isinstance(error.__cause__, OSError):
            where = error.__cause__.filename
        at = f" ({where})" if where and str(where) != str(folder) else ""
        remedy = _REMEDIES.get(number, "Name a folder of your own: labs start DIR.")
        raise CannotLayDown(
            f"The labs cannot be put in {folder}: {why}{at}. Nothing there was lost. {remedy}"
        ) from error
