"""Make a student's copy of the released labs, and keep it up to date without loss.

We never write to a file that the student changed. A file counts as unchanged only if it still has
the content that we wrote last; the manifest in the copy remembers its hash. The content of a
notebook is its cells with their outputs, because JupyterLab rewrites the notebook's metadata.
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

from pydantic import ValidationError

from labs.files import CannotWrite, read_bounded, write_atomically
from labs.json_text import BadJson, Form, parse_json, text_of

MANIFEST = ".ticklab.json"
_MOST_MANIFEST = 1 << 20  # bytes
_MOST_FILE = 1 << 28


class _Manifest(Form):
    """The form of the manifest."""

    files: dict[str, str]


_REMEDIES = {
    errno.ENOSPC: "The disk is full: free some space, then start again.",
    errno.EDQUOT: "Your disk quota is used up: delete something, then start again.",
    errno.ENOTDIR: "A part of that path is a file: name another folder, labs start DIR.",
    errno.EEXIST: "Something else is in the way: name another folder, labs start DIR.",
}


class CannotUpdateCopy(Exception):
    """The copy cannot be made or updated; the message says where, why, and what to do.

    No older file is lost.
    """


@dataclass(frozen=True)
class CopyChanges:
    """The files that were added or updated, by path within the copy."""

    added: list[str] = field(default_factory=list)
    updated: list[str] = field(default_factory=list)
    newer: list[tuple[str, str]] = field(default_factory=list)  # the student's file, the newer one
    manifest_lost: bool = False


def is_copy(folder: Path) -> bool:
    """Whether `folder` is a student's copy of the labs."""
    return (folder / MANIFEST).is_file()


def update_copy(released: Path, folder: Path) -> CopyChanges:
    """Update the copy in `folder` to `released`, or make it if it does not exist.

    We keep a file that the student changed, and write a newer version next to it once:
    `NAME.new.ipynb`. We restore a file that the student deleted. Raises CannotUpdateCopy.
    """
    with _explained_errors(folder):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        known = _read_manifest(folder)
        lost, known = known is None, known or _Manifest(files={})
        versions = dict(known.files)
        done = CopyChanges(manifest_lost=lost)
        try:
            for source in _files(released):
                name, content = source.relative_to(released).as_posix(), source.read_bytes()
                _update_file(name, content, folder, versions, done)
        except BaseException:
            # If the manifest can still be written, the next call knows the files written so far.
            with contextlib.suppress(OSError):
                _write_manifest(folder, _Manifest(files=versions))
            raise
        now = _Manifest(files=versions)
        if now != known or lost or not is_copy(folder):
            _write_manifest(folder, now)
    return done


def _update_file(
    name: str, content: bytes, folder: Path, versions: dict[str, str], done: CopyChanges
) -> None:
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
        done.newer.append((name, _add_newer(name, content, newest, folder, versions)))
    # Also for a file that the student changed: we need not offer this version again.
    versions[name] = newest


def _add_newer(
    name: str, content: bytes, newest: str, folder: Path, versions: dict[str, str]
) -> str:
    """Write a newer version next to a changed file; it replaces an older one that is unchanged."""
    path = Path(name)
    for number in range(1, 1000):
        label = "new" if number == 1 else f"new-{number}"
        newer = path.with_name(f"{path.stem}.{label}{path.suffix}").as_posix()
        target = folder / newer
        present = _hash_of(target) if os.path.lexists(target) else None
        free = not os.path.lexists(target)
        if free or (present is not None and present in (newest, versions.get(newer))):
            if present != newest:
                write_atomically(target, content)
            versions[newer] = newest
            return newer
    raise CannotUpdateCopy(
        f"There are already a thousand newer versions of {folder / name}. "
        "Move them away and start again."
    )


def _files(released: Path) -> list[Path]:
    """All files of the labs, without hidden files and without files that a run leaves behind."""
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
    """The hash of the content; None if `file` is not a regular file that we can read."""
    try:
        return _hash(file.name, read_bounded(file, _MOST_FILE))
    except OSError:
        return None


def _hash(name: str, content: bytes) -> str:
    """The hash of a file's content: the cells of a notebook, or every byte of another file."""
    if name.endswith(".ipynb"):
        with contextlib.suppress(ValueError, TypeError, KeyError):
            cells = parse_json(text_of(content), lenient=True)["cells"]
            for cell in cells:
                cell["source"] = "".join(cell["source"])
            content = json.dumps(cells, sort_keys=True).encode()
    return hashlib.sha256(content).hexdigest()


def _read_manifest(folder: Path) -> _Manifest | None:
    """The hash of each file as we last wrote it; None if the manifest is unreadable."""
    if not os.path.lexists(folder / MANIFEST):
        return _Manifest(files={})
    try:
        content = read_bounded(folder / MANIFEST, _MOST_MANIFEST)
        found = _Manifest.model_validate(parse_json(text_of(content)))
    except (OSError, BadJson, ValidationError):
        return None
    return found


def _write_manifest(folder: Path, known: _Manifest) -> None:
    about = "`labs start` keeps the version of each file here. Please do not change this file."
    stated: dict[str, object] = {"about": about, "files": known.files}
    text = json.dumps(stated, indent=1, sort_keys=True)
    write_atomically(folder / MANIFEST, text.encode() + b"\n")


@contextlib.contextmanager
def _explained_errors(folder: Path) -> Iterator[None]:
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
        raise CannotUpdateCopy(
            f"The labs cannot be put in {folder}: {why}{at}. Nothing there was lost. {remedy}"
        ) from error
