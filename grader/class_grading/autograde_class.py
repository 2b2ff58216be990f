"""Grades a whole class: workers compute, one writer enters, and a summary says what came of it."""

from __future__ import annotations

import dataclasses
import datetime
import logging
import os
import secrets
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from nbgrader import utils
from nbgrader.api import (
    Comment,
    Grade,
    Gradebook,
    MissingEntry,
    Student,
    SubmittedAssignment,
    SubmittedNotebook,
    new_uuid,
)
from nbgrader.apps.baseapp import NbGrader
from nbgrader.converters.base import NbGraderException
from sqlalchemy import insert, select
from sqlalchemy.engine import Connection, Row

from grader.class_grading.gradebook_grades import due_in_words
from grader.class_grading.grading_process import (
    Job,
    LocalPool,
    NoResult,
    Plan,
    Result,
    as_notebook,
    key_of,
    read_result,
    result_path,
    write_json,
    write_notebook,
    write_result,
)
from grader.class_grading.on_dask import Cluster, DaskPool, NoCluster
from grader.figures.verdict import Outcome
from grader.judging.worker import verdict_from
from grader.submissions.safe_files import printable, some
from grader.with_nbgrader.autograde import CourseAutograde, read_released, released_folder
from grader.with_nbgrader.careful_course import is_ours
from grader.with_nbgrader.class_flags import REGISTER, Entries, EvidenceRegister, same_run_as
from grader.with_nbgrader.course_folder import (
    NotOurs,
    Stopped,
    alone,
    logged,
    open_course,
    remove_empty_above,
    remove_left,
    stopping,
)
from grader.with_nbgrader.earlier_grades import (
    CannotEnter,
    HandedIn,
    Penalties,
    by_replaced_release,
    change,
    other_penalties,
    seconds_late,
)
from grader.with_nbgrader.locked_gradebook import raise_if_no_room
from grader.with_nbgrader.release import earlier_releases
from grader.with_nbgrader.replay import Replay
from grader.with_nbgrader.settings import AUTOGRADE_STEPS
from grader.with_nbgrader.student_folders import students_in, trusted_part
from grader.with_nbgrader.verdict_cells import IN_ANOTHER, needs_a_person, write_flags
from labs.html import in_columns
from labs.terminal import safe
from labs.units import plural
from labs.version import __version__

# Prepares the grading of a class: what workers must know, and who is to be graded.


@dataclass
class Class:
    """The submissions of a run, in the order in which nbgrader would grade them.

    `computed` are those students whose results an earlier run has left to enter.
    """

    jobs: list[Job] = field(default_factory=list)
    computed: set[str] = field(default_factory=set)
    skipped: int = 0

    @property
    def to_compute(self) -> list[Job]:
        """The submissions that must be graded."""
        return [job for job in self.jobs if job.student not in self.computed]


