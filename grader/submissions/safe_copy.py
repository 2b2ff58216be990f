"""Copies the files of a submission: only regular files of limited size, and never through a link.

We cannot trust a submitted folder. A link may lead to another student's work or to an endless
device, a named pipe may wait forever, and one file may fill the disk. nbgrader copies with
`shutil.copy`, which follows links; this module opens each file and folder by its name in the folder
above, and checks what it has opened.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from itertools import chain, islice
from pathlib import Path

from grader.figures import is_known
from grader.judging.permission import evidence_of
from grader.submissions.folders import open_folder, open_regular, opened
from grader.submissions.found_file import FoundFile, copy_of
from labs.common.limits import (
    MOST_DEPTH,
    MOST_ENTRIES,
    MOST_EVIDENCE_BYTES,
    MOST_FILE_BYTES,
    MOST_FILES,
    MOST_FOLDER_BYTES,
    MOST_NOTEBOOK_BYTES,
)
from labs.common.units import plural
from labs.course import figures
from labs.course.figures import BadFigures

_MOST_NOTES = 20
# Of the files that nobody names, these are copied first.
_EVIDENCE = ("figures.json", "recordings")
#: What `nbgrader submit` adds to a submission; the steps up to the release of feedback need it.
_BY_NBGRADER = ("timestamp.txt", "submission_secret.txt")


@dataclass(frozen=True)
class Limits:
    """How much of one submission is copied; named files count only in `evidence_bytes`."""

    file_bytes: int = MOST_FILE_BYTES
    notebook_bytes: int = MOST_NOTEBOOK_BYTES
    total_bytes: int = MOST_FOLDER_BYTES
    files: int = MOST_FILES
    depth: int = MOST_DEPTH
    evidence_bytes: int = MOST_EVIDENCE_BYTES

    def of_file(self, path: Path) -> int:
        """The most bytes of the file `path`."""
        return self.notebook_bytes if path.suffix == ".ipynb" else self.file_bytes


def printable(name: str, most: int = 80) -> str:
    """`name` for a log or a note: without control characters and in valid UTF-8."""
    text = name.encode("utf-8", "backslashreplace").decode("utf-8")
    text = "".join(letter if letter.isprintable() else "?" for letter in text)
    return text if len(text) <= most else text[:most] + "..."


def read_regular(path: Path | str, most: int, folder: int | None = None) -> bytes:
    """The first `most` + 1 bytes of the regular file `path`; never waits and follows no link.

    `folder` is an open folder that `path` starts from. If the result is longer than `most`, the
    file is too long. Raises OSError if there is no such file, if it cannot be read, or if it is a
    link, a pipe or a device.
    """
    with os.fdopen(open_regular(path, folder), "rb") as file:
        return file.read(most + 1)


@dataclass(frozen=True)
class Taken:
    """What was copied: the SHA-256 of each file by its path, and notes on what was left out."""

    hashes: dict[str, str]
    left_out: list[str]


def take_in(
    source: Path,
    destination: Path,
    ignore: Sequence[str] = (),
    limits: Limits | None = None,
    trusted: Path | None = None,
    first: Sequence[str] = (),
    *,
    share: bool = False,
) -> list[str]:
    """Copies the regular files under `source` to `destination` and returns what it left out.

    `ignore` holds globs for names of files and folders to skip without a note, as in nbgrader's
    `CourseDirectory.ignore`. No level below `trusted` (by default the parent of `source`) may be a
    link. What nbgrader added, the files of `first`, `figures.json` and the evidence that it names
    come first, whatever else is there. The result has one note for each other file that was left
    out, but no more than fit on a screen. Unreadable files are left out too. With `share`, a large
    recording of our own gets a second name instead of a copy, where the file system can do this.
    Raises OSError if `source` is no folder or a link, if a named file may not be read, or if
    writing fails.
    """
    return copy(source, destination, ignore, limits, trusted, first, share=share).left_out


def copy(
    source: Path,
    destination: Path,
    ignore: Sequence[str] = (),
    limits: Limits | None = None,
    trusted: Path | None = None,
    first: Sequence[str] = (),
    *,
    share: bool = False,
) -> Taken:
    """As :func:`take_in`, and reads each copy again: its hash must be that of what was read.

    A file that is shared is not read, so it has no hash.
    """
    limits = limits or Limits()
    first = (*_BY_NBGRADER, *first)
    notes: list[str] = []
    hashes: dict[str, str] = {}
    seen: set[Path] = set()
    others = 0
    left = {True: limits.evidence_bytes, False: limits.total_bytes}
    with opened(source, trusted) as top:
        owner = os.fstat(top).st_uid
        destination.mkdir(parents=True, exist_ok=True)
        named = _named(top, [*first, *evidence_in(source)])
        for found in chain(named, _walk(top, Path(), ignore, limits.depth)):
            if found.path in seen:
                continue
            seen.add(found.path)
            name = printable(str(found.path))
            if not found.trouble and not found.named and others >= limits.files:
                notes.append(f"{name}: there are more than {limits.files} files")
                break
            room = min(limits.of_file(found.path), left[found.named])
            try:
                file = found.open(room, owner)
            except OSError as error:
                evidence = found.named and str(found.path) not in first
                if evidence and isinstance(error, PermissionError):
                    raise PermissionError(error.errno, f"{name} may not be read") from error
                if not (found.named and isinstance(error, FileNotFoundError)):
                    notes.append(f"{name}: {error.strerror or error}")
                continue
            with os.fdopen(file, "rb", buffering=0):
                target = destination / found.path
                target.parent.mkdir(parents=True, exist_ok=True)
                size = found.shared(file, target) if share else 0
                if not size:
                    size, digest = copy_of(file, target, room)
                    hashes[str(found.path)] = digest
            left[found.named] -= size
            others += not found.named
    if len(notes) > _MOST_NOTES:
        more = len(notes) - _MOST_NOTES
        notes = [*notes[:_MOST_NOTES], f"and {plural(more, 'more file')}"]
    return Taken(hashes, notes)


def evidence_in(folder: Path) -> list[str]:
    """The files of `folder` by which its figures are judged: figures of known labs first."""
    try:
        submitted = figures.read(folder)
    except BadFigures:
        return [figures.FILE_NAME]
    in_order = sorted(submitted, key=lambda figure: not is_known(figure))
    names = [name for figure in in_order for name in evidence_of(submitted[figure])]
    return [figures.FILE_NAME, *dict.fromkeys(names)]


def _named(top: int, names: Sequence[str]) -> Iterator[FoundFile]:
    """The files `names` of the open folder `top`; a folder that is missing or a link has none."""
    for name in names:
        *folders, file = Path(name).parts
        if not folders:
            yield FoundFile(Path(name), top, named=True)
            continue
        # A name has at most one folder: `figures.json` names only files in recordings.
        try:
            folder = open_folder(folders[0], top)
        except PermissionError as error:
            raise PermissionError(error.errno, f"{folders[0]} may not be opened") from error
        except OSError:
            continue
        try:
            yield FoundFile(Path(folders[0], file), folder, named=True)
        finally:
            os.close(folder)


def _walk(folder: int, where: Path, ignore: Sequence[str], depth: int) -> Iterator[FoundFile]:
    """Every file in the open `folder`, evidence first, with the reason if it must be left out."""
    try:
        with os.scandir(folder) as listing:
            some = islice(listing, MOST_ENTRIES)
            entries = sorted(some, key=lambda entry: (entry.name not in _EVIDENCE, entry.name))
    except OSError as error:
        yield FoundFile(where, folder, f"cannot be listed: {error.strerror or error}")
        return
    for entry in entries:
        if any(fnmatch(entry.name, pattern) for pattern in ignore):
            continue
        path = where / entry.name
        if entry.is_symlink():
            yield FoundFile(path, folder, "a link; links are not followed")
        elif entry.is_dir(follow_symlinks=False):
            yield from _below(path, folder, ignore, depth)
        elif not entry.is_file(follow_symlinks=False):
            yield FoundFile(path, folder, "a pipe, socket or device, not a file")
        else:
            yield FoundFile(path, folder)


def _below(path: Path, folder: int, ignore: Sequence[str], depth: int) -> Iterator[FoundFile]:
    """Every file in the folder `path`, whose parent is open as `folder`."""
    if depth == 0:
        yield FoundFile(path, folder, "its folder is nested too deeply")
        return
    try:
        below = open_folder(path.name, folder)
    except OSError as error:
        yield FoundFile(path, folder, f"cannot be opened: {error.strerror or error}")
        return
    try:
        yield from _walk(below, path, ignore, depth - 1)
    finally:
        os.close(below)
