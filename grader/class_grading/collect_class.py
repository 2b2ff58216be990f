"""Collects a class: what each student handed in goes into nbgrader's `submitted`, with receipts.

Who cannot be collected is refused with one sentence; all others are collected.
"""

from __future__ import annotations

import contextlib
import datetime
import enum
import hashlib
import shutil
import tempfile
import textwrap
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from nbgrader.exchange import ExchangeError

from grader.class_grading import class_roster, uploaded_archives
from grader.class_grading.class_roster import (
    Group,
    Roster,
    Student,
    same_person,
    sort_by_student,
)
from grader.class_grading.grade_exports import as_csv
from grader.class_grading.gradebook_grades import due_in_words
from grader.class_grading.upload_names import CANVAS, MOODLE, Layout, Named, hand_in_archive
from grader.class_grading.uploaded_archives import Item, NotTaken, Version, written
from grader.submissions.safe_files import NO_ROOM, printable, trouble_with_name
from grader.submissions.submitted_notebook import holds_of, lacking
from grader.with_nbgrader.careful_course import read_time
from grader.with_nbgrader.nbgrader_exchange import (
    LATER_THAN_NOW,
    SAME_TIME,
    CarefulCollect,
    Collected,
    NotCollected,
    collector,
    now,
)
from grader.with_nbgrader.student_folders import released_notebooks, students_in
from labs.files import read_bounded, remove_unfinished, write_atomically
from labs.html import in_columns
from labs.terminal import meant
from labs.units import plural

# Whether a submission counts, becomes an earlier version, or is there already.
#
# The newest counts, unless it lacks what an earlier one has: then a person chooses, and the earlier
# one counts until then, so that nobody loses points without a word. Where the time of one of two is
# not known, what is collected later counts, but nothing that was collected once comes back: so a
# second run over the same sources changes nothing.

Record = dict[str, Any]

#: What `nbgrader submit` adds, or we do: two submissions that differ in it alone are the same.
BY_NBGRADER = frozenset({"timestamp.txt", "submission_secret.txt"})


def files_of_student(paths: Iterable[str], ignore: Sequence[str] = ()) -> int:
    """How many of the files the student made; nbgrader takes none whose path fits `ignore`."""
    return sum(
        path not in BY_NBGRADER
        and not any(fnmatch(part, glob) for part in path.split("/") for glob in ignore)
        for path in paths
    )


class Did(enum.Enum):
    """What became of a submission, and how a dry run says it."""

    NEW = "collected", "would be collected"
    NEWER = "collected, replaces", "would replace"
    EARLIER = "kept as earlier", "would be earlier"
    SAME = "was there", "was collected"
    BACK = "collected again", "would be collected"
    POORER = "kept, because it lacks something", "would be kept"
    UNDONE = "the earlier one counts again", "would count again"


#: Of these, the submission is the one that counts; and of these, it is kept beside that one.
_COUNTS_NOW, _KEPT = {Did.NEW, Did.NEWER, Did.BACK, Did.UNDONE}, {Did.EARLIER, Did.POORER}


def is_newer(record: Record, than: Record) -> bool | None:
    """Whether a submission was handed in after another one; None if that is not known."""
    order, before = record.get("order"), than.get("order")
    if isinstance(order, int) and isinstance(before, int) and order != before:
        return order > before
    when, then = when_of(record), when_of(than)
    if when is not None and then is not None and when != then:
        return when > then
    return None


