"""What a class has shared so far: one row for each student, in SQLite.

Of each student only the message with the largest version counts, and leaving is final. So the state
is the same in whatever order messages arrive, and how often. The rows are in memory, or in the
folder where the instructor keeps the class.
"""

from __future__ import annotations

import functools
import math
import os
import sqlite3
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from grader.figures import LABS
from grader.figures.spec import CHOICE, FigureSpec
from grader.pitfalls import CATALOGUE
from labs import limits
from labs.course import guide
from labs.course.class_figures import CLASS_FILE, rows_of, write_class
from labs.course.in_class import Shared, SharedFigure, SharedPrediction
from labs.units import NANOSECONDS

#: The symptom of each pitfall that may be shown before the lab is handed in.
SYMPTOMS = {each.code: each.symptom for each in CATALOGUE if not each.tells_answer}
#: Kinds of machine that fewer students have are shown together, so that nobody is recognised.
FEWEST_OF_KIND, OTHERS = 3, "other machines"
#: Of so many who have left, it is remembered that nothing of them is taken again.
_MOST_LEFT = 20 * limits.MOST_IN_CLASS
#: The version of who has left: no message has a larger one.
_LEFT = 2**62
_CODES = frozenset(each.code for each in CATALOGUE)

#: With a write-ahead log, what was answered survives the process, and no commit waits for the disk.
#: Nothing is left of who leaves.
_BEGIN = """
pragma journal_mode=wal; pragma synchronous=normal; pragma secure_delete=on;
create table if not exists students (student text primary key, version integer, shared text);
"""
#: Two messages of one version are always ordered alike.
_TAKE = """
insert into students values (?1, ?2, ?3) on conflict do update set version = ?2, shared = ?3
where (?2, ?3) > (version, shared)
"""


@dataclass(frozen=True)
class Question:
    """A figure of the lab, with the prediction that is asked of it, if any."""

    prediction: str
    asks: str
    spec: FigureSpec


def questions_of(lab: str) -> tuple[Question, ...]:
    """Each figure of the lab that is a number, those with a prediction first."""
    asked = {
        each.figure or name: (name, each) for name, each in guide.of_lab(lab).predictions.items()
    }
    found = []
    for spec in LABS.get(lab, ()):
        if spec.unit != CHOICE:
            name, each = asked.get(spec.id, ("", None))
            text = each.asks if each else f"{spec.asked[0].upper()}{spec.asked[1:]}"
            found.append(Question(name, text, spec))
    return tuple(sorted(found, key=lambda each: not each.prediction))


class Found(NamedTuple):
    """A student's figure in the unit of the question, with its interval, if it has one."""

    value: float
    low: float
    high: float
    machine: str
    findings: frozenset[str]


@dataclass(frozen=True)
class Answers:
    """What the class has said to one question: `here` students have joined."""

    here: int
    predictions: tuple[float, ...]
    found: tuple[Found, ...]

    def by_machine(self) -> dict[str, tuple[Found, ...]]:
        """The figures by kind of machine, the most frequent first, in ascending order."""
        counts = Counter(each.machine for each in self.found)
        kinds: dict[str, list[Found]] = {}
        for each in sorted(self.found):
            rare = counts[each.machine] < FEWEST_OF_KIND and len(counts) > 1
            kinds.setdefault(OTHERS if rare else each.machine, []).append(each)
        order = sorted(kinds, key=lambda kind: (kind == OTHERS, -len(kinds[kind]), kind))
        return {kind: tuple(kinds[kind]) for kind in order}


class NotTaken(Exception):
    """Nothing is taken of this student; the message says why."""


