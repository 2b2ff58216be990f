"""What nbgrader reads of a submission outside of any step: its time, and who handed in.

nbgrader reads `timestamp.txt` in collect, autograde, feedback and the formgrader's lists, and ends
all of them at the first that holds no time. It has no setting for this. So :func:`install` puts
careful readers in the place of some of its methods, for courses with our settings only. The lists
ask for both with every page, so the readers are also faster.
"""

from __future__ import annotations

import datetime
import functools
import os
import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jsonschema  # type: ignore[import-untyped]
from jsonschema.exceptions import best_match  # type: ignore[import-untyped]
from nbgrader.apps.api import NbGraderAPI
from nbgrader.coursedir import CourseDirectory
from nbgrader.nbgraderformat import common
from nbgrader.utils import parse_utc
from traitlets.config import Config
from traitlets.utils.importstring import import_item

from grader.submissions.safe_files import printable, read_regular, trouble_with_name
from grader.with_nbgrader.student_folders import time_in_record

EXPORTER = "grader.with_nbgrader.autograde.RebuildExporter"
_MOST_TIME_BYTES = 200
#: What nbgrader's interface remembers while it lists the labs.
_LABS = "ticklab_labs_of_students"
#: Outside of these years, sums of time zones overflow, in the formgrader too.
_YEARS = range(1970, 2200)
_PLAIN_TIME = re.compile(r"[0-9]{4}(-[0-9]{2}){2} [0-9]{2}(:[0-9]{2}){2}(\.[0-9]{6})? UTC")


def is_ours(configurable: Any) -> bool:
    """Whether the course of this object of nbgrader has our settings."""
    for one in (configurable, configurable.parent):
        chosen = one.config.Autograde.get("exporter_class") if one is not None else None
        if chosen is not None:
            return _is_our_exporter(chosen)
    return False


@functools.cache
def _is_our_exporter(chosen: Any) -> bool:
    """Of a class or its name; the formgrader asks for each student."""
    exporter = import_item(chosen) if isinstance(chosen, str) else chosen
    return any(f"{each.__module__}.{each.__name__}" == EXPORTER for each in exporter.__mro__)


class OfOurCourses:
    """Makes nbgrader's own class of a conversion where the course does not have our settings.

    It comes first in the order of inheritance, and `of_nbgrader` is that class.
    """

    of_nbgrader: type[Any]

    def __new__(cls, coursedir: CourseDirectory | None = None, **settings: Any) -> Any:
        """An object of our class, or of nbgrader's."""
        parent = settings.get("parent")
        config = settings.get("config") or (parent.config if parent is not None else Config())
        if is_ours(SimpleNamespace(config=config, parent=parent)):
            return super().__new__(cls)
        return cls.of_nbgrader(coursedir, **settings)


def time_of(text: str) -> datetime.datetime:
    """The time in `text` as nbgrader reads it, in UTC. Raises ValueError whatever is wrong."""
    try:
        # nbgrader writes times in this form. Its own parser takes 20 times as long.
        is_plain = _PLAIN_TIME.fullmatch(text) is not None
        plain = datetime.datetime.fromisoformat(text[: -len(" UTC")]) if is_plain else None
        when: datetime.datetime = plain or parse_utc(text)
    except Exception as error:  # the parser of dates raises exceptions of many kinds
        raise ValueError(f"no time: {printable(text, 60)}") from error
    if when.year not in _YEARS:
        raise ValueError(f"the year {when.year} cannot be")
    return when


def read_time(folder: Path | int) -> datetime.datetime | None:
    """The time in the `timestamp.txt` of a folder, or of an open one; None if it has no such file.

    Raises ValueError with a sentence if the file cannot be read or holds no time.
    """
    name = "timestamp.txt"
    try:
        if isinstance(folder, int):
            raw = read_regular(name, _MOST_TIME_BYTES, folder)
        else:
            raw = read_regular(folder / name, _MOST_TIME_BYTES)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ValueError(f"it cannot be read: {error.strerror or error}") from error
    if len(raw) > _MOST_TIME_BYTES:
        raise ValueError(f"it is longer than {_MOST_TIME_BYTES} bytes")
    try:
        text = raw.decode("utf-8").strip()
    except UnicodeDecodeError as error:
        raise ValueError("it is not UTF-8 text") from error
    if not text:
        raise ValueError("it is empty")
    return time_of(text)