class Run:
    """One run of one lab; `aside` is where it keeps what its workers must know."""

    def __init__(self, converter: CourseAutograde, aside: Path) -> None:
        self.converter = converter
        self.course = converter.coursedir
        self.lab = str(self.course.assignment_id)
        self.log: logging.Logger = converter.log
        self._aside = aside

    def __enter__(self) -> Run:
        self._remove_plans()
        return self

    def __exit__(self, *_: object) -> None:
        self._remove_plans()

    def _remove_plans(self) -> None:
        """Whoever still works by a plan sees that the run is over when the plan is gone."""
        for path in self._aside.glob(f".plan-{self.lab}-*.json*"):
            path.unlink(missing_ok=True)

    def plan(self, writer: Writer) -> tuple[Plan, Path]:
        """What every worker must know, and the file that holds it.

        Raises Stopped if nothing was released, and OSError.
        """
        converter, course = self.converter, self.course
        release = released_folder(course, self.lab)
        released = sorted(path.stem for path in release.glob("*.ipynb"))
        known = [name for name in released if name in writer.notebooks]
        if not known:
            raise Stopped(
                f"the gradebook has no notebook of {release}: run "
                f"`nbgrader generate_assignment {self.lab}` first"
            )
        replay = Replay(parent=converter)
        plan = Plan(
            lab=self.lab,
            token=secrets.token_hex(8),
            notebooks={name: self._sanitized(release / f"{name}.ipynb") for name in known},
            earlier={
                name: [path.read_text("utf-8") for path in earlier_releases(release, name)]
                for name in known
            },
            of_gradebook=writer.notebooks,
            released=released,
            sources=self._sources(),
            ignore=list(course.ignore),
            trusted=str(trusted_part(course, course.submitted_directory)),
            permissions=str(converter.permissions),
            groupshared=bool(course.groupshared),
            check=replay.check,
            presenter=replay.presenter,
            rules=[__version__],
        )
        path = self._aside / f".plan-{self.lab}-{plan.token}.json"
        write_json(path, dataclasses.asdict(plan))
        return plan, path

    def _sanitized(self, path: Path) -> str:
        """The released notebook after nbgrader's first pass, in which the gradebook corrects it."""
        converter: Any = self.converter
        converter._sanitizing = True
        converter.exporter = converter.exporter_class(parent=converter, config=converter.config)
        converter._init_preprocessors()
        names = {"student": "", "assignment": self.lab, "notebook": path.stem}
        resources = {
            "metadata": {"name": path.stem, "path": str(path.parent)},
            "nbgrader": {**names, "db_url": self.course.db_url},
        }
        text, _ = converter.exporter.from_notebook_node(read_released(path), resources)
        return str(text)

    def _sources(self) -> list[tuple[str, str]]:
        """The files of the source that come into each student's folder."""
        course = self.course
        self.converter.keep_evidence(self.lab)
        top = course.format_path(course.source_directory, ".", self.lab)
        excluded = {
            str(Path(top) / name) for name in self.converter.exclude_overwriting.get(self.lab, [])
        }
        found = utils.find_all_files(top, [*course.ignore, "*.ipynb"])
        return [
            (str(Path(path).absolute()), str(Path(path).relative_to(top)))
            for path in sorted(found)
            if path not in excluded
        ]

    def find(self, plan: Plan) -> Class:
        """The submissions that are to be graded, and what earlier runs have left of them.

        Raises NbGraderException if nothing was submitted.
        """
        found = Class()
        converter: Any = self.converter
        converter.init_notebooks()
        course = self.course
        folders = students_in(course, course.submitted_directory, self.lab, course.student_id)
        names = {str(path): student for student, path in folders.items()}
        for folder in sorted(converter.assignments):
            student = names[folder]
            converter.notebooks = converter.assignments[folder]
            unfinished = converter.unfinished_folder(self.lab, student)
            flags = converter.accounts.of.get(student, {})
            accounts = {
                recording: [(flag.words, list(flag.students)) for flag in each]
                for recording, each in flags.items()
            }
            job = Job(student, folder, str(unfinished), accounts)
            if self._is_left(plan, job):
                found.computed.add(student)
            elif not converter.is_wanted(self.lab, student):
                self.log.info("Skipping existing assignment: %s", printable(folder, 300))
                found.skipped += 1
                continue
            found.jobs.append(job)
        return found

    def forget(self, student: str) -> None:
        """Removes what is left of a submission for which there is no result."""
        unfinished = self.converter.unfinished_folder(self.lab, student)
        remove_left(unfinished)
        remove_empty_above(unfinished)

    def _is_left(self, plan: Plan, job: Job) -> bool:
        """Whether an earlier run has computed this and not entered it, and it still holds.

        Whatever else it left of this submission is removed.
        """
        unfinished = Path(job.unfinished)
        if not unfinished.parent.exists():
            return False
        result = read_result(result_path(unfinished), job.student)
        if result is None or not unfinished.is_dir() or result.key != key_of(plan, job):
            remove_left(unfinished)
            remove_empty_above(unfinished)
            return False
        return True


#: So many students are one transaction of the gradebook.
BATCH = 100


class Pool(Protocol):
    """What grades: processes of this machine or of a cluster."""

    def each(self, jobs: Sequence[Job]) -> Iterator[tuple[Job, NoResult | None]]:
        """Yields each job in order when it is done, with the reason if there is no result file."""


@dataclass(frozen=True)
class Options:
    """How to grade: with so many processes, or on a cluster."""

    workers: int = 0
    cluster: Cluster | None = None
    force: bool = False