@dataclass
class State:
    """What the course has of one student: the record of what counts, and those of earlier ones."""

    current: Record | None
    earlier: list[Record] = field(default_factory=list)
    #: What a person has said of this student: `NEWEST`, `STAYS`, or nothing.
    word: str = ""
    #: What the newest submission lacks, in a sentence, if a person must choose, or need not.
    question: str = ""
    remark: str = ""

    def decide(self, arrived: Record) -> Did:
        """What to do with a submission; afterwards the state is as if that was done."""
        self.question = self.remark = ""
        content = content_of(arrived)
        again = [each for each in self.earlier if content_of(each) == content]
        if self.current is None:
            # An interrupted run has moved it away, or somebody has removed the newer one.
            if again:
                return self._put_back(again[-1])
            self.current = arrived
            return Did.NEW
        if content_of(self.current) == content:
            return Did.SAME
        newer = is_newer(arrived, self.current)
        if newer is None and again and again[-1].get("asked"):
            chosen = [each.get("chosen_over", ()) for each in (self.current, *self.earlier)]
            newer = None if any(content in each for each in chosen) else True
        if again and not newer:
            return Did.SAME
        before = self.current
        lost = _lost(before, arrived) if newer is not False else _lost(arrived, before)
        if lost and self.word != NEWEST:
            return self._keep_the_richer(arrived, lost, newer is False, bool(again))
        if again:
            return self._put_back(again[-1])
        if newer is False:
            self.earlier.append(arrived)
            return Did.EARLIER
        self.earlier.append(self.current)
        self.current = arrived
        return Did.NEWER

    def undo(self) -> Record | None:
        """Lets the earlier one count where a person had let the newest one count before.

        Returns the record of what counted until now; None if there is nothing to undo.
        """
        before = self.current
        if before is None or self.word != STAYS:
            return None
        older = [each for each in self.earlier if is_newer(before, each) is not False]
        richer = [each for each in older if _lost(each, before)]
        if not richer:
            return None
        self._put_back(richer[-1])
        return before

    def _put_back(self, record: Record) -> Did:
        self.earlier.remove(record)
        if self.current is not None:
            self.earlier.append(self.current)
        self.current = record
        return Did.BACK

    def _keep_the_richer(self, arrived: Record, lost: str, is_richer: bool, known: bool) -> Did:
        """Of two submissions, the newer one lacks what the earlier one has: that one counts."""
        current = self.current or {}
        early, late = (arrived, current) if is_richer else (current, arrived)
        settled = content_of(late) in early.get("chosen_over", ())
        if not settled and self.word == STAYS:
            early["chosen_over"] = [*early.get("chosen_over", ()), content_of(late)]
        elif not settled and _adds_nothing(late, early):
            self.remark = (
                f"the newest submission ({_when(late)}) has only files that the earlier one "
                f"({_when(early)}) has too; the earlier one counts"
            )
        elif not settled:
            late["asked"] = True
            self.question = (
                f"the newest submission ({_when(late)}) lacks what the earlier one "
                f"({_when(early)}) has: {lost}. The earlier one counts until you choose"
            )
        if is_richer:
            self.earlier.append(current)
            self.current = arrived
            return Did.NEWER
        if not known:
            self.earlier.append(arrived)
        return Did.POORER if self.question or not known else Did.SAME

    def counts(self, record: Record) -> bool:
        """Whether the submission that counts has the files of `record`."""
        return content_of(self.current or {}) == content_of(record)

    def check_person(self, who: str, renamed: str = "") -> None:
        """Raises NotTaken if what was collected under this id is another person's.

        `who` is how the source names the student: `Canvas 77`, for instance. `renamed` is how it
        named the same student before.
        """
        before = str((self.current or {}).get("who") or "")
        source = who.partition(" ")[0]
        if who and not renamed and before != who and before.partition(" ")[0] == source:
            raise NotTaken(f"what was collected under this id is of {before}, and this is of {who}")


#: What a person can say where the newest submission of a student lacks something.
NEWEST, STAYS = "newest", "earlier"


def _lost(earlier: Record, later: Record) -> str:
    """What a submission lacks that an earlier one had; "" if nobody knows what one of them has."""
    has, has_later = earlier.get("holds"), later.get("holds")
    return lacking(has, has_later) if has and has_later else ""


