"""The account that made a recording, without its name, where it is saved in a folder of a course.

A course releases its labs with a file `ticklab-course.json`, which holds the course's id:

    {"course": "5e0c...", "since": "2026-09-01T08:00:00+00:00", "ticklab": "0.1.0"}

A folder without this file belongs to no course, and a recording that is saved there names nobody.

The condition `account` of a recording:

    account: 9c3f... on 51aa...     an account of the OS, and the place that its runs are made in
    account: 9c3f... on a hub       an account of a JupyterHub, which is the same on each machine
    account: 9c3f...                an account whose place is unknown
    account: none: REASON           no account is named, and why

Both numbers are HMAC-SHA256 with the course's id as the key, shortened to 128 bits. So the same
account has other numbers in another course, and nobody without the id can try names.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import unicodedata
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import Field, ValidationError

from labs.files import read_bounded
from labs.json_text import BadJson, Form, parse_json, problems, text_of
from labs.limits import MOST_COURSE_BYTES, MOST_LEVELS_TO_COURSE
from labs.machine.description import login, place_of_account
from labs.recording.file import Recording

ACCOUNT_KEY = "account"
NO_ACCOUNT = "none: "
_HUB = "a hub"
_DIGITS = 32
_FORM = re.compile(rf"([0-9a-f]{{{_DIGITS}}})(?: on ({_HUB}|[0-9a-f]{{{_DIGITS}}}))?")
FILE_NAME = "ticklab-course.json"
_NO_COURSE = f"{NO_ACCOUNT}this folder is of no course"
_UNREADABLE = f"{NO_ACCOUNT}{FILE_NAME} cannot be read"
_NOBODY = f"{NO_ACCOUNT}the OS has no name for this user"


class BadCourse(ValueError):
    """`ticklab-course.json` cannot be read; the message says what is wrong and what to do."""


class Course(Form):
    """The id of a course; since when it has one (ISO 8601), and by which version of the kit."""

    course: str = Field(pattern="^[0-9a-f]{32}$", description="32 hexadecimal digits")
    since: str = Field(max_length=40, description="a time such as 2026-09-01T08:00:00+00:00")
    ticklab: str = Field(max_length=40, description="a version such as 0.1.0")


def read_course(file: Path) -> Course:
    """The course in `file`. Raises FileNotFoundError if there is none, and BadCourse."""
    try:
        return Course.model_validate(parse_json(text_of(read_bounded(file, MOST_COURSE_BYTES))))
    except FileNotFoundError:
        raise
    except OSError as error:
        raise BadCourse(error.strerror or str(error)) from error
    except BadJson as error:
        raise BadCourse(f"{file} is not valid JSON: {error.words}") from error
    except ValidationError as error:
        raise BadCourse(f"{file}: {problems(error, Course)}") from error


def course_of(recording: Path) -> Course | None:
    """The course of the folder in which a recording is saved; None if it is of no course.

    The file lies in the lab's folder, or in the folder of all labs. Raises BadCourse.
    """
    for folder in list(recording.absolute().parents)[:MOST_LEVELS_TO_COURSE]:
        try:
            return read_course(folder / FILE_NAME)
        except FileNotFoundError:
            continue
    return None


def with_account(recording: Recording, path: Path) -> Recording:
    """`recording`, which will be saved at `path`, with the account that made it or why it has none.

    Never raises: a recording without an account is worth as much.
    """
    others = {key: value for key, value in recording.conditions.items() if key != ACCOUNT_KEY}
    return replace(recording, conditions={ACCOUNT_KEY: stated_at(path), **others})


def stated_at(path: Path) -> str:
    """The condition `account` of a recording that is saved at `path` now."""
    try:
        course = course_of(path)
    except BadCourse:
        return _UNREADABLE
    if course is None:
        return _NO_COURSE
    user = login()
    if user is None:
        return _NOBODY
    where = None if user.on_hub else place_of_account()
    return str(account_of(course.course, user.name, where, on_hub=user.on_hub))


@dataclass(frozen=True)
class Account:
    """A named account: the hash of its name, and of its place ("" if it is unknown)."""

    name: str
    place: str = ""

    @property
    def on_hub(self) -> bool:
        """Whether it is an account of a hub."""
        return self.place == _HUB

    def __str__(self) -> str:
        return f"{self.name} on {self.place}" if self.place else self.name


def account_of(course: str, name: str, place: str | None, *, on_hub: bool = False) -> Account:
    """The account `name` as recordings name it in the course with the id `course`.

    `place` is what only the runs of this account on this machine have; None if it is unknown.
    """
    if on_hub:
        return Account(name_hash(course, name), _HUB)
    return Account(
        name_hash(course, name), "" if place is None else _hash(course, "place", name, place)
    )


def name_hash(course: str, name: str) -> str:
    """The hash of an account's name; letter case and blanks at the ends make no difference."""
    return _hash(course, "name", unicodedata.normalize("NFC", name.strip()).casefold())


def parse_account(text: str) -> Account | None:
    """The account that the condition names; None if it has another form or names none."""
    match = _FORM.fullmatch(text)
    return None if match is None else Account(match[1], match[2] or "")


def _hash(course: str, *words: str) -> str:
    content = "\0".join(words).encode("utf-8", "surrogateescape")
    return hmac.new(course.encode("ascii"), content, hashlib.sha256).hexdigest()[:_DIGITS]
