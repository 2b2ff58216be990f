"""The files that a class uploaded: what is wrong with each, whose it is, and its versions.

An archive states names, sizes and kinds of its files, and all of that may be a lie. A file with a
`trouble` is never opened. The others are read through `Item.copy_to`, which counts what it reads.
"""

from __future__ import annotations

import datetime
import hashlib
import os
import stat
import struct
import tempfile
import zipfile
import zlib
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import IO, BinaryIO, NamedTuple, cast

from grader.class_grading.upload_names import (
    STUDENTS,
    Parts,
    hand_in_archive,
    parts_of,
    same_name,
    shown,
    trouble_on_windows,
    trouble_with_part,
    trouble_with_path,
)
from grader.submissions.safe_files import (
    AS_SETTINGS,
    NO_ROOM,
    is_junk,
    is_settings,
    listed,
    on_a_screen,
    open_folder,
    open_regular,
    printable,
)
from labs import limits
from labs.c_kernels.catalogue import sources_beside
from labs.course import answers, figures, lab_names, predictions
from labs.course.figures import BadFigures
from labs.course.handed_in import HANDED_IN

# The files in a folder or a zip file, each with what is wrong with it. Nothing is unpacked.

#: Less than what is read of a list of files at once (`_Bounded`).
_CHUNK = 1 << 18
#: What `zipfile` raises for archives that are damaged or made to harm.
_BAD_ZIP = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
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


# Whether a folder or an archive is one student's or a class's, where no program has named it.
#
# `class/ada/...` is a student `class` with a folder `ada`, or a student `ada` in a folder `class`.
# Evidence decides where there is any:
#
# - the lab's files, a folder named like a lab, or an archive of `labs hand-in` directly in a
#   folder: the folder is one student's, and so are those next to it;
# - two folders or archives that each hold such files are two submissions, never one.
#
# What can still be read in two ways is not collected. A person is asked, with each reading.

#: Archives that nobody opens here.
OTHER_ARCHIVES = (".7z", ".rar", ".tar", ".gz", ".tgz", ".bz2", ".xz", ".zst")
_ARCHIVES = (".zip", *OTHER_ARCHIVES)
_BARE = (figures.FILE_NAME, predictions.FILE_NAME, answers.FILE_NAME)
#: Folders that no student is called like; nor are hidden ones.
_OF_ONE_STUDENT = {figures.RECORDINGS, HANDED_IN, "__pycache__"}
#: The folder into which Jupyter puts copies of notebooks.
_COPIES = ".ipynb_checkpoints"
_COUNTS = dict(enumerate(("two", "three", "four", "five"), 2))
_MOST_NAMES = 3


def is_of_a_lab(path: Parts) -> bool:
    """Whether a submission begins in the folder of this file."""
    return path[-1].casefold().endswith(".ipynb") or plain(path[-1:], "") == (figures.FILE_NAME,)


def plain(path: Parts, lab: str) -> Parts:
    """The name of a file without the number that Canvas adds where a name is taken."""
    stem, dot, suffix = path[-1].rpartition(".")
    before, dash, number = stem.rpartition("-")
    if dash and number.isdigit() and len(path) == 1:
        name = f"{before}{dot}{suffix}"
        if name in _BARE or name == f"{lab}.ipynb":
            return (name,)
    return path


def holds_submission(paths: Iterable[Parts]) -> bool:
    """Whether files of a lab are among the files below a folder, or can be in an archive.

    An archive itself has the path ().
    """
    return any(
        not path or _is_archive(path[-1]) or (is_of_a_lab(path) and _COPIES not in path)
        for path in paths
    )


class _Level(NamedTuple):
    """Names that can be students, and the path of the folder or the archive they lie in."""

    where: Parts
    names: list[str]


