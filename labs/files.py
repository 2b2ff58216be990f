"""Write a file completely or not at all, and read a file within a limit."""

from __future__ import annotations

import contextlib
import datetime
import errno
import math
import os
import shlex
import stat
import tempfile
from collections.abc import Mapping
from glob import escape
from pathlib import Path

from labs.limits import MOST_CPUS

REMEDIES = {
    errno.ENOSPC: "the disk is full: free some space, then save again",
    errno.EDQUOT: "your disk quota is used up: delete something, then save again",
    errno.EROFS: "the folder is read-only: work in a copy (`labs start DIR`)",
    errno.EACCES: "you may not write there: work in a copy (`labs start DIR`)",
    errno.EPERM: "you may not write there: work in a copy (`labs start DIR`)",
    errno.ENOTDIR: "a part of that path is a file, not a folder",
    errno.EEXIST: "a part of that path is a file, not a folder",
}
#: The name of a file that is being written ends so.
UNFINISHED = ".unfinished"


class CannotWrite(OSError):
    """A file could not be written; an older file at this path is unchanged."""


def explained(error: Exception) -> str:
    """What `error` says to a person: its sentence or the OS's words with the file, and no number.

    Python's own text of an error of the OS begins with `[Errno 2]`.
    """
    if not isinstance(error, OSError) or not error.strerror or str(error)[:1] != "[":
        return str(error)
    return f"{error.filename}: {error.strerror}" if error.filename else error.strerror


def write_atomically(path: Path, content: bytes, *, private: bool = False) -> None:
    """Put `content` at `path`: a reader sees the old file or the new one, never a part.

    Writes a temporary file in the same folder, syncs it, renames it and syncs the folder. Nobody
    but its owner may ever read a `private` file. Raises CannotWrite, whose message says what to do;
    an older file at this path is then unchanged.
    """
    write_together({Path(path): content}, private=private)


