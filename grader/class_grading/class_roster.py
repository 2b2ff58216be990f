"""Who is who in a class: whose files a source holds, and the pseudonym of each student.

The list of students says which id in a file name is which student of the course. It is a CSV file:
one of our own, the gradebook that Canvas exports, or the grading worksheet of a Moodle assignment.
"""

from __future__ import annotations

import contextlib
import csv
import datetime
import errno
import fcntl
import io
import os
import re
import secrets
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import yaml
from nbgrader.api import Gradebook, MissingEntry

from grader.class_grading.upload_names import (
    CANVAS,
    GRADESCOPE,
    METADATA_OF_GRADESCOPE,
    MOODLE,
    NOT_IN_FILES,
    OF_PATTERN,
    STUDENTS,
    Layout,
    Member,
    Named,
    Parts,
    github,
    gradescope,
    hand_in_archive,
    layout_of,
    moodle_id,
    same_name,
    shown,
)
from grader.class_grading.uploaded_archives import (
    OTHER_ARCHIVES,
    Given,
    Item,
    NotTaken,
    Place,
    holds_submission,
    opened_folder,
    opened_zip,
    places,
)
from grader.submissions.safe_files import is_junk, printable, trouble_with_name
from grader.with_nbgrader import locked_gradebook
from grader.with_nbgrader.nbgrader_exchange import NotCollected
from labs import limits
from labs.course.figures import RECORDINGS
from labs.files import read_bounded, write_atomically

Row = Mapping[str, str]


@dataclass(frozen=True)
class Student:
    """One line: the student's id in this course, the id in file names, and the name; or "".

    `called` is the name as people write it, `email` an address, and `lms_id` the id that the
    platform has for the student in every assignment. `logins` are what else names the student, and
    `team` the name of the student's team.
    """

    student: str
    number: str
    name: str
    called: str = ""
    email: str = ""
    lms_id: str = ""
    logins: tuple[str, ...] = ()
    team: str = ""

    @property
    def is_a_person(self) -> bool:
        """Canvas lists its *Student View* as one student more, who never hands in anything."""
        return not (self.lms_id and self.called == "Student, Test")

    @property
    def names(self) -> tuple[str, str]:
        """The first name and the last one."""
        return first_and_last(self.called)


def first_and_last(name: str) -> tuple[str, str]:
    """The first name and the last one, of `Lovelace, Ada` or of `Ada Lovelace`.

    Nobody can tell from `Mary Ann Evans` which name is which: all but the first word are taken for
    the last name. An instructor can correct it in the formgrader.
    """
    last, comma, first = printable(name.strip()).partition(",")
    if not comma:
        first, blank, more = last.partition(" ")
        first, last = (first, more) if blank else ("", first)
    return first.strip(), last.strip()