@dataclass(frozen=True)
class Place:
    """A folder or an archive that is one student's if nothing speaks against it.

    `path` is its path in the source. `known` says that another one is certainly a student's, and
    `alone` that neither such a one nor the number of the others shows who the students are.
    """

    path: Parts
    lab: str
    labs: frozenset[str]
    known: bool = False
    alone: bool = False

    def question(self, paths: Collection[Parts], archive: Parts = ()) -> str:
        """What a person must say about the files `paths` in it; "" if they are one student's.

        `archive` is the path of an archive in this place, if the files lie in it. Each reading is a
        line of its own, so that its option can be copied.
        """
        levels = self._levels(paths, archive)
        if len(levels) == 1 or (len(_ids(levels[-1].names)) == 1 and not self.alone):
            return ""
        ways = [
            f"If {_listed(_ids(level.names))} is one student with {_things(inner.names)}, "
            f"{self._if_one(level, inner, archive)}"
            for level, inner in pairwise(levels)
        ]
        ways.append(self._if_apart(levels[-1], archive))
        why = f"nothing of it was collected, because it can be read in {_count(len(ways))} ways."
        return "\n".join([why, *ways])

    def people(self, paths: Collection[Parts]) -> list[str]:
        """The folders and archives directly in it that can each be a student.

        There are none if it is one student's itself.
        """
        below: dict[str, list[Parts]] = defaultdict(list)
        for path in paths:
            if path and self._can_be_a_student(path):
                below[path[0]].append(path[1:])
        if not self.is_students_own(paths):
            return sorted(each for each in below if not self.known or holds_submission(below[each]))
        holds = holds_submission if self.alone else self._holds_the_lab
        inner = sorted(each for each in below if holds(below[each]))
        if self.alone and not inner and not any(map(self._is_bare, paths)):
            inner = sorted(path[0] for path in paths if len(path) == 1 and self._is_made(path[0]))
            return inner if len(inner) > 1 else []
        return inner if self.alone or len(inner) > 1 else []

    def is_students_own(self, paths: Collection[Parts]) -> bool:
        """Whether files of a lab lie directly in it."""
        return any(
            self._is_bare(path) or (len(path) == 1 and self._is_submission(path)) for path in paths
        )

    def _is_bare(self, path: Parts) -> bool:
        """Whether a file of a lab lies directly in it, or in a folder named like a lab."""
        if len(path) == 1:
            return is_of_a_lab(path)
        return len(path) > 1 and path[0] in self.labs and self._is_submission(path[1:])

    def _is_submission(self, path: Parts) -> bool:
        """Whether a path in a folder is what one student hands in: students lie in none of them."""
        if len(path) > 1:
            return path[0] in _OF_ONE_STUDENT
        return bool(is_of_a_lab(path) or hand_in_archive(path[0]) or _stem(path[0]) in self.labs)

    def _in_lab(self, paths: Collection[Parts], where: Parts) -> tuple[Collection[Parts], Parts]:
        """The paths in the folder of the lab if it holds no submission itself, but students."""
        inside = [path[1:] for path in paths if len(path) > 1 and path[0] == self.lab]
        if self.is_students_own(paths) or not self.people(inside):
            return paths, where
        return inside, (*where, self.lab)

    def _can_be_a_student(self, path: Parts) -> bool:
        """Whether a folder can be a student, or an archive that `labs hand-in` has not made."""
        name = path[0]
        if len(path) == 1 and (not _is_archive(name) or hand_in_archive(name)):
            return False
        return _stem(name) not in self.labs | _OF_ONE_STUDENT and not name.startswith(".")

    def _is_made(self, name: str) -> bool:
        """Whether `labs hand-in` has made this archive of the lab."""
        made = hand_in_archive(name)
        return made is not None and made[0] == self.lab

    def _holds_the_lab(self, paths: Iterable[Parts]) -> bool:
        """Whether files of this lab and of no other are among those below a folder."""
        return any(
            self.lab in path[:-1]
            or path[-1] in {figures.FILE_NAME, f"{self.lab}.ipynb"}
            or self._is_made(path[-1])
            for path in paths
            if path
        )

    def _levels(self, paths: Collection[Parts], archive: Parts) -> list[_Level]:
        """This place, and what is in it, as far down as one name alone lies in another one."""
        where = (*(self.path[:-1] if _is_archive(self.path[-1]) else self.path), *archive)
        levels = [_Level(self.path[:-1], [self.path[-1]])]
        paths, where = self._in_lab(paths, where)
        while inner := self.people(paths):
            if _ids(inner) != _ids(levels[-1].names):  # `ada` in `ada.zip` is the same student
                levels.append(_Level(where, inner))
            if len(inner) > 1:
                break
            where = (*where, *inner)
            paths = [path[1:] for path in paths if path[0] == inner[0] and len(path) > 1]
        return levels

    def _if_one(self, level: _Level, inner: _Level, archive: Parts) -> str:
        """What to do if the name of `level` is one student, who has what is in `inner`."""
        if archive and level.where[: len(self.path)] == self.path:
            return f"collect {shown(archive)} by itself"
        if self.alone:
            return f"add the option {_option(level)}"
        return f"leave only the one that counts of {_things(inner.names)}, and collect again"

    def _if_apart(self, level: _Level, archive: Parts) -> str:
        """The reading in which each name is a student, and what to do then."""
        names, ids = level.names, _ids(level.names)
        inside = f"the {'archive' if _is_archive(level.where[-1]) else 'folder'} "
        inside += shown(level.where)
        if hand_in_archive(names[0]):
            todo = "put each into a folder with the student's id, and collect again"
            return f"If {_listed(names)} in {inside} are of {_count(len(names))} students, {todo}"
        closed = [name for name in names if name.casefold().endswith(OTHER_ARCHIVES)]
        if closed:
            todo = f"unpack {_listed(closed)}, and collect again"
        elif archive:
            todo = f"collect {shown(archive)} by itself"
        elif not self.alone:
            todo = f"collect {inside} by itself"
        else:
            todo = f"add the option {_option(level)}"
        are = "is one student" if len(ids) == 1 else f"are {_count(len(ids))} students"
        return f"If {_listed(ids)} {are} in {inside}, {todo}"