#: Called with the submissions of a run before any of them is graded; gives what is called with the
#: number of submissions that were done just now.
Tell = Callable[[Class], Callable[[int], object]]


def log_of(course: Path, lab: str) -> Path:
    """The file in the course folder to which a run adds what happened."""
    return course / f"autograde-{lab}.log"


def autograde(course: Path, lab: str, options: Options, tell: Tell) -> Summary:
    """Grades every submission of `lab` that is due.

    Raises NotOurs for another course, and Stopped if the run ends early. Then the same call goes on
    where this one ended.
    """
    app = open_course(course)
    converter = autograder(app, lab)
    converter.force = options.force
    try:
        with (
            stopping(),
            logged(app, log_of(course, lab)),
            alone(converter, converter.coursedir.autograded_directory, "autograde") as aside,
            Run(converter, aside) as run,
        ):
            return _graded(run, app, options, course, tell)
    except (NbGraderException, CannotEnter, NoCluster) as error:
        raise Stopped(str(error)) from error


def _graded(run: Run, app: Any, options: Options, course: Path, tell: Tell) -> Summary:
    """Grades and enters everything. Raises Stopped if the disk is full."""
    converter: Any = run.converter
    with Gradebook(app.coursedir.db_url, app.coursedir.course_id) as gradebook:
        writer = Writer(gradebook, run.lab, Penalties(converter), bool(converter.create_student))
        plan, path = run.plan(writer)
        found = run.find(plan)
        done = tell(found)
        entering = Entering(plan, writer, converter)
        summary = Summary(skipped=found.skipped, refused=converter.refused)
        with _pool(path, plan, options, len(found.to_compute), course) as pool:
            batch: list[Result] = []
            for result in _results(found, pool):
                for line in result.log:
                    run.log.warning("%s", line)
                if result.trouble:
                    summary.failed[result.student] = result.trouble
                    run.forget(result.student)
                else:
                    batch.append(result)
                if len(batch) >= BATCH or result.stops:
                    entering.enter(batch, summary)
                    batch = []
                if result.stops:
                    raise Stopped(result.trouble)
                done(1)
            entering.enter(batch, summary)
            # Here: a cluster that is lost by now takes none of this with it.
            for line in summary.refused:
                run.log.error("%s", line)
            for student, why in summary.failed.items():
                run.log.error("%s: not graded: %s", printable(student), why)
            summary.due, summary.penalties = writer.due, writer.renew_penalties()
            summary.replaced = by_replaced_release(app.coursedir, run.lab)
    return summary


def _pool(
    path: Path, plan: Plan, options: Options, jobs: int, course: Path
) -> AbstractContextManager[Pool]:
    if options.cluster:
        return DaskPool(path, options.cluster, course.absolute())
    count = max(1, min(options.workers or os.cpu_count() or 1, jobs))
    return LocalPool(path, count, Path(plan.trusted))


def _results(found: Class, pool: Pool) -> Iterator[Result]:
    """The results in the order of nbgrader's, computed now or earlier."""
    computing = pool.each(found.to_compute)
    for job in found.jobs:
        no = None
        if job.student not in found.computed:
            _, no = next(computing)
        path = result_path(Path(job.unfinished))
        result = read_result(path, job.student) if no is None else None
        if result is None:
            no = no or NoResult("its result file cannot be read, or is not that of this student")
            result = Result(job.student, trouble=no.why, stops=no.stops)
        yield result


# What an instructor reads when a class is graded: outcomes, findings, whom to look at.

#: A screen has room for so many names, and for so many findings.
_MOST_NAMES, _MOST_FINDINGS = 12, 15