@dataclass
class Roster:
    """All students of the list, found by the id in a file name or by their name.

    `system` is the program that wrote the list; "" if a person did. A number means another student
    in another program, so it is only looked for in the list of the same one.
    """

    students: list[Student] = field(default_factory=list)
    system: str = ""

    def __post_init__(self) -> None:
        self._by_number = {each.number: each for each in self.students if each.number}
        self._by_login: dict[str, list[Student]] = {}
        self._by_name: dict[str, list[Student]] = {}
        self._by_letters: dict[str, list[Student]] = {}
        self._teams: dict[str, list[Student]] = {}
        for each in self.students:
            logins = {each.student, each.email, *each.logins}
            if self.system:
                logins -= {each.number}
            for login in {login.casefold() for login in logins if login}:
                self._by_login.setdefault(login, []).append(each)
            if each.name:
                self._by_name.setdefault(same_person(each.name), []).append(each)
                self._by_letters.setdefault(letters_of(each.name), []).append(each)
            if each.team:
                self._teams.setdefault(same_person(each.team), []).append(each)

    def ids(self, layout: Layout) -> set[str]:
        """The ids in file names of this layout that the list knows."""
        numbers = set(self._by_number) if self.system in {"", layout.name} else set()
        return numbers if layout.numbers else numbers | {each.student for each in self.students}

    def people(self) -> set[str]:
        """The ids in this course of all who can hand something in."""
        return {each.student for each in self.students if each.is_a_person}

    def has_the_numbers_of(self, named: Iterable[Named], layout: Layout) -> bool:
        """Whether the numbers in these names are those of the list: most of the names agree."""
        if layout is CANVAS and self.system == layout.name:  # they are of accounts, and stay
            return True
        both = [(each.name, self._of_number(each, layout)) for each in named]
        return mostly_agree((name, found.called) for name, found in both if found is not None)

    def _of_number(self, named: Named, layout: Layout) -> Student | None:
        return self._by_number.get(named.number) if self.system in {"", layout.name} else None

    def _of_name(self, name: str) -> list[Student]:
        return self._by_name.get(same_person(name)) or self._by_letters.get(letters_of(name)) or []

    def _of_login(self, named: Named, layout: Layout) -> Student | None:
        logins = named.logins or (() if layout.numbers else (named.number,))
        found = {
            each.student: each
            for login in logins
            for each in self._by_login.get(login.casefold(), [])
            if any(
                names_agree(named.name, name) for name in (each.called, f"{login} {each.called}")
            )
        }
        return next(iter(found.values())) if len(found) == 1 else None

    def team(self, named: Named) -> list[Student]:
        """The students of the list whose team these files are of."""
        first = named.name.partition(" - ")[0]  # Brightspace adds who handed in
        return self._teams.get(same_person(named.name)) or self._teams.get(same_person(first)) or []

    def student_of(self, named: Named, layout: Layout, sure: bool = False) -> tuple[str, str]:
        """The student's id in this course, and what a person should look at, or "".

        `sure` says that the numbers are those of the list, so one with another name is the same
        student. Raises NotTaken if the list does not say who it is.
        """
        if team := self.team(named):
            return moodle_id(team[0].team, "") or named.number, ""
        both = f"{named.name} ({named.number})" if named.number else named.name
        who = printable(both if named.name else named.number)
        found = self._of_number(named, layout)
        same = self._of_name(named.name) if named.name else []
        if found is not None and not names_agree(named.name, found.called):
            doubt = f"the roster has {named.number} for {printable(found.called)}, not for {who}"
            if not sure or found not in (same or [found]):
                raise NotTaken(
                    f"{doubt}. Use the list of the same assignment; where teams hand in, it needs "
                    "the column Group"
                )
            return found.student, doubt
        found = found or self._of_login(named, layout)
        if found is not None:
            return found.student, ""
        if len(same) == 1:
            other = self.system == layout.name and same[0].number
            doubt = f"found by the name alone: in the roster {who} has the number {other}"
            return same[0].student, doubt if other else ""
        if same:
            number = named.number or "the id in the name of the file"
            raise NotTaken(
                f"the roster has {len(same)} students with the name of {who}. Find out which one "
                f"it is, and use a list with the columns student and id: in it, {number} is the id"
            )
        raise NotTaken(f"the roster does not have {who}")


def same_person(name: str) -> str:
    """Two ways to write one name give the same text, also if Moodle left some letters out."""
    plain = NOT_IN_FILES.sub("", name).replace("_", " ")
    return " ".join(unicodedata.normalize("NFKC", plain).casefold().split())


def words_of(name: str) -> list[str]:
    """The words of a name, in small letters, without what programs leave out of file names."""
    return re.findall(r"[^\W_]+", same_person(name))


def letters_of(name: str) -> str:
    """The same for `Lovelace, Ada`, `Ada Lovelace` and Canvas's `lovelaceada`."""
    return "".join(sorted("".join(words_of(name))))


def names_agree(one: str, other: str) -> bool:
    """Whether two names can be one person's; "" can be anybody's.

    `Lovelace, Ada`, `Ada Lovelace`, `Ada King Lovelace` and Canvas's `lovelaceada` agree.
    """
    mine, yours = set(words_of(one)), set(words_of(other))
    return letters_of(one) == letters_of(other) or mine <= yours or yours <= mine


def mostly_agree(names: Iterable[tuple[str, str]]) -> bool:
    """Whether more than half of the pairs of two names agree."""
    agree = [names_agree(one, other) for one, other in names if one and other]
    return 2 * sum(agree) > len(agree)


def _our_own(row: Row) -> Student | None:
    name, email = row.get("name", ""), _address(row.get("email", ""))
    team = row.get("group", "")
    return Student(row["student"], row.get("id", ""), name, name, email, team=team)


def _of_canvas(row: Row) -> Student | None:
    number = row["id"]
    if not number.isdigit():  # the line with the most points that there are
        return None
    logins = (row.get("sis login id", ""), row.get("sis user id", ""))
    own = next((login for login in logins if login), number)
    called = row.get("student") or ", ".join(filter(None, map(row.get, ("lastname", "firstname"))))
    return Student(own, number, "", called, _address(logins[0]), number, logins)


