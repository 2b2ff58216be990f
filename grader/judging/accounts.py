"""Whose account made a recording, compared within a class: so a copy shows in a changed file too.

A recording states hashes (:mod:`labs.recording.account`). Nobody loses points, and an honest class
has no flag, whether its students use their own accounts, one account for all, or several machines.
"""

from __future__ import annotations

import datetime
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from labs.course.account import Course
from labs.recording.account import NONE, Account, name_hash, parse

#: Students who measured under one account are few where one had a recording from the other: labs
#: are done alone, in pairs, or by three. What more students name is the account of a room or of a
#: disk image. A copy that goes round a larger group is still found by its samples. Of a class of up
#: to six, half: what most of a class names is the account of the class.
MOST_OF_ONE_ACCOUNT = 3

#: Accounts of rooms, containers and disk images. Even two students of one such account, on one
#: machine, need not know each other.
GENERIC = [
    "admin",
    "administrator",
    "codespace",
    "coder",
    "debian",
    "default",
    "docker",
    "ec2-user",
    "fedora",
    "gitpod",
    "guest",
    "jovyan",
    "jupyter",
    "kali",
    "lab",
    "linux",
    "mac",
    "main",
    "mint",
    "nobody",
    "opc",
    "os",
    "osboxes",
    "pi",
    "rocky",
    "root",
    "rstudio",
    "runner",
    "student",
    "students",
    "test",
    "ubuntu",
    "user",
    "vagrant",
    "virtualbox",
    "vm",
    "vscode",
    "wsl",
]

OF_ANOTHER = "the recording names the account of another student of this course"
SHARED = "another student's submission in this course names the account that made this recording"
MISSING = "the recording does not state account, which every run of this version of the kit states"
MALFORMED = "the recording states an account in a form that the kit does not write"


@dataclass(frozen=True)
class Stated:
    """What the head of a recording states; None for a condition that it does not have."""

    account: str | None
    created: str | None = None
    ticklab: str | None = None


#: What the recordings of a class state: by student, by the path of the recording.
OfClass = Mapping[str, Mapping[str, Stated]]


@dataclass(frozen=True)
class AccountFlag:
    """A flag, whose words name nobody, and the students whom an instructor should ask as well."""

    words: str
    students: tuple[str, ...] = ()


@dataclass(frozen=True)
class AccountFlags:
    """The flags, by student and by the path of the recording.

    `shared` has the numbers of students of those names of accounts that are no sign of a copy,
    because too many students name them.
    """

    of: Mapping[str, Mapping[str, tuple[AccountFlag, ...]]] = field(default_factory=dict)
    shared: tuple[int, ...] = ()


def flags_of_class(course: Course, stated: OfClass, ids: Iterable[str]) -> AccountFlags:
    """The flags of every recording of one lab; `ids` are those of all students of the course."""
    known = _Class(course, stated, ids)
    flags = {
        student: {
            path: tuple(flags)
            for path, one in recordings.items()
            if (flags := [*_not_stated(course, one), *known.flags(student, one)])
        }
        for student, recordings in stated.items()
    }
    return AccountFlags({student: each for student, each in flags.items() if each}, known.shared)


def _not_stated(course: Course, one: Stated) -> Iterator[AccountFlag]:
    """A flag if somebody took the account out, or wrote something else.

    A recording from before the course had an id, or by an earlier version of the kit, has none.
    """
    if one.account is None:
        if _must_state_it(one, course):
            yield AccountFlag(MISSING)
    elif parse(one.account) is None and not one.account.startswith(NONE):
        yield AccountFlag(MALFORMED)


def _must_state_it(one: Stated, course: Course) -> bool:
    """Whether a recording was made when the course had an id, and by a kit that knows of ids."""
    try:
        created, since = map(datetime.datetime.fromisoformat, (one.created or "", course.since))
        return created >= since and _version(one.ticklab or "") >= _version(course.ticklab)
    except (ValueError, TypeError):  # no time, or one of them without a zone
        return False


def _version(text: str) -> tuple[int, ...]:
    """The numbers of a version; a text without numbers is no earlier version."""
    return tuple(map(int, re.findall(r"\d{1,9}", text))) or (10**9,)


class _Class:
    """Who names which account."""

    def __init__(self, course: Course, stated: OfClass, ids: Iterable[str]) -> None:
        accounts = {
            student: {account for one in each.values() if (account := parse(one.account or ""))}
            for student, each in stated.items()
        }
        self._own = {student: name_hash(course.course, student) for student in {*ids, *stated}}
        self._owner = {name: student for student, name in sorted(self._own.items())}
        self._generic = {name_hash(course.course, name) for name in GENERIC}
        self._students: dict[Account, set[str]] = defaultdict(set)
        for student, each in accounts.items():
            for account in each:
                self._students[account].add(student)
        counts = Counter(name for each in accounts.values() for name in {a.name for a in each})
        half = sum(map(bool, accounts.values())) / 2
        most = min(MOST_OF_ONE_ACCOUNT, half)
        self._many = {name for name, count in counts.items() if count > most}
        self._logins = {
            on_hub for on_hub in (True, False) if self._ids_are_logins(accounts, on_hub)
        }
        # Only what would else be flagged: "me" on everybody's own machine is nothing to tell.
        several = [a for a, each in self._students.items() if len(each) > 1 and a.place]
        told = {a.name for a in several if a.name in self._many and self._owner_of(a) is None}
        self.shared = tuple(sorted((counts[name] for name in told), reverse=True))

    def _ids_are_logins(self, accounts: Mapping[str, set[Account]], on_hub: bool) -> bool:
        """Whether the students' ids are the names of their accounts, on a hub or elsewhere.

        They are if at least half of the students name an account that is called as they are.
        Elsewhere a laptop's account may by chance be called as somebody else in the course is.
        """
        nobodys = self._generic | (self._many - self._owner.keys())
        names = {
            student: {a.name for a in each if a.on_hub == on_hub} - nobodys
            for student, each in accounts.items()
        }
        naming = [student for student, each in names.items() if each]
        own = [student for student in naming if self._own[student] in names[student]]
        return bool(own) and 2 * len(own) >= len(naming)

    def _owner_of(self, account: Account) -> str | None:
        """The student whose account it is, if ids decide this.

        Elsewhere than on a hub, it must be the account of a recording that this student handed in:
        a laptop's account may be called like somebody else's id.
        """
        owner = self._owner.get(account.name)
        if owner is None or account.on_hub not in self._logins:
            return None
        return owner if account.on_hub or owner in self._students[account] else None

    def flags(self, student: str, one: Stated) -> Iterator[AccountFlag]:
        """The flag of a recording of `student` that names somebody else's account, if it does."""
        account = parse(one.account or "")
        if account is None or account.name in self._generic:
            return
        owner = self._owner_of(account)
        if owner is not None:
            if account.name != self._own[student]:
                yield AccountFlag(OF_ANOTHER, (owner,))
        # Without its place, an account of another machine may have the same name.
        elif account.place and account.name not in self._many:
            others = tuple(sorted(self._students[account] - {student}))
            if others:
                yield AccountFlag(SHARED, others)
