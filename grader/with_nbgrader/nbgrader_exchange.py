"""Reads nbgrader's exchange: which submission counts, collect, list, and release of feedback.

Everybody may write to the exchange under any name. So the name of a folder proves nothing. What the
OS knows is the owner of a folder, and when it was last changed. Where one student has folders of
several owners, or one that `nbgrader submit` did not make, the earlier one counts and a person must
look.
"""

from __future__ import annotations

import contextlib
import datetime
import fcntl
import functools
import json
import os
import pwd
import shutil
import tempfile
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from nbgrader.api import Gradebook, MissingEntry
from nbgrader.coursedir import CourseDirectory
from nbgrader.exchange import ExchangeError, ExchangeFactory
from nbgrader.exchange.default import ExchangeCollect, ExchangeList, ExchangeReleaseFeedback
from nbgrader.utils import notebook_hash

from grader.submissions.safe_files import (
    NO_ROOM,
    copy,
    open_regular,
    opened,
    printable,
    read_regular,
    trouble_with_name,
)
from grader.submissions.submitted_notebook import Holds, digest_of, holds_of, lacking
from grader.with_nbgrader import locked_gradebook
from grader.with_nbgrader.careful_course import read_time, time_of
from grader.with_nbgrader.feedback import grades_in
from grader.with_nbgrader.pages.feedback_page import is_outdated
from grader.with_nbgrader.student_folders import (
    RECORD,
    folders_in,
    line,
    parsed,
    record_in,
    released_notebooks,
    trusted_part,
)
from labs.limits import MOST_NOTEBOOK_BYTES, MOST_SECRET_BYTES
from labs.units import plural

#: Clocks differ, and a date in the name may be rounded.
LATER_THAN_NOW = datetime.timedelta(days=1)
SAME_TIME = datetime.timedelta(seconds=2)
_SECRET = "submission_secret.txt"


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
class NotCollected:
    """What is not collected: its name in the source, and one sentence."""

    name: str
    why: str


def read_entries(
    inbound: Path, assignment: str, pattern: str, now: datetime.datetime
) -> tuple[list[Entry], list[NotCollected]]:
    """The submissions of `assignment` by students that match the glob `pattern`, and the others.

    Only folders whose name begins as nbgrader's do are listed. `now` is the time in UTC.
    """
    good: list[Entry] = []
    bad: list[NotCollected] = []
    for name in sorted(path.name for path in inbound.iterdir()):
        student, mark, rest = name.rpartition(f"+{assignment}+")
        # As in nbgrader, a star is not for hidden folders.
        if not mark or name.startswith(".") or not fnmatchcase(student, pattern):
            continue
        try:
            good.append(read_entry(inbound / name, student, rest.split("+")[0], now))
        except (ValueError, OSError) as error:
            bad.append(NotCollected(name, getattr(error, "strerror", None) or str(error)))
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
    if when > now + LATER_THAN_NOW:
        yield "its time lies in the future"
    try:
        stated = read_time(folder)
    except ValueError as error:
        yield f"its timestamp.txt is no time ({error})"
    else:
        if stated is None:
            yield "it has no timestamp.txt, which nbgrader submit writes"
        elif abs(stated - when) > SAME_TIME:
            yield "its timestamp.txt states another time than its name"
    try:
        secret = read_regular(_SECRET, MOST_SECRET_BYTES, folder)
    except OSError:
        secret = b""
    if not secret.strip():
        yield "it has no submission_secret.txt, which nbgrader submit writes"
    if not any(name.endswith(".ipynb") or name == "figures.json" for name in os.listdir(folder)):
        yield "it holds neither a notebook nor figures.json"


@dataclass(frozen=True)
class Choice:
    """The submission that counts, and those that a person must look at, each with a reason.

    `older` could count as well and were handed in before it, the first one first.
    """

    entry: Entry
    passed_over: tuple[NotCollected, ...]
    older: tuple[Entry, ...] = ()


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
            passed_over.append(NotCollected(each.name, reason))
        elif each not in trusted and each.when > chosen.when:
            passed_over.append(NotCollected(each.name, "; ".join(each.doubts)))
    older = sorted((in_time or trusted), key=lambda each: each.when)
    return Choice(chosen, tuple(passed_over), tuple(e for e in older if e.when < chosen.when))