def _of_moodle(row: Row) -> Student | None:
    number = re.search(r"(\d+)$", row["identifier"])
    if number is None:
        return None
    known = ("username", "id number", "email address")
    ids = [row[column] for column in known if row.get(column)]
    name, email = row.get("full name", ""), _address(row.get("email address", ""))
    team = row.get("group", "")
    own = ids[0] if ids else number[1]
    return Student(own, number[1], name, name, email, "", tuple(ids), team)


def _of_brightspace(row: Row) -> Student | None:
    plain = {column: cell.lstrip("#") for column, cell in row.items()}  # its mark of a text
    name = f"{plain['first name']} {plain['last name']}".strip()
    logins = tuple(filter(None, (plain.get("username"), plain.get("orgdefinedid"))))
    email = _address(plain.get("email", ""))
    return Student(logins[0], "", name, name, email, "", logins) if logins else None


def _address(text: str) -> str:
    """An e-mail address, or '' if it is none; logins in Canvas are addresses at some places."""
    return text if re.fullmatch(r"[^\s@]+@[^\s@]+", text) and text.isprintable() else ""


#: The columns that show whose list it is, in small letters, and how a line of it is read.
_KINDS: tuple[tuple[set[str], str, Callable[[Row], Student | None]], ...] = (
    ({"student", "id", "section"}, CANVAS.name, _of_canvas),
    ({"lastname", "firstname", "id", "section"}, CANVAS.name, _of_canvas),
    ({"identifier", "full name"}, MOODLE.name, _of_moodle),
    ({"identifier", "grade"}, MOODLE.name, _of_moodle),  # with blind marking it has no names
    (
        {"username", "last name", "first name", "end-of-line indicator"},
        "Brightspace",
        _of_brightspace,
    ),
    ({"student", "id"}, "", _our_own),
    ({"student", "name"}, "", _our_own),
)


def read_roster(path: Path) -> Roster:
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
        system, students = _students(path, header, ((reader.line_num, cells) for cells in reader))
    except csv.Error as error:
        raise NotTaken(f"{path}, line {reader.line_num}: {error}") from error
    if not students:
        raise NotTaken(f"{path} names no student")
    return Roster(list(students.values()), system)


def _students(
    path: Path, header: list[str], lines: Iterable[tuple[int, list[str]]]
) -> tuple[str, dict[str, Student]]:
    """The program that wrote the list, and its students by their id in this course."""
    kinds = [(system, of) for columns, system, of in _KINDS if columns <= set(header)]
    if not kinds:
        raise NotTaken(
            f"{path} has no columns `student` and `id` or `name` in its first line, "
            "and is neither a gradebook of Canvas or Brightspace nor Moodle's grading worksheet"
        )
    system, of = kinds[0]
    students: dict[str, Student] = {}
    numbers: dict[str, str] = {}
    for number, cells in lines:
        filled = [*map(str.strip, cells), *[""] * len(header)]
        row = dict(zip(header, filled, strict=False))
        student = of(row) if any(row.values()) else None
        if student is None:
            continue
        where = f"{path}, line {number}"
        if trouble := trouble_with_name(student.student):
            raise NotTaken(f"{where}: {trouble}")
        other = numbers.setdefault(student.number, student.student) if student.number else ""
        if student.student in students or other not in {"", student.student}:
            twice = student.number if other not in {"", student.student} else student.student
            raise NotTaken(f"{where}: {printable(twice)} appears twice")
        if len(students) >= limits.MOST_STUDENTS:
            raise NotTaken(f"{path} has more than {limits.MOST_STUDENTS:,} students")
        students[student.student] = student
    return system, students


# Opens a source: a folder or a zip file with the submissions of a class.


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
    with file, contextlib.ExitStack() as stack:
        most = limits.MOST_CLASS_FILES, limits.MOST_CLASS_LIST
        try:
            items = stack.enter_context(opened_zip(file, *most, folders=True))
        except NotTaken as error:
            raise NotTaken(f"{source}: {error}; download it again") from error
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
    around = _around(items, labs, roster.ids(STUDENTS) if roster else ())
    inner = _without(around, items)
    layout = github([item.parts for item in inner], lab)
    if layout is not None:  # the history of a clone is nobody's work
        return [item for item in inner if item.parts[1:2] != (".git",)], layout, {}
    layout = layout_of([item.parts for item in inner if not item.is_folder])
    if layout is GRADESCOPE:
        metadata = next(item for item in inner if item.parts == (METADATA_OF_GRADESCOPE,))
        layout = gradescope(_submitters(metadata))
    return inner, layout, places(inner, around, lab, labs) if layout is STUDENTS else {}