def places(
    items: Iterable[Item], around: Parts, lab: str, labs: Collection[str]
) -> dict[str, Place]:
    """The folders and archives at the top of a class that may be students, by their names.

    `around` is the folder around them in the source, which the items have no more. One student
    cannot make those of others doubtful: what most of them look like decides.
    """
    below: dict[str, list[Parts]] = defaultdict(list)
    for item in items:
        if not item.is_folder and STUDENTS.read(item.parts):
            below[item.parts[0]].append(item.parts[1:])
    of = {
        name: Place((*around, name), lab, frozenset(labs))
        for name, paths in below.items()
        if name not in labs and holds_submission(paths)
    }
    several = {name for name, place in of.items() if len(place.people(below[name])) > 1}
    own = {name for name, place in of.items() if place.is_students_own(below[name])}
    known = len(of) > 1 and bool(own - several)
    alone = not known and (len(of) == 1 or 2 * len(several) >= len(of))
    return {name: replace(place, known=known, alone=alone) for name, place in of.items()}


def why_no_student(lab: str, labs: Collection[str], paths: Collection[Parts]) -> str:
    """Why a folder at the top that is named like a lab is not collected, and what to do."""
    inner = Place((lab,), lab, frozenset(labs), alone=True).people(paths)
    if not inner:
        return "it is a lab; put each student's files into a folder with the student's id"
    are = f"are {_count(len(inner))} students" if len(inner) > 1 else "is one student"
    option = _option(_Level((lab,), inner))
    return f"it is a lab.\nIf {_listed(_ids(inner))} in it {are}, add the option {option}"


