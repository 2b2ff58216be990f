"""Reads the graded submissions of a lab: verdicts, numbers, machines and guesses.

The autograded notebook is ours, and so are the verdicts in the metadata of its cells. All other
files are the student's: each is read within a limit, and its text is never believed.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from grader.figures.verdict import Outcome, outcome_in_words
from grader.submissions.safe_files import opened, read_regular, trouble_with_name
from grader.with_nbgrader.course_folder import NotOurs, open_course
from grader.with_nbgrader.student_folders import students_in, trusted_part
from labs import limits
from labs.course import figures, guide, predicted_and_found
from labs.course.figures import Figure
from labs.course.predictions import BadPredictions
from labs.recording.file import BadRecording, split_head
from labs.recording.run_conditions import UNKNOWN, kind_in_head, kind_of_all
from labs.units import NANOSECONDS, UnknownUnit, canonical

#: The seed of a process, in the line of the recording about it.
_SEED = re.compile(r'"seed": ?"(\d+)"')
_BLANKS = b" \t\r\n"
_MOST_BYTES = limits.MOST_NOTEBOOK_BYTES + limits.MOST_JUDGEMENT_BYTES
#: Where our autograding writes a verdict, and what it set aside, in a notebook.
_KEY = "ticklab"


@dataclass(frozen=True)
class GradedFigure:
    """The verdict on one figure, and the number that was handed in.

    `in_words` is the outcome for a reader. A time is in ns where its unit has a fixed length.
    `value` is None if no number can be read; `machine` is the kind of machine of its recording.
    `runs` are the fingerprints of the run, or of all runs if the figure names none: a copy of a run
    has one of them too. With `at_most`, a whole core would give the value or less.
    """

    figure: str
    outcome: Outcome
    in_words: str
    findings: tuple[str, ...] = ()
    reason: str = ""
    tries: int | None = None
    flags: tuple[str, ...] = ()
    value: float | None = None
    unit: str = ""
    machine: str = UNKNOWN
    runs: tuple[str, ...] = ()
    at_most: bool = False


@dataclass(frozen=True)
class Guess:
    """A prediction that counts, of which the figure is known: the figure divided by the guess."""

    id: str
    figure: str
    factor: float
    sure: float | None


@dataclass(frozen=True)
class GradedSubmission:
    """One submission; `trouble` says why nothing of it could be read, and is '' otherwise."""

    student: str
    figures: tuple[GradedFigure, ...] = ()
    set_aside: tuple[str, ...] = ()
    guesses: tuple[Guess, ...] = ()
    machine: str = UNKNOWN
    trouble: str = ""

    def verdict_on(self, figure: str) -> GradedFigure | None:
        """The verdict on the figure with this id; None if there is none."""
        return next((each for each in self.figures if each.figure == figure), None)


class _Stated(BaseModel):
    """The verdict in the metadata of a cell; other keys are for other readers."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    figure: str
    outcome: Outcome
    points: float
    max_points: float
    findings: tuple[str, ...] = ()
    reason: str = ""
    tries: int | None = None
    flags: tuple[str, ...] = ()
    at_most: bool = False


@dataclass(frozen=True)
class _Numbers:
    """What `figures.json` and the recordings say, without any verdict on it."""

    figures: dict[str, Figure] = field(default_factory=dict)
    machines: dict[str, str] = field(default_factory=dict)  # by recording
    runs: dict[str, tuple[str, ...]] = field(default_factory=dict)  # by recording


def read_graded(student: str, folder: Path, trusted: Path) -> GradedSubmission:
    """The submission of `student`, whose autograded lab is in `folder`.

    No level of `folder` below `trusted` may be a link. Never raises because of what is in it.
    """
    try:
        with opened(folder, trusted) as top:
            notebook = _notebook(f"{folder.name}.ipynb", top)
        numbers = _numbers(folder, trusted)
    except OSError as error:
        return GradedSubmission(student, trouble=error.strerror or str(error))
    except (ValueError, RecursionError):
        return GradedSubmission(student, trouble="its autograded notebook cannot be read")
    stated = _stated(notebook)
    if not stated:
        return GradedSubmission(student, trouble="its autograded notebook holds no verdict")
    return GradedSubmission(
        student,
        tuple(_figure(each, numbers) for each in stated),
        _set_aside(notebook),
        _guesses(folder),
        kind_of_all(numbers.machines.values()),
    )