def _submitters(metadata: Item) -> dict[str, list[Member]]:
    """Who handed in each submission, by its folder, as Gradescope says. Raises NotTaken."""
    text = io.BytesIO()
    metadata.copy_to(text, limits.MOST_ROSTER_BYTES)
    try:
        # The base loader makes text of all that is no list or table, and objects of nothing.
        loaded = yaml.load(text.getvalue(), Loader=getattr(yaml, "CBaseLoader", yaml.BaseLoader))
        return {
            str(folder): [_submitter(who) for who in submission.get(":submitters") or ()]
            for folder, submission in loaded.items()
        }
    except (yaml.YAMLError, AttributeError, TypeError, ValueError, RecursionError) as error:
        raise NotTaken(
            f"{METADATA_OF_GRADESCOPE} cannot be read, so nobody knows whose the submissions are; "
            "download them again"
        ) from error


def _submitter(who: Mapping[str, object]) -> Member:
    found = (who.get(key) for key in (":name", ":sid", ":email"))
    # The text of a list of lists of lists that repeat would have no end.
    name, number, email = (each.strip() if isinstance(each, str) else "" for each in found)
    email = _address(email.casefold())
    return Member(email or number, name, email, number)


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


# Sorts the files of a source by student. Two students whose ids are alike are never merged.


@dataclass
class Group:
    """The files of one student: those whose names have the same key.

    Those of one time in their names were handed in together. `before` says that a collect before
    has named this student otherwise, and `members` are those of a team.
    """

    named: Named
    given: dict[datetime.datetime | int | None, list[Given]] = field(default_factory=dict)
    doubts: list[str] = field(default_factory=list)
    before: str = ""
    members: tuple[Member, ...] = ()
    student: str = ""  # the id that a roster gives
    place: Place | None = None  # where the files lie, if nobody has named the student

    @property
    def label(self) -> str:
        """The student as the source names them."""
        return printable(self.named.key)

    @property
    def shown(self) -> str:
        """The student as an instructor knows them: the id of the roster, then the label."""
        named = self.student and self.student != self.label
        return f"{printable(self.student)} ({self.label})" if named else self.label


@dataclass
class Sorted:
    """Each student's files by the student's id, and what is nobody's or not clear.

    `seen` are the ids of all who handed in, also of those who are refused. `strays` are files next
    to the students in which there can be no student's work.
    """

    students: dict[str, Group]
    not_collected: list[NotCollected]
    of_other_labs: int = 0
    strays: list[str] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)


def sort_by_student(
    items: Iterable[Item],
    layout: Layout,
    lab: str,
    roster: Roster | None,
    taken: Mapping[str, str],
) -> Sorted:
    """Sorts the files by student.

    `taken` has the ids of students in the course, each with the label under which a source named
    the student when this lab was collected, or "".
    """
    result = Sorted({}, [])
    groups: dict[str, Group] = {}
    unclear: list[tuple[Item, list[Named]]] = []
    unread: list[Item] = []
    items = [item for item in items if not is_junk(item.parts)]
    result.not_collected += _empty_folders(items)
    for item in items:
        if item.is_folder or layout.is_own(item.parts):
            continue
        can_be = layout.read(item.parts)
        if not can_be:
            unread.append(item)
        elif can_be[0].lab not in {"", lab}:
            result.of_other_labs += 1
        elif len(can_be) > 1 and layout.name == OF_PATTERN:
            ids = {each.number: each for each in can_be}
            left = [each for each in ids if roster is not None and each in roster.ids(layout)]
            if len(left) == 1:
                _add(groups, item, ids[left[0]], layout)
            else:
                two = " or ".join(map(printable, ids))
                why = f"your pattern finds two students in its name: {two}"
                result.not_collected.append(NotCollected(shown(item.parts), why))
        elif len(can_be) > 1:
            unclear.append((item, can_be))
        else:
            _add(groups, item, can_be[0], layout)
    _resolve(groups, unclear, layout, roster)
    around = _folders_around(each for group in groups.values() for each in group.given.values())
    for item in unread:
        if item.parts[:-1] in around and not item.trouble and not holds_submission([item.parts]):
            result.strays.append(shown(item.parts))
        else:
            result.not_collected.append(NotCollected(shown(item.parts), _unknown(item, layout)))
    _identify(groups.values(), layout, roster, taken, lab, result)
    return result


