"""The files in a folder or a zip file, each with what is wrong with it; nothing is unpacked here.

An archive states names, sizes and kinds of its files, and all of that may be a lie. A file with a
`trouble` is never opened. The others are read through `Item.copy_to`, which counts what it reads.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, BinaryIO, cast

from grader.evening.collect.naming import Parts
from grader.evening.collect.paths import parts_of, shown, trouble_with_part, trouble_with_path
from grader.submissions.folders import open_folder, open_regular
from grader.submissions.safe_copy import printable
from labs.common import limits

#: Less than what is read of a list of files at once (`_Bounded`).
_CHUNK = 1 << 18
#: The errors of a full disk, which end a run.
NO_ROOM = {errno.ENOSPC, errno.EDQUOT}
#: What `zipfile` raises for archives that are damaged or made to harm.
_BAD_ZIP = (
    zipfile.BadZipFile,
    zipfile.LargeZipFile,
    zlib.error,
    struct.error,
    NotImplementedError,
    RuntimeError,
    EOFError,
    ValueError,
    OverflowError,
)
_METHODS = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}
_ENCRYPTED, _UTF8 = 0x1, 0x800


class NotTaken(ValueError):
    """Why a submission, or the whole source, is not collected: one sentence."""


@dataclass(frozen=True)
class Item:
    """One file: its path, its size as stated, and why it must not be opened, or "".

    The source of a class names its folders too, so that nobody is missed whose folder is empty.
    """

    parts: Parts
    size: int
    open: Callable[[], BinaryIO]
    trouble: str = ""
    is_folder: bool = False

    def copy_to(self, target: IO[bytes], most: int) -> str:
        """Copies at most `most` bytes; returns their SHA-256.

        Raises NotTaken if the file is longer or damaged, and OSError if writing fails.
        """
        digest, done = hashlib.sha256(), 0
        try:
            with self.open() as file:
                while chunk := file.read(min(_CHUNK, most + 1 - done)):
                    done += len(chunk)
                    if done > most:
                        raise NotTaken(f"{shown(self.parts)} has more than {most:,} bytes")
                    digest.update(chunk)
                    target.write(chunk)
        except NotTaken:
            raise
        except _BAD_ZIP as error:
            raise NotTaken(f"{shown(self.parts)} is damaged: {_why(error)}") from error
        except OSError as error:
            if error.errno in NO_ROOM:
                raise
            why = error.strerror or error
            raise NotTaken(f"{shown(self.parts)} cannot be read: {why}") from error
        return digest.hexdigest()


class _Bounded:
    """A file that refuses to read too much at once: `zipfile` reads the list of files as a whole.

    It is no `io` class, because `zipfile` needs only these methods.
    """

    def __init__(self, file: BinaryIO, most: int) -> None:
        self._file, self._most = file, most
        self.seek, self.tell, self.close = file.seek, file.tell, file.close

    def seekable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        asked = size if size >= 0 else self._most + 1
        if size > self._most:
            raise NotTaken(
                f"the list of its files has {size:,} bytes; at most {self._most:,} are read"
            )
        return self._file.read(asked)


@contextmanager
def opened_zip(
    file: BinaryIO,
    most_files: int = limits.MOST_ARCHIVE_FILES,
    most_list: int = 0,
    *,
    folders: bool = False,
) -> Iterator[list[Item]]:
    """The files in the zip file `file`, which must stay open as long as they are read.

    With `folders`, also the folders that it names.

    Raises NotTaken if it is no zip file, or if it has more files than `most_files`.
    """
    bounded = cast("BinaryIO", _Bounded(file, most_list or limits.MOST_ARCHIVE_LIST))
    try:
        archive = zipfile.ZipFile(bounded)
    except NotTaken:
        raise
    except UnicodeDecodeError as error:
        raise NotTaken("the name of a file in it is not valid text") from error
    except (*_BAD_ZIP, OSError) as error:
        raise NotTaken(f"it is no whole zip file: {_why(error)}") from error
    with archive:
        infos = archive.infolist()
        if len(infos) > most_files:
            raise NotTaken(f"it has {len(infos):,} files; at most {most_files:,} are read")
        found = [_item(archive, info) for info in infos]
        # Some programs name the folder itself, `./`.
        yield [item for item in found if item.parts and (folders or not item.is_folder)]


def _item(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Item:
    """The file or the folder that `info` describes."""
    name = _name(info)
    trouble = trouble_with_path(name) or _trouble_with(info)
    is_folder = not trouble and info.is_dir()
    opening = partial(archive.open, info)
    return Item(
        parts_of(name), info.file_size, cast("Callable[[], BinaryIO]", opening), trouble, is_folder
    )


def _name(info: zipfile.ZipInfo) -> str:
    """The name; without the mark for UTF-8 it is in an unknown encoding, which often is UTF-8."""
    if info.flag_bits & _UTF8:
        return info.orig_filename
    try:
        return info.orig_filename.encode("cp437").decode("utf-8")
    except UnicodeError:
        return info.orig_filename


def _trouble_with(info: zipfile.ZipInfo) -> str:
    """Why the file that `info` describes is not opened, apart from its name; "" if it is."""
    kind = stat.S_IFMT(info.external_attr >> 16)
    if kind == stat.S_IFLNK:
        return "it is a link; links are not followed"
    if kind not in {0, stat.S_IFREG, stat.S_IFDIR}:
        return "it is a pipe, a socket or a device, not a file"
    if info.flag_bits & _ENCRYPTED:
        return "it is encrypted"
    if info.compress_type not in _METHODS:
        return "it is compressed by another method than deflate"
    return ""


def is_bomb(items: list[Item], size: int) -> str:
    """Why an archive of `size` bytes with these files is not unpacked; "" if it is."""
    total = sum(item.size for item in items)
    if total > limits.MOST_UNPACKED_BYTES:
        return f"it unpacks to {total:,} bytes; at most {limits.MOST_UNPACKED_BYTES:,} are unpacked"
    times = total / max(1, size)
    if total > limits.ANY_UNPACKED_TIMES_BELOW and times > limits.MOST_UNPACKED_TIMES:
        most = limits.MOST_UNPACKED_TIMES
        return f"it unpacks to {times:,.0f} times its size; at most {most} times are unpacked"
    return ""


@contextmanager
def opened_folder(folder: Path) -> Iterator[list[Item]]:
    """The files under `folder`, which may be a link itself; no link below it is followed.

    Raises NotTaken if it cannot be listed, or if it has too many files.
    """
    try:
        top = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise NotTaken(f"it cannot be opened: {error.strerror}") from error
    try:
        items: list[Item] = []
        for item in _walk(top, top, ()):
            items.append(item)
            if len(items) > limits.MOST_CLASS_FILES:
                raise NotTaken(f"it has more than {limits.MOST_CLASS_FILES:,} files")
        yield sorted(items, key=lambda item: item.parts)
    finally:
        os.close(top)


def _walk(top: int, folder: int, where: Parts) -> Iterator[Item]:
    """Every file and folder in the open `folder`, which lies at `where` below the folder `top`."""
    for name in os.listdir(folder):
        parts = (*where, name)
        status = os.stat(name, dir_fd=folder, follow_symlinks=False)
        trouble = trouble_with_part(name)
        if stat.S_ISLNK(status.st_mode):
            trouble = "it is a link; links are not followed"
        elif stat.S_ISDIR(status.st_mode):
            if len(where) > 2 * limits.MOST_DEPTH:
                trouble = "its folder is nested too deeply"
            elif not trouble:
                yield Item(parts, 0, partial(_open_below, top, parts), is_folder=True)
                yield from _below(top, folder, parts)
                continue
        elif not stat.S_ISREG(status.st_mode):
            trouble = "it is a pipe, a socket or a device, not a file"
        yield Item(parts, status.st_size, partial(_open_below, top, parts), trouble)


def _below(top: int, folder: int, parts: Parts) -> Iterator[Item]:
    """Every file in the folder `parts`, whose parent is open as `folder`."""
    try:
        below = open_folder(parts[-1], folder)
    except OSError as error:
        why = f"it cannot be opened: {error.strerror or error}"
        yield Item(parts, 0, partial(_open_below, top, parts), why)
        return
    try:
        yield from _walk(top, below, parts)
    finally:
        os.close(below)


def _open_below(top: int, parts: Parts) -> BinaryIO:
    """Opens a regular file below the open folder `top`, without following a link at any level."""
    folder = os.dup(top)
    try:
        for part in parts[:-1]:
            below = open_folder(part, folder)
            os.close(folder)
            folder = below
        return os.fdopen(open_regular(parts[-1], folder), "rb")
    finally:
        os.close(folder)


def _why(error: BaseException) -> str:
    """What an exception says, without a dot at its end."""
    return printable(str(error) or type(error).__name__, 120).rstrip(".")