def whose(owner: int | None) -> str:
    """An owner as text, with the login if this machine has one."""
    if owner is None:
        return "an unknown owner"
    try:
        return f"{pwd.getpwuid(owner).pw_name} (uid {owner})"
    except KeyError:
        return f"uid {owner}"


# Puts collected submissions into the course: each one whole, and none over another.
#
# A submission is copied aside, its copies are read again, and a record of it is written; a rename
# is the last step. An earlier submission of the same student moves to a hidden folder, which
# nbgrader ignores.

COLLECTING, EARLIER = ".collecting", ".earlier"


class Collected:
    """The submissions of one lab in a course folder."""

    def __init__(self, course: Any, assignment: str) -> None:
        self._course, self._assignment = course, assignment
        root = trusted_part(course, course.submitted_directory)
        self._collecting, self._earlier = root / COLLECTING / assignment, root / EARLIER

    def folder(self, student: str) -> Path:
        """Where nbgrader looks for the submission of `student`."""
        step = self._course.submitted_directory
        return Path(self._course.format_path(step, student, self._assignment))

    def entry(self, student: str) -> Entry | None:
        """What was collected from `student`; None if nothing is there.

        If the folder was made by hand or by an earlier version, its owner is not known. If the
        folder is gone, an earlier version still says who its owner was.
        """
        folder = self.folder(student)
        if not folder.is_dir() or folder.is_symlink():
            return None
        when = self._course.get_existing_timestamp(str(folder)) or datetime.datetime.min
        return _read(folder, student) or Entry("", student, when, None, 0)

    def earlier_owner(self, student: str) -> int | None:
        """Who owned the version that was moved away last; None if there is none."""
        found = [_read(version, student) for version in self._versions(student)]
        owners = [each.owner for each in found if each is not None]
        return owners[-1] if owners else None

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """Keeps other collects of this lab out; first removes what an interrupted one left.

        Raises BlockingIOError if another one runs, and OSError.
        """
        self._collecting.mkdir(parents=True, exist_ok=True)
        handle = os.open(self._collecting, os.O_RDONLY)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            for left in self._collecting.iterdir():
                shutil.rmtree(left)
            try:
                yield
            finally:
                for folder in (self._collecting, self._collecting.parent):
                    with contextlib.suppress(OSError):
                        folder.rmdir()
        finally:
            os.close(handle)

    def put(
        self,
        student: str,
        record: dict[str, Any],
        source: Path,
        ignore: Sequence[str],
        *,
        as_earlier: bool = False,
    ) -> list[str]:
        """Copies the folder `source` into the place of `student`; returns what was left out.

        The record gets the hashes of all files. With `as_earlier`, what is there stays, and the
        copy becomes an earlier version. Raises OSError; then what was there before is unchanged.
        """
        folder, new = self.folder(student), self._collecting / student
        try:
            first = (f"{self._assignment}.ipynb",)
            taken = copy(source, new, [*ignore, RECORD], first=first)
            left_out = [*record.get("left_out", []), *taken.left_out]
            stated = {**record, "left_out": left_out, "sha256": taken.hashes}
            (new / RECORD).write_text(json.dumps(stated, indent=1), encoding="utf-8")
            _sync(new)
            folder.parent.mkdir(parents=True, exist_ok=True)
            if self._course.groupshared:
                _share(new)
            if as_earlier:
                new.rename(self._place_for_earlier(student))
            elif folder.is_dir():
                kept = self._place_for_earlier(student)
                folder.rename(kept)
                try:
                    new.rename(folder)
                except OSError:
                    kept.rename(folder)
                    raise
            else:
                new.rename(folder)
        except OSError:
            shutil.rmtree(new, ignore_errors=True)
            raise
        return taken.left_out

    def scratch(self) -> Path:
        """A new folder for what is unpacked, removed with what an interrupted collect left."""
        return Path(tempfile.mkdtemp(prefix=".", dir=self._collecting))

    def record(self, student: str) -> dict[str, Any]:
        """The record of what was collected from `student`; empty if there is none."""
        return parsed(record_in(self.folder(student)))

    def was_asked(self, student: str, holds: Holds) -> bool:
        """Whether a person was asked before about the notebooks that are not read, and left them.

        They came before, too, next to one that nobody has changed since. `holds` is of a new
        submission.
        """
        came = self.record(student).get("sha256")
        same = came.items() if isinstance(came, dict) else set()
        there = {each.name: digest_of(each) for each in self.folder(student).glob("*.ipynb")}
        has = holds["not_read"].items() <= same and there.items() <= same
        return bool(has and holds["not_read"] and there.keys() - holds["not_read"].keys())

    def mark(self, student: str, more: dict[str, Any]) -> None:
        """Changes some entries of the record of what was collected, alone. Raises OSError."""
        stated, new = {**self.record(student), **more}, self._collecting / student
        new.mkdir()
        (new / RECORD).write_text(json.dumps(stated, indent=1), encoding="utf-8")
        _sync(new)
        (new / RECORD).replace(self.folder(student) / RECORD)
        new.rmdir()

    def earlier_records(self, student: str) -> list[dict[str, Any]]:
        """The records of the versions that were moved away, in the order of their folders."""
        return [parsed(record_in(version)) for version in self._versions(student)]

    def put_back(self, student: str, record: dict[str, Any]) -> None:
        """Moves the last earlier version with this record back into its place. Raises OSError.

        What is there becomes an earlier version.
        """
        same = [each for each in self._versions(student) if parsed(record_in(each)) == record]
        folder = self.folder(student)
        folder.parent.mkdir(parents=True, exist_ok=True)
        if folder.is_dir():
            folder.rename(self._place_for_earlier(student))
        same[-1].rename(folder)

    def _versions(self, student: str) -> list[Path]:
        """The folders of the versions that were moved away, the last one last."""
        return sorted((self._earlier / student / self._assignment).glob("*"))

    def _place_for_earlier(self, student: str) -> Path:
        """A new path for an earlier version, named by its order, so that the last is last."""
        versions = self._earlier / student / self._assignment
        versions.mkdir(parents=True, exist_ok=True)
        numbers = [int(path.name) for path in versions.iterdir() if path.name.isdecimal()]
        return versions / f"{max(numbers, default=0) + 1:04d}"