def _folders_around(given: Iterable[Iterable[Given]]) -> set[Parts]:
    """The top, and the folders in which students' folders lie; none if there is no student."""
    folders = {each.item.parts[:-1] for several in given for each in several}
    return {folder[:n] for folder in folders for n in range(max(1, len(folder)))}


def _empty_folders(items: Sequence[Item]) -> list[NotCollected]:
    """The folders at the top that hold no file: a student may be missed otherwise."""
    full = {item.parts[0] for item in items if not item.is_folder}
    empty = {item.parts[0] for item in items} - full
    return [NotCollected(shown((name,)), "its folder is empty") for name in sorted(empty)]


def _unknown(item: Item, layout: Layout) -> str:
    if hand_in_archive(item.parts[-1]):
        return "its name does not say which student it is of"
    if layout is STUDENTS:
        return "it lies in no student's folder, and is no zip file"
    return f"its name is not one of {layout.name}" + (f"; {item.trouble}" if item.trouble else "")


def _add(groups: dict[str, Group], item: Item, named: Named, layout: Layout) -> Group:
    group = groups.setdefault(named.key, Group(named, members=named.members))
    if named.path:
        together = group.given.setdefault(named.order if layout.attempts else named.when, [])
        together.append(Given(named.path, item, named.order, named.late))
    return group


def _resolve(
    groups: dict[str, Group],
    unclear: Sequence[tuple[Item, list[Named]]],
    layout: Layout,
    roster: Roster | None,
) -> None:
    """Adds the files whose names can mean several students.

    Canvas takes the first of them. A student whose own name ends in a number could pretend to be
    another one by this, so an id that has files under another name is no candidate.
    """
    owners: dict[str, set[str]] = defaultdict(set)
    for key, group in groups.items():
        owners[group.named.number].add(key)
    for item, can_be in unclear:
        left = [each for each in can_be if not owners[each.number] - {each.key}]
        if roster is not None:
            left = [each for each in left if each.number in roster.ids(layout)] or left
        chosen = (left or can_be)[0]
        others = sorted({each.number for each in left[1:]} - {chosen.number})
        group = _add(groups, item, chosen, layout)
        if others and chosen.key not in owners[chosen.number]:
            also = " or ".join(others)
            group.doubts.append(f"{shown(item.parts)} can also be a file of {also}")


def _identify(
    groups: Collection[Group],
    layout: Layout,
    roster: Roster | None,
    taken: Mapping[str, str],
    lab: str,
    result: Sorted,
) -> None:
    """Gives each group the id of its student; refuses ids that are alike, and a second id."""
    alike: dict[str, list[tuple[str, Group]]] = defaultdict(list)
    earlier = _Earlier(taken, groups, layout)
    sure = roster is not None and roster.has_the_numbers_of((g.named for g in groups), layout)
    for group in groups:
        try:
            student, doubt = _id(group, layout, roster, sure)
            result.seen |= {student, *(each.student for each in group.members)}
            group.student = "" if roster is None else student
            student = earlier.student_of(group, student, lab)
        except NotTaken as error:
            result.not_collected.append(NotCollected(group.shown, str(error)))
            continue
        result.seen.add(student)
        group.doubts += filter(None, [doubt])
        group.student = "" if roster is None else student
        if group.given:
            alike[same_name((student,))].append((student, group))
        else:
            why = f"it has no file, only what {layout.name} itself has written"
            result.not_collected.append(NotCollected(group.shown, why))
    in_course = defaultdict(set)
    for student in taken:
        in_course[same_name((student,))].add(student)
    for same, found in alike.items():
        student, group = found[0]
        others = sorted(in_course[same] - {student})
        if len(found) > 1:
            for student, group in found:
                names = ", ".join(sorted(each.label for _, each in found if each is not group))
                why = f"its student id {printable(student)} is also that of {names}"
                result.not_collected.append(NotCollected(group.shown, why))
        elif others and student not in in_course[same]:
            why = f"its student id is like that of {printable(others[0])}, who is in the course"
            result.not_collected.append(NotCollected(group.shown, why))
        else:
            result.students[student] = group