@dataclass
class Summary:
    """What is known of a run so far; it keeps no result.

    `failed` says why there is no result for a student; `not_graded` has the figures that wait for a
    person; `penalties` names those whose late penalty is new because the due date has moved, and
    `replaced` those whose grade is of a release that is no longer the newest one. A finding counts
    once for each student.
    """

    submissions: int = 0
    skipped: int = 0
    refused: list[str] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)
    outcomes: Counter[str] = field(default_factory=Counter)
    findings: Counter[str] = field(default_factory=Counter)
    not_graded: dict[str, list[str]] = field(default_factory=dict)
    set_aside: list[str] = field(default_factory=list)
    flagged: list[str] = field(default_factory=list)
    due: datetime.datetime | None = None
    penalties: list[str] = field(default_factory=list)
    replaced: list[str] = field(default_factory=list)

    def add(self, result: Result) -> None:
        """Counts one submission."""
        self.submissions += 1
        codes: set[str] = set()
        flagged = any(result.accounts.values()) or any((result.copied or {}).values())
        for stated in result.figures:
            verdict = verdict_from(stated)
            self.outcomes[verdict.in_words] += 1
            codes.update(finding.code for finding in verdict.findings)
            flagged |= bool(verdict.flags)
            if verdict.outcome is Outcome.NOT_GRADED:
                self.not_graded.setdefault(result.student, []).append(verdict.figure)
        self.findings.update(codes)
        if result.set_aside:
            self.set_aside.append(result.student)
        if flagged:
            self.flagged.append(result.student)

    def as_text(self) -> str:
        """The summary for a terminal."""
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        yield f"{plural(self.submissions, 'submission')} graded" + (
            f", {self.skipped:,} skipped because they were graded before" if self.skipped else ""
        )
        if self.outcomes:
            yield "\nFigures:"
            yield from _counted(self.outcomes)
        if self.findings:
            yield "\nFindings, by the number of students:"
            yield from _counted(self.findings)
        yield from _names("\nFigures that a person must grade", list(self.not_graded))
        yield from _names("\nParts were left out of the notebooks of", self.set_aside)
        yield from _names("\nFlags, for a person to look at", self.flagged)
        if self.due is not None:
            yield f"\nDue {due_in_words(self.due)}"
        yield from _names("Late penalties that changed, by this due date", self.penalties)
        yield from _names(
            "Graded by a release that another one has replaced; `--force` grades them by the new "
            "one",
            self.replaced,
        )
        failed = [f"{printable(student)}: {why}" for student, why in self.failed.items()]
        for title, lines in (("Refused", self.refused), ("Not graded because of an error", failed)):
            if lines:
                yield f"\n{title}:"
                yield from (f"  {line}" for line in lines[:_MOST_NAMES])
                if len(lines) > _MOST_NAMES:
                    yield f"  and {len(lines) - _MOST_NAMES:,} more; the log has all of them"


def _counted(counts: Counter[str]) -> Iterator[str]:
    most = counts.most_common(_MOST_FINDINGS)
    rows = [(f"{count:,}", what) for what, count in most]
    yield from (f"  {line}" for line in in_columns(rows, to_the_right=(0,)))
    if len(counts) > len(most):
        yield f"  and {plural(len(counts) - len(most), 'other')}"


def _names(title: str, names: Sequence[str]) -> Iterator[str]:
    if names:
        yield f"{title} ({len(names):,}): {some(names, _MOST_NAMES)}"


# Puts results into nbgrader's gradebook, many students in one transaction.
#
# nbgrader's own way asks the gradebook for each cell, and commits each of them: half a second for
# one submission. Here the rows of a batch are read at once and written at once. What a row gets is
# the same as with nbgrader: points given by hand stay, and then a person must look again.

_Rows = dict[tuple[str, str], Row[Any]]
_New = list[dict[str, Any]]


class _Cells:
    """The cells of the notebooks of a lab: their ids, by notebook and name.

    `most` has the points of each graded cell, by its id.
    """

    def __init__(self, notebooks: Sequence[Any]) -> None:
        self.notebooks: dict[str, str] = {each.name: each.id for each in notebooks}
        self.graded: dict[tuple[str, str], str] = {}
        self.commented: dict[tuple[str, str], str] = {}
        self.most: dict[str, float] = {}
        for notebook in notebooks:
            for cell in (*notebook.grade_cells, *notebook.task_cells):
                self.graded[notebook.name, cell.name] = cell.id
                self.most[cell.id] = cell.max_score
            for cell in (*notebook.solution_cells, *notebook.task_cells):
                self.commented[notebook.name, cell.name] = cell.id