def _adds_nothing(later: Record, earlier: Record) -> bool:
    """Whether each file of a submission is in an earlier one too."""
    own = {(path, digest) for path, digest in _hashes(later).items() if path not in BY_NBGRADER}
    return own <= set(_hashes(earlier).items())


def _when(record: Record) -> str:
    return _time(record) or "its time is not known"


def fingerprint(hashes: Mapping[str, str]) -> str:
    """One SHA-256 for the files with these hashes, by path."""
    lines = "".join(f"{digest}  {path}\n" for path, digest in sorted(hashes.items()))
    return hashlib.sha256(lines.encode()).hexdigest()


def content_of(record: Record) -> str:
    """The fingerprint in a record; of one that nbgrader's exchange gave, that of its files."""
    if isinstance(record.get("content"), str):
        return str(record["content"])
    hashes = record.get("sha256")
    if not isinstance(hashes, dict):
        return ""
    return fingerprint({str(k): str(v) for k, v in hashes.items() if k not in BY_NBGRADER})


def when_of(record: Record) -> datetime.datetime | None:
    """When the submission of a record was handed in; None if that is not known."""
    try:
        return datetime.datetime.fromisoformat(record["when"])
    except (KeyError, TypeError, ValueError):
        return None


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
    #: Whether it is late, or in time, and was not when it was collected: the due date has moved.
    moved: bool = False
    #: Whether it has no notebook, or no figure.
    bare: bool = False


@dataclass
class Report:
    """What a run did, or, in a dry run, what it would do.

    `refused` counts what was refused and is not in `not_collected`, because the log has it.
    `to_choose` are students of whom a person must say which submission, or notebook, counts.
    `people` are those whose names and addresses the source has, and `strays` its other files.
    """

    source: str
    lab: str
    layout: str
    dry: bool
    lines: list[Line] = field(default_factory=list)
    not_collected: list[NotCollected] = field(default_factory=list)
    to_choose: list[NotCollected] = field(default_factory=list)
    absent: list[str] = field(default_factory=list)
    of_other_labs: int = 0
    refused: int = 0
    due: datetime.datetime | None = None
    people: list[Student] = field(default_factory=list)
    strays: list[str] = field(default_factory=list)

    @property
    def complete(self) -> bool:
        """Whether everything in the source was collected, and nothing is left to choose."""
        return not self.not_collected and not self.refused and not self.to_choose