def _option(level: _Level) -> str:
    """The option that makes the names of a level the students, whatever they are called."""
    before = "[^/]+/" * len(level.where)
    return rf"--names '{before}(?P<student_id>[^/]+?)(?P<file_id>/.+|\.zip$)'"


def _is_archive(name: str) -> bool:
    return name.casefold().endswith(_ARCHIVES)


def _stem(name: str) -> str:
    """The name of a folder, or of an archive without its suffixes."""
    while _is_archive(name):
        name = name[: name.rindex(".")]
    return name


def _count(number: int) -> str:
    return _COUNTS.get(number, f"{number:,}")


def _ids(names: Iterable[str]) -> list[str]:
    """The ids of the students that folders and archives with these names would be."""
    return sorted({_stem(name) for name in names})


def _things(names: Sequence[str]) -> str:
    """The folders and archives with these names."""
    archives = [_is_archive(name) for name in names]
    if any(archives) and not all(archives):
        return f"the folders and archives {_listed(names)}"
    kind = "archive" if all(archives) else "folder"
    return f"the {kind}{'s' if len(names) > 1 else ''} {_listed(names)}"


def _listed(names: Sequence[str]) -> str:
    return listed(names, _MOST_NAMES)


# What one student handed in: files, archives of `labs hand-in`, and archives in archives.
#
# Each archive of the lab is a version of the submission; the files next to archives are another.

#: An archive that is smaller stays in memory.
_IN_MEMORY = 4_000_000


@dataclass(frozen=True)
class Given:
    """One file of a student, its path as the student named it, and its place in time."""

    path: Parts
    item: Item
    order: int | None = None
    late: bool | None = None


@dataclass(frozen=True)
class Version:
    """One submission of a student: its files below the lab folder, and what is left out.

    `origin` is its name in the source. `when` and `order` are its time, and `late` says whether it
    came too late, as far as that is known. `archive` is the SHA-256 of the archive it lay in.
    `question` is what a person must say of it, or "".
    """

    origin: str
    files: dict[Parts, Item]
    left_out: tuple[str, ...] = ()
    when: datetime.datetime | None = None
    order: int | None = None
    archive: str = ""
    late: bool | None = None
    question: str = ""


@contextmanager
def versions(
    given: Sequence[Given],
    lab: str,
    labs: Collection[str],
    scratch: Path,
    place: Place | None = None,
) -> Iterator[list[Version]]:
    """What a student handed in of `lab`, the earliest first; `scratch` is for unpacked archives.

    `labs` are the labs of the course: another one is not taken for this one. `place` is where the
    files lie, if it is not certain that they are one student's. Raises NotTaken, with a sentence,
    if they may be several students', if there is no submission or if it must not be unpacked. The
    versions can be read until the context ends.
    """
    with ExitStack() as stack:
        reader = _Reader(lab, frozenset(labs) - {lab}, scratch, stack, place)
        yield reader.versions(given, limits.MOST_NESTED_ARCHIVES)


_BESIDE_FILES = (
    "it was not read, because files of the lab lie next to it; if the zip file counts, move those "
    "away, and collect again"
)