class Writer:
    """The gradebook of a course, open for the results of one lab."""

    def __init__(self, gradebook: Gradebook, lab: str, penalties: Penalties, create: bool) -> None:
        """`create` says whether a student who is not in the gradebook is added to it.

        Raises CannotEnter if the gradebook does not have the lab.
        """
        self._engine = gradebook.engine
        self._penalties = penalties
        self._create = create
        try:
            found = gradebook.find_assignment(lab)
        except MissingEntry as error:
            raise CannotEnter(
                f"the gradebook has no lab {safe(lab)}: run `nbgrader generate_assignment "
                f"{safe(lab)}` first"
            ) from error
        self._lab_id = str(found.id)
        #: When the lab is due, in UTC; None if it has no due date.
        self.due: datetime.datetime | None = found.duedate
        self._cells = _Cells(found.notebooks)
        #: The names of the lab's notebooks.
        self.notebooks = sorted(self._cells.notebooks)
        gradebook.db.close()  # a transaction that is open for the whole run would hold others up

    def renew_penalties(self) -> list[str]:
        """As :func:`grader.with_nbgrader.earlier_grades.other_penalties`, which renews them."""
        return other_penalties(self._engine, self._lab_id, self.due, self._penalties, renew=True)

    def write(self, results: Sequence[Result]) -> dict[str, str]:
        """Enters all results, and returns why some students' were left out.

        Raises what SQLAlchemy raises, and GradebookUnavailable; then nothing is entered.
        """
        try:
            with self._engine.begin() as connection:
                self._enter(connection, results)
            return {}
        except CannotEnter as error:
            if len(results) == 1:
                return {results[0].student: str(error)}
        # One of them does not fit. The others must not wait for it.
        return {name: why for one in results for name, why in self.write([one]).items()}

    def _enter(self, connection: Connection, results: Sequence[Result]) -> None:
        self._enter_students(connection, [each.student for each in results])
        submissions = self._enter_submissions(connection, results)
        ids = [each.id for each in submissions.values()]
        notebooks = _by(connection, SubmittedNotebook, ids, "assignment_id", "notebook_id")
        found = [each.id for each in notebooks.values()]
        grades = _by(connection, Grade, found, "notebook_id", "cell_id", "manual_score")
        comments = _by(connection, Comment, found, "notebook_id", "cell_id")
        scored, said = [], []
        handed_in: list[HandedIn] = []
        for result in results:
            submission = submissions[result.student]
            own = {
                name: _found(notebooks, (submission.id, number), f"notebook {name}").id
                for name, number in self._cells.notebooks.items()
            }
            for notebook, cell, automatic in self._scores(result):
                grade = _found(grades, (own[notebook], self._graded(notebook, cell)), cell)
                # Of a notebook that is missing, nbgrader asks nobody to look at anything.
                person = notebook in result.scores and needs_a_person(automatic, grade.manual_score)
                scored.append({"row": grade.id, "automatic": automatic, "person": person})
            for notebook, each in result.comments.items():
                for cell, words in each.items():
                    number = _found(self._cells.commented, (notebook, cell), f"answer cell {cell}")
                    row = _found(comments, (own[notebook], number), cell).id
                    said.append({"row": row, "words": words})
            seconds = seconds_late(submission.timestamp, self.due, submission.extension)
            handed_in += [HandedIn(own[name], result.student, seconds) for name in result.scores]
        change(connection, Grade, scored, auto_score="automatic", needs_manual_grade="person")
        change(connection, Comment, said, auto_comment="words")
        self._penalties.assign(connection, handed_in)

    def _scores(self, result: Result) -> Iterator[tuple[str, str, float | None]]:
        """Each cell's automatic points; nbgrader gives none for a notebook that is missing."""
        for notebook in result.missing:
            if notebook not in result.scores:
                for of, cell in self._cells.graded:
                    if of == notebook:
                        yield notebook, cell, 0.0
        for notebook, each in result.scores.items():
            for cell, automatic in each.items():
                most = self._cells.most[self._graded(notebook, cell)]
                if automatic is not None and not 0 <= automatic <= most:
                    raise CannotEnter(
                        f"its result has {automatic:g} points for {safe(cell)}, which gives 0 to "
                        f"{most:g}; nothing of it was entered"
                    )
                yield notebook, cell, automatic

    def _graded(self, notebook: str, cell: str) -> str:
        return str(_found(self._cells.graded, (notebook, cell), f"graded cell {cell}"))

    def _enter_students(self, connection: Connection, names: Sequence[str]) -> None:
        known = set(connection.scalars(select(Student.id).where(Student.id.in_(names))))
        new = [name for name in names if name not in known]
        if new and not self._create:
            raise CannotEnter(f"the gradebook has no student {safe(new[0])}")
        if new:
            connection.execute(insert(Student), [{"id": name} for name in new])

    def _enter_submissions(
        self, connection: Connection, results: Sequence[Result]
    ) -> dict[str, Row[Any]]:
        """The submission of each student, with the rows of all its cells."""
        table = SubmittedAssignment
        query = select(table.student_id, table.id, table.timestamp, table.extension).where(
            table.assignment_id == self._lab_id,
            table.student_id.in_([each.student for each in results]),
        )
        known = {each.student_id: each for each in connection.execute(query)}
        new = [each for each in results if each.student not in known]
        times = [
            {"row": known[each.student].id, "time": _time(each)}
            for each in results
            if each.student in known and each.timestamp is not None
        ]
        change(connection, table, times, timestamp="time")
        if new:
            self._add(connection, new)
        return {each.student_id: each for each in connection.execute(query)}

    def _add(self, connection: Connection, results: Sequence[Result]) -> None:
        tables = (SubmittedAssignment, SubmittedNotebook, Grade, Comment)
        new: dict[Any, _New] = {table: [] for table in tables}
        for result in results:
            own = {"id": new_uuid(), "student_id": result.student, "timestamp": _time(result)}
            new[SubmittedAssignment].append({**own, "assignment_id": self._lab_id})
            for name, number in self._cells.notebooks.items():
                notebook = {"id": new_uuid(), "assignment_id": own["id"], "notebook_id": number}
                new[SubmittedNotebook].append(notebook)
                new[Grade] += _rows_for(self._cells.graded, name, notebook["id"])
                new[Comment] += _rows_for(self._cells.commented, name, notebook["id"])
        for table, rows in new.items():
            if rows:
                connection.execute(insert(table), rows)