def number_in(label: str) -> str:
    """The number of a participant in the name under which Moodle's files were collected."""
    number = label.rpartition("_")[2]
    return number if number.isdigit() else ""


class _Earlier:
    """What earlier collects of this lab know of the students in a source.

    In Moodle the number stays when blind marking ends or somebody changes the name.
    """

    def __init__(self, taken: Mapping[str, str], groups: Collection[Group], layout: Layout) -> None:
        self._taken, self._moodle = taken, layout is MOODLE
        labels = {label: student for student, label in taken.items() if label}
        self._student = {self._key(label): each for label, each in labels.items()}
        self._label = {self._key(label): label for label in labels}
        ids = [moodle_id(_stem(each, label), "") for label, each in labels.items()]
        self._blind = {"participant", ""} | _same_for_all(ids)
        self._blind |= _same_for_all(moodle_id(group.named.name, "") for group in groups)
        both = [(group.named.name, self._name(group)) for group in groups]
        self._sure = mostly_agree(
            pair for pair in both if moodle_id(pair[1], "") not in self._blind
        )

    def _key(self, label: str) -> str:
        return (number_in(label) if self._moodle else "") or label

    def _name(self, group: Group) -> str:
        return _name_in(self._label.get(self._key(group.label), ""))

    def student_of(self, group: Group, student: str, lab: str) -> str:
        """The id that this student has in the course. Raises NotTaken if it may be another one's.

        Nobody is collected under two ids: each would have a grade.
        """
        first = self._student.get(self._key(group.label))
        if first is None or (student != first and student in self._taken):
            return student
        name, label = self._name(group), self._label[self._key(group.label)]
        ids = {moodle_id(_stem(first, label), ""), moodle_id(group.named.name, "")}
        blind = self._moodle and bool(ids & self._blind)
        if label != group.label:
            group.before = name
        if student != first and not blind:
            if label == group.label:
                raise NotTaken(_again(first, lab))
            if not self._sure:
                raise NotTaken(
                    f"{printable(name)} had this number before. If this is the same person, use a "
                    f"roster with the columns student and id, and in it {printable(first)} and "
                    f"{group.named.number}; otherwise this is the download of another assignment"
                )
        if label != group.label and not blind:
            as_who = "" if student == first else f", and stays {printable(first)}"
            group.doubts.append(f"it was collected as {printable(name)} before{as_who}")
        return first


def _stem(student: str, label: str) -> str:
    """The id of a student of Moodle without the number in it."""
    return student.removesuffix(number_in(label) or "-")


def _name_in(label: str) -> str:
    return label.removesuffix(f"_{number_in(label)}").strip()


def _same_for_all(names: Iterable[str]) -> set[str]:
    """The name that all have, as where marking is blind."""
    found = list(names)
    return set(found) if len(found) > 1 and len(set(found)) == 1 else set()


def _again(first: str, lab: str) -> str:
    """Why a student is not collected under a second id."""
    return (
        f"it was collected as {printable(first)} before. To collect it with other ids, first "
        f"remove {printable(f'submitted/{first}/{lab}')}; otherwise use the roster of that collect"
    )


def _id(group: Group, layout: Layout, roster: Roster | None, sure: bool) -> tuple[str, str]:
    """The student's id in the course, and what a person should look at. Raises NotTaken."""
    named, doubt = group.named, ""
    if roster is None:
        student = layout.id_of(named)
    else:
        student, doubt = roster.student_of(named, layout, sure)
        group.members = tuple(
            Member(each.student, each.called, each.email) for each in roster.team(named)
        ) or tuple(_known(each, layout, roster) for each in named.members)
    trouble = trouble_with_name(student)
    if trouble:
        raise NotTaken(trouble)
    return student, doubt


def _known(member: Member, layout: Layout, roster: Roster) -> Member:
    """The member with the id that the roster gives, if it has one."""
    logins = (member.student, member.number)
    named = Named("", member.student, (), member.name, logins=logins)
    with contextlib.suppress(NotTaken):
        return replace(member, student=roster.student_of(named, layout)[0])
    return member


# What the list of students says of those who handed in, entered into the gradebook.
#
# The formgrader shows the id of a student without a name, and Gradescope finds students by their
# e-mail addresses.