class _Reader:
    def __init__(
        self, lab: str, others: Set[str], scratch: Path, stack: ExitStack, place: Place | None
    ) -> None:
        self._lab, self._others, self._scratch, self._stack = lab, others, scratch, stack
        self._place = place

    def versions(self, given: Sequence[Given], depth: int, archive: Parts = ()) -> list[Version]:
        """The versions in these files, which lie in `archive`, or in none.

        From here on, `depth` archives may lie in each other.
        """
        given = [each for each in given if not is_junk(each.path) and not _is_feedback(each.path)]
        if self._place is not None:
            question = self._place.question([each.path for each in given], archive)
            if question:
                raise NotTaken(question)
        if len(given) > limits.MOST_ARCHIVE_FILES:
            most = limits.MOST_ARCHIVE_FILES
            raise NotTaken(f"it has {len(given):,} files; at most {most:,} are read")
        for each in given:
            trouble = each.item.trouble or trouble_on_windows(each.path)
            if trouble:
                raise NotTaken(f"{shown(each.path)}: {trouble}")
        total = sum(each.item.size for each in given)
        if total > limits.MOST_UNPACKED_BYTES:
            most = limits.MOST_UNPACKED_BYTES
            raise NotTaken(f"it has {total:,} bytes; at most {most:,} are taken")
        _check_names(given)
        found: list[Version] = []
        if any(is_of_a_lab(each.path) for each in given):
            found.append(self._bare(given))
        for each in self._archives(given, bare=bool(found)):
            found += self._in_archive(each, depth, archive)
        if not found:
            raise NotTaken(_nothing(given))
        return sorted(found, key=_moment)

    def _bare(self, given: Sequence[Given]) -> Version:
        """The version that the files themselves are."""
        root = _root([each.path for each in given], self._lab, self._others)
        files: dict[Parts, Item] = {}
        names: dict[Parts, Parts] = {}
        left_out: set[str] = set()
        # Canvas keeps both where a student hands in one name again; the last one counts.
        for each in sorted(given, key=lambda each: (each.order or 0, each.path), reverse=True):
            if each.path[: len(root)] != root:
                beside = _beside(each.path, root)
                if not {*beside} & {*self._others, HANDED_IN}:
                    left_out.add(f"{shown(beside)}: it lies outside of the lab's folder")
                continue
            own = each.path[len(root) :]
            below = plain(own, self._lab)
            if len(below) == 1 and below[0].casefold().endswith(".zip"):
                if hand_in_archive(below[0]) is None:
                    left_out.add(f"{shown(each.path)}: {_BESIDE_FILES}")
            elif below not in files:
                files[below] = each.item
                names[below] = own
            elif below[0].endswith(".ipynb"):  # the one with the answers is read
                files[names[below] if own == below else own] = each.item
            else:
                left_out.add(f"{shown(each.path)}: it was handed in again")
        orders = [each.order for each in given if each.order is not None]
        order = max(orders) if orders else None
        late = _late(each for each in given if each.order == order)
        question = self._other_work(given, root, files)
        notes = tuple(sorted(left_out))
        return Version("/".join(root), files, notes, None, order, "", late, question)

    def _other_work(self, given: Sequence[Given], root: Parts, files: Mapping[Parts, Item]) -> str:
        """What a person must say if other work on the lab lies in another folder; else ""."""
        elsewhere = {*self._others, *lab_names.labs(), HANDED_IN, _COPIES} - {self._lab}
        own = shown(root) if root else "the top folder"
        for each in given:
            folder, name = each.path[:-1], each.path[-1:]
            if folder == root or elsewhere & {*folder} or not is_of_a_lab(name):
                continue
            mine = files.get(name)
            if mine is None and name != (figures.FILE_NAME,):
                continue
            if mine is None or mine.size != each.item.size or _digest(mine) != _digest(each.item):
                differs = "lies outside of" if mine is None else "differs from that in"
                return (
                    f"{shown(each.path)} {differs} {own}, and {own} is graded. Ask the student "
                    "which folder counts. If it is the other one, put its files into the student's "
                    "folder in `submitted`, and grade again with `--force`"
                )
        return ""

    def _archives(self, given: Sequence[Given], bare: bool) -> list[Given]:
        """The archives of the lab. Raises NotTaken if nobody can say which one it is."""
        zips = [each for each in given if each.path[-1].casefold().endswith(".zip")]
        made = {each: hand_in_archive(each.path[-1]) for each in zips}
        own = [each for each, named in made.items() if named and named[0] == self._lab]
        if bare:  # who hands in the folder of all labs means the lab as it is there
            return [each for each in own if HANDED_IN not in each.path[:-1]]
        if own:
            return own
        unnamed = [each for each, named in made.items() if named is None]
        if zips and not unnamed:
            others = {named[0] for named in made.values() if named}
            raise NotTaken(f"it is of the lab {min(others)}, not of {self._lab}")
        if len(unnamed) > 1:
            names = ", ".join(shown(each.path) for each in unnamed[:3])
            many = f"it has {len(unnamed)} zip files, and nobody knows which one counts"
            raise NotTaken(f"{many}: {names}")
        return unnamed

    def _in_archive(self, each: Given, depth: int, around: Parts) -> list[Version]:
        """The versions in an archive, which lies in the archive `around`, or in none."""
        name = shown(each.path)
        if depth == 0:
            most = limits.MOST_NESTED_ARCHIVES
            raise NotTaken(f"{name}: more than {most} zip files lie in each other")
        file = self._stack.enter_context(
            tempfile.SpooledTemporaryFile(  # noqa: SIM115 -- the stack closes it
                _IN_MEMORY, dir=str(self._scratch)
            )
        )
        digest = each.item.copy_to(file, limits.MOST_ARCHIVE_BYTES)
        size = file.tell()
        try:
            items = self._stack.enter_context(opened_zip(cast("BinaryIO", file)))
            bomb = is_bomb(items, size)
            if bomb:
                raise NotTaken(bomb)
            inside = [Given(item.parts, item) for item in items]
            inner = self.versions(inside, depth - 1, (*around, *each.path))
        except NotTaken as error:
            raise NotTaken(f"{name}: {error}") from error
        named = hand_in_archive(each.path[-1])
        when = named[1] if named else None
        return [
            replace(
                one,
                origin=f"{name}/{one.origin}" if one.origin else name,
                when=one.when or when,
                order=each.order,
                archive=one.archive or digest,
                late=each.late,
            )
            for one in inner
        ]