class Collect:
    """One run over one source."""

    def __init__(
        self,
        course: Any,
        lab: str,
        labs: Iterable[str],
        duedate: datetime.datetime | None = None,
        dry: bool = False,
        words: Mapping[str, str] | None = None,
    ) -> None:
        """`words` are `NEWEST` and `STAYS` by student, where a person has chosen."""
        self._words = words or {}
        self._released = released_notebooks(course, lab)
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
        items, layout, places = class_roster.laid_out(items, layout, self._lab, self._labs, roster)
        students = students_in(self._course, self._course.submitted_directory, self._lab, "*")
        taken = {each: self._label_of(each) for each in students}
        found = sort_by_student(items, layout, self._lab, roster, taken)
        check_words(self._words, found.students)
        report = Report(name, self._lab, layout.name, self._dry, [], found.not_collected)
        report.of_other_labs, report.due = found.of_other_labs, self._duedate
        report.strays = found.strays
        for lab in self._labs & set(found.students):
            group = found.students.pop(lab)
            paths = [each.path for given in group.given.values() for each in given]
            why = uploaded_archives.why_no_student(lab, self._labs, paths)
            report.not_collected.append(NotCollected(group.label, why))
        with self._scratch() as scratch:
            for student in progress(sorted(found.students)):
                group = found.students[student]
                group.place = places.get(group.named.key)
                self._student(report, layout, student, group, scratch)
                if group.named.email:
                    who = Student(student, "", "", group.named.name, group.named.email)
                    report.people.append(who)
        report.not_collected.sort(key=lambda each: each.name)
        if roster is not None:
            report.absent = sorted(roster.people() - {*found.seen, *taken})
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
        here = self._collected.folder(student)
        state = State(
            self._collected.record(student) if here.is_dir() else None,
            self._collected.earlier_records(student),
            self._words.get(student, ""),
        )
        if state.current is not None and "holds" not in state.current:
            state.current["holds"], _ = holds_of(here, self._released)
        is_new = state.current is None
        lines: list[Line] = []
        questions: list[str] = []
        if (before := state.undo()) is not None:
            lines.append(self._undone(student, state.current or {}, before))
        for when in sorted(group.given, key=_place_in_time):
            try:
                for line, question in self._together(state, layout, student, group, when, scratch):
                    lines.append(line)
                    questions = question if line.did in _COUNTS_NOW else [*questions, *question]
            except Exception as error:  # whatever a student hands in, all others are collected
                report.not_collected.append(NotCollected(group.shown, _why(error)))
        if lines:
            report.lines.append(_summary(lines, is_new))
        report.to_choose += [NotCollected(student, each) for each in dict.fromkeys(questions)]

    def _undone(self, student: str, record: Record, before: Record) -> Line:
        """Puts an earlier submission back, as a person has said. Raises OSError."""
        if not self._dry:
            self._collected.put_back(student, record)
        record["chosen_over"] = [*record.get("chosen_over", ()), content_of(before)]
        if not self._dry:
            self._collected.mark(student, {"chosen_over": record["chosen_over"]})
        origin, files = str(record.get("entry", "")), files_of_student(_hashes(record))
        late = record.get("late")
        return Line(student, Did.UNDONE, origin, record.get("when"), late, files, 0, ())

    def _together(
        self,
        state: State,
        layout: Layout,
        student: str,
        group: Group,
        together: datetime.datetime | int | None,
        scratch: Path,
    ) -> Iterator[tuple[Line, list[str]]]:
        """Collects the files that were handed in together. Raises NotTaken, and OSError.

        With each line come the questions that a person must answer.
        """
        who = _who(layout, group.named)
        state.check_person(who, group.before)
        when = together if isinstance(together, datetime.datetime) else None
        folder = scratch / "submission"
        at_once: list[tuple[Version, dict[str, str]]] = []
        given, place = group.given[together], group.place
        with uploaded_archives.versions(given, self._lab, self._labs, scratch, place) as found:
            for version in found:
                if version.archive and version.archive == (state.current or {}).get("archive"):
                    yield self._there(student, version), []
                    continue
                shutil.rmtree(folder, ignore_errors=True)
                hashes, left_out = written(version, folder)
                if not hashes:
                    raise NotTaken(f"none of its files can be taken: {left_out[0]}")
                record, remarks = self._record(version, when, folder, hashes)
                holds, questions = holds_of(folder, self._released)
                if self._collected.was_asked(student, holds):
                    questions = []
                questions += filter(None, [version.question])
                record |= {
                    "entry": f"{group.label}/{version.origin}".rstrip("/"),
                    "who": who,
                    "left_out": left_out,
                    "doubts": [*group.doubts, *remarks],
                    "holds": holds,
                    "sha256": hashes,
                    "members": [asdict(member) for member in group.members],
                }
                kept = len(state.earlier)
                at_once.append((version, holds["answers"]))
                did = state.decide(record)
                if did is Did.SAME and state.counts(record):
                    yield self._there(student, version), []
                    continue
                if did is Did.BACK and not self._dry:
                    self._collected.put_back(student, state.current or {})
                elif not self._dry:
                    is_there = did is Did.SAME or (did is Did.POORER and kept == len(state.earlier))
                    if not is_there:
                        earlier, ignore = did in _KEPT, self._course.ignore
                        self._collected.put(student, record, folder, ignore, as_earlier=earlier)
                    self._settle(student, state)
                notes = (*record["doubts"], *left_out)
                if did not in _COUNTS_NOW:  # what is late, and how many files count, is as before
                    record, questions, notes = state.current or {}, [], ()
                if state.question:
                    questions = [*questions, f"{state.question}. {_how_to_choose(student)}"]
                elif did is not Did.SAME and _answers_differ(at_once):
                    questions = [*questions, _HANDED_IN_TOGETHER]
                notes = (*notes, *filter(None, [state.remark]))
                files = files_of_student(_hashes(record), self._course.ignore)
                entry, moment = str(record.get("entry", "")), record.get("when")
                late, bare = record.get("late"), not (holds["notebook"] and holds["stated"])
                yield (
                    Line(student, did, entry, moment, late, files, 0, notes, bare=bare),
                    questions,
                )

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
        if moment is not None and moment > now() + LATER_THAN_NOW:
            remarks.append(f"its time {moment} lies in the future and is not believed")
            moment = None
        if moment is not None and (stated is None or abs(stated - moment) > SAME_TIME):
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
        """Whether a submission came too late: as the platform says, or by the due date.

        nbgrader's penalties go by the due date, whatever the platform says.
        """
        if stated or moment is None or self._duedate is None:
            return stated
        return moment > self._duedate

    def _settle(self, student: str, state: State) -> None:
        """Writes down what a person has chosen, who is not asked again. Raises OSError."""
        chosen = (state.current or {}).get("chosen_over", [])
        if chosen != self._collected.record(student).get("chosen_over", []):
            self._collected.mark(student, {"chosen_over": chosen})

    def _there(self, student: str, version: Version) -> Line:
        """A submission that counts already; only whether it is late can have changed since then.

        Handed in once more, it is as late as it was the first time.
        """
        before = self._collected.record(student)
        stated = version.late if version.order == before.get("order") else None
        late = self._late(stated, when_of(before))
        late = before.get("late") if late is None else late
        moved = late != before.get("late")
        if moved and not self._dry:
            self._collected.mark(student, {"late": late})
        origin, files = str(before.get("entry", "")), files_of_student(before.get("sha256", ()))
        return Line(student, Did.SAME, origin, before.get("when"), late, files, 0, (), moved)