def _notebook(name: str, top: int) -> dict[str, Any]:
    """The notebook as JSON. Raises OSError, ValueError and RecursionError."""
    raw = read_regular(name, _MOST_BYTES, top)
    if len(raw) > _MOST_BYTES:
        raise ValueError(f"{name} is too long")
    found = json.loads(raw)
    if not isinstance(found, dict):
        raise ValueError(f"{name} is not a notebook")
    return found


def _stated(notebook: dict[str, Any]) -> list[_Stated]:
    """The verdicts in the notebook's graded cells, in their order."""
    found = []
    cells = notebook.get("cells")
    for cell in cells if isinstance(cells, list) else ():
        marks = _entry(cell, "metadata")
        try:
            verdict = _Stated.model_validate(marks.get(_KEY))
        except ValidationError:
            continue
        if _entry(marks, "nbgrader").get("grade_id") == verdict.figure:
            found.append(verdict)
    return found


def _set_aside(notebook: dict[str, Any]) -> tuple[str, ...]:
    notes = _entry(_entry(notebook, "metadata"), _KEY).get("set_aside")
    return tuple(str(note) for note in notes) if isinstance(notes, list) else ()


def _entry(stated: Any, name: str) -> dict[str, Any]:
    """An object in an object; empty if it is not there."""
    found = stated.get(name) if isinstance(stated, dict) else None
    return found if isinstance(found, dict) else {}


def _numbers(folder: Path, trusted: Path) -> _Numbers:
    """The figures that can be read, and the machine and the run of each recording they name."""
    try:
        read = figures.read(folder)
    except figures.BadFigures:
        return _Numbers()
    known = {name: each for name, each in read.items() if isinstance(each, Figure)}
    named = dict.fromkeys(each.recording for each in known.values() if each.recording)
    numbers = _Numbers(known)
    for path, content in _contents(folder, trusted, named):
        numbers.machines[path] = kind_in_head(content[: limits.MOST_HEAD_BYTES])
        numbers.runs[path] = _run_in(content)
    return numbers


def _contents(folder: Path, trusted: Path, named: Iterable[str]) -> Iterator[tuple[str, bytes]]:
    """Each of these recordings of the lab in `folder` that can be read, with its content."""
    with contextlib.suppress(OSError), opened(folder / figures.RECORDINGS, trusted) as inside:
        for path in named:
            with contextlib.suppress(OSError):
                yield path, read_regular(Path(path).name, limits.MOST_RECORDING_BYTES, inside)


def _run_in(content: bytes) -> tuple[str, ...]:
    """What a copy of the run keeps, unless somebody changed both: its rows, and its seeds.

    The text is enough for this, and takes a fifth of the time of reading its numbers.
    """
    try:
        head, _, rows, _ = split_head(content)
    except BadRecording:
        return (hashlib.sha256(content).hexdigest(),)
    found = [hashlib.sha256(b"rows" + rows.translate(None, _BLANKS)).hexdigest()]
    seeds = _SEED.findall("\n".join(head))
    # The seed of one process may be drawn twice in a large class; those of several are not.
    if len(seeds) > 1:
        found.append(hashlib.sha256(" ".join(["seeds", *seeds]).encode()).hexdigest())
    return tuple(found)


def _figure(stated: _Stated, numbers: _Numbers) -> GradedFigure:
    words = outcome_in_words(stated.outcome, stated.points, stated.max_points, stated.findings)
    handed_in = numbers.figures.get(stated.figure)
    value, unit, machine = None, "", kind_of_all(numbers.machines.values())
    runs = tuple(one for each in numbers.runs.values() for one in each)
    if handed_in is not None:
        value, unit = _in_ns(handed_in)
        # What follows from other figures has no recording of its own, but is of the same machine.
        machine = numbers.machines.get(handed_in.recording or "", machine)
        runs = numbers.runs.get(handed_in.recording or "", runs)
    known = stated.model_dump(exclude={"points", "max_points"})
    known["findings"] = tuple(dict.fromkeys(stated.findings))
    return GradedFigure(**known, in_words=words, value=value, unit=unit, machine=machine, runs=runs)


