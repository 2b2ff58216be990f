"""One wrong submission: who did what, and what is truly the cause."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum

from bench.wrong.student import Planned, Student, own_plan
from grader.figures import figure_named


class Kind(str, Enum):
    """Where the mistake was made."""

    VALUE = "value read wrongly off a right run"
    RUN = "wrong measurement"
    CONCLUSION = "conclusion, relation or mixed-up run"
    FILE = "files"


#: What lays a submission into a student's folder, and what reads a value for one.
Make = Callable[[Student], None]
Read = Callable[[Student], float]


@dataclass(frozen=True)
class Case:
    """A wrong submission of `figure`, which `make` lays into the student's folder.

    `cause` says what is truly wrong with the figure, in plain words and without any code of the
    catalogue.
    """

    name: str
    figure: str
    kind: Kind
    cause: str
    make: Make


@dataclass(frozen=True)
class Lab:
    """A lab's right runs, by the names that its notebook saves them under, and its wrong cases.

    `right` says by which run each figure is handed in that has one. A case is a decorated function:
    its name is the case's, its docstring says what the student did.
    """

    lab: str
    runs: dict[str, Planned]
    right: dict[str, str]
    cases: list[Case] = field(default_factory=list)

    def case(self, kind: Kind, figure: str, cause: str) -> Callable[[Make], Make]:
        """A case that the function hands in."""

        def add(make: Make) -> Make:
            self.cases.append(Case(_name(make), figure, kind, cause, make))
            return make

        return add

    def value(self, figure: str, cause: str, unit: str = "") -> Callable[[Read], Read]:
        """A case in which the right run is handed in, and the function reads something else off it.

        The unit is the figure's own unless another one is given.
        """

        def add(read: Read) -> Read:
            self.add_value(_name(read), figure, cause, read, unit)
            return read

        return add

    def add_value(self, name: str, figure: str, cause: str, read: Read, unit: str = "") -> None:
        """The same of a function that has no name of its own."""
        make = _handed_in(figure, read, unit, self.right.get(figure))
        self.cases.append(Case(name, figure, Kind.VALUE, cause, make))

    def conclusion(
        self,
        figure: str,
        cause: str,
        unit: str = "",
        *,
        after: Make | None = None,
        run: str | None = None,
    ) -> Callable[[Read], Read]:
        """A case in which the figures related are right (`after` hands them in), not the relation.

        `run` is the evidence, where a conclusion has one.
        """

        def add(read: Read) -> Read:
            self.add_conclusion(_name(read), figure, cause, read, unit, after=after, run=run)
            return read

        return add

    def add_conclusion(
        self,
        name: str,
        figure: str,
        cause: str,
        read: Read,
        unit: str = "",
        *,
        after: Make | None = None,
        run: str | None = None,
    ) -> None:
        """The same of a function that has no name of its own."""
        relate = _handed_in(figure, read, unit, run)

        def make(student: Student) -> None:
            if after is not None:
                after(student)
            relate(student)

        self.cases.append(Case(name, figure, Kind.CONCLUSION, cause, make))

    def own_c(self, figure: str, words: str, *rows: tuple[str, str, str]) -> None:
        """Cases of C that a student wrote: compiled, run, its figure taken as the kit shows it.

        A row: the file's name below `c/`, where other words may follow it; what the student did;
        the cause. `words` follow `%%ckernel` in the cell.
        """
        for file, _, cause in rows:
            make = self._own_c(figure, words, file)
            slug = re.sub(r"[^a-z0-9]+", "-", file.lower().partition(" --samples")[0])
            self.cases.append(Case(f"c-{slug}", figure, Kind.RUN, cause, make))

    def _own_c(self, figure: str, words: str, file: str) -> Make:
        file, _, more = file.partition(" ")
        unit = figure_named(figure).unit

        def make(student: Student) -> None:
            planned = own_plan(f"{words} {more}", f"{self.lab[:2]}/{file}.c")
            run = student.measured("own", planned)
            student.figure(figure, _three_digits(run.naive(unit=unit)), unit, run)

        return make


def _name(function: Callable[[Student], object]) -> str:
    return function.__name__.replace("_", "-")


def _handed_in(figure: str, read: Read, unit: str, run: str | None) -> Make:
    def make(student: Student) -> None:
        evidence = student[run] if run is not None else None
        value = _three_digits(read(student))
        student.figure(figure, value, unit or figure_named(figure).unit, evidence)

    return make


def _three_digits(value: float) -> float:
    """A value as students write it down."""
    return float(f"{value:.4g}")
