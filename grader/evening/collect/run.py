"""Collects a class: what each student handed in goes into nbgrader's `submitted`.

Who cannot be collected is refused with one sentence; all others are collected.
"""

from __future__ import annotations

import contextlib
import datetime
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from grader.evening.collect import handed_in, source
from grader.evening.collect.decide import (
    BY_NBGRADER,
    Arrived,
    Did,
    Record,
    State,
    files_of_student,
    fingerprint,
    when_of,
)
from grader.evening.collect.handed_in import Version
from grader.evening.collect.items import NO_ROOM, Item, NotTaken
from grader.evening.collect.naming import CANVAS, MOODLE, Layout, Named
from grader.evening.collect.roster import Roster, same_person
from grader.evening.collect.students import Group, NotCollected, sort
from grader.evening.collect.written import written
from grader.submissions.safe_copy import printable
from grader.with_nbgrader.careful_course import read_time
from grader.with_nbgrader.exchange.collected import Collected
from grader.with_nbgrader.exchange.entries import now
from grader.with_nbgrader.places import students_in

_NO_STUDENT = "it is a lab; put each student's files into a folder with the student's id"
_SAME_TIME = datetime.timedelta(seconds=2)
_LATER_THAN_NOW = datetime.timedelta(days=1)


@dataclass(frozen=True)
class Line:
    """What became of one student: the last submission, and how many earlier ones were kept."""

    student: str
    did: Did
    origin: str
    when: str | None
    late: bool | None
    files: int | None  # of the student, without what we add; None: nobody has counted them
    earlier: int
    remarks: tuple[str, ...]


@dataclass
class Report:
    """What a run did, or, in a dry run, what it would do.

    `refused` counts what was refused and is not in `not_collected`, because the log has it.
    """

    source: str
    lab: str
    layout: str
    dry: bool
    lines: list[Line] = field(default_factory=list)
    not_collected: list[NotCollected] = field(default_factory=list)
    absent: list[str] = field(default_factory=list)
    of_other_labs: int = 0
    refused: int = 0

    @property
    def complete(self) -> bool:
        """Whether everything in the source was collected."""
        return not self.not_collected and not self.refused


