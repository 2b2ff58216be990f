"""One file of a submission: opened with care, then copied and compared, or shared."""

from __future__ import annotations

import errno
import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

from grader.submissions.folders import open_regular

_CHUNK = 1 << 20
#: Sharing a smaller file saves nothing.
_LARGE = 16 * 1024


@dataclass(frozen=True)
class FoundFile:
    """A file in an open folder: its path from the top, and why it must be left out, or ""."""

    path: Path
    folder: int
    trouble: str = ""
    named: bool = False

    def open(self, room: int, owner: int) -> int:
        """Opens the file. Raises OSError if it is left out, larger than `room`, or not `owner`'s.

        A hard link is a second name of one file: of a file of somebody else, it is as a link.
        """
        if self.trouble:
            raise OSError(0, self.trouble)
        descriptor = open_regular(self.path.name, self.folder)
        status = os.fstat(descriptor)
        trouble = ""
        if status.st_nlink > 1 and status.st_uid != owner:
            trouble = "a second name of somebody else's file"
        elif status.st_size > room:
            trouble = f"{status.st_size} bytes are more than the {room} that can be copied"
        if trouble:
            os.close(descriptor)
            raise OSError(0, trouble)
        return descriptor

    def shared(self, file: int, target: Path) -> int:
        """Gives the open `file` the name `target` too; returns its size, or 0 if it must be copied.

        Evidence is most of a submission, and nobody writes into it. A file that is not ours could
        be changed later by its owner.
        """
        status = os.fstat(file)
        ours = status.st_uid == os.geteuid() and status.st_size >= _LARGE
        if not (self.path.parts[:-1] == ("recordings",) and self.path.suffix == ".csv" and ours):
            return 0
        target.unlink(missing_ok=True)
        try:
            os.link(self.path.name, target, src_dir_fd=self.folder, follow_symlinks=False)
        except (OSError, NotImplementedError):  # two file systems, or one without links
            return 0
        if not os.path.samestat(target.lstat(), status):  # another file now has its name
            target.unlink()
            return 0
        return status.st_size


def copy_of(source: int, target: Path, most: int) -> tuple[int, str]:
    """Copies at most `most` bytes (the file may grow while it is read); returns size and hash."""
    target.unlink(missing_ok=True)
    done, digest = 0, hashlib.sha256()
    with target.open("wb") as file:
        while done < most:
            chunk = os.read(source, min(_CHUNK, most - done))
            if not chunk:
                break
            file.write(chunk)
            digest.update(chunk)
            done += len(chunk)
    if hash_of(target) != digest.hexdigest():
        raise OSError(errno.EIO, "the copy differs from what was read", str(target))
    return done, digest.hexdigest()


def hash_of(path: Path) -> str:
    """The SHA-256 of the file `path`. Raises OSError."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()