def _in_ns(figure: Figure) -> tuple[float, str]:
    """Value and unit of a figure: in ns if its unit has a fixed length, else as handed in."""
    try:
        unit = canonical(figure.unit)
    except UnknownUnit:
        return figure.value, figure.unit
    if unit in NANOSECONDS:
        return figure.value * NANOSECONDS[unit], "ns"
    return figure.value, unit


#: Read once for the whole class.
_guide = functools.cache(guide.of_lab)


def _guesses(folder: Path) -> tuple[Guess, ...]:
    """The predictions that were made before the recording, with how far they were off."""
    try:
        rows = predicted_and_found.of_lab(folder, _guide(folder.name))
    except (BadPredictions, figures.BadFigures, OSError):
        return ()
    return tuple(
        Guess(row.id, row.found.id, factor, row.predicted.sure)
        for row in rows
        if row.found is not None
        and not (row.late or row.unknown)
        and (factor := row.factor) is not None
    )


# All submissions of one lab in a course folder, as they were graded.


class NoReport(Exception):
    """There is nothing to report on; the message says why and what to do."""


@dataclass(frozen=True)
class GradedClass:
    """The submissions of `lab` that could be read, those that could not, and who waits.

    `unread` are autograded but cannot be read, and `waiting` are students whose submission was
    collected and not graded. `refused` is the number of folders whose name no student can have.
    """

    lab: str
    submissions: tuple[GradedSubmission, ...]
    unread: tuple[GradedSubmission, ...] = ()
    waiting: tuple[str, ...] = ()
    refused: int = 0

    @cached_property
    def figures(self) -> tuple[str, ...]:
        """The ids of all figures with a verdict, in the order of the notebook."""
        return tuple(dict.fromkeys(f.figure for each in self.submissions for f in each.figures))

    @cached_property
    def students(self) -> tuple[str, ...]:
        """Everybody who handed in, sorted."""
        both = (*self.submissions, *self.unread)
        return tuple(sorted({*(each.student for each in both), *self.waiting}))

    def verdicts_on(self, figure: str) -> Iterator[tuple[str, GradedFigure]]:
        """The verdicts on one figure, each with its student."""
        for each in self.submissions:
            if (verdict := each.verdict_on(figure)) is not None:
                yield each.student, verdict


def course_in(folder: Path) -> Any:
    """nbgrader's CourseDirectory of the course in `folder`, with its settings. Raises NoReport."""
    try:
        return open_course(folder).coursedir
    except NotOurs as error:
        raise NoReport(f"{error}") from None


def read_class(course: Any, lab: str) -> GradedClass:
    """Reads the graded submissions of `lab`. Raises NoReport if nobody's is graded."""
    if Path(lab).name != lab:
        raise NoReport(f"{lab!r} is no name of a lab: write it as in 01-timer-overhead.")
    done, handed_in = course.autograded_directory, course.submitted_directory
    trusted = trusted_part(course, done)
    graded = {
        student: folder
        for student, folder in students_in(course, done, lab, "*").items()
        if trouble_with_name(student) is None
    }
    others = set(students_in(course, handed_in, lab, "*")) - set(graded)
    waiting = {student for student in others if trouble_with_name(student) is None}
    if not graded:
        raise NoReport(
            f"No submission of {lab} is graded in {course.root}. First run `grader autograde "
            f"{lab}` in the course folder."
        )
    read = [read_graded(student, folder, trusted) for student, folder in sorted(graded.items())]
    return GradedClass(
        lab,
        tuple(each for each in read if not each.trouble),
        tuple(each for each in read if each.trouble),
        tuple(sorted(waiting)),
        len(others - waiting),
    )