class ClassState:
    """The class on `lab`; `keep` is the folder where the instructor keeps it, None for nowhere.

    Raises OSError and sqlite3.Error if `keep` is unusable.
    """

    def __init__(self, lab: str, keep: Path | None = None) -> None:
        self.lab, self.questions, self.keep = lab, questions_of(lab), keep
        path = ":memory:"
        if keep:
            keep.mkdir(mode=0o700, parents=True, exist_ok=True)
            path = str(keep / "class.sqlite3")
            os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))
        self._rows = sqlite3.connect(path, isolation_level=None)
        self._rows.executescript(_BEGIN)
        #: Another number whenever the wall may be another one, also after a restart.
        self.changes = time.time_ns() // 1_000_000
        #: What each student had shared when the wall was frozen; None if it follows them.
        self.frozen: dict[str, str] | None = None

    def freeze(self, frozen: bool) -> None:
        """Keep the wall as it is, while messages still come in; or follow them again."""
        self.frozen = self._shared() if frozen else None

    def version(self, student: str) -> int | None:
        """Which version counts of a student who is in the class, or has left it."""
        known = "select version from students where student = ?"
        found = self._rows.execute(known, (student,)).fetchone()
        return found[0] if found else None

    def take(self, student: str, shared: Shared) -> int:
        """What a student shares; returns the version that counts. Raises NotTaken."""
        version = self.version(student)
        if version == _LEFT:
            raise NotTaken("this student has left the class")
        if version is None:
            count = "select count(*), count(shared) from students"
            every, here = self._rows.execute(count).fetchone()
            if here >= limits.MOST_IN_CLASS or every - here >= _MOST_LEFT:
                raise NotTaken(f"this class is full: {here:,} have joined")
        row = student, shared.version, shared.model_dump_json()
        self.changes += self._rows.execute(_TAKE, row).rowcount
        return max(shared.version, version or 0)

    def leave(self, student: str) -> None:
        """Forget all that a student has shared, now and for good."""
        self._rows.execute("replace into students values (?, ?, null)", (student, _LEFT))
        self.changes += 1
        if self.frozen:  # also what is frozen on the wall is about others only from now on
            self.frozen.pop(student, None)

    def answers(self, question: Question) -> Answers:
        """What the class has said to a question, as it is shown."""
        texts = (self._shared() if self.frozen is None else self.frozen).values()
        guesses, found = [], []
        for each in map(_parsed, texts):
            guess = each.predictions.get(question.prediction)
            if guess and (one := _one(guess, question.spec.unit)):
                guesses.append(guess.value * one)
            figure = each.figures.get(question.spec.id)
            if figure and (one := _one(figure, question.spec.unit)):
                ends = figure.low * one, figure.high * one
                codes = _CODES.intersection(figure.findings)
                found.append(Found(figure.value * one, *ends, figure.machine, codes))
        return Answers(len(texts), tuple(sorted(guesses)), tuple(found))

    def write_data_set(self) -> Path | None:
        """Write `class.csv` for `lab.compare_class`, if the class is kept. Raises CannotWrite."""
        if self.keep is None:
            return None
        rows = []
        for question in self.questions:
            fair: dict[str, list[float]] = {}
            for each in self.answers(question).found:
                if not each.findings:
                    fair.setdefault(each.machine, []).append(each.value)
            rows += rows_of(question.spec.id, question.spec.shown_run, question.spec.unit, fair)
        write_class(self.keep / CLASS_FILE, rows)
        return self.keep / CLASS_FILE

    def close(self) -> None:
        """End with the file of the class, so that only one is left of it."""
        self._rows.close()

    def _shared(self) -> dict[str, str]:
        here = "select student, shared from students where shared is not null"
        return dict(self._rows.execute(here))


@functools.lru_cache(2 * limits.MOST_IN_CLASS)
def _parsed(text: str) -> Shared:
    return Shared.model_validate_json(text)


def _one(each: SharedFigure | SharedPrediction, wanted: str) -> float:
    """One of its unit in the unit that is wanted; 0 if they cannot be compared."""
    if each.unit == wanted:
        return 1.0
    return NANOSECONDS.get(each.unit, 0.0) / NANOSECONDS.get(wanted, math.inf)