def _place_in_time(together: datetime.datetime | int | None) -> tuple[int, datetime.datetime]:
    """A key that sorts by the time or the number in a name."""
    if isinstance(together, datetime.datetime):
        return 0, together
    return together or 0, datetime.datetime.min


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
    put = [line for line in lines if line.did in _COUNTS_NOW]
    kept = [line for line in lines if line.did in _KEPT]
    if put:
        did = Did.NEW if is_new else put[-1].did if put[-1].did is Did.UNDONE else Did.NEWER
        remarks = [each for line in kept if line.did is Did.POORER for each in line.remarks]
        earlier, remarks = len(kept) + len(put) - 1, [*put[-1].remarks, *remarks]
        return replace(put[-1], did=did, earlier=earlier, remarks=tuple(remarks))
    return replace(kept[-1], earlier=len(kept)) if kept else lines[-1]


def check_words(words: Iterable[str], students: Collection[str]) -> None:
    """Raises NotTaken if a person has chosen for a student who is not in the source."""
    for each in words:
        if each not in students:
            close = meant(each, sorted(students))
            raise NotTaken(
                f"you chose for {printable(each)}, of whom the source has nothing"
                + (f": did you mean {close}?" if close else "")
            )


def _answers_differ(together: Sequence[tuple[Version, Mapping[str, str]]]) -> bool:
    """Whether a notebook next to an archive has answers that the one in the archive has not."""
    beside = [has.items() for version, has in together if not version.archive]
    inside = [has.items() for version, has in together if version.archive]
    return bool(inside) and any(not has <= inside[-1] for has in beside)


