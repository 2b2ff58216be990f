"""Opens a source: a folder or a zip file with the submissions of a class."""

from __future__ import annotations

import contextlib
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from grader.evening.collect.items import Item, NotTaken, opened_folder, opened_zip
from grader.evening.collect.naming import STUDENTS, Layout, Parts, is_junk, layout_of
from grader.evening.collect.readings import OTHER_ARCHIVES, Place, holds_submission, places
from grader.evening.collect.roster import Roster
from labs.common import limits
from labs.course.figures import RECORDINGS


@contextlib.contextmanager
def opened_source(source: Path) -> Iterator[list[Item]]:
    """The files in the folder or the zip file `source`. Raises NotTaken with a sentence."""
    if source.is_dir():
        with opened_folder(source) as items:
            yield items
        return
    if source.name.casefold().endswith(OTHER_ARCHIVES) and source.is_file():
        raise NotTaken(f"{source} is no zip file; unpack it, and collect the folder")
    try:
        file = source.open("rb")
    except OSError as error:
        raise NotTaken(f"{source} cannot be read: {error.strerror}") from error
    with file:
        try:
            opening = opened_zip(
                file, limits.MOST_CLASS_FILES, limits.MOST_CLASS_LIST, folders=True
            )
            items = opening.__enter__()
        except NotTaken as error:
            raise NotTaken(f"{source}: {error}; download it again") from error
        with contextlib.ExitStack() as stack:
            stack.push(opening.__exit__)
            yield items


def laid_out(
    items: list[Item],
    layout: Layout | None,
    lab: str,
    labs: Collection[str],
    roster: Roster | None = None,
) -> tuple[list[Item], Layout, dict[str, Place]]:
    """The files without a folder around the class, their layout, and whose they may be.

    If `layout` is None, it is found by the names. The places are those of `readings.places`; there
    are none where a program or a person has named the students.
    """
    if layout is not None:
        return items, layout, {}
    around = _around(items, labs, roster.numbers() if roster else ())
    inner = _without(around, items)
    layout = layout_of([item.parts for item in inner])
    return inner, layout, places(inner, around, lab, labs) if layout is STUDENTS else {}


def without_wrapper(items: list[Item], labs: Collection[str]) -> list[Item]:
    """The files without one folder around all of them, if it is not a student's."""
    return _without(_around(items, labs, ()), items)


def _without(around: Parts, items: Iterable[Item]) -> list[Item]:
    """The files, which all lie in the folder `around`, by their paths in it."""
    most = len(around)
    inner = [replace(item, parts=item.parts[most:]) for item in items if not is_junk(item.parts)]
    return [item for item in inner if item.parts]


def _around(items: list[Item], labs: Collection[str], known: Collection[str]) -> Parts:
    """The one folder around all files if it is not a student's; else ()."""
    files = [item.parts for item in items if not item.is_folder and not is_junk(item.parts)]
    if len({parts[0] for parts in files}) != 1 or any(len(parts) < 2 for parts in files):
        return ()
    if layout_of(files) is not STUDENTS:
        return ()
    top, inner = files[0][:1], [parts[1:] for parts in files]
    programs = layout_of(inner) is not STUDENTS
    listed = any(named.number in known for path in inner for named in STUDENTS.read(path))
    return top if programs or (listed and top[0] not in known) or _are_students(inner, labs) else ()


def _are_students(paths: Sequence[Parts], labs: Collection[str]) -> bool:
    """Whether these are folders and zip files of students, and not what one student handed in."""
    below: dict[str, list[Parts]] = defaultdict(list)
    for path in paths:
        below[path[0]].append(path[1:])
    submissions = sum(map(holds_submission, below.values()))
    return submissions > 1 and all(
        path[0] not in {RECORDINGS, *labs} if len(path) > 1 else STUDENTS.read(path)
        for path in paths
    )
