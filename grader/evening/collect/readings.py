"""Whether a folder or an archive is one student's or a class's, where no program has named it.

`class/ada/...` is a student `class` with a folder `ada`, or a student `ada` in a folder `class`.
Evidence decides where there is any:

- the lab's files, a folder named like a lab, or an archive of `labs hand-in` directly in a folder:
  the folder is one student's, and so are those next to it;
- two folders or archives that each hold such files are two submissions, never one.

What can still be read in two ways is not collected. A person is asked, with each reading.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

from grader.evening.collect.items import Item
from grader.evening.collect.naming import STUDENTS, Parts, hand_in_archive
from grader.evening.collect.paths import shown
from grader.submissions.safe_copy import printable
from labs.course import answers, figures, predictions
from labs.course.handed_in import HANDED_IN

#: Archives that nobody opens here.
OTHER_ARCHIVES = (".7z", ".rar", ".tar", ".gz", ".tgz", ".bz2", ".xz", ".zst")
_ARCHIVES = (".zip", *OTHER_ARCHIVES)
_BARE = (figures.FILE_NAME, predictions.FILE_NAME, answers.FILE_NAME)
#: Folders that no student is called like; nor are hidden ones.
_OF_ONE_STUDENT = {figures.RECORDINGS, HANDED_IN, "__pycache__"}
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
        not path
        or _is_archive(path[-1])
        or (is_of_a_lab(path) and ".ipynb_checkpoints" not in path)
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
        many = _count(len(ways))
        why = f"nothing of it was collected, because it can be read in {many} ways."
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
            self._is_bare(path)
            or (len(path) == 1 and (hand_in_archive(path[0]) or _stem(path[0]) in self.labs))
            for path in paths
        )

    def _is_bare(self, path: Parts) -> bool:
        """Whether a file of a lab lies directly in it, or in a folder named like a lab."""
        return path[0] in self.labs if len(path) > 1 else bool(path) and is_of_a_lab(path)

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
    """The first names, and how many more there are."""
    first, more = [printable(name) for name in names[:_MOST_NAMES]], len(names) - _MOST_NAMES
    if more > 0:
        return f"{', '.join(first)} and {more:,} more"
    return " and ".join(filter(None, (", ".join(first[:-1]), first[-1])))
