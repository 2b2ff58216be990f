"""Opens a source: a folder or a zip file with the submissions of a class."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from grader.evening.collect.items import Item, NotTaken, opened_folder, opened_zip
from grader.evening.collect.naming import STUDENTS, is_junk, layout_of
from labs.common import limits
from labs.course.figures import RECORDINGS


@contextlib.contextmanager
def opened_source(source: Path) -> Iterator[list[Item]]:
    """The files in the folder or the zip file `source`. Raises NotTaken with a sentence."""
    if source.is_dir():
        with opened_folder(source) as items:
            yield items
        return
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


def without_wrapper(items: list[Item], labs: Collection[str]) -> list[Item]:
    """The files without one folder around all of them, if it is not a student's."""
    items = [item for item in items if not is_junk(item.parts)]
    files = [item for item in items if not item.is_folder]
    tops = {item.parts[:1] for item in files}
    if len(tops) != 1 or any(len(item.parts) < 2 for item in files):
        return items
    inner = [replace(item, parts=item.parts[1:]) for item in items if len(item.parts) > 1]
    inner_files = [item for item in inner if not item.is_folder]
    if layout_of([item.parts for item in files]) is not STUDENTS:
        return items
    programs = layout_of([item.parts for item in inner_files]) is not STUDENTS
    return inner if programs or _are_students(inner_files, labs) else items


def _are_students(items: Sequence[Item], labs: Collection[str]) -> bool:
    """Whether these are folders and zip files of students, and not what one student handed in."""
    tops = {item.parts[0] for item in items}
    of_a_lab = {RECORDINGS, *labs}
    return len(tops) > 1 and all(
        item.parts[0] not in of_a_lab if len(item.parts) > 1 else STUDENTS.read(item.parts)
        for item in items
    )
