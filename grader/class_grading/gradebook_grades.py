"""The grades of one lab from nbgrader's gradebook, their reasons, and tables to exchange them.

The gradebook is read in a few queries: nbgrader's own export asks it again for every student.
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from nbgrader import api
from nbgrader.api import Gradebook, MissingEntry
from sqlalchemy.exc import SQLAlchemyError

from grader.class_grading.class_roster import first_and_last, mostly_agree, names_agree, number_in
from grader.class_grading.upload_names import CANVAS, Member, moodle_id
from grader.submissions.safe_files import opened, read_regular, some
from grader.with_nbgrader.feedback import grades_of
from grader.with_nbgrader.locked_gradebook import cause_of, missing_gradebook
from grader.with_nbgrader.nbgrader_exchange import Collected
from grader.with_nbgrader.student_folders import trouble_with, trusted_part
from labs.limits import MOST_JUDGEMENT_BYTES

#: More characters of one comment, or of one reason, are left out.
MOST_CHARACTERS = 2_000


class NoGrades(Exception):
    """There is nothing to export; the message says why and what to do."""


@dataclass(frozen=True)
class Part:
    """The grade of one cell. While it `waits` for a person, its score is not final.

    `comment` is what a person wrote to the answer in this cell, or nbgrader if there is none.
    """

    name: str
    score: float
    most: float
    waits: bool = False
    comment: str = ""


@dataclass(frozen=True)
class Graded:
    """What one student has of the lab: one part for each graded cell, sorted by name.

    A student who has not handed in has neither `when` nor `parts`. `number` is the student's in
    `system`, from which the work was collected under the name `called`. `members` are those of a
    team, and `team` is the id under which the work of one of them is filed.
    """

    student: str
    first_name: str = ""
    last_name: str = ""
    email: str = ""
    lms_id: str = ""
    when: datetime.datetime | None = None
    penalty: float = 0.0
    parts: tuple[Part, ...] = ()
    handed_in: bool = False
    system: str = ""
    number: str = ""
    called: str = ""
    members: tuple[Member, ...] = ()
    team: str = ""

    @property
    def work(self) -> str:
        """The id under which the work is filed."""
        return self.team or self.student

    @property
    def name(self) -> str:
        """The name as far as it is known."""
        return f"{self.first_name} {self.last_name}".strip() or self.called

    @property
    def raw(self) -> float:
        """The points so far, without the penalty for a late submission."""
        return sum(part.score for part in self.parts)

    @property
    def score(self) -> float:
        """The points so far, with the penalty."""
        return max(0.0, self.raw - self.penalty)

    @property
    def waits(self) -> bool:
        """Whether a part of it has no grade yet."""
        return any(part.waits for part in self.parts)


@dataclass(frozen=True)
class Sheet:
    """All students of a course, with what each of them has of `lab`; `most` is its full points.

    If it is `unfinished`, grades that wait for a person are exported too.
    """

    lab: str
    most: float
    due: datetime.datetime | None
    students: tuple[Graded, ...]
    notes: tuple[str, ...] = ()
    unfinished: bool = False

    @property
    def exported(self) -> dict[str, Graded]:
        """Whose grades go to another system, by id."""
        return self.so_far if self.unfinished else self.final

    @cached_property
    def final(self) -> dict[str, Graded]:
        """Who has a grade that no person must still complete, by id."""
        return {g.student: g for g in self.students if g.handed_in and not g.waits}

    @cached_property
    def so_far(self) -> dict[str, Graded]:
        """Who has handed in, by id; some of the grades may not be complete."""
        return {g.student: g for g in self.students if g.handed_in}


def read_sheet(course: Any, lab: str) -> Sheet:
    """The grades of `lab` in the gradebook of `course`. Raises NoGrades.

    `course` is nbgrader's CourseDirectory.
    """
    if missing := missing_gradebook(course):
        raise NoGrades(f"the course has no gradebook yet ({missing}); grade the lab first")
    try:
        with Gradebook(course.db_url, course.course_id) as gradebook:
            return _sheet(gradebook, lab)
    except MissingEntry as error:
        raise NoGrades(f"the gradebook has no lab {lab}; grade the lab first") from error
    except (SQLAlchemyError, OSError) as error:
        raise NoGrades(cause_of(error) or f"the gradebook cannot be read: {error}") from error


def _sheet(gradebook: Gradebook, lab: str) -> Sheet:
    assignment, of, who = gradebook.find_assignment(lab), api.SubmittedAssignment, api.Student
    submitted = gradebook.db.query(of.student_id, of.timestamp)
    submitted = submitted.filter(of.assignment_id == assignment.id)
    handed_in = dict(submitted)
    parts: dict[str, list[Part]] = {}
    penalties: dict[str, float] = {}
    for notebook in assignment.notebooks:
        for student, grades in grades_of(gradebook, lab, notebook.name).items():
            penalties[student] = penalties.get(student, 0.0) + grades.late_penalty
            parts.setdefault(student, []).extend(
                Part(name, given.score, given.most, given.open, _cut(grades.comments.get(name)))
                for name, given in grades.cells.items()
            )
    rows = gradebook.db.query(who.id, who.first_name, who.last_name, who.email, who.lms_user_id)
    rows = rows.order_by(who.last_name, who.first_name, who.id)
    students = [
        Graded(
            student=student,
            first_name=first or "",
            last_name=last or "",
            email=email or "",
            lms_id=lms_id or "",
            when=handed_in.get(student),
            penalty=penalties.get(student, 0.0),
            parts=tuple(sorted(parts.get(student, ()), key=lambda part: part.name)),
            handed_in=student in handed_in,
        )
        for student, first, last, email, lms_id in rows
    ]
    return Sheet(lab, float(assignment.max_score), assignment.duedate, tuple(students))


def _cut(text: str | None) -> str:
    return (text or "").strip()[:MOST_CHARACTERS]


def due_in_words(due: datetime.datetime) -> str:
    """A due date, which a gradebook has in UTC, with its zone, and in the zone of this machine."""
    there = due.replace(tzinfo=datetime.timezone.utc)
    here = there.astimezone()
    words = f"{there:%Y-%m-%d %H:%M} UTC"
    return words if not here.utcoffset() else f"{words} ({here:%Y-%m-%d %H:%M %Z})"


# Why each figure has its points, as the autograded notebooks say it.


def reasons_of(course: Any, lab: str, student: str) -> dict[str, str]:
    """The reason for each figure of one student, by figure; empty if none can be read.

    The notebook is one that our grading wrote. Its folder is opened without following a link, and
    a reason is text and no more, since it may quote what the student wrote.
    """
    step = course.autograded_directory
    if trouble_with(course, step, lab, student) is not None:
        return {}
    folder = Path(course.format_path(step, student, lab))
    try:
        with opened(folder, trusted_part(course, step)) as top:
            notebook = json.loads(read_regular(f"{lab}.ipynb", MOST_JUDGEMENT_BYTES, top))
        stated = [cell["metadata"].get("ticklab", {}) for cell in notebook["cells"]]
        return {
            str(each["figure"]): str(each["reason"])[:MOST_CHARACTERS]
            for each in stated
            if "figure" in each and "reason" in each
        }
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}


# Who handed in, as the source named them, and the members of teams.


def with_sources(course: Any, sheet: Sheet) -> Sheet:
    """The sheet with what `grader collect` knows, and one row for each member of a team."""
    collected = Collected(course, sheet.lab)
    found = {graded.student: graded for graded in sheet.students}
    teams, alone = [], []
    for graded in sheet.so_far.values():
        record = collected.record(graded.student)
        system, _, called = str(record.get("who") or "").partition(" ")
        label = str(record.get("entry") or "").partition("/")[0]
        number = called if system == CANVAS.name else number_in(label)
        called = "" if system == CANVAS.name else called
        known = replace(graded, system=system, number=number, called=called)
        found[graded.student] = known
        members = record.get("members")
        if isinstance(members, list) and members:
            stated = [[str(each.get(key, "")) for key in _OF_A_MEMBER] for each in members]
            known = replace(known, members=tuple(Member(*each) for each in stated))
            del found[graded.student]
            teams.append(known)
    for team in teams:
        for member in team.members:
            mine = found.get(member.student) or _member(member)
            if mine.handed_in:
                alone.append(f"{member.student} ({team.student})")
            else:
                found[member.student] = replace(
                    mine, when=team.when, penalty=team.penalty, parts=team.parts, handed_in=True,
                    team=team.student,
                )  # fmt: skip
    notes = (f"These have work of their own, and not their team's grade: {some(alone)}.",)
    return replace(sheet, students=tuple(found.values()), notes=notes if alone else ())


#: What a record says of a member of a team.
_OF_A_MEMBER = ("student", "name", "email")


def _member(member: Member) -> Graded:
    return Graded(member.student, *first_and_last(member.name), member.email)


# Which student of the gradebook a row of another system's table is.


@dataclass(frozen=True)
class Row:
    """What a row of another system's table says of a student: logins and addresses, its own number.

    `team` is the name of the student's team.
    """

    logins: tuple[str, ...]
    number: str = ""
    name: str = ""
    team: str = ""


@dataclass(frozen=True)
class Matched:
    """The students by the number of their row; who has no row; and rows that fit several.

    `renamed` have another name in their row and get its grade, `misnamed` get none.
    """

    of_row: Mapping[int, Graded]
    without_row: tuple[str, ...]
    doubtful: tuple[str, ...]
    misnamed: tuple[str, ...] = ()
    renamed: tuple[str, ...] = ()

    def notes(self, system: str) -> list[str]:
        """Notes on the students who get nothing, or whom a person should look at."""
        misnamed = (
            f"Left out, because {system}'s file has another name at their number: "
            f"{some(self.misnamed)}. Is it the file of this assignment?"
        )
        renamed = f"Please look at these; {system} has another name: {some(self.renamed)}."
        return noted(
            (self.doubtful, f"In doubt, because they fit several rows: {some(self.doubtful)}."),
            (self.misnamed, misnamed),
            (self.renamed, renamed),
        )


def noted(*notes: tuple[Sequence[str], str]) -> list[str]:
    """The notes that are about somebody; each comes with the students whom it is about."""
    return [note for students, note in notes if students]


def match(rows: Iterable[Row], students: Mapping[str, Graded], system: str) -> Matched:
    """Finds the student of each row by logins, e-mail addresses and the number in `system`.

    A number is only looked for among those of the same system: it means another student in another
    one. Two people may have the same name, so a name finds nobody. It can speak against a number:
    then the row is doubtful, unless most other names agree and the number is of this system. Letter
    case and blanks do not count. A row that fits two students, or a student who fits two rows that
    are not of one team, is doubtful, and gets no grade.
    """
    by_login: dict[str, set[str]] = {}
    by_number: dict[str, set[str]] = {}
    by_team: dict[str, set[str]] = {}
    for student, graded in students.items():
        own = graded.number if graded.system == system else ""
        for login in (student, graded.email):
            if login.strip() and login != graded.number:
                by_login.setdefault(_plain(login), set()).add(student)
        for number in {own, graded.lms_id if system == CANVAS.name else ""} - {""}:
            by_number.setdefault(number, set()).add(student)
        if not graded.team:
            by_team.setdefault(student.removesuffix(f"-{own}"), set()).add(student)
    found: dict[int, set[str]] = {}
    renamed: dict[int, set[str]] = {}
    listed = list(rows)
    # A team has a number of its own.
    numbers = [() if row.team else by_number.get(row.number.strip(), ()) for row in listed]
    for at, row in enumerate(listed):
        logins = {_plain(login) for login in row.logins}
        fits = {one for login in logins for one in by_login.get(login, ())}
        other = {one for one in fits if _plain(one) in logins and one.isdigit()}
        other |= set(numbers[at]) - fits
        fits |= set(numbers[at])
        if not fits and row.team:
            fits = by_team.get(moodle_id(row.team, ""), set())
        if fits:
            found[at] = fits
            renamed[at] = {one for one in other if not _agree(students[one], row)}
    sure = system == CANVAS.name or mostly_agree(
        (row.name, students[one].name)
        for row, found_by in zip(listed, numbers, strict=True)
        for one in found_by
    )
    bad = {
        one for at, each in renamed.items() for one in each if not sure or one not in numbers[at]
    }
    times: dict[str, list[int]] = {}
    for at, fits in found.items():
        for student in fits:
            times.setdefault(student, []).append(at)
    of_row = {}
    for at, fits in found.items():
        one = next(iter(fits))
        teams = {listed[each].team for each in times[one]}
        once = len(times[one]) == 1 or (len(teams) == 1 and teams != {""})
        if len(fits) == 1 and once and one not in bad:
            of_row[at] = students[one]
    given = {graded.student for graded in of_row.values()}
    return Matched(
        of_row,
        tuple(sorted(set(students) - set(times))),
        tuple(sorted(set(times) - given - bad)),
        tuple(sorted(bad - given)),
        tuple(sorted({one for each in renamed.values() for one in each} & given)),
    )


def _agree(graded: Graded, row: Row) -> bool:
    return "participant" in {graded.name, row.name.casefold()} or names_agree(graded.name, row.name)


def _plain(key: str) -> str:
    return key.strip().lstrip("'").casefold()