_HANDED_IN_TOGETHER = (
    "a notebook next to the archive has other answers than the one in it, which is graded. Ask the "
    "student which one counts. If it is the one next to the archive, put it in the place of the "
    "other in the student's folder in `submitted`, and grade again with `--force`"
)


def _how_to_choose(student: str) -> str:
    return (
        f"To let the newest one count, collect again with --newest {student}; to keep the earlier "
        f"one, with --earlier {student}. Each option undoes the other"
    )


def _who(layout: Layout, named: Named) -> str:
    """The student as the source knows them, whatever a roster says; "" if by the id alone."""
    if layout is CANVAS:
        return f"Canvas {named.number}"
    return f"Moodle {same_person(named.name)}" if layout is MOODLE else ""


# The course into which submissions are collected, and which of its labs a source holds.


def labs_of(course: Any) -> list[str]:
    """The labs of the course: the folders that were released, or else the sources."""
    for step in (course.release_directory, course.source_directory):
        folder = Path(course.format_path(step, ".", "."))
        found = [path.name for path in folder.glob("*") if (path / f"{path.name}.ipynb").is_file()]
        if found:
            return sorted(found)
    return []


def lab_of(items: Sequence[Item], labs: Sequence[str], asked: str | None) -> str:
    """The lab that is collected: the one that was asked for, or the only one in the files' names.

    Raises NotTaken if that is not one lab of the course.
    """
    named = ", ".join(labs) or "none"
    if asked is not None:
        if asked not in labs:
            close = meant(asked, labs)
            there = f": did you mean {close}?" if close else f"; its labs are: {named}"
            raise NotTaken(f"the course has no lab {printable(asked)}{there}")
        return asked
    if len(labs) == 1:
        return labs[0]
    known = set(labs)
    found = set()
    for item in items:
        own = item.parts[-1].rpartition("_")[2]  # a platform puts its part before
        archive = hand_in_archive(own)
        found |= known & {*item.parts, *item.parts[0].split("+"), own.removesuffix(".ipynb")}
        found |= known & {archive[0] if archive else ""}
    if len(found) != 1:
        raise NotTaken(f"name the lab with --lab; the labs of the course are: {named}")
    return found.pop()


# Collects from nbgrader's exchange, as `nbgrader collect --update` does.


def collect_from_exchange(app: Any, lab: str, dry: bool, words: Mapping[str, str]) -> Report | None:
    """Collects `lab` from the exchange of the course; None if it is not one of nbgrader's own.

    `words` are as for `Collect`.

    What is odd or refused is logged; the report counts it. Raises NotTaken, with a sentence, if
    nothing could be collected.
    """
    course = app.coursedir
    course.assignment_id = lab
    step = collector(app, course)
    if not isinstance(step, CarefulCollect):
        return None
    step.update, step.dry = True, dry
    step.newest = {student for student, word in words.items() if word == NEWEST}
    step.stays = {student for student, word in words.items() if word == STAYS}
    try:
        step.start()
    except ExchangeError as error:
        if not step.refused:
            raise NotTaken(str(error) or "the exchange cannot be read") from error
    place = printable(str(Path(step.root) / course.course_id))
    report = Report(place, lab, "nbgrader's exchange", dry, refused=step.refused)
    collected = Collected(course, lab)
    for student, did in sorted(step.did.items()):
        when: str | None
        if dry:
            entry = step.chosen[student]
            when, files, origin = entry.when.isoformat(), None, entry.name
        else:
            record = collected.record(student)
            when, files = record.get("when"), files_of_student(record.get("sha256", ()))
            origin = str(record.get("entry", ""))
        report.lines.append(Line(student, Did[did.upper()], origin, when, None, files, 0, ()))
    return report


# Receipts of what was collected: one text for each student, and one table of the class.
#
# They say only what the records in the collected folders say. So a second run writes the same
# bytes, and a receipt that was lost can be made again.

FOLDER = "receipts"
_COLUMNS = "student", "version", "handed in (UTC)", "late", "file", "SHA-256", "name in the source"
_MOST_BYTES = 64_000_000


