"""What a class has shared so far, and what its instructor shows of it.

Of each student only the message with the largest version counts, and leaving is final. So the state
is the same in whatever order messages arrive, and how often.
"""

from __future__ import annotations

import os
import sqlite3
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from grader.cases.spec import CHOICE, FigureSpec
from grader.figures import LABS
from grader.pitfalls import CATALOGUE
from labs import limits
from labs.course import guide
from labs.course.comparison import ALL_MACHINES, CLASS_FILE, FEWEST_RUNS, ClassFigure, write_class
from labs.course.in_class import Shared
from labs.recording.origin import SEVERAL, UNKNOWN, is_kind
from labs.units import NANOSECONDS

#: The symptom of each pitfall that may be shown before the lab is handed in.
SYMPTOMS = {each.code: each.symptom for each in CATALOGUE if not each.tells_answer}
#: Kinds of machine that fewer students have are shown together, so that nobody is recognised.
FEWEST_OF_KIND, OTHERS = 3, "other machines"
#: Of so many who have left, it is remembered that nothing of them is taken again.
_MOST_LEFT = 20 * limits.MOST_IN_CLASS


@dataclass(frozen=True)
class Question:
    """A figure of the lab, with the prediction that is asked of it, if any, in `unit`."""

    figure: str
    prediction: str
    asks: str
    unit: str
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
            found.append(Question(spec.id, name, text, spec.unit, spec))
    return tuple(sorted(found, key=lambda each: not each.prediction))


@dataclass(frozen=True)
class Found:
    """A student's figure in the unit of the question, with its interval, if it has one."""

    value: float
    low: float
    high: float
    machine: str
    findings: tuple[str, ...]


@dataclass(frozen=True)
class Answers:
    """What the class has said to one question: `here` students have joined."""

    here: int
    predictions: tuple[float, ...]
    found: tuple[Found, ...]

    def by_machine(self) -> dict[str, tuple[Found, ...]]:
        """The figures by kind of machine, the most frequent first, in ascending order."""
        counts = Counter(each.machine for each in self.found)
        names = {
            kind: kind if n >= FEWEST_OF_KIND or len(counts) == 1 else OTHERS
            for kind, n in counts.items()
        }
        kinds: dict[str, list[Found]] = {}
        for each in sorted(self.found, key=lambda found: (found.value, found.low, found.high)):
            kinds.setdefault(names[each.machine], []).append(each)
        order = sorted(kinds, key=lambda kind: (kind == OTHERS, -len(kinds[kind]), kind))
        return {kind: tuple(kinds[kind]) for kind in order}

    def mistakes(self) -> tuple[tuple[int, str], ...]:
        """How many students have each finding, the most frequent first, and its symptom."""
        counts = Counter(code for each in self.found for code in set(each.findings))
        known = [(n, SYMPTOMS[code]) for code, n in counts.items() if code in SYMPTOMS]
        return tuple(sorted(known, key=lambda pair: (-pair[0], pair[1])))