def _rows_for(cells: Mapping[tuple[str, str], str], name: str, notebook: str) -> _New:
    """New rows for the cells of one notebook."""
    return [
        {"id": new_uuid(), "notebook_id": notebook, "cell_id": cell}
        for (of, _), cell in cells.items()
        if of == name
    ]


def _time(result: Result) -> datetime.datetime | None:
    return datetime.datetime.fromisoformat(result.timestamp) if result.timestamp else None


def _by(connection: Connection, table: Any, of: Sequence[str], *columns: str) -> _Rows:
    """The rows whose first column is one of `of`, by their first two columns; each has its id."""
    query = select(*(getattr(table, name) for name in (*columns, "id")))
    rows = connection.execute(query.where(getattr(table, columns[0]).in_(of)))
    return {(each[0], each[1]): each for each in rows}


def _found(rows: Mapping[tuple[str, str], Any], place: tuple[str, str], what: str) -> Any:
    if place not in rows:
        raise CannotEnter(
            f"the gradebook has no row for {safe(what)} in this submission; was the lab released "
            "anew after an earlier grading?"
        )
    return rows[place]


# Enters computed results: register of runs, gradebook, and the folders in their places.
#
# The order makes an interruption harmless. The register is asked once for each result, and its
# answer is in the result file before the register itself is changed. The gradebook comes next. The
# folder of a student appears last, so whoever has one is done. Whatever is done twice gives the
# same.