def write_receipts(course: Any, lab: str, not_collected: Iterable[NotCollected] = ()) -> Path:
    """Writes the receipts of all students of `lab`; returns the table of the class.

    A file that is as it must be is not written again. Raises files.CannotWrite, and BlockingIOError
    if a collect of this lab is running.
    """
    collected = Collected(course, lab)
    folder = Path(course.root) / FOLDER
    table = folder / f"{lab}.csv"
    with collected.alone():
        # What a run that was killed has left: `write_atomically` writes into such a file first.
        for unfinished in (folder / lab).glob(".*.txt.*"):
            unfinished.unlink()
        remove_unfinished(table)
        rows: list[Sequence[str]] = [_COLUMNS]
        for student in sorted(students_in(course, course.submitted_directory, lab, "*")):
            record = collected.record(student)
            if trouble_with_name(student) or not _hashes(record):
                continue
            earlier = [each for each in collected.earlier_records(student) if _hashes(each)]
            _write(folder / lab / f"{student}.txt", receipt(lab, student, record, earlier).encode())
            for number, each in enumerate([record, *earlier]):
                version = f"kept {number}" if number else "counts"
                name, late = _text(each.get("entry")), _LATE.get(each.get("late"), "")
                for path, digest in sorted(_hashes(each).items()):
                    rows.append([student, version, _time(each), late, _text(path), digest, name])
        for left in not_collected:
            why = _text(left.why.replace("\n", " "))
            rows.append(["", "not collected", "", "", why, "", _text(left.name)])
        _write(table, as_csv(rows))
    return table


def receipt(lab: str, student: str, record: Record, earlier: Iterable[Record] = ()) -> str:
    """The receipt of one student."""
    hashes = _hashes(record)
    lines = [
        f"Lab:        {lab}",
        f"Student:    {student}",
        f"Handed in:  {_time(record) or 'time not known'}{' (late)' if record.get('late') else ''}",
        f"Name:       {_text(record.get('entry'))}",
    ]
    if record.get("archive"):
        lines.append(f"Archive:    SHA-256 {_text(record['archive'])}")
    lines += [
        f"Files:      SHA-256 {fingerprint(hashes)} of the lines below",
        "",
        "SHA-256, file:",
        *(f"{digest}  {_text(path)}" for path, digest in sorted(hashes.items())),
    ]
    left_out = record.get("left_out")
    if isinstance(left_out, list) and left_out:
        lines += ["", "Left out:", *(_text(each) for each in left_out)]
    versions = [
        f"{_time(each) or 'time not known'}: {plural(files_of_student(_hashes(each)), 'file')}, "
        f"SHA-256 {fingerprint(_hashes(each))}"
        for each in earlier
    ]
    if versions:
        lines += ["", "Other submissions, kept and not graded:", *versions]
    return "\n".join(lines) + "\n"


def _hashes(record: Mapping[str, Any]) -> dict[str, str]:
    """The hashes of the files by their paths; empty if the record has none."""
    found = record.get("sha256")
    if not isinstance(found, dict):
        return {}
    return {str(path): str(digest) for path, digest in found.items()}


def _time(record: Record) -> str:
    when = record.get("when")
    return "" if not isinstance(when, str) else _text(when.replace("T", " ")[:19])


_LATE: dict[bool | None, str] = {True: "late", False: "in time"}


def _text(value: object) -> str:
    """A text that is one line: a student chose a part of it."""
    return printable(str(value or ""), 300)


def _write(path: Path, content: bytes) -> None:
    with contextlib.suppress(OSError):
        if read_bounded(path, _MOST_BYTES) == content:
            return
    write_atomically(path, content, private=True)


# What `grader collect` prints: within 80 columns, and nobody who was not collected is left out.

WIDTH = 80
_MOST_NAMES = 200