class ClassState:
    """The class on `lab`; `keep` is the folder where the instructor keeps it, None for nowhere.

    `changes` counts what may have changed on the wall. Raises OSError if `keep` is unusable.
    """

    def __init__(self, lab: str, keep: Path | None = None) -> None:
        self.lab, self.questions, self.changes = lab, questions_of(lab), 0
        self.number, self.revealed, self.frozen, self.is_open = 0, frozenset[str](), False, True
        self._students: dict[str, Shared] = {}
        self._left: set[str] = set()
        self._shown: Mapping[str, Shared] = self._students
        self._figures = {each.figure for each in self.questions}
        self._keep, self._kept = keep, _opened(keep) if keep else None
        if self._kept:
            for student, text in self._kept.execute("select student, shared from students"):
                if text is None:
                    self._left.add(student)
                else:
                    self._students[student] = Shared.model_validate_json(text)

    @property
    def question(self) -> Question:
        """The question on the wall."""
        return self.questions[self.number]

    @property
    def keeps(self) -> bool:
        """Whether the instructor keeps the class."""
        return self._keep is not None

    def version_of(self, student: str) -> int:
        """The version of the message of this student that counts."""
        return self._students[student].version

    def knows(self, student: str) -> bool:
        """Whether this student is in the class."""
        return student in self._students

    def has_left(self, student: str) -> bool:
        """Whether this student has left for good."""
        return student in self._left

    def enter(self, student: str) -> bool:
        """A new student; False if the class is full."""
        if len(self._students) >= limits.MOST_IN_CLASS or len(self._left) >= _MOST_LEFT:
            return False
        self.take(student, Shared(version=0, predictions={}, figures={}))
        return True

    def take(self, student: str, shared: Shared) -> None:
        """What a student shares. Words that are not the kit's are dropped, so none is shown."""
        shared = _known_part(shared)
        before = self._students.get(student)
        if student in self._left or (before and _rank(before) >= _rank(shared)):
            return
        self._students[student] = shared
        self._write(student, shared.model_dump_json())
        self.changes += not self.frozen

    def leave(self, student: str) -> None:
        """Forget all that a student has shared, now and for good."""
        self._left.add(student)
        self._students.pop(student, None)
        if self.frozen:  # also what is frozen on the wall is about others only from now on
            self._shown = {name: each for name, each in self._shown.items() if name != student}
        self._write(student, None)
        self.changes += 1

    def freeze(self, frozen: bool) -> None:
        """Keep the wall as it is, while messages still come in; or follow them again."""
        self.frozen = frozen
        self._shown = dict(self._students) if frozen else self._students
        self.changes += 1

    def show(self, number: int, revealed: bool | None = None) -> None:
        """Show question `number`, counted from 0; `revealed` says whether with its figures."""
        self.number = max(0, min(number, len(self.questions) - 1))
        if revealed is not None:
            change = {self.question.figure}
            self.revealed = self.revealed | change if revealed else self.revealed - change
        self.changes += 1

    def answers(self, question: Question) -> Answers:
        """What the class has said to a question, as it is shown."""
        guesses, found = [], []
        for each in self._shown.values():
            guess = each.predictions.get(question.prediction)
            if guess and (one := _one(guess.unit, question.unit)):
                guesses.append(guess.value * one)
            figure = each.figures.get(question.figure)
            if figure and (one := _one(figure.unit, question.unit)):
                value = figure.value * one
                low = value if figure.low is None else figure.low * one
                high = value if figure.high is None else figure.high * one
                codes = tuple(figure.findings)
                found.append(Found(value, low, high, figure.machine, codes))
        return Answers(len(self._shown), tuple(sorted(guesses)), tuple(found))

    def write_data_set(self) -> Path | None:
        """Write `class.csv` for `lab.compare_class`, if the class is kept. Raises CannotWrite."""
        if self._keep is None:
            return None
        rows = []
        for question in self.questions:
            fair = [each for each in self.answers(question).found if not each.findings]
            by_kind = {ALL_MACHINES: fair}
            for each in fair:
                if each.machine not in (UNKNOWN, SEVERAL):
                    by_kind.setdefault(each.machine, []).append(each)
            for kind, some in by_kind.items():
                values = [each.value for each in some]
                if len(values) >= FEWEST_RUNS:
                    ends = map(float, np.quantile(values, (0.25, 0.5, 0.75)))
                    spec = question.spec
                    of = (spec.kernel, spec.variant, spec.flags) if spec.variants else ("", "", "")
                    head = (question.figure, *of, kind, question.unit, len(values))
                    rows.append(ClassFigure(*head, *ends))
        path = self._keep / CLASS_FILE
        write_class(path, rows)
        return path

    def close(self) -> None:
        """End with the file of the class, so that only one is left of it."""
        if self._kept:
            self._kept.close()

    def _write(self, student: str, text: str | None) -> None:
        if self._kept:
            with self._kept:
                self._kept.execute("replace into students values (?, ?)", (student, text))


_CODES = {each.code for each in CATALOGUE}


def _known_part(shared: Shared) -> Shared:
    known = {}
    for name, each in shared.figures.items():
        machine = each.machine if is_kind(each.machine) else UNKNOWN
        codes = [code for code in each.findings if code in _CODES]
        known[name] = each.model_copy(update={"machine": machine, "findings": codes})
    return shared.model_copy(update={"figures": known})


def _rank(shared: Shared) -> tuple[int, str]:
    """The order of one student's messages; two of one version are always ordered alike."""
    return shared.version, shared.model_dump_json()


def _one(unit: str, wanted: str) -> float | None:
    """One `unit` in the unit that is wanted; None if they cannot be compared."""
    if unit == wanted:
        return 1.0
    if unit in NANOSECONDS and wanted in NANOSECONDS:
        return NANOSECONDS[unit] / NANOSECONDS[wanted]
    return None


def _opened(keep: Path) -> sqlite3.Connection:
    """The file of the class. With a write-ahead log, what was answered survives the process."""
    keep.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = keep / "class.sqlite3"
    os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))
    kept = sqlite3.connect(path)
    kept.execute("pragma journal_mode=wal")
    kept.execute("pragma secure_delete=on")  # nothing is left of who leaves
    kept.execute("pragma synchronous=normal")  # no commit waits for the disk
    kept.execute("create table if not exists students (student text primary key, shared text)")
    return kept