def _read(folder: Path, student: str) -> Entry | None:
    """The entry in the record of `folder`; None if there is no record or it is not one of ours."""
    try:
        return Entry.from_json(parsed(record_in(folder)), student)
    except (ValueError, KeyError, TypeError):
        return None


def _sync(folder: Path) -> None:
    """Writes the files under `folder` to the disk: a rename must not come before them."""
    for path in [*folder.rglob("*"), folder]:
        handle = os.open(path, os.O_RDONLY)
        try:
            # Some file systems sync no folders, and need not.
            with contextlib.suppress(OSError) if path.is_dir() else contextlib.nullcontext():
                os.fsync(handle)
        finally:
            os.close(handle)


def _share(folder: Path) -> None:
    """Permissions for other instructors, as nbgrader gives them with `groupshared`."""
    for path in [folder, *folder.rglob("*")]:
        more = 0o2770 if path.is_dir() else 0o660
        with contextlib.suppress(PermissionError):
            path.chmod(path.stat().st_mode & 0o2777 | more)


# Collect. nbgrader's own collecting follows links. It ends for the whole class at the first name or
# folder that it does not expect. It deletes what it collected before, then copies the newest folder
# of each name, whoever made it.

#: What is done with a student's submission.
NEW, NEWER, SAME = "new", "newer", "same"

_A_PERSON = (
    "A person must look. If %s handed in a folder that was passed over, move the wrong folders "
    "out of %s. Move %s away if it is wrong too. Then collect again."
)


