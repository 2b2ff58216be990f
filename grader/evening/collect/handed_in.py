"""What one student handed in: files, archives of `labs hand-in`, and archives in archives.

Each archive of the lab is a version of the submission, and the files beside archives are another.
"""

from __future__ import annotations

import datetime
import tempfile
from collections.abc import Collection, Iterable, Iterator, Sequence, Set
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

from grader.evening.collect.items import Item, NotTaken, is_bomb, opened_zip
from grader.evening.collect.naming import Parts, hand_in_archive, is_junk
from grader.evening.collect.paths import same_name, shown, trouble_on_windows
from grader.evening.collect.readings import OTHER_ARCHIVES, Place, is_of_a_lab, plain
from labs.common import limits
from labs.course import figures
from labs.course.handed_in import HANDED_IN

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
    """

    origin: str
    files: dict[Parts, Item]
    left_out: tuple[str, ...] = ()
    when: datetime.datetime | None = None
    order: int | None = None
    archive: str = ""
    late: bool | None = None


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
        given = [each for each in given if not is_junk(each.path)]
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
        left_out: set[str] = set()
        # Canvas keeps both where a student hands in one name again; the last one counts.
        for each in sorted(given, key=lambda each: (each.order or 0, each.path), reverse=True):
            if each.path[: len(root)] != root:
                beside = _beside(each.path, root)
                if not {*beside} & {*self._others, HANDED_IN}:
                    left_out.add(f"{shown(beside)}: it lies outside of the lab's folder")
                continue
            below = plain(each.path[len(root) :], self._lab)
            if below in files:
                left_out.add(f"{shown(each.path)}: it was handed in again")
            elif not (len(below) == 1 and below[0].casefold().endswith(".zip")):
                files[below] = each.item
        orders = [each.order for each in given if each.order is not None]
        order = max(orders) if orders else None
        late = _late(each for each in given if each.order == order)
        return Version("/".join(root), files, tuple(sorted(left_out)), None, order, "", late)

    def _archives(self, given: Sequence[Given], bare: bool) -> list[Given]:
        """The archives of the lab. Raises NotTaken if nobody can say which one it is."""
        zips = [each for each in given if each.path[-1].casefold().endswith(".zip")]
        made = {each: hand_in_archive(each.path[-1]) for each in zips}
        own = [each for each, named in made.items() if named and named[0] == self._lab]
        if bare:  # who hands in the folder of all labs means the lab as it is there
            return [each for each in own if HANDED_IN not in each.path[:-1]]
        if own:
            return own
        others = sorted({named[0] for named in made.values() if named})
        unnamed = [each for each, named in made.items() if named is None]
        if others and not unnamed:
            raise NotTaken(f"it is of the lab {others[0]}, not of {self._lab}")
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
            Version(
                f"{name}/{one.origin}" if one.origin else name,
                one.files,
                one.left_out,
                one.when or when,
                each.order,
                one.archive or digest,
                each.late,
            )
            for one in inner
        ]


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
    both = sorted(seen & folders)
    if both:
        raise NotTaken(f"{shown((both[0],))} is a file and a folder")


def _root(paths: Sequence[Parts], lab: str, others: Set[str]) -> Parts:
    """The lab's folder among the folders of these files. Raises NotTaken if it is not clear.

    `others` are the other labs of the course.
    """
    found = sorted(
        {path[:-1] for path in paths if is_of_a_lab(path) and ".ipynb_checkpoints" not in path},
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
    other = sorted(stated & others)
    if other:
        raise NotTaken(f"it is of the lab {other[0]}, not of {lab}")
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
    others = [each for each in given if each.path[-1].casefold().endswith(OTHER_ARCHIVES)]
    if others:
        return f"{shown(others[0].path)} is no zip file; `labs hand-in` makes one"
    return (
        f"it holds neither {figures.FILE_NAME} nor a notebook nor a zip file, "
        f"but {shown(given[0].path)}"
    )


def _moment(version: Version) -> tuple[int, datetime.datetime, bool]:
    """A key that sorts versions by time; an archive, which is whole, comes after single files."""
    return version.order or 0, version.when or datetime.datetime.min, bool(version.archive)
