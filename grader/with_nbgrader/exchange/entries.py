"""The submissions in nbgrader's exchange, and which one of a student's counts.

Everybody may write to the exchange under any name. So the name of a folder proves nothing. What the
OS knows is the owner of a folder, and when it was last changed. Where one student has folders of
several owners, or one that `nbgrader submit` did not make, the earlier one counts and a person must
look.
"""

from __future__ import annotations

import datetime
import os
import pwd
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from grader.submissions.folders import opened
from grader.submissions.names import trouble_with_name
from grader.submissions.safe_copy import read_regular
from grader.with_nbgrader.careful_course import read_time, time_of
from labs.common.limits import MOST_SECRET_BYTES

#: Clocks differ, and a date in the name may be rounded.
_LATER_THAN_NOW = datetime.timedelta(days=1)
_SAME_TIME = datetime.timedelta(seconds=2)


@dataclass(frozen=True)
class Entry:
    """One submission: its folder's name, its time as the name says, and what the OS says.

    `owner` is None if it is not known; `changed` is in nanoseconds. `doubts` say what is unlike a
    folder that `nbgrader submit` makes.
    """

    name: str
    student: str
    when: datetime.datetime
    owner: int | None
    changed: int
    doubts: tuple[str, ...] = ()

    def of_nobody(self) -> Entry:
        """The same with an owner that is not known, where owners say nothing."""
        return replace(self, owner=None)

    def as_json(self) -> dict[str, Any]:
        """For the record in the collected folder."""
        return {
            "entry": self.name,
            "when": self.when.isoformat(),
            "owner": self.owner,
            "changed": self.changed,
            "doubts": list(self.doubts),
        }

    @classmethod
    def from_json(cls, record: Any, student: str) -> Entry:
        """Raises an error of many kinds if `record` is not one of ours."""
        when = datetime.datetime.fromisoformat(record["when"])
        doubts = tuple(str(each) for each in record["doubts"])
        owner, changed = record["owner"], int(record["changed"])
        return cls(str(record["entry"]), student, when, owner and int(owner), changed, doubts)


def now() -> datetime.datetime:
    """The time in UTC, without a zone, as nbgrader keeps times."""
    return datetime.datetime.now(datetime.timezone.utc).replace(tzinfo=None)


@dataclass(frozen=True)
class Refused:
    """A folder of the exchange that is not collected, and why."""

    name: str
    why: str


def read_entries(
    inbound: Path, assignment: str, pattern: str, now: datetime.datetime
) -> tuple[list[Entry], list[Refused]]:
    """The submissions of `assignment` by students that match the glob `pattern`, and the others.

    Only folders whose name begins as nbgrader's do are listed. `now` is the time in UTC.
    """
    good: list[Entry] = []
    bad: list[Refused] = []
    for name in sorted(path.name for path in inbound.iterdir()):
        student, mark, rest = name.rpartition(f"+{assignment}+")
        # As in nbgrader, a star is not for hidden folders.
        if not mark or name.startswith(".") or not fnmatchcase(student, pattern):
            continue
        try:
            good.append(read_entry(inbound / name, student, rest.split("+")[0], now))
        except ValueError as error:
            bad.append(Refused(name, str(error)))
        except OSError as error:
            bad.append(Refused(name, error.strerror or str(error)))
    return good, bad


def read_entry(folder: Path, student: str, time: str, now: datetime.datetime) -> Entry:
    """The submission in `folder`, whose name states `student` and `time`; `now` is in UTC.

    Raises ValueError or OSError if this cannot be a submission.
    """
    trouble = trouble_with_name(student)
    if trouble:
        raise ValueError(trouble)
    when = time_of(time)
    with opened(folder) as descriptor:
        status = os.fstat(descriptor)
        doubts = tuple(_doubts(descriptor, when, now))
    return Entry(folder.name, student, when, status.st_uid, status.st_ctime_ns, doubts)


def _doubts(folder: int, when: datetime.datetime, now: datetime.datetime) -> Iterator[str]:
    """What is unlike a folder that `nbgrader submit` makes; `folder` is open."""
    if when > now + _LATER_THAN_NOW:
        yield "its time lies in the future"
    try:
        stated = read_time(folder)
    except ValueError as error:
        yield f"its timestamp.txt is no time ({error})"
    else:
        if stated is None:
            yield "it has no timestamp.txt, which nbgrader submit writes"
        elif abs(stated - when) > _SAME_TIME:
            yield "its timestamp.txt states another time than its name"
    try:
        secret = read_regular("submission_secret.txt", MOST_SECRET_BYTES, folder)
    except OSError:
        secret = b""
    if not secret.strip():
        yield "it has no submission_secret.txt, which nbgrader submit writes"
    if not any(name.endswith(".ipynb") or name == "figures.json" for name in os.listdir(folder)):
        yield "it holds neither a notebook nor figures.json"


@dataclass(frozen=True)
class Choice:
    """The submission that counts, and those that a person must look at, each with a reason."""

    entry: Entry
    passed_over: tuple[Refused, ...]


def choose(
    entries: Sequence[Entry], owner: int | None, duedate: datetime.datetime | None = None
) -> Choice:
    """Which of one student's `entries` counts, as nbgrader chooses among those that we believe.

    `owner` is the uid that the student is known to have. If it is None or owns none of them, we
    believe the owner of the folder that was changed first. nbgrader takes the newest, or with
    `duedate` the newest that was handed in before it, if there is one.
    """
    known = [each for each in entries if each.owner is not None]
    if known and owner not in {each.owner for each in known}:
        owner = min(known, key=lambda each: each.changed).owner
    own = [each for each in entries if each.owner in {owner, None}]
    trusted = [each for each in own if not each.doubts] or own
    in_time = [each for each in trusted if duedate is None or each.when <= duedate]
    chosen = max(in_time or trusted, key=lambda each: each.when)
    passed_over = []
    for each in entries:
        if each not in own:
            reason = f"it belongs to {whose(each.owner)}, and {each.student} is {whose(owner)}"
            passed_over.append(Refused(each.name, reason))
        elif each not in trusted and each.when > chosen.when:
            passed_over.append(Refused(each.name, "; ".join(each.doubts)))
    return Choice(chosen, tuple(passed_over))


def whose(owner: int | None) -> str:
    """An owner as text, with the login if this machine has one."""
    if owner is None:
        return "an unknown owner"
    try:
        return f"{pwd.getpwuid(owner).pw_name} (uid {owner})"
    except KeyError:
        return f"uid {owner}"