def _is_feedback(path: Parts) -> bool:
    """Whether it is a page that `nbgrader fetch_feedback` put there, in `feedback/TIME`.

    Not every exchange leaves it out as nbgrader's does, and Windows cannot have the name of TIME.
    """
    return len(path) > 2 and path[-3] == "feedback" and path[-1].endswith(".html")


def _digest(item: Item) -> str:
    with open(os.devnull, "wb") as nowhere:  # noqa: PTH123
        return item.copy_to(nowhere, limits.MOST_NOTEBOOK_BYTES)


def _late(given: Iterable[Given]) -> bool | None:
    """Whether one of these files came too late; None if that is known of none."""
    stated = [each.late for each in given if each.late is not None]
    return any(stated) if stated else None


def _check_names(given: Sequence[Given]) -> None:
    """Raises NotTaken if two files have one name, or if a file has the name of a folder."""
    seen: set[str] = set()
    folders: set[str] = set()
    for each in given:
        name = same_name(each.path)
        if name in seen:
            raise NotTaken(f"two files have the name {shown(each.path)}")
        seen.add(name)
        folders |= {same_name(each.path[:n]) for n in range(1, len(each.path))}
    if both := seen & folders:
        raise NotTaken(f"{shown((min(both),))} is a file and a folder")


def _root(paths: Sequence[Parts], lab: str, others: Set[str]) -> Parts:
    """The lab's folder among the folders of these files. Raises NotTaken if it is not clear.

    `others` are the other labs of the course.
    """
    found = sorted(
        {path[:-1] for path in paths if is_of_a_lab(path) and _COPIES not in path},
        key=lambda root: (len(root), root),
    )
    if not found:
        raise NotTaken("it holds copies of Jupyter (.ipynb_checkpoints) and no file of the lab")
    named: dict[tuple[int, bool], list[Parts]] = {}
    for root in found:
        if root[-1:] == (lab,) or (*root, f"{lab}.ipynb") in paths:
            named.setdefault((len(root), root[-1:] != (lab,)), []).append(root)
    if named:
        best = named[min(named)]
        if len(best) > 1:
            names = ", ".join(shown(root) for root in best[:3])
            raise NotTaken(
                f"it holds the lab in several folders: {names}; leave the one that counts"
            )
        return best[0]
    top = found[0]
    stated = {*top[-1:], *(path[-1].removesuffix(".ipynb") for path in paths if path[:-1] == top)}
    if other := stated & others:
        raise NotTaken(f"it is of the lab {min(other)}, not of {lab}")
    if all(root[: len(top)] == top for root in found):
        return top
    names = ", ".join(shown(root) for root in found[:3])
    raise NotTaken(f"it holds several folders, and none is named {lab}: {names}")