def enter_students(course: Any, students: Iterable[Student]) -> None:
    """Enters names, e-mail addresses and Canvas's ids. What the gradebook has already stays.

    Raises NotTaken if the gradebook cannot be written.
    """
    known = [each for each in students if any(_entries(each).values())]
    if not known:
        return
    with (
        locked_gradebook.causes_as(NotTaken),
        Gradebook(course.db_url, course.course_id) as gradebook,
    ):
        for each in known:
            try:
                person = gradebook.find_student(each.student)
            except MissingEntry:
                person = gradebook.add_student(each.student)
            for name, value in _entries(each).items():
                if value and not getattr(person, name):
                    setattr(person, name, value)
        gradebook.db.commit()


def _entries(student: Student) -> dict[str, str]:
    """What is known of a student, by the names that nbgrader's gradebook has for it."""
    first, last = student.names
    return {
        "first_name": first,
        "last_name": last,
        "email": student.email,
        "lms_user_id": student.lms_id,
    }


# A pseudonym for each student: random, and the same in every report of the course.
#
# The file `pseudonyms.csv` in the course folder says which pseudonym is whose. Only its owner may
# read it, and nothing else of ours holds both names.

PSEUDONYMS = "pseudonyms.csv"
_COLUMNS = ["pseudonym", "student"]
_MOST_PSEUDONYM_BYTES = 16_000_000
#: Letters and digits that nobody takes for others, and how many of them a pseudonym has.
_LETTERS, _LETTERS_OF_ONE = "bcdfghjkmnpqrstvwxz23456789", 5


class BadPseudonyms(ValueError):
    """The file of the pseudonyms cannot be used; the message says why and what to do."""


def pseudonyms_of(course: Path, students: Iterable[str]) -> dict[str, str]:
    """The pseudonym of each of the `students`; new ones are added to the file of the course.

    Raises BadPseudonyms, and files.CannotWrite.
    """
    with _alone(course):
        known = _read_pseudonyms(course / PSEUDONYMS)
        missing = [student for student in dict.fromkeys(students) if student not in known]
        if missing:
            taken = set(known.values())
            for student in missing:
                known[student] = _new_pseudonym(taken)
                taken.add(known[student])
            _write_pseudonyms(course / PSEUDONYMS, known)
    return known


def _new_pseudonym(taken: set[str]) -> str:
    while True:
        word = "".join(secrets.choice(_LETTERS) for _ in range(_LETTERS_OF_ONE))
        if word not in taken and not word.isdigit():  # a spreadsheet would take it for a number
            return word


def _read_pseudonyms(path: Path) -> dict[str, str]:
    """Pseudonyms by student; empty if there is no file yet."""
    try:
        content = read_bounded(path, _MOST_PSEUDONYM_BYTES)
    except OSError as error:
        if error.errno == errno.ENOENT:
            return {}
        raise BadPseudonyms(f"{error.strerror}; the pseudonyms of the course are in it") from error
    try:
        rows = list(csv.reader(io.StringIO(content.decode("utf-8"), newline="")))
    except (UnicodeDecodeError, csv.Error) as error:
        raise BadPseudonyms(_unusable(path, str(error))) from error
    if not rows or rows[0] != _COLUMNS or any(len(row) != 2 or not all(row) for row in rows[1:]):
        raise BadPseudonyms(_unusable(path, f"it must have the columns {' and '.join(_COLUMNS)}"))
    known = {student: word for word, student in rows[1:]}
    if len(known) != len(rows) - 1 or len(set(known.values())) != len(known):
        raise BadPseudonyms(_unusable(path, "a student or a pseudonym is there twice"))
    return known


def _unusable(path: Path, why: str) -> str:
    return (
        f"{path} cannot be read: {why}. Restore it from a copy, or move it away: then everybody "
        "gets a new pseudonym"
    )


def _write_pseudonyms(path: Path, known: dict[str, str]) -> None:
    """Writes the file in the order of the pseudonyms, which says nothing about who came when."""
    text = io.StringIO(newline="")
    rows = sorted((word, student) for student, word in known.items())
    csv.writer(text, lineterminator="\n").writerows([_COLUMNS, *rows])
    write_atomically(path, text.getvalue().encode("utf-8"), private=True)


@contextlib.contextmanager
def _alone(course: Path) -> Iterator[None]:
    """Two reports at once would each add pseudonyms, and one file would lose them."""
    folder = os.open(course, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)