def time_of_submission(folder: Path, log: Any = None) -> datetime.datetime | None:
    """When the submission in `folder` was made; a `log` gets a warning if its file has no time."""
    try:
        return read_time(folder) or time_in_record(folder)
    except ValueError as error:
        if log is not None:
            where = printable(str(folder / "timestamp.txt"), 300)
            log.warning("%s holds no time: %s", where, error)
        return time_in_record(folder)


def trust_schemas() -> None:
    """Have nbgrader check the marks of each cell, but not its own schema of marks before each.

    A second call changes nothing.
    """
    common.jsonschema = SimpleNamespace(validate=_validate)


@functools.wraps(jsonschema.validate)
def _validate(instance: object, schema: dict[str, Any]) -> None:
    wrong = best_match(jsonschema.validators.validator_for(schema)(schema).iter_errors(instance))
    if wrong is not None:
        raise wrong


def install() -> None:
    """Replaces the methods; a second call changes nothing."""
    trust_schemas()
    replace_method(CourseDirectory, "get_existing_timestamp", _get_existing_timestamp)
    replace_method(NbGraderAPI, "get_submitted_timestamp", _get_submitted_timestamp)
    replace_method(NbGraderAPI, "get_submitted_students", _get_submitted_students)
    replace_method(NbGraderAPI, "get_assignments", _get_assignments)


def replace_method(
    owner: Any,
    name: str,
    ours: Callable[..., Any],
    configured: Callable[[Any], Any] = lambda own: own,
) -> None:
    """Puts `ours` in the place of a method; it gets the old one as its first argument.

    It is called for our courses only; `configured` gives the object whose settings tell.
    """
    old = getattr(owner, name)
    if hasattr(old, "ticklab"):
        return

    @functools.wraps(old)
    def method(self: Any, *arguments: Any, **named: Any) -> Any:
        if not is_ours(configured(self)):
            return old(self, *arguments, **named)
        return ours(functools.partial(old, self), self, *arguments, **named)

    method.ticklab = True  # type: ignore[attr-defined]
    setattr(owner, name, method)


def _get_existing_timestamp(
    _: Callable[..., Any], self: Any, dest_path: str
) -> datetime.datetime | None:
    """When a submission was made; a warning if its file holds no time."""
    return time_of_submission(Path(dest_path), self.log)


def _get_submitted_timestamp(
    _: Callable[..., Any], self: Any, assignment_id: str, student_id: str
) -> datetime.datetime | None:
    """As above, for the lists of the formgrader, which ask for it with every page."""
    course = self.coursedir
    folder = course.format_path(course.submitted_directory, student_id, assignment_id)
    return time_of_submission(Path(folder))


def _get_submitted_students(
    old: Callable[..., set[str]], self: Any, assignment_id: str
) -> set[str]:
    """The students whose names can be taken; autograde says what is wrong with the others."""
    # nbgrader makes a path and matches a pattern for each student, for each lab on the page.
    if _has_usual_folders(self):
        labs = getattr(self, _LABS, None) or _labs_of_students(self)
        found = {
            name
            for name, own in labs.items()
            if (own if assignment_id == "*" else assignment_id in own)
        }
    else:
        found = old(assignment_id)
    return {name for name in found if trouble_with_name(name) is None}


def _get_assignments(old: Callable[..., list[dict[str, Any]]], self: Any) -> list[dict[str, Any]]:
    """All labs, for which the folders of the students are read once."""
    if _has_usual_folders(self):
        setattr(self, _LABS, _labs_of_students(self))
    try:
        return old()
    finally:
        self.__dict__.pop(_LABS, None)


def _has_usual_folders(api: Any) -> bool:
    usual: str = CourseDirectory.directory_structure.default_value
    return bool(api.coursedir.directory_structure == usual)


def _labs_of_students(api: Any) -> dict[str, set[str]]:
    """The labs that each student has handed in."""
    submitted = f"{api.coursedir.root}/{api.coursedir.submitted_directory}"
    return {each: set(_folders(f"{submitted}/{each}")) for each in _folders(submitted)}


def _folders(place: str) -> list[str]:
    """The names of the folders in a folder, but for hidden ones."""
    try:
        with os.scandir(place) as entries:
            return [each.name for each in entries if each.name[0] != "." and _is_folder(each)]
    except OSError:
        return []


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link that leads to itself, or into a folder that is closed to us
        return False
