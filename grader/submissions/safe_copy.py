"""Copies the files of a submission: only regular files of limited size, and never through a link.

We cannot trust a submitted folder. A link may lead to another student's work or to an endless
device, a named pipe may wait forever, and one file may fill the disk. nbgrader copies with
`shutil.copy`, which follows links; this module checks each file before it reads it.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from itertools import islice
from pathlib import Path

from labs.common.limits import MOST_DEPTH, MOST_FILE_BYTES, MOST_FILES, MOST_FOLDER_BYTES

_CHUNK = 1 << 20
_MOST_NOTES = 20
_MOST_ENTRIES = 20_000
# Copied first, so that many other files cannot use up the limits.
_EVIDENCE = ("figures.json", "recordings")


@dataclass(frozen=True)
class Limits:
    """How much of one submission is copied."""

    file_bytes: int = MOST_FILE_BYTES
    total_bytes: int = MOST_FOLDER_BYTES
    files: int = MOST_FILES
    depth: int = MOST_DEPTH


def printable(name: str, most: int = 80) -> str:
    """`name` for a log or a note: without control characters and in valid UTF-8."""
    text = name.encode("utf-8", "backslashreplace").decode("utf-8")
    text = "".join(letter if letter.isprintable() else "?" for letter in text)
    return text if len(text) <= most else text[:most] + "..."


def read_regular(path: Path, most: int) -> bytes:
    """The first `most` + 1 bytes of the regular file `path`; never waits and follows no link.

    If the result is longer than `most`, the file is too long. Raises OSError if there is no such
    file, if it cannot be read, or if it is a link, a pipe or a device.
    """
    descriptor = _open_regular(path)
    with os.fdopen(descriptor, "rb") as file:
        return file.read(most + 1)


def take_in(
    source: Path, destination: Path, ignore: Sequence[str] = (), limits: Limits | None = None
) -> list[str]:
    """Copies the regular files under `source` to `destination` and returns what it left out.

    `ignore` holds globs for names of files and folders to skip without a note, as in nbgrader's
    `CourseDirectory.ignore`. The result has one note for each other file that was left out, but no
    more than fit on a screen. Unreadable files are left out too. Raises OSError if writing fails.
    """
    limits = limits or Limits()
    notes: list[str] = []
    count = total = 0
    destination.mkdir(parents=True, exist_ok=True)
    for path, trouble in _walk(source, ignore, limits.depth):
        name = printable(str(path.relative_to(source)))
        if trouble:
            notes.append(f"{name}: {trouble}")
            continue
        if count >= limits.files:
            notes.append(f"{name}: there are more than {limits.files} files")
            break
        room = min(limits.file_bytes, limits.total_bytes - total)
        target = destination / path.relative_to(source)
        try:
            descriptor = _open_regular(path)
        except OSError as error:
            notes.append(f"{name}: {error.strerror or error}")
            continue
        with os.fdopen(descriptor, "rb") as file:
            size = os.fstat(descriptor).st_size
            if size > room:
                notes.append(f"{name}: {size} bytes are more than the {room} that can be copied")
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            total += _copy(file.fileno(), target, room)
            count += 1
    if len(notes) > _MOST_NOTES:
        more = len(notes) - _MOST_NOTES
        notes = [*notes[:_MOST_NOTES], f"and {more} more files"]
    return notes


def _open_regular(path: Path) -> int:
    """Opens a regular file for reading. With O_NONBLOCK, a pipe without a writer cannot block."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(0, "not a regular file")
    return descriptor


def _copy(source: int, target: Path, most: int) -> int:
    """Copies at most `most` bytes (the file may grow while it is read); returns how many."""
    target.unlink(missing_ok=True)
    done = 0
    with target.open("wb") as file:
        while done < most:
            chunk = os.read(source, min(_CHUNK, most - done))
            if not chunk:
                break
            file.write(chunk)
            done += len(chunk)
    return done


def _walk(folder: Path, ignore: Sequence[str], depth: int) -> Iterator[tuple[Path, str]]:
    """Every file under `folder`, evidence first, with the reason if it must be left out."""
    try:
        with os.scandir(folder) as listing:
            some = islice(listing, _MOST_ENTRIES)
            entries = sorted(some, key=lambda entry: (entry.name not in _EVIDENCE, entry.name))
    except OSError as error:
        yield folder, f"cannot be listed: {error.strerror or error}"
        return
    for entry in entries:
        if any(fnmatch(entry.name, pattern) for pattern in ignore):
            continue
        path = Path(entry.path)
        if entry.is_symlink():
            yield path, "a link; links are not followed"
        elif entry.is_dir(follow_symlinks=False):
            if depth == 0:
                yield path, "its folder is nested too deeply"
            else:
                yield from _walk(path, ignore, depth - 1)
        elif not entry.is_file(follow_symlinks=False):
            yield path, "a pipe, socket or device, not a file"
        else:
            yield path, ""