class CarefulCollect(ExchangeCollect):  # type: ignore[misc]
    """nbgrader's collecting, but it believes no name, deletes nothing, and does not end early.

    In a `dry` run it writes nothing. `did` says of each student what was done, or would be. Where a
    student's newest submission lacks what an earlier one has, `newest` and `stays` name the
    students for whom a person has chosen it, or the earlier one.
    """

    refused = 0
    dry = False
    newest: Collection[str] = ()
    stays: Collection[str] = ()

    def init_src(self) -> None:
        """Lists the submissions, and the folders that are none.

        Raises ExchangeError, with a message, if the exchange cannot be read.
        """
        course = self.coursedir
        if course.course_id == "":
            self.fail("No course id specified. Re-run with --course flag.")
        inbound = Path(self.root) / course.course_id / "inbound"
        try:
            self.entries, bad = read_entries(
                inbound, course.assignment_id, course.student_id or "*", now()
            )
        except FileNotFoundError:
            self.fail(f"Course not found: {inbound}")
        except OSError as error:
            self.fail(f"{inbound} cannot be read: {error.strerror or error}")
        for each in bad:
            self._refuse(each.name, each.why)
        self.inbound_path = str(inbound)
        self.did: dict[str, str] = {}
        self.chosen: dict[str, Entry] = {}
        try:
            self.duedate = due_date(course, course.assignment_id) if self.before_duedate else None
        except locked_gradebook.GradebookUnavailable as error:
            self.fail(str(error))

    def copy_files(self) -> None:
        """Collects the submission of each student that counts.

        Raises ExchangeError at the end if a folder was refused or could not be copied.
        """
        students: dict[str, list[Entry]] = defaultdict(list)
        for entry in self.entries:
            students[entry.student].append(entry)
        if not students:
            self.log.warning("No submissions of %s to collect", self.coursedir.assignment_id)
        collected = Collected(self.coursedir, self.coursedir.assignment_id)
        try:
            with contextlib.nullcontext() if self.dry else collected.alone():
                for student in sorted(students):
                    self._collect(collected, student, students[student])
        except BlockingIOError:
            self.fail(
                "Another collect of this lab is running. Wait until it ends, then collect again."
            )
        except OSError as error:
            self.fail(
                f"{printable(str(error), 300)}. What was collected is whole. {_remedy(error)}"
            )
        if self.refused:
            self.fail(f"Refused, see above: {plural(self.refused, 'folder')}; all others are done.")

    def _refuse(self, name: str, why: str) -> None:
        """Says why a folder is not collected, and counts it for the exit status."""
        self.refused += 1
        self.log.error("Not collected: %s: %s", printable(name, 200), why)

    def _collect(self, collected: Collected, student: str, entries: list[Entry]) -> None:
        """Collects one student's submission. Raises OSError if the disk is full."""
        before, folder = collected.entry(student), collected.folder(student)
        if folder.is_symlink():
            self._refuse(str(folder), "it is a link; links are not followed")
            return
        if before is not None:
            entries = [before, *(each for each in entries if each.name != before.name)]
        owner = self._owner(student, entries, before, collected)
        if not self.check_owner:
            entries = [replace(each, owner=None) for each in entries]
        choice = choose(entries, owner, self.duedate)
        for each in choice.passed_over:
            self._refuse(each.name, each.why)
        if choice.passed_over:
            self.log.error(_A_PERSON, student, self.inbound_path, folder)
        chosen = choice.entry
        if self.update or before is None:
            # What a person has chosen once is not asked again, unless a person undoes it.
            undone = student in self.stays
            older = [e for e in choice.older if before is None or undone or e.when > before.when]
            known = [before] if before is not None and before in choice.older else []
            chosen = self._nothing_lost(collected, student, [*known, *older, chosen])
        self.chosen[student] = chosen
        same = before is not None and chosen.name == before.name
        if same or (before is not None and not self._replaces(before, chosen)):
            hint = "" if same or self.update else "; use --update for the newer one"
            self.log.info("Already collected: %s%s", printable(student), hint)
            self.did[student] = SAME
        else:
            holds, questions = self._holds(collected, student, chosen)
            questions = [] if collected.was_asked(student, holds) else questions
            for doubt in [*self._doubts(chosen, owner), *questions]:
                self.log.warning("%s: collected, but %s", printable(chosen.name, 200), doubt)
            if self._copy(collected, next(e for e in self.entries if e.name == chosen.name)):
                self.did[student] = NEW if before is None else NEWER
        if student in self.stays and student in self.did and not self.dry:
            later = [e.name for e in (*choice.older, choice.entry) if e.when > chosen.when]
            collected.mark(student, {"chosen_over": later})

    def _nothing_lost(self, collected: Collected, student: str, entries: Sequence[Entry]) -> Entry:
        """The last of one student's submissions that lacks nothing which an earlier one has.

        What lacks something waits for a person. The submissions come in the order of their time.
        """
        counts, *rest = entries
        if not rest or student in self.newest:
            return entries[-1]
        settled = collected.record(student).get("chosen_over", ())
        has, _ = self._holds(collected, student, counts)
        for entry in rest:
            has_later, _ = self._holds(collected, student, entry)
            lost = lacking(has, has_later)
            if not lost:
                counts, has = entry, has_later
            elif student not in self.stays and entry.name not in settled:
                again = f"grader collect exchange --lab {self.coursedir.assignment_id}"
                self._refuse(
                    entry.name,
                    f"it lacks what the earlier one ({counts.when:%Y-%m-%d %H:%M:%S}) has: {lost}. "
                    f"The earlier one counts until you choose. To let the newest one count, run "
                    f"`{again} --newest {student}`; to keep the earlier one, run "
                    f"`{again} --earlier {student}`",
                )
        return counts

    def _holds(self, collected: Collected, student: str, entry: Entry) -> tuple[Holds, list[str]]:
        """What a submission has that can be graded, and what a person must say of it."""
        course = self.coursedir
        released = released_notebooks(course, course.assignment_id)
        if entry.name == collected.record(student).get("entry", ""):
            return holds_of(collected.folder(student), released)
        inbound = Path(self.inbound_path)
        return holds_of(inbound / entry.name, released, inbound)

    def _replaces(self, before: Entry, chosen: Entry) -> bool:
        """Whether a collected submission makes way: as in nbgrader, only if that was asked for."""
        undone = bool(self.before_duedate) or chosen.student in self.stays
        return bool(self.update and chosen.when > before.when) or (
            undone and chosen.when != before.when
        )

    def _owner(
        self, student: str, entries: list[Entry], before: Entry | None, collected: Collected
    ) -> int | None:
        """The uid that the student is known to have: that of the login, or as collected before."""
        login = _login(student)
        if login is not None and any(each.owner == login for each in entries):
            return login
        if before is not None and before.owner is not None:
            return before.owner
        return collected.earlier_owner(student) if before is None else None

    def _doubts(self, chosen: Entry, owner: int | None) -> list[str]:
        """What a person should know of a submission that was collected all the same."""
        doubts = list(chosen.doubts)
        known = _login(chosen.student)
        known = owner if known is None else known
        if self.check_owner and known is not None and known != chosen.owner:
            doubts.append(f"it belongs to {whose(chosen.owner)}, and not to {whose(known)}")
        return doubts

    def _copy(self, collected: Collected, entry: Entry) -> bool:
        """Copies one submission and logs what it leaves out; whether it could.

        Raises OSError if the disk is full.
        """
        course = self.coursedir
        source = Path(self.inbound_path) / entry.name
        self.log.info("Collecting submission: %s", printable(entry.name, 200))
        if self.dry:
            return True
        try:
            left_out = collected.put(entry.student, entry.as_json(), source, course.ignore)
        except OSError as error:
            if error.errno in NO_ROOM:
                raise
            self._refuse(entry.name, error.strerror or str(error))
            return False
        for note in left_out:
            self.log.warning("%s: left out %s", printable(entry.name, 200), note)
        return True


