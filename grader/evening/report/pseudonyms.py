"""A pseudonym for each student: random, and the same in every report of the course.

The file `pseudonyms.csv` in the course folder says which pseudonym is whose. Only its owner may
read it, and nothing else of ours holds both names.
"""

from __future__ import annotations

import csv
import errno
import fcntl
import io
import os
import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from labs.common.files import read_bounded, write_atomically

FILE_NAME = "pseudonyms.csv"
_HEADER = ["pseudonym", "student"]
_MOST_BYTES = 16_000_000
#: Letters and digits that nobody takes for others, and how many of them a pseudonym has.
_LETTERS, _LENGTH = "bcdfghjkmnpqrstvwxz23456789", 5


class BadPseudonyms(ValueError):
    """The file of the pseudonyms cannot be used; the message says why and what to do."""


def pseudonyms_of(course: Path, students: Iterable[str]) -> dict[str, str]:
    """The pseudonym of each of the `students`; new ones are added to the file of the course.

    Raises BadPseudonyms, and files.CannotWrite.
    """
    with _alone(course):
        known = _read(course / FILE_NAME)
        missing = [student for student in dict.fromkeys(students) if student not in known]
        if missing:
            taken = set(known.values())
            for student in missing:
                known[student] = _new(taken)
                taken.add(known[student])
            _write(course / FILE_NAME, known)
    return known


def _new(taken: set[str]) -> str:
    while True:
        word = "".join(secrets.choice(_LETTERS) for _ in range(_LENGTH))
        if word not in taken and not word.isdigit():  # a spreadsheet would take it for a number
            return word


def _read(path: Path) -> dict[str, str]:
    """Pseudonyms by student; empty if there is no file yet."""
    try:
        content = read_bounded(path, _MOST_BYTES)
    except OSError as error:
        if error.errno == errno.ENOENT:
            return {}
        raise BadPseudonyms(f"{error.strerror}; the pseudonyms of the course are in it") from error
    try:
        rows = list(csv.reader(io.StringIO(content.decode("utf-8"), newline="")))
    except (UnicodeDecodeError, csv.Error) as error:
        raise BadPseudonyms(_bad(path, str(error))) from error
    if not rows or rows[0] != _HEADER or any(len(row) != 2 or not all(row) for row in rows[1:]):
        raise BadPseudonyms(_bad(path, f"it must have the columns {' and '.join(_HEADER)}"))
    known = {student: word for word, student in rows[1:]}
    if len(known) != len(rows) - 1 or len(set(known.values())) != len(known):
        raise BadPseudonyms(_bad(path, "a student or a pseudonym is there twice"))
    return known


def _bad(path: Path, why: str) -> str:
    return (
        f"{path} cannot be read: {why}. Restore it from a copy, or move it away: then everybody "
        "gets a new pseudonym"
    )


def _write(path: Path, known: dict[str, str]) -> None:
    """Writes the file in the order of the pseudonyms, which says nothing about who came when."""
    text = io.StringIO(newline="")
    rows = sorted((word, student) for student, word in known.items())
    csv.writer(text, lineterminator="\n").writerows([_HEADER, *rows])
    write_atomically(path, text.getvalue().encode("utf-8"), private=True)


@contextmanager
def _alone(course: Path) -> Iterator[None]:
    """Two reports at once would each add pseudonyms, and one file would lose them."""
    folder = os.open(course, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)