def as_text(report: Report) -> str:
    """The report of a run."""
    lines = [*_wrapped(f"{report.source}: {report.layout}, lab {report.lab}"), ""]
    if report.dry:
        lines = [*lines, "Dry run: nothing is written.", "", *_each(report.lines), ""]
    lines += _counts(report)
    remarks = [
        f"{line.student}: {remark}"
        for line in report.lines
        if line.did is not Did.SAME
        for remark in line.remarks
    ]
    refused = [f"{each.name}: {each.why}" for each in report.not_collected]
    choices = [f"{each.name}: {each.why}" for each in report.to_choose]
    for title, texts in (
        ("Not collected:", refused),
        ("A person must choose:", choices),
        ("Please look at:", remarks),
    ):
        if texts:
            lines += ["", title, *(row for text in texts for row in _wrapped(text, "  "))]
    late = [line.student for line in report.lines if line.late]
    moved = [
        f"{line.student} ({_LATE.get(line.late, 'time not known')})"
        for line in report.lines
        if line.moved
    ]
    due = f", due {due_in_words(report.due)}" if report.due is not None else ""
    for title, students in (
        (f"Late{due}", late),
        (f"The due date has moved since the last collect{due}", moved),
        (_BARE, [line.student for line in report.lines if line.bare and line.did is Did.NEW]),
        ("Nothing from", report.absent),
        ("Passed over, because no student's work can be in it", report.strays),
    ):
        if students:
            lines += ["", *_wrapped(f"{title}: {_names(students)}")]
    return "\n".join(lines)


_BARE = (
    "Without a notebook or without a figure, and nothing earlier to compare with (who handed in "
    "more before: collect that, too)"
)


def _names(students: Sequence[str]) -> str:
    """The first students, and how many more there are."""
    names, more = ", ".join(students[:_MOST_NAMES]), len(students) - _MOST_NAMES
    return names + (f", and {more}" if more > 0 else "")


def _counts(report: Report) -> list[str]:
    """The numbers of students by what became of them."""
    did = [line.did for line in report.lines]
    numbers = [
        ("students collected", did.count(Did.NEW)),
        ("newer submission replaces an earlier one", did.count(Did.NEWER)),
        ("earlier submission counts again", did.count(Did.UNDONE)),
        ("older submission kept as an earlier one", did.count(Did.EARLIER)),
        ("newest submission lacks something, and is kept", did.count(Did.POORER)),
        ("nothing new since the last collect", did.count(Did.SAME)),
        ("late", sum(bool(line.late) for line in report.lines)),
        ("other submissions kept", sum(line.earlier for line in report.lines)),
        ("files of other labs, passed over", report.of_other_labs),
        ("in the roster, and nothing handed in", len(report.absent)),
        ("a person must choose", len(report.to_choose)),
        ("NOT collected", len(report.not_collected) + report.refused),
    ]
    rows = [(what, f"{number:,}") for what, number in numbers if number]
    return in_columns(rows, {1}) if rows else ["no submission found"]


def _each(lines: Iterable[Line]) -> list[str]:
    """One row for each student."""
    rows = [("student", "", "handed in (UTC)", "late", "files")]
    rows += [
        (
            line.student if len(line.student) <= 24 else f"{line.student[:21]}...",
            line.did.value[1],
            (line.when or "").replace("T", " ")[:19],
            "late" if line.late else "",
            "" if line.files is None else f"{line.files:,}",
        )
        for line in lines
    ]
    return in_columns(rows, {4})


def _wrapped(text: str, indent: str = "") -> list[str]:
    """The text in lines of at most 80 columns; long words are broken, and new lines are kept."""
    first, *more = text.split("\n")
    inner = f"{indent}    "
    wrapping = textwrap.TextWrapper(WIDTH, indent, inner, break_on_hyphens=False)
    return [
        *(wrapping.wrap(first) or [""]),
        *(row for each in more for row in _wrapped(each, inner)),
    ]
