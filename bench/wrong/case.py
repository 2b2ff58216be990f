"""One wrong submission: who did what, and what is truly the cause."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum

from bench.wrong.student import Planned, Student, own_plan


class Kind(str, Enum):
    """Where the mistake was made."""

    VALUE = "value read wrongly off a right run"
    RUN = "wrong measurement"
    CONCLUSION = "conclusion, relation or mixed-up run"
    FILE = "files"


Make = Callable[[Student], None]


@dataclass(frozen=True)
class Case:
    """A wrong submission of `figure`.

    `did` says what the student did, `cause` what is truly wrong with the figure, in plain words and
    without any code of the catalogue. `make` lays the submission into the student's folder.
    """

    name: str
    figure: str
    kind: Kind
    did: str
    cause: str
    make: Make


@dataclass(frozen=True)
class Lab:
    """A lab's right runs, by the names that its notebook saves them under, and its wrong cases.

    `right` says by which run each figure is handed in that has one.
    """

    lab: str
    runs: dict[str, Planned]
    right: dict[str, str]
    cases: tuple[Case, ...]


#: A row of a table of values: name, what was done, what is the cause, and what reads the value.
ValueRow = tuple[str, str, str, Callable[[Student], float]]


def values(figure: str, run: str | None, unit: str, rows: Iterable[ValueRow]) -> tuple[Case, ...]:
    """Cases in which the run `run` is right, and something else is read off it.

    A row may name another unit behind a slash in its name: `in-ticks/ns`.
    """
    return tuple(_value(figure, run, unit, row) for row in rows)


def _value(figure: str, run: str | None, unit: str, row: ValueRow) -> Case:
    name, did, cause, read = row
    name, _, other = name.partition("/")

    def make(student: Student) -> None:
        evidence = student[run] if run is not None else None
        student.figure(figure, _three_digits(read(student)), other or unit, evidence)

    return Case(name, figure, Kind.VALUE, did, cause, make)


def conclusions(
    figure: str,
    unit: str,
    before: Make,
    rows: Iterable[ValueRow],
    run: str | None = None,
) -> tuple[Case, ...]:
    """Cases in which the figures related are right (`before` hands them in), the relation is not.

    As in `values`, a row may name another unit behind a slash.
    """

    def case(row: ValueRow) -> Case:
        name, did, cause, read = row
        name, _, other = name.partition("/")

        def make(student: Student) -> None:
            before(student)
            evidence = student[run] if run is not None else None
            student.figure(figure, _three_digits(read(student)), other or unit, evidence)

        return Case(name, figure, Kind.CONCLUSION, did, cause, make)

    return tuple(case(row) for row in rows)


#: A row of a table of C: the file's name, what was done, what is the cause.
CRow = tuple[str, str, str]


def own_c(
    figure: str, folder: str, words: str, unit: str, rows: Iterable[CRow]
) -> tuple[Case, ...]:
    """Cases of C that a student wrote: compiled, run, and its figure taken as the kit shows it.

    `words` follow `%%ckernel` in the cell. A file's name may be followed by other words.
    """

    def case(row: CRow) -> Case:
        file, did, cause = row
        file, _, more = file.partition(" ")

        def make(student: Student) -> None:
            run = student.measured("own", own_plan(f"{words} {more}", f"{folder}/{file}.c"))
            student.figure(figure, _three_digits(run.naive(unit=unit)), unit, run)

        slug = re.sub(r"[^a-z0-9]+", "-", row[0].lower().partition(" --samples")[0])
        return Case(f"c-{slug}", figure, Kind.RUN, did, cause, make)

    return tuple(case(row) for row in rows)


def run_case(name: str, figure: str, did: str, cause: str, make: Make) -> Case:
    """A case whose measurement is wrong."""
    return Case(name, figure, Kind.RUN, did, cause, make)


def file_case(name: str, figure: str, did: str, cause: str, make: Make) -> Case:
    """A case whose files are wrong."""
    return Case(name, figure, Kind.FILE, did, cause, make)


def mixed_case(name: str, figure: str, did: str, cause: str, make: Make) -> Case:
    """A case in which runs are mixed up."""
    return Case(name, figure, Kind.CONCLUSION, did, cause, make)


def _three_digits(value: float) -> float:
    """A value as students write it down."""
    return float(f"{value:.4g}")