def write_together(files: Mapping[Path, bytes], *, private: bool = False) -> None:
    """Put each content at its path as :func:`write_atomically` does, and none if the disk is full.

    Nothing is renamed before all are written. Raises CannotWrite.
    """
    path, temporary = Path(), dict[Path, str]()
    try:
        for path, content in files.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            handle, temporary[path] = tempfile.mkstemp(UNFINISHED, f".{path.name}.", path.parent)
            with os.fdopen(handle, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            if not private:  # a temporary file is private
                Path(temporary[path]).chmod(0o666 & ~_umask())
        for path in files:
            Path(temporary[path]).replace(path)
            _sync_folder(path.parent)
    except OSError as error:
        for left in temporary.values():
            with contextlib.suppress(OSError):
                Path(left).unlink()
        remedy = REMEDIES.get(
            error.errno or 0, "choose another place with --save or another folder"
        )
        reason = os.strerror(error.errno) if error.errno else str(error)
        raise CannotWrite(error.errno, f"cannot write {path}: {reason}; {remedy}") from error


def who_can_read(folder: Path) -> str:
    """A sentence on whether other users of this machine can read the files in `folder`."""
    if folder.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        private = shlex.join(["chmod", "700", str(folder)])
        return f"Other users of this machine can read it. To prevent that: {private}"
    return "Only you can read it."


def without_name(said: str, path: Path) -> str:
    """What `read_bounded` says of `path`, for a sentence that names the file already."""
    return said.removeprefix(f"cannot read {path}: ").removeprefix(f"{path} ")


def remove_unfinished(path: Path) -> None:
    """Remove what a :func:`write_atomically` of `path` that was killed has left.

    For files that only one program writes at a time. Raises OSError.
    """
    for unfinished in path.parent.glob(f".{escape(path.name)}.*{UNFINISHED}"):
        unfinished.unlink(missing_ok=True)


def _umask() -> int:
    """The process's umask; the OS returns it only when a program sets a new one."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def _sync_folder(folder: Path) -> None:
    """Make the rename durable too. Some file systems refuse this, and need no sync."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def with_ending(path: Path, ending: str) -> Path:
    """`path` with `ending`, such as `.csv`, added if its name does not end so. A folder stays.

    A spreadsheet, a browser and the other commands know a file by the end of its name.
    """
    if path.name.lower().endswith(ending) or not path.name or path.is_dir():
        return path
    return path.with_name(path.name + ending)


def read_bounded(path: Path, most: int) -> bytes:
    """The bytes of the regular file `path`, which has at most `most` of them.

    Never follows a symbolic link in the last part of the path, and never waits: it refuses a FIFO.
    Raises OSError with a sentence that says what is wrong.
    """
    handle, size = _open_regular(path)
    with os.fdopen(handle, "rb") as file:
        if size > most:
            raise OSError(errno.EFBIG, f"{path} has {size} bytes; at most {most} are read")
        content = file.read(most + 1)
    if len(content) > most:
        raise OSError(errno.EFBIG, f"{path} grew beyond {most} bytes while it was read")
    return content


def read_head(path: Path, most: int) -> bytes:
    """The first `most` bytes of the regular file `path`, as :func:`read_bounded` opens it."""
    with os.fdopen(_open_regular(path)[0], "rb") as file:
        return file.read(most)


def _open_regular(path: Path) -> tuple[int, int]:
    """A handle of the file, and its size. Raises OSError with a sentence."""
    # Without O_NONBLOCK, opening a FIFO would wait forever for a writer.
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
    try:
        handle = os.open(path, flags)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise OSError(
                error.errno, f"{path} is a symbolic link; hand in the file itself"
            ) from error
        raise OSError(
            error.errno, f"cannot read {path}: {os.strerror(error.errno or 0)}"
        ) from error
    # This check comes before fdopen, which refuses a folder and leaves its handle open.
    status = os.fstat(handle)
    if not stat.S_ISREG(status.st_mode):
        os.close(handle)
        raise OSError(errno.EINVAL, f"{path} is not a regular file")
    return handle, status.st_size


# The small text files in which an OS shows its state, such as those in /proc and /sys.

_MOST = 1 << 20  # no such file is longer, but a file at a wrong path may be


def text_of(file: Path) -> str | None:
    """The text of the file, without white space and zero bytes around it; None if unreadable."""
    try:
        with file.open("rb") as opened:
            content = opened.read(_MOST)
    except (OSError, ValueError):
        return None
    return content.decode("utf-8", "replace").strip().strip("\0").strip() or None


def words_of(file: Path) -> list[str]:
    """The words of the file; an empty list if it cannot be read."""
    return (text_of(file) or "").split()


def number_in(word: str) -> float | None:
    """The finite number that `word` spells, or None."""
    try:
        number = float(word)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def time_now() -> str:
    """The time now, as files state it: ISO 8601 in UTC, to the second."""
    return datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")


def cpu_list(text: str) -> tuple[int, ...] | None:
    """CPU numbers from the OS kernel's notation, such as 0-3,8; None for any other text."""
    cpus: set[int] = set()
    named = 0
    for item in text.strip().split(","):
        first, _, last = item.partition("-")
        if not first.isdecimal() or (last and not last.isdecimal()) or len(first + last) > 12:
            return None
        span = range(int(first), int(last or first) + 1)
        named += len(span)
        if not span or named > MOST_CPUS:
            return None
        cpus.update(span)
    return tuple(sorted(cpus))


def denied(folder: Path, *names: str) -> str | None:
    """Which of the files `names` in `folder` may not be read, and what to do; None if all may.

    Without names, `folder` itself is tried. A file that is missing or is no file is not denied:
    its reader says so.
    """
    for path in [Path(folder) / name for name in names] or [Path(folder)]:
        try:
            # Without O_NONBLOCK, opening a pipe would wait for its writer.
            os.close(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC))
        except PermissionError:
            closed = _closed(path)
            return f"{closed} may not be read; allow it with `chmod -R u+rwX {closed}`, then retry"
        except OSError:
            continue
    return None


def _closed(path: Path) -> Path:
    """The file or the outermost folder on the way to `path` that denies it."""
    for part in [*reversed(path.parents), path]:
        try:
            part.lstat()
        except PermissionError:
            return part.parent
        except OSError:
            return path
    return path
