"""The list of students that says which id in a file name is which student of the course.

It is a CSV file: one of our own, the gradebook that Canvas exports, or the grading worksheet of a
Moodle assignment.
"""

from __future__ import annotations

import csv
import io
import itertools
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from grader.evening.collect.items import NotTaken
from grader.evening.collect.naming import NOT_IN_FILES, Named
from grader.submissions.names import trouble_with_name
from grader.submissions.safe_copy import printable
from labs.common import limits
from labs.common.files import read_bounded

Row = Mapping[str, str]


@dataclass(frozen=True)
class Student:
    """One line: the student's id in this course, the id in file names, and the name; or "".

    `called` is the name as people write it, `email` an address, and `lms_id` the id that the
    platform has for the student in every assignment.
    """

    student: str
    number: str
    name: str
    called: str = ""
    email: str = ""
    lms_id: str = ""

    @property
    def is_a_person(self) -> bool:
        """Canvas lists its *Student View* as one student more, who never hands in anything."""
        return not (self.lms_id and self.called == "Student, Test")

    @property
    def names(self) -> tuple[str, str]:
        """The first name and the last one, of `Lovelace, Ada` or of `Ada Lovelace`.

        Nobody can tell from `Mary Ann Evans` which name is which: all but the first word are taken
        for the last name. An instructor can correct it in the formgrader.
        """
        last, comma, first = printable(self.called.strip()).partition(",")
        if not comma:
            first, blank, more = last.partition(" ")
            first, last = (first, more) if blank else ("", first)
        return first.strip(), last.strip()


@dataclass
class Roster:
    """All students of the list, found by the id in a file name or by their name."""

    students: list[Student] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._by_number = {each.number: each for each in self.students if each.number}
        self._by_name: dict[str, list[Student]] = {}
        for each in self.students:
            if each.name:
                self._by_name.setdefault(same_person(each.name), []).append(each)

    def numbers(self) -> set[str]:
        """The ids in file names that the list knows."""
        return set(self._by_number)

    def people(self) -> set[str]:
        """The ids in this course of all who can hand something in."""
        return {each.student for each in self.students if each.is_a_person}

    def student_of(self, named: Named) -> str:
        """The student's id in this course. Raises NotTaken if the list does not say it."""
        found = self._by_number.get(named.number)
        if found is not None:
            return found.student
        same = self._by_name.get(same_person(named.name), []) if named.name else []
        if len(same) == 1:
            return same[0].student
        who = printable(f"{named.name} ({named.number})" if named.name else named.number)
        if same:
            raise NotTaken(f"the roster has {len(same)} students with the name of {who}")
        raise NotTaken(f"the roster does not have {who}")


def same_person(name: str) -> str:
    """Two ways to write one name give the same text, also if Moodle left some letters out."""
    plain = NOT_IN_FILES.sub("", name).replace("_", " ")
    return " ".join(unicodedata.normalize("NFKC", plain).casefold().split())


def _our_own(row: Row) -> Student | None:
    name, email = row.get("name", ""), _address(row.get("email", ""))
    return Student(row["student"], row.get("id", ""), name, name, email)


def _of_canvas(row: Row) -> Student | None:
    number = row["id"]
    if not number.isdigit():  # the line with the most points that there are
        return None
    logins = (row.get("sis login id", ""), row.get("sis user id", ""), number)
    own = next(login for login in logins if login)
    return Student(own, number, "", row["student"], _address(logins[0]), number)


def _of_moodle(row: Row) -> Student | None:
    number = re.search(r"(\d+)$", row["identifier"])
    if number is None:
        return None
    known = ("username", "id number", "email address")
    ids = [row[column] for column in known if row.get(column)]
    name, email = row.get("full name", ""), _address(row.get("email address", ""))
    return Student(ids[0] if ids else number[1], number[1], name, name, email)


def _address(text: str) -> str:
    """An e-mail address, or '' if it is none; logins in Canvas are addresses at some places."""
    return text if re.fullmatch(r"[^\s@]+@[^\s@]+", text) and text.isprintable() else ""


#: The columns that show whose list it is, in small letters, and how a line of it is read.
_KINDS: tuple[tuple[set[str], Callable[[Row], Student | None]], ...] = (
    ({"student", "id", "section"}, _of_canvas),
    ({"identifier", "full name"}, _of_moodle),
    ({"student", "id"}, _our_own),
    ({"student", "name"}, _our_own),
)


def read(path: Path) -> Roster:
    """The list in the file `path`. Raises NotTaken with a sentence that names the line."""
    try:
        text = read_bounded(path, limits.MOST_ROSTER_BYTES).decode("utf-8-sig")
    except OSError as error:
        raise NotTaken(error.strerror or str(error)) from error
    except UnicodeDecodeError as error:
        raise NotTaken(f"{path} is not UTF-8 text; save it as CSV in UTF-8") from error
    first = text.partition("\n")[0]
    separator = max(",;\t", key=first.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    try:
        header = [cell.strip().casefold() for cell in next(reader, [])]
        students = _students(path, header, ((reader.line_num, cells) for cells in reader))
    except csv.Error as error:
        raise NotTaken(f"{path}, line {reader.line_num}: {error}") from error
    if not students:
        raise NotTaken(f"{path} names no student")
    return Roster(list(students.values()))


def _students(
    path: Path, header: list[str], lines: Iterable[tuple[int, list[str]]]
) -> dict[str, Student]:
    """The students by their id in this course."""
    of = next((of for columns, of in _KINDS if columns <= set(header)), None)
    if of is None:
        raise NotTaken(
            f"{path} has no columns `student` and `id` or `name` in its first line, "
            "and is neither Canvas's gradebook nor Moodle's grading worksheet"
        )
    students: dict[str, Student] = {}
    numbers: dict[str, str] = {}
    for number, cells in lines:
        row = dict(
            itertools.zip_longest(header, map(str.strip, cells[: len(header)]), fillvalue="")
        )
        if not any(row.values()):
            continue
        student = of(row)
        if student is None:
            continue
        where = f"{path}, line {number}"
        trouble = trouble_with_name(student.student)
        if trouble:
            raise NotTaken(f"{where}: {trouble}")
        other = numbers.setdefault(student.number, student.student) if student.number else ""
        if student.student in students or other not in {"", student.student}:
            twice = student.number if other not in {"", student.student} else student.student
            raise NotTaken(f"{where}: {printable(twice)} appears twice")
        if len(students) >= limits.MOST_STUDENTS:
            raise NotTaken(f"{path} has more than {limits.MOST_STUDENTS:,} students")
        students[student.student] = student
    return students