class Entering:
    """What enters results; `converter` is nbgrader's autograding, which knows the folders."""

    def __init__(self, plan: Plan, writer: Writer, converter: Any) -> None:
        self._plan = plan
        self._writer = writer
        self._converter = converter
        self._register = EvidenceRegister(Path(converter.coursedir.root) / REGISTER)

    def enter(self, results: Sequence[Result], summary: Summary) -> None:
        """Enters some results, in the order of `results`, and counts them.

        Raises OSError, and what SQLAlchemy raises. Then all of them can be entered again.
        """
        if not results:
            return
        self._ask_register(results)
        failed = self._writer.write(results)
        for result in results:
            unfinished = self._unfinished(result)
            if result.student in failed:
                summary.failed[result.student] = failed[result.student]
            else:
                self._converter.put_in_place(self._plan.lab, result.student)
                summary.add(result)
            remove_left(unfinished)
            remove_empty_above(unfinished)

    def _ask_register(self, results: Sequence[Result]) -> None:
        """Flags the runs that other submissions hold too."""
        try:
            with self._register.opened() as entries:
                for result in results:
                    self._ask(entries, result)
        except sqlite3.Error as error:
            raise_if_no_room(error)
            self._converter.log.warning(
                "The search for copies failed: %s: %s", self._register.path, error
            )

    def _ask(self, entries: Entries, result: Result) -> None:
        found = {
            notebook: entries.enter(result.student, self._plan.lab, runs)
            for notebook, runs in result.runs.items()
        }
        if result.copied is not None:  # by a run that was ended; the class has changed since
            return
        result.copied = {notebook: copies for notebook, copies in found.items() if copies}
        for notebook, copies in result.copied.items():
            for line in same_run_as(result.student, copies):
                self._converter.log.warning("%s", line)
            self._flag(result, notebook, copies)
        write_result(result_path(self._unfinished(result)), result)

    def _flag(self, result: Result, notebook: str, copies: dict[str, list[str]]) -> None:
        path = self._unfinished(result) / f"{notebook}.ipynb"
        node = as_notebook(path.read_text(encoding="utf-8"))
        verdicts = {name: verdict_from(each) for name, each in result.verdicts[notebook].items()}
        raised = {
            figure: [IN_ANOTHER, *result.accounts.get(notebook, {}).get(figure, [])]
            for figure in copies
            # The cell of a verdict that was replaced has nothing to flag.
            if figure in verdicts and verdicts[figure].fingerprints
        }
        write_flags(node, verdicts, raised, self._plan.presenter, self._converter.log)
        new = path.with_name(f".{path.name}.new")
        write_notebook(new, node)
        new.chmod(path.stat().st_mode)
        new.replace(path)

    def _unfinished(self, result: Result) -> Path:
        folder: Path = self._converter.unfinished_folder(self._plan.lab, result.student)
        return folder


# The settings of a course for grading, if `grader` can carry them out.


def autograder(app: NbGrader, lab: str) -> CourseAutograde:
    """nbgrader's autograding of `lab`, from which our run takes its settings and folders.

    Raises NotOurs if the course grades otherwise than we do.
    """
    app.coursedir.assignment_id = lab
    converter: CourseAutograde = CourseAutograde(coursedir=app.coursedir, parent=app)
    if not is_ours(converter):
        raise NotOurs(
            "this course does not have the settings of Ticklab, so nbgrader would run the code of "
            "the students: call `configure(c, __file__)` in its nbgrader_config.py"
        )
    changed = [name for name, is_so in _settings(converter).items() if not is_so]
    if changed:
        raise NotOurs(
            f"this course has its own {' and '.join(changed)}, which only nbgrader can carry out: "
            f"use `nbgrader autograde {lab}`"
        )
    return converter


def _settings(converter: Any) -> dict[str, bool]:
    """Whether each of the settings that we do not carry out is as we know it."""
    plain = CourseAutograde(coursedir=converter.coursedir)
    names = [_name(step) for step in converter.autograde_preprocessors]
    return {
        "c.Autograde.autograde_preprocessors": names == AUTOGRADE_STEPS,
        "c.Autograde.sanitize_preprocessors": converter.sanitize_preprocessors
        == plain.sanitize_preprocessors,
        "c.Autograde.pre_convert_hook": converter.pre_convert_hook is None,
        "c.Autograde.post_convert_hook": converter.post_convert_hook is None,
        "c.CourseDirectory.notebook_id": converter.coursedir.notebook_id == "*",
    }


def _name(step: Any) -> str:
    if isinstance(step, str):
        return step
    ours = not step.__module__.startswith("nbgrader.")
    return f"{step.__module__ if ours else 'nbgrader.preprocessors'}.{step.__name__}"
