"""Read and copy what students hand in: only regular files of limited size, and usable names.

We cannot trust a submitted folder. A link may lead to another student's work or to an endless
device, a named pipe may wait forever, and one file may fill the disk. nbgrader copies with
`shutil.copy`, which follows links. Here, each file and folder is opened by its name in the folder
above, and what was opened is checked.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import stat
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatch, fnmatchcase
from itertools import chain, islice
from pathlib import Path

from labs.course import figures
from labs.course.figures import BadFigures
from labs.limits import (
    MOST_DEPTH,
    MOST_ENTRIES,
    MOST_EVIDENCE_BYTES,
    MOST_FILE_BYTES,
    MOST_FILES,
    MOST_FOLDER_BYTES,
    MOST_NOTEBOOK_BYTES,
)
from labs.terminal import UNSEEN
from labs.units import plural

_MOST_NOTES, _MOST_NAMES = 20, 10
#: The errors of a full disk, which end a run.
NO_ROOM = {errno.ENOSPC, errno.EDQUOT}
# Of the files that nobody names, these are copied first.
_EVIDENCE = ("figures.json", "recordings")
#: What `nbgrader submit` adds to a submission; the steps up to the release of feedback need it.
_BY_NBGRADER = ("timestamp.txt", "submission_secret.txt")


def printable(name: str, most: int = 80) -> str:
    """`name` for a log or a note: without control characters and in valid UTF-8."""
    text = name.encode("utf-8", "backslashreplace").decode("utf-8")
    text = UNSEEN.sub("?", "".join(letter if letter.isprintable() else "?" for letter in text))
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


def copy(
    source: Path,
    destination: Path,
    ignore: Sequence[str] = (),
    trusted: Path | None = None,
    first: Sequence[str] = (),
    *,
    share: bool = False,
) -> Taken:
    """Copies the regular files under `source` to `destination`; says what it left out.

    `ignore` holds globs for names of files and folders to skip without a note, as in nbgrader's
    `CourseDirectory.ignore`; files of operating systems are skipped too. No level below `trusted`
    (by default the parent of `source`) may be a link. What nbgrader added, the files of `first`,
    `figures.json` and the evidence that it names come first, whatever else is there. Of the rest,
    nothing is copied that a program can read as its settings. The result has one note for each
    file that was left out, but no more than fit on a screen. Unreadable files are left out too.
    Each copy is read again: its hash must be that of what was read. With `share`, a large recording
    of our own gets a second name instead of a copy, where the file system can do this; it is not
    read, so it has no hash. Raises OSError if `source` is no folder or a link, if a named file may
    not be read, or if writing fails.
    """
    first = (*_BY_NBGRADER, *first)
    notes: list[str] = []
    hashes: dict[str, str] = {}
    seen: set[Path] = set()
    others = 0
    left = {True: MOST_EVIDENCE_BYTES, False: MOST_FOLDER_BYTES}  # named files, and the others
    with opened(source, trusted) as top:
        owner = os.fstat(top).st_uid
        destination.mkdir(parents=True, exist_ok=True)
        named = _named(top, [*first, *evidence_in(source)])
        for found in chain(named, _walk(top, Path(), ignore, MOST_DEPTH)):
            if found.path in seen:
                continue
            seen.add(found.path)
            name = printable(str(found.path))
            if not found.trouble and not found.named and others >= MOST_FILES:
                notes.append(f"{name}: there are more than {MOST_FILES} files")
                break
            most = MOST_NOTEBOOK_BYTES if found.path.suffix == ".ipynb" else MOST_FILE_BYTES
            room = min(most, left[found.named])
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
    return Taken(hashes, on_a_screen(notes))


def some(names: Sequence[str], most: int = _MOST_NAMES) -> str:
    """The names, or the first of them and how many more there are."""
    shown = ", ".join(printable(name) for name in names[:most])
    more = len(names) - most
    return f"{shown} and {more:,} more" if more > 0 else shown


def listed(names: Sequence[str], most: int, quoted: Callable[[str], str] = printable) -> str:
    """The names in a sentence, or the first of them and how many more there are."""
    first, more = [quoted(name) for name in names[:most]], len(names) - most
    if more > 0:
        return f"{', '.join(first)} and {more:,} more"
    return " and ".join(filter(None, (", ".join(first[:-1]), first[-1])))


def cut(notes: list[str], most: int) -> list[str]:
    """The notes, or the first of them and how many more there are."""
    more = len(notes) - most
    return notes if more <= 0 else [*notes[:most], f"and {more} more"]


def on_a_screen(notes: list[str]) -> list[str]:
    """The first notes on files that are left out, and how many more there are."""
    more = len(notes) - _MOST_NOTES
    return notes if more <= 0 else [*notes[:_MOST_NOTES], f"and {plural(more, 'more file')}"]


def evidence_in(folder: Path) -> list[str]:
    """The files of `folder` by which its figures are judged: figures of known labs first."""
    # Here: what only opens folders, such as the feedback of a class, needs no figures of labs.
    from grader.figures import is_known

    try:
        submitted = figures.read(folder)
    except BadFigures:
        return [figures.FILE_NAME]
    in_order = sorted(submitted, key=lambda figure: not is_known(figure))
    names = [name for figure in in_order for name in figures.evidence_of(submitted[figure])]
    return [figures.FILE_NAME, *dict.fromkeys(names)]


def not_empty(folder: Path, names: Sequence[str], trusted: Path | None = None) -> list[str]:
    """Which of these files of `folder` are regular and have content; no link is followed."""
    found = []
    with contextlib.suppress(OSError), opened(folder, trusted) as top:
        for file in _named(top, names):
            with contextlib.suppress(OSError):
                if read_regular(file.path.name, 0, file.folder):
                    found.append(str(file.path))
    return found


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


# What a program reads by itself from the folder in which it starts, and runs what it says: a shell,
# git, Jupyter, Python. An instructor starts such programs in a student's folder.

#: What operating systems put into folders and archives by themselves.
_JUNK = {"__macosx", ".ds_store", "thumbs.db", "desktop.ini"}
#: In small letters; with a file `HEAD`, any folder can be a repository of git with its settings.
_SETTINGS = (
    ".*",
    "nbgrader_config*",
    "jupyter*config*",
    "ipython*config*",
    "sitecustomize*",
    "usercustomize*",
    "conftest.py",
    "matplotlibrc",
    "head",
)
AS_SETTINGS = "not taken, because programs can read it as their settings and run what it says"


def is_junk(parts: Sequence[str]) -> bool:
    """Whether no person has put this file there."""
    return any(part.casefold() in _JUNK or part.startswith("._") for part in parts)


def is_settings(name: str) -> bool:
    """Whether a program can read a file or a folder of this name as its settings."""
    return any(fnmatchcase(name.casefold(), pattern) for pattern in _SETTINGS)


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
        if is_junk([entry.name]) or any(fnmatch(entry.name, pattern) for pattern in ignore):
            continue
        path = where / entry.name
        if is_settings(entry.name):
            yield FoundFile(path, folder, AS_SETTINGS)
        elif entry.is_symlink():
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


_CHUNK = 1 << 20
#: Sharing a smaller file saves nothing.
_LARGE_FILE = 16 * 1024


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
        ours = status.st_uid == os.geteuid() and status.st_size >= _LARGE_FILE
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


# A path is checked and then used; in between, its owner can replace a folder by a link. So we open
# each level by its name in the level above, which the OS does in one step.

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


# A large class does not fit into memory, so each submission comes from the disk. A process that
# judges would wait for it. While it judges one submission, the OS can fetch the next ones.


def read_ahead(folder: Path, trusted: Path) -> None:
    """Asks the OS to read the regular files in `folder` and its recordings; it does not wait.

    No link below `trusted` is followed. What cannot be read is left to whoever needs it. Nothing
    happens on an OS that cannot be asked.
    """
    if not hasattr(os, "posix_fadvise"):  # macOS
        return
    for each in (folder, folder / figures.RECORDINGS):
        with contextlib.suppress(OSError, ValueError), opened(each, trusted) as top:
            with os.scandir(top) as entries:
                names = [entry.name for entry in islice(entries, MOST_FILES)]
            for name in names:
                with contextlib.suppress(OSError), os.fdopen(open_regular(name, top), "rb") as file:
                    os.posix_fadvise(file.fileno(), 0, MOST_FILE_BYTES, os.POSIX_FADV_WILLNEED)


# Which names of students are taken from folders: nbgrader uses such a name in many places.
#
# The name becomes a path, a part of a regular expression, a key of the gradebook, and text on a
# page and in a terminal. A line end in one name ended the grading of everybody behind it, and a
# star means the whole class.

_MOST_BYTES = 150
#: `*?[]` are globs in nbgrader's `--student`, commas separate students there, and the others have a
#: meaning in a path, in HTML, or in an address: the formgrader does not encode names in those.
_RESERVED = frozenset('/\\*?[]<>"&,#%')
#: Scripts with letters that look alike.
_ALIKE = {"LATIN", "GREEK", "CYRILLIC", "ARMENIAN", "CHEROKEE", "COPTIC", "FULLWIDTH"}
#: `nbgrader export` writes names into a table, and a spreadsheet computes what begins so.
_FORMULA = "=+-@"


def trouble_with_name(name: str) -> str | None:
    """Why `name`, as the OS lists it, cannot be a student's; None if it can."""
    try:
        size = len(name.encode("utf-8"))
    except UnicodeEncodeError:
        return "the student's name is not UTF-8 text"
    if not name:
        return "the student's name is empty"
    if size > _MOST_BYTES:
        return f"the student's name is longer than {_MOST_BYTES} bytes"
    if not name.isprintable() or UNSEEN.search(name):
        what = "a line end, an escape or another control character, or a letter that nobody sees"
        return f"the student's name holds {what}"
    scripts = {unicodedata.name(each, "").split(" ")[0] for each in name if each.isalpha()}
    if len(scripts & _ALIKE) > 1:
        return "the student's name mixes letters of two scripts that look alike"
    if name.startswith(".") or name != name.strip():
        return "the student's name begins with a dot, or with or ends in a blank"
    if name[0] in _FORMULA:
        return f"the student's name begins with {name[0]}, as a formula of a spreadsheet does"
    found = " ".join(sorted(_RESERVED & set(name)))
    return f"the student's name holds {found}" if found else None