def _beside(path: Parts, root: Parts) -> Parts:
    """The part of `path` down to the first level at which it is not on the way to `root`."""
    same = 0
    while path[same] == root[same]:
        same += 1
    return path[: same + 1]


def _nothing(given: Sequence[Given]) -> str:
    """Why there is no submission in these files."""
    if not given:
        return "it is empty"
    for each in given:
        if each.path[-1].casefold().endswith(OTHER_ARCHIVES):
            return f"{shown(each.path)} is no zip file; `labs hand-in` makes one"
    return (
        f"it holds neither {figures.FILE_NAME} nor a notebook nor a zip file, "
        f"but {shown(given[0].path)}"
    )


def _moment(version: Version) -> tuple[int, datetime.datetime, bool]:
    """A key that sorts versions by time; an archive, which is whole, comes after single files."""
    return version.order or 0, version.when or datetime.datetime.min, bool(version.archive)


def written(version: Version, folder: Path) -> tuple[dict[str, str], list[str]]:
    """Writes the files of a version below the new `folder`; returns hashes, and what is left out.

    Left out are files that are too large, as in any submission, and what programs can read as their
    settings, with one note for each folder. Raises NotTaken if a file is damaged, and OSError.
    """
    hashes: dict[str, str] = {}
    left_out = list(version.left_out)
    room = limits.MOST_UNPACKED_BYTES
    folder.mkdir(parents=True)
    for path, item in sorted(version.files.items()):
        settings = next((n for n, part in enumerate(path, 1) if is_settings(part)), None)
        if settings is not None:
            note = f"{shown(path[:settings])}: {AS_SETTINGS}"
            if _COPIES not in path and note not in left_out:
                left_out.append(note)
            continue
        most = limits.MOST_NOTEBOOK_BYTES if path[-1].endswith(".ipynb") else limits.MOST_FILE_BYTES
        if item.size > most:
            left_out.append(
                f"{shown(path)}: it has {item.size:,} bytes; at most {most:,} are taken"
            )
            continue
        target = folder.joinpath(*path)
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("xb") as file:
            hashes["/".join(path)] = item.copy_to(file, min(most, room))
            room -= file.tell()
    for old, new in _evidence_beside(folder):
        old.rename(new)
        hashes[str(new.relative_to(folder))] = hashes.pop(old.name)
    return hashes, on_a_screen(left_out)


def _evidence_beside(folder: Path) -> Iterator[tuple[Path, Path]]:
    """Recordings that were handed in one by one, with the place where `figures.json` names them."""
    recordings = folder / figures.RECORDINGS
    if recordings.exists():
        return
    try:
        named = list(figures.evidence(folder))
    except (BadFigures, OSError):
        return
    moves = {}
    for name in named:
        for path in (Path(name), *sources_beside(Path(name))):
            beside = folder / path.name
            again = sorted(folder.glob(f"{_escaped(path.stem)}-[0-9]*{path.suffix}"))
            if not beside.is_file() and len(again) == 1 and again[0].stem[-1:].isdigit():
                beside = again[0]
            if beside.is_file() and beside not in moves:
                moves[beside] = folder / path
    if moves:
        recordings.mkdir()
    yield from moves.items()


def _escaped(name: str) -> str:
    """A name in which a glob finds only itself."""
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in name)
