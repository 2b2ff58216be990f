"""Collects submissions from nbgrader's exchange; a bad submission does not stop the others.

Every student may write to the exchange folder. nbgrader's own collecting follows links. It ends for
the whole class at the first name or folder that it does not expect. It deletes what it collected
before, then copies the newest folder of each name, whoever made it.
"""

from __future__ import annotations

import contextlib
import datetime
import errno
import pwd
from collections import defaultdict
from pathlib import Path

from nbgrader.api import Gradebook, MissingEntry
from nbgrader.exchange.default import ExchangeCollect

from grader.submissions.safe_copy import printable
from grader.with_nbgrader import gradebook_lock
from grader.with_nbgrader.exchange.collected import Collected
from grader.with_nbgrader.exchange.entries import Entry, Refused, choose, now, read_entries, whose
from labs.common.units import plural

#: What is done with a student's submission.
NEW, NEWER, SAME = "new", "newer", "same"

_NO_ROOM = {errno.ENOSPC, errno.EDQUOT}
_A_PERSON = (
    "A person must look. If %s handed in a folder that was passed over, move the wrong folders "
    "out of %s. Move %s away if it is wrong too. Then collect again."
)


class CarefulCollect(ExchangeCollect):  # type: ignore[misc]
    """nbgrader's collecting, but it believes no name, deletes nothing, and does not end early.

    In a `dry` run it writes nothing. `did` says of each student what was done, or would be.
    """

    refused = 0
    dry = False

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
            self._refuse(each)
        self.inbound_path = str(inbound)
        self.did: dict[str, str] = {}
        self.chosen: dict[str, Entry] = {}
        self.duedate = self._duedate() if self.before_duedate else None

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

    def _refuse(self, one: Refused) -> None:
        """Says why a folder is not collected, and counts it for the exit status."""
        self.refused += 1
        self.log.error("Not collected: %s: %s", printable(one.name, 200), one.why)

    def _collect(self, collected: Collected, student: str, entries: list[Entry]) -> None:
        """Collects one student's submission. Raises OSError if the disk is full."""
        before, folder = collected.entry(student), collected.folder(student)
        if folder.is_symlink():
            self._refuse(Refused(str(folder), "it is a link; links are not followed"))
            return
        if before is not None:
            entries = [before, *(each for each in entries if each.name != before.name)]
        owner = self._owner(student, entries, before, collected)
        if not self.check_owner:
            entries = [each.of_nobody() for each in entries]
        choice = choose(entries, owner, self.duedate)
        for each in choice.passed_over:
            self._refuse(each)
        if choice.passed_over:
            self.log.error(_A_PERSON, student, self.inbound_path, folder)
        chosen = choice.entry
        self.chosen[student] = chosen
        same = before is not None and chosen.name == before.name
        if same or (before is not None and not self._replaces(before, chosen)):
            hint = "" if same or self.update else "; use --update for the newer one"
            self.log.info("Already collected: %s%s", printable(student), hint)
            self.did[student] = SAME
            return
        for doubt in self._doubts(chosen, owner):
            self.log.warning("%s: collected, but %s", printable(chosen.name, 200), doubt)
        done = self._copy(collected, next(e for e in self.entries if e.name == chosen.name))
        if done:
            self.did[student] = NEW if before is None else NEWER

    def _replaces(self, before: Entry, chosen: Entry) -> bool:
        """Whether a collected submission makes way: as in nbgrader, only if that was asked for."""
        return bool(self.update and chosen.when > before.when) or (
            bool(self.before_duedate) and chosen.when != before.when
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
            left_out = collected.take(entry, source, course.ignore)
        except OSError as error:
            if error.errno in _NO_ROOM:
                raise
            self._refuse(Refused(entry.name, error.strerror or str(error)))
            return False
        for note in left_out:
            self.log.warning("%s: left out %s", printable(entry.name, 200), note)
        return True

    def _duedate(self) -> datetime.datetime | None:
        """When the lab is due, from the gradebook. Raises ExchangeError if that cannot be read."""
        course = self.coursedir
        try:
            with Gradebook(course.db_url, course.course_id) as gradebook:
                when: datetime.datetime | None = gradebook.find_assignment(
                    course.assignment_id
                ).duedate
        except MissingEntry:
            return None
        except Exception as error:
            cause = gradebook_lock.cause_of(error)
            if cause is None:
                raise
            self.fail(cause)
        return when


def _login(student: str) -> int | None:
    """The uid of the student's login on this machine, if there is one."""
    try:
        return pwd.getpwnam(student).pw_uid
    except (KeyError, ValueError):
        return None


def _remedy(error: OSError) -> str:
    if error.errno in _NO_ROOM:
        return "The disk is full: free some space, then collect again."
    return "Then collect again."