class Collect:
    """One run over one source."""

    def __init__(
        self,
        course: Any,
        lab: str,
        labs: Iterable[str],
        duedate: datetime.datetime | None = None,
        dry: bool = False,
    ) -> None:
        self._course, self._lab, self._labs, self._duedate = course, lab, frozenset(labs), duedate
        self._dry = dry
        self._collected = Collected(course, lab)

    def run(
        self,
        name: str,
        items: list[Item],
        layout: Layout | None = None,
        roster: Roster | None = None,
        progress: Callable[[Iterable[str]], Iterable[str]] = iter,
    ) -> Report:
        """Collects the files of the source `name`.

        `layout` is found by their names if it is None. Raises BlockingIOError if another collect
        of this lab is running, and OSError if the disk is full: what was collected is whole.
        """
        items, layout, places = source.laid_out(items, layout, self._lab, self._labs, roster)
        students = students_in(self._course, self._course.submitted_directory, self._lab, "*")
        taken = {each: self._label_of(each) for each in students}
        found = sort(items, layout, self._lab, roster, taken)
        report = Report(name, self._lab, layout.name, self._dry, [], found.not_collected)
        report.of_other_labs = found.of_other_labs
        for lab in self._labs & set(found.students):
            report.not_collected.append(NotCollected(found.students.pop(lab).label, _NO_STUDENT))
        with self._scratch() as scratch:
            for student in progress(sorted(found.students)):
                group = found.students[student]
                group.place = places.get(group.named.key)
                self._student(report, layout, student, group, scratch)
        report.not_collected.sort(key=lambda each: each.name)
        if roster is not None:
            here = {*found.seen, *taken}
            report.absent = sorted(roster.people() - here)
        return report

    def _label_of(self, student: str) -> str:
        """How a source named the student when this lab was collected; "" if that is not known."""
        return str(self._collected.record(student).get("entry", "")).partition("/")[0]

    @contextlib.contextmanager
    def _scratch(self) -> Iterator[Path]:
        """A folder for what is unpacked; other collects of this lab are kept out meanwhile."""
        if self._dry:
            with tempfile.TemporaryDirectory(prefix="ticklab-collect-") as folder:
                yield Path(folder)
            return
        with self._collected.alone():
            scratch = self._collected.scratch()
            try:
                yield scratch
            finally:
                shutil.rmtree(scratch, ignore_errors=True)

    def _student(
        self, report: Report, layout: Layout, student: str, group: Group, scratch: Path
    ) -> None:
        """Collects what one student handed in. Raises OSError if the disk is full."""
        if self._collected.folder(student).is_symlink():
            why = "its folder in the course is a link; links are not followed"
            report.not_collected.append(NotCollected(group.shown, why))
            return
        state = State(
            self._collected.record(student) if self._collected.folder(student).is_dir() else None,
            self._collected.earlier_records(student),
        )
        is_new = state.current is None
        lines: list[Line] = []
        for when in sorted(group.given, key=lambda when: when or datetime.datetime.min):
            try:
                for line in self._together(state, layout, student, group, when, scratch):
                    lines.append(line)
            except Exception as error:  # whatever a student hands in, all others are collected
                report.not_collected.append(NotCollected(group.shown, _why(error)))
        if lines:
            report.lines.append(_summary(lines, is_new))

    def _together(
        self,
        state: State,
        layout: Layout,
        student: str,
        group: Group,
        when: datetime.datetime | None,
        scratch: Path,
    ) -> Iterator[Line]:
        """Collects the files that were handed in together. Raises NotTaken, and OSError."""
        who = _who(layout, group.named)
        state.check_person(who)
        folder = scratch / "submission"
        given, place = group.given[when], group.place
        with handed_in.versions(given, self._lab, self._labs, scratch, place) as found:
            for version in found:
                if version.archive and version.archive == (state.current or {}).get("archive"):
                    yield self._there(student, version)
                    continue
                shutil.rmtree(folder, ignore_errors=True)
                hashes, left_out = written(version, folder)
                if not hashes:
                    raise NotTaken(f"none of its files can be taken: {left_out[0]}")
                record, remarks = self._record(version, when, folder, hashes)
                record |= {
                    "entry": f"{group.label}/{version.origin}".rstrip("/"),
                    "who": who,
                    "left_out": left_out,
                    "doubts": [*group.doubts, *remarks],
                }
                did = state.decide(Arrived(record))
                if did is Did.SAME and state.counts(record):
                    yield self._there(student, version)
                    continue
                if did is Did.BACK and not self._dry:
                    self._collected.put_back(student, state.current or {})
                elif not self._dry:
                    self._put(student, did, record, folder)
                moment, files = record["when"], files_of_student(hashes, self._course.ignore)
                notes = (*record["doubts"], *left_out)
                yield Line(student, did, record["entry"], moment, record["late"], files, 0, notes)

    def _record(
        self,
        version: Version,
        when: datetime.datetime | None,
        folder: Path,
        hashes: dict[str, str],
    ) -> tuple[Record, list[str]]:
        """The record of a submission in `folder`, whose time may be `when`, and what is odd."""
        remarks = []
        stated = None
        try:
            stated = read_time(folder)
        except ValueError as error:
            remarks.append(f"its timestamp.txt holds no time ({error})")
        moment = when or version.when or stated
        if moment is not None and moment > now() + _LATER_THAN_NOW:
            remarks.append(f"its time {moment} lies in the future and is not believed")
            moment = None
        if moment is not None and (stated is None or abs(stated - moment) > _SAME_TIME):
            with contextlib.suppress(IsADirectoryError):  # the record has the time too
                (folder / "timestamp.txt").write_text(f"{moment} UTC", encoding="utf-8")
        own = {path: hashed for path, hashed in hashes.items() if path not in BY_NBGRADER}
        record = {
            "when": None if moment is None else moment.isoformat(),
            "owner": None,
            "changed": 0,
            "late": self._late(version.late, moment),
            "order": version.order,
            "archive": version.archive,
            "content": fingerprint(own),
            "collected": now().isoformat(timespec="seconds"),
        }
        return record, remarks

    def _late(self, stated: bool | None, moment: datetime.datetime | None) -> bool | None:
        """Whether a submission came too late: as the platform says, or by the due date."""
        if stated is not None or moment is None or self._duedate is None:
            return stated
        return moment > self._duedate

    def _put(self, student: str, did: Did, record: Record, folder: Path) -> None:
        """Carries out what was decided. Raises OSError."""
        if did is not Did.SAME:
            ignore, earlier = self._course.ignore, did is Did.EARLIER
            self._collected.put(student, record, folder, ignore, as_earlier=earlier)

    def _there(self, student: str, version: Version) -> Line:
        """A submission that counts already; only whether it is late can have changed since then.

        Handed in once more, it is as late as it was the first time.
        """
        before = self._collected.record(student)
        stated = version.late if version.order == before.get("order") else None
        late = self._late(stated, when_of(before))
        late = before.get("late") if late is None else late
        if late != before.get("late") and not self._dry:
            self._collected.mark(student, {"late": late})
        origin, files = str(before.get("entry", "")), files_of_student(before.get("sha256", ()))
        return Line(student, Did.SAME, origin, before.get("when"), late, files, 0, ())


def _why(error: Exception) -> str:
    """Why a student is not collected. Raises `error` again if the disk is full."""
    if isinstance(error, NotTaken):
        return str(error)
    if isinstance(error, OSError):
        if error.errno in NO_ROOM:
            raise error
        return f"it could not be copied: {error.strerror or error}"
    return f"Ticklab has a fault, please report it: {printable(repr(error), 200)}"


def _summary(lines: list[Line], is_new: bool) -> Line:
    """One line for all submissions of a student: what became of the one that counts."""
    put = [line for line in lines if line.did in {Did.NEW, Did.NEWER, Did.BACK}]
    earlier = [line for line in lines if line.did is Did.EARLIER]
    if put:
        did = Did.NEW if is_new else Did.NEWER
        return replace(put[-1], did=did, earlier=len(earlier) + len(put) - 1)
    if earlier:
        return replace(earlier[-1], earlier=len(earlier))
    return lines[-1]


def _who(layout: Layout, named: Named) -> str:
    """The student as the source knows them, whatever a roster says; "" if by the id alone."""
    if layout is CANVAS:
        return f"Canvas {named.number}"
    return f"Moodle {same_person(named.name)}" if layout is MOODLE else ""
