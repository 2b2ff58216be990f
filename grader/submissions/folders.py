"""Opens folders that others may write to, without following a link at any level.

A path is checked and then used; in between, its owner can replace a folder by a link. So we open
each level by its name in the level above, which the OS does in one step.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@contextmanager
def opened(folder: Path, trusted: Path | None = None) -> Iterator[int]:
    """A descriptor of `folder`, closed at the end; no level below `trusted` may be a link.

    `trusted` is a folder above `folder`, by default its parent. Raises OSError, whose `strerror`
    says why the folder is refused.
    """
    trusted = folder.parent if trusted is None else trusted
    levels = folder.relative_to(trusted).parts
    descriptor = os.open(trusted, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for level in levels:
            below = open_folder(level, descriptor)
            os.close(descriptor)
            descriptor = below
        yield descriptor
    finally:
        os.close(descriptor)


def open_folder(name: str, parent: int) -> int:
    """Opens the folder `name` in the open folder `parent`. Raises OSError; the caller closes."""
    try:
        return os.open(name, _FOLDER, dir_fd=parent)
    except OSError as error:
        # For a link, Linux says "not a folder" and others "too many links".
        if error.errno in {errno.ENOTDIR, errno.ELOOP, errno.EMLINK}:
            raise OSError(error.errno, _what_else(name, parent), name) from error
        raise


def open_regular(name: str | Path, parent: int | None = None) -> int:
    """Opens a regular file for reading, in the open folder `parent` if one is given.

    With O_NONBLOCK, a pipe without a writer cannot block. Raises OSError; the caller closes.
    """
    descriptor = os.open(name, _FILE, dir_fd=parent)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(0, "not a regular file")
    return descriptor


def _what_else(name: str, parent: int) -> str:
    """What stands in the place of a folder."""
    mode = os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode
    return "a link; links are not followed" if stat.S_ISLNK(mode) else "not a folder"