def due_date(course: Any, lab: str) -> datetime.datetime | None:
    """When the lab is due, in UTC, by the gradebook; None if there is none or no due date.

    Raises GradebookUnavailable if the gradebook cannot be read.
    """
    if locked_gradebook.missing_gradebook(course):
        return None
    with (
        locked_gradebook.causes_as(locked_gradebook.GradebookUnavailable),
        contextlib.suppress(MissingEntry),
        Gradebook(course.db_url, course.course_id) as gradebook,
    ):
        when: datetime.datetime | None = gradebook.find_assignment(lab).duedate
        return when
    return None


def _login(student: str) -> int | None:
    """The uid of the student's login on this machine, if there is one."""
    try:
        return pwd.getpwnam(student).pw_uid
    except (KeyError, ValueError):
        return None


def _remedy(error: OSError) -> str:
    if error.errno in NO_ROOM:
        return "The disk is full: free some space, then collect again."
    return "Then collect again."


# `nbgrader list --inbound`: a bad folder of the exchange does not end the list, nor is it opened.
#
# nbgrader reads the secret and the notebooks of each folder, through links and pipes too, and ends
# at the first secret that is not text. So it gets those folders that can be read, and a line says
# what is wrong with each of the others.


class CarefulList(ExchangeList):  # type: ignore[misc]
    """nbgrader's list of the exchange without the folders that cannot be submissions."""

    assignments: list[str]

    def init_dest(self) -> None:
        """Finds what to list, and says what is left out."""
        super().init_dest()
        if self.inbound:
            self.assignments = [path for path in self.assignments if self._is_readable(Path(path))]

    def _is_readable(self, folder: Path) -> bool:
        try:
            _check(folder)
        except (ValueError, OSError) as error:
            why = getattr(error, "strerror", None) or str(error)
            self.log.error("Not listed: %s: %s", printable(folder.name, 200), why)
            return False
        return True


def _check(folder: Path) -> None:
    """Raises ValueError or OSError, with a sentence, if nbgrader cannot read this submission."""
    student, _, time = folder.name.split("+")[:3]
    read_entry(folder, student, time, now())
    with opened(folder) as descriptor:
        for name in os.listdir(descriptor):  # noqa: PTH208 -- of an open folder
            if name == _SECRET:
                _secret(name, descriptor)
            elif name.endswith(".ipynb"):
                _check_notebook(name, descriptor)


def _secret(path: Path | str, folder: int | None = None) -> str:
    """The secret that a student handed in, a file of the open `folder` if one is given.

    Raises ValueError with a sentence if it cannot be used.
    """
    name = Path(path).name
    try:
        raw = read_regular(path, MOST_SECRET_BYTES, folder)
        if len(raw) > MOST_SECRET_BYTES:
            raise ValueError(f"{name} is longer than {MOST_SECRET_BYTES} bytes")
        secret = raw.decode("utf-8")
    except FileNotFoundError as error:
        raise ValueError(f"the student handed in no {name}") from error
    except OSError as error:
        raise ValueError(f"{name} cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise ValueError(f"{name} is not UTF-8 text") from error
    if not secret.strip():
        raise ValueError(f"{name} is empty")
    # Python's text files, which nbgrader reads on the student's side, turn all line ends so.
    return secret.replace("\r\n", "\n").replace("\r", "\n")


def _check_notebook(name: str, folder: int) -> None:
    if not name.isprintable():
        raise ValueError(f"the name {printable(name)} of a notebook cannot be printed")
    try:
        descriptor = open_regular(name, folder)
    except OSError as error:
        raise ValueError(f"{name} cannot be read: {error.strerror or error}") from error
    try:
        if os.fstat(descriptor).st_size > MOST_NOTEBOOK_BYTES:
            raise ValueError(f"{name} is larger than {MOST_NOTEBOOK_BYTES:,} bytes")
    finally:
        os.close(descriptor)


# Releases feedback to the exchange; one student's files do not end the release of the others.
#
# A page's name in the exchange is a hash of the secret that the student handed in, so only this
# student finds it. nbgrader ends at the first secret that is missing or is not text.


class CarefulReleaseFeedback(ExchangeReleaseFeedback):  # type: ignore[misc]
    """nbgrader's release of feedback, student by student."""

    def copy_files(self) -> None:
        """Releases every page whose student can be told by it.

        Raises ExchangeError at the end if feedback of somebody could not be released.
        """
        course = self.coursedir
        lab, excluded = course.assignment_id, course.student_id_exclude.split(",")
        pages: dict[str, list[Path]] = defaultdict(list)
        refused: list[str] = []
        grades = functools.cache(lambda name: grades_in(course, lab, name))
        asked = course.feedback_directory, lab, course.student_id or "*"
        for student, folder, trouble in folders_in(course, *asked):
            if student in excluded:
                continue
            try:
                if trouble is not None:
                    raise ValueError(trouble)
                for name, page in _names_in_exchange(folder).items():
                    if is_outdated(page, grades(page.stem).get(student)):
                        raise ValueError(
                            f"{page.name} is older than its points or comments: run "
                            f"`grader feedback {lab}`, then this command again"
                        )
                    pages[name].append(page)
            except ValueError as error:
                refused.append(line(course, folder, f"{error}; feedback is not released"))
        for name, found in pages.items():
            if len(found) > 1:
                students = ", ".join(printable(page.parent.parent.name) for page in found)
                refused.append(
                    f"{students} handed in the same submission_secret.txt, so one of them has "
                    "the other's file. Their feedback is not released; a person must look"
                )
            else:
                self._release(found[0], name)
        for each in refused:
            self.log.error("%s", each)
        if refused:
            self.fail(f"{len(refused)} were refused, see above; all others are released.")

    def _release(self, page: Path, name: str) -> None:
        """Puts one page into the exchange by a rename. Raises ExchangeError if it cannot."""
        target = Path(self.dest_path) / f"{name}.html"
        unfinished = target.with_name(f"{name}-tmp.html")
        try:
            shutil.copy(page, unfinished)
            unfinished.replace(target)
        except OSError as error:
            unfinished.unlink(missing_ok=True)
            cause = locked_gradebook.cause_of(error) or f"{error.strerror}. Then run it again."
            self.fail(f"{target} could not be written: {cause}")
        self.log.info("Feedback released: %s as %s", printable(str(page), 300), target.name)


def _names_in_exchange(folder: Path) -> dict[str, Path]:
    """The pages of feedback in `folder` by their names in the exchange.

    Raises ValueError with a sentence if the student's secret cannot be used.
    """
    secret = _secret(folder / _SECRET)
    made = {path.stem for path in folder.glob("*.html") if path.is_file()}
    return {
        notebook_hash(secret=secret, notebook_id=stem): folder / f"{stem}.html"
        for stem in sorted(made)
        if stem.isprintable()
    }


# Which exchange: nbgrader's own with the three steps above (`grader.with_nbgrader.settings`), or
# another that the settings of Jupyter name, perhaps for the whole system (`ngshare` on a hub
# without a shared drive).


def collector(app: Any, course: CourseDirectory) -> Any:
    """The step of the exchange that collects into `course`."""
    factory = ExchangeFactory(parent=app)
    return factory.Collect(coursedir=course, authenticator=app.authenticator, parent=app)


def collect_another(app: Any, lab: str, folder: Path) -> None:
    """Lets an exchange that is not nbgrader's put its submissions into `folder`/STUDENT/LAB.

    Raises ExchangeError.
    """
    course = CourseDirectory(parent=app)
    course.root, course.assignment_id = app.coursedir.root, lab
    course.submitted_directory = str(folder)
    try:
        collector(app, course).start()
    except ExchangeError:
        raise
    except Exception as error:  # it may be of any make
        raise ExchangeError(f"the exchange failed: {type(error).__name__}: {error}") from error
