"""Statistics of a graded class: spreads, outcomes, predictions, mistakes, what to look at."""

from __future__ import annotations

import functools
import math
import re
import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from grader.class_grading.graded_class import GradedClass, GradedFigure
from grader.figures import LABS
from grader.figures.spec import CHOICE, FigureSpec
from grader.figures.verdict import NO_FIGURE, NOT_HANDED_IN, PARTLY_RIGHT, Outcome
from grader.judging.flags import OF_THE_MACHINE
from grader.pitfalls import pitfall_named
from grader.pitfalls.pitfall import Pitfall
from grader.submissions.safe_files import printable
from labs.course import guide
from labs.course.predictions import RIGHT_WITHIN, is_near
from labs.html import Table
from labs.units import NANOSECONDS, off_by, rounded

# How the numbers of a class spread: for each figure, by the kind of machine.
#
# Only numbers in the unit that the lab asks for are compared: a core cycle has no fixed length.

#: At most this many kinds of machine have a row of their own.
MOST_KINDS = 7
OTHERS = "other machines"
#: No figure of a lab is closer to 0 or farther from it: what is, was not measured.
_SMALLEST, _LARGEST = 1e-15, 1e15


@dataclass(frozen=True)
class OfKind:
    """The numbers from one kind of machine, in ascending order: accepted ones, and the others.

    `of_runs` has one accepted number of each run: several students may have handed in the same one.
    It leaves out those of shared cores, which are upper limits and no values.
    """

    machine: str
    accepted: tuple[float, ...]
    others: tuple[float, ...]
    of_runs: tuple[float, ...]

    @property
    def summary(self) -> tuple[str, str, str]:
        """Of the accepted numbers: the median, the middle half and the range, as text."""
        if not self.accepted:
            return ("", "", "")
        low, middle, high = np.quantile(self.accepted, (0.25, 0.5, 0.75))
        return (
            rounded(float(middle)),
            f"{rounded(float(low))} to {rounded(float(high))}",
            f"{rounded(self.accepted[0])} to {rounded(self.accepted[-1])}",
        )


@dataclass(frozen=True)
class Spread:
    """The numbers of one figure in `unit`; `left_out` have another one or are beyond measuring."""

    figure: str
    asked: str
    unit: str
    kinds: tuple[OfKind, ...]
    left_out: int = 0

    @property
    def accepted(self) -> tuple[float, ...]:
        """The accepted numbers of all machines."""
        return tuple(value for kind in self.kinds for value in kind.accepted)

    @property
    def of_runs(self) -> tuple[float, ...]:
        """One accepted number of each run, from all machines."""
        return tuple(value for kind in self.kinds for value in kind.of_runs)


@dataclass(frozen=True)
class Chosen:
    """One conclusion of a figure: how many chose it last, and for how many of them it was right."""

    number: int
    text: str
    count: int
    right: int


@dataclass(frozen=True)
class Conclusions:
    """The conclusions of one figure, in their order, and how many students needed how many tries.

    `tries` has (tries, students whose answer was right, all students).
    """

    figure: str
    asked: str
    chosen: tuple[Chosen, ...]
    tries: tuple[tuple[int, int, int], ...]

    @property
    def table(self) -> Table:
        """How many students chose each, and of how many it is right."""
        rows = ((f"{e.number}. {e.text}", f"{e.count:,}", f"{e.right:,}") for e in self.chosen)
        header = ("conclusion", "students", "right")
        return Table(f"Conclusions of {self.figure}", header, tuple(rows))


def specs_of(lab: str) -> dict[str, FigureSpec]:
    """What the lab asks of each figure, by id; empty for a lab that the kit does not know."""
    return {spec.id: spec for spec in LABS.get(lab, ())}


def spreads_of_class(graded: GradedClass) -> tuple[Spread, ...]:
    """The spread of every figure that is a number, and that anybody handed in."""
    specs = specs_of(graded.lab)
    found = []
    for figure in graded.figures:
        spec = specs.get(figure)
        handed_in = [each for _, each in graded.verdicts_on(figure) if each.value is not None]
        if handed_in and not (spec and spec.unit == CHOICE):
            usual = Counter(each.unit for each in handed_in).most_common(1)[0][0]
            unit = spec.unit if spec else usual
            found.append(_spread(figure, spec.asked if spec else "", unit, handed_in))
    return tuple(each for each in found if each.unit != CHOICE)


#: A number, whether it was accepted, and whether it is the first accepted value of its run.
_Number = tuple[float, bool, bool]


def _spread(figure: str, asked: str, unit: str, handed_in: list[GradedFigure]) -> Spread:
    """The spread in `unit`; what was accepted comes first, and the most frequent machine."""
    kinds: dict[str, list[_Number]] = {}
    left_out = 0
    seen: set[str] = set()
    for each in handed_in:
        value = number_in(each, unit)
        if value is None:
            left_out += 1
            continue
        accepted = each.outcome is Outcome.PASSED
        of_run = accepted and seen.isdisjoint(each.runs) and not each.at_most
        kinds.setdefault(each.machine, []).append((value, accepted, of_run))
        if accepted:
            seen.update(each.runs)
    rows = sorted(kinds.items(), key=lambda row: (-len(row[1]), row[0]))
    if len(rows) > MOST_KINDS:
        rest = [number for _, numbers in rows[MOST_KINDS - 1 :] for number in numbers]
        rows = [*rows[: MOST_KINDS - 1], (OTHERS, rest)]
    return Spread(figure, asked, unit, tuple(_of_kind(*row) for row in rows), left_out)


def _of_kind(machine: str, numbers: list[_Number]) -> OfKind:
    return OfKind(
        machine,
        tuple(sorted(value for value, accepted, _ in numbers if accepted)),
        tuple(sorted(value for value, accepted, _ in numbers if not accepted)),
        tuple(sorted(value for value, _, of_run in numbers if of_run)),
    )


def number_in(figure: GradedFigure, unit: str) -> float | None:
    """The number of a figure in `unit`; None if it has another unit or is beyond measuring."""
    if figure.value is None:
        return None
    if unit in NANOSECONDS:
        value = figure.value / NANOSECONDS[unit] if figure.unit == "ns" else None
    else:
        value = figure.value if figure.unit == unit else None
    if value is None or not (value == 0 or _SMALLEST <= abs(value) <= _LARGEST):
        return None
    return value


def conclusions_of_class(graded: GradedClass) -> tuple[Conclusions, ...]:
    """Every figure of the lab that is a conclusion, and that anybody handed in."""
    found = []
    for figure, spec in specs_of(graded.lab).items():
        verdicts = [each for _, each in graded.verdicts_on(figure) if each.unit == CHOICE]
        if spec.unit != CHOICE or not verdicts:
            continue
        right = [each for each in verdicts if each.outcome is Outcome.PASSED]
        last = Counter(each.value for each in verdicts)
        last_right = Counter(each.value for each in right)
        chosen = tuple(
            Chosen(number, choice.text, last[float(number)], last_right[float(number)])
            for number, choice in enumerate(spec.choices, start=1)
        )
        tries = Counter(each.tries or 1 for each in verdicts)
        tries_right = Counter(each.tries or 1 for each in right)
        counted = tuple((count, tries_right[count], tries[count]) for count in sorted(tries))
        found.append(Conclusions(figure, spec.asked, chosen, counted))
    return tuple(found)


# How many students have each outcome, by figure.

#: The outcomes in words, in the order of the columns.
WORDS = (
    Outcome.PASSED.value,
    PARTLY_RIGHT,
    Outcome.FAILED.value,
    NOT_HANDED_IN,
    Outcome.NOT_GRADED.value,
)


@dataclass(frozen=True)
class Outcomes:
    """One figure: the number of students with each of WORDS, and the share that passed."""

    figure: str
    asked: str
    counts: tuple[int, ...]

    @property
    def passed(self) -> float:
        """The share that passed, of all that were graded; 0 if nobody was."""
        graded = sum(self.counts[:-1])
        return self.counts[0] / graded if graded else 0.0

    @property
    def shown(self) -> list[tuple[int, int, str]]:
        """Of each word that some students have: its place from 1, how many they are, the word."""
        pairs = zip(self.counts, WORDS, strict=True)
        return [(n, count, word) for n, (count, word) in enumerate(pairs, 1) if count]


def outcomes_of_class(graded: GradedClass) -> tuple[Outcomes, ...]:
    """The outcomes of every figure, in the order of the lab."""
    specs = specs_of(graded.lab)
    rows = []
    for figure in graded.figures:
        found = Counter(verdict.in_words for _, verdict in graded.verdicts_on(figure))
        asked = specs[figure].asked if figure in specs else ""
        rows.append(Outcomes(figure, asked, tuple(found[word] for word in WORDS)))
    return tuple(rows)


# Predictions of a class against its results: how far they were off, and to which side.
#
# A guess counts if it was made before its recording, and if its figure has passed: a factor to a
# wrong figure says nothing about the guess.


@dataclass(frozen=True)
class Guessed:
    """The guesses of one figure. `near` of them are within a factor of RIGHT_WITHIN.

    `low` are those that said less than what was found, and `high` those that said more, both by
    more than this factor. `off` is the median factor by which they were off.
    """

    id: str
    asks: str
    count: int
    near: int
    low: int
    high: int
    off: float
    sure: float | None

    @property
    def sentence(self) -> str:
        """What the class believed, in a sentence; it names a side only if most were on it."""
        text = (
            f"{self.near:,} of {self.count:,} guesses came within a factor of {RIGHT_WITHIN:g}; "
            f"the median guess was off by a factor of {rounded(self.off, 2)}."
        )
        if 2 * self.low > self.count:
            text += " Most guesses were too low."
        elif 2 * self.high > self.count:
            text += " Most guesses were too high."
        return text


def guesses_of_class(graded: GradedClass) -> tuple[Guessed, ...]:
    """Every prediction of the lab that somebody made in time and that has a right figure."""
    factors: dict[str, list[float]] = {}
    sure: dict[str, list[float]] = {}
    for each in graded.submissions:
        for guess in each.guesses:
            verdict = each.verdict_on(guess.figure)
            if verdict is not None and verdict.outcome is Outcome.PASSED:
                factors.setdefault(guess.id, []).append(guess.factor)
                if guess.sure is not None:
                    sure.setdefault(guess.id, []).append(guess.sure)
    asked = guide.of_lab(graded.lab).predictions
    order = [*(name for name in asked if name in factors), *sorted(set(factors) - set(asked))]
    return tuple(
        _guessed(name, asked[name].asks if name in asked else "", factors[name], sure.get(name, []))
        for name in order
    )


def _guessed(name: str, asks: str, factors: list[float], sure: list[float]) -> Guessed:
    off = [math.log(off_by(factor)) for factor in factors]
    return Guessed(
        name,
        asks,
        len(factors),
        near=sum(is_near(factor) for factor in factors),
        low=sum(factor > RIGHT_WITHIN for factor in factors),
        high=sum(factor < 1 / RIGHT_WITHIN for factor in factors),
        off=math.exp(statistics.median(off)),
        sure=statistics.fmean(sure) if sure else None,
    )


# How often each mistake was found in a class, with the words to say about it in class.
#
# The words are those of the catalogue of pitfalls. Only what connects them is written here.


@dataclass(frozen=True)
class Frequent:
    """One finding in a class: in how many of `of` submissions, and by figure in how many.

    `symptom` and `words` are empty if this version of the catalogue has no such finding.
    """

    code: str
    count: int
    of: int
    by_figure: tuple[tuple[str, int], ...]
    symptom: str = ""
    words: str = ""
    tells_answer: bool = False


def findings_of_class(graded: GradedClass) -> tuple[Frequent, ...]:
    """Every finding, the most frequent first: by submissions, and then by figures.

    A figure that was not handed in is no mistake.
    """
    submissions: Counter[str] = Counter()
    figures: dict[str, Counter[str]] = {}
    for each in graded.submissions:
        codes = set()
        for verdict in each.figures:
            for code in verdict.findings:
                if code != NO_FIGURE:
                    codes.add(code)
                    figures.setdefault(code, Counter())[verdict.figure] += 1
        submissions.update(codes)
    order = {figure: place for place, figure in enumerate(graded.figures)}
    found = []
    for code, count in sorted(
        submissions.items(), key=lambda pair: (-pair[1], -figures[pair[0]].total(), pair[0])
    ):
        where = sorted(figures[code].items(), key=lambda pair: (-pair[1], order[pair[0]]))
        found.append(_frequent(code, count, len(graded.submissions), tuple(where)))
    return tuple(found)


def most_often(findings: Iterable[Frequent]) -> dict[str, str]:
    """By figure, the code of the finding that most students have there."""
    found: dict[str, tuple[int, str]] = {}
    for each in findings:
        for figure, count in each.by_figure:
            if count > found.get(figure, (0, ""))[0]:
                found[figure] = (count, each.code)
    return {figure: code for figure, (_, code) in found.items()}


def _frequent(code: str, count: int, of: int, where: tuple[tuple[str, int], ...]) -> Frequent:
    try:
        pitfall = pitfall_named(code)
    except KeyError:
        return Frequent(code, count, of, where)
    return Frequent(
        code, count, of, where, pitfall.symptom, in_class(pitfall, count, of), pitfall.tells_answer
    )


def in_class(pitfall: Pitfall, count: int, of: int) -> str:
    """What to say about a pitfall that was found in `count` of `of` submissions.

    The symptom, then what is probably behind it, then the experiment that decides.
    """
    shows = "submissions shows" if count == 1 else "submissions show"
    return (
        f"{count:,} of {of:,} {shows} this: {pitfall.symptom} What is probably behind it: "
        f"{pitfall.misconception} Try it: {pitfall.experiment}"
    )


# What a person has to look at: flags, figures that were not graded, and what was set aside.
#
# Equal notes are shown once, with everybody whom they are about. Notes quote names of files and of
# cells, which students chose; where students have pseudonyms, these quotes are left out too.

_MOST_CHARACTERS = 400
_LEFT_OUT = "…"
#: How notes of ours begin that have a colon: what stands before any other colon is a file's name.
_OURS = re.compile(r"(locked cell|answer cell|added (graded )?cell|the |a |an |this |\d+ )")
#: Code, texts in quotes, and words that hold a letter and a dot, slash or underscore in the middle.
_CHOSEN = re.compile(
    r"`[^`]*`|\"[^\"]*\"|(?<!\w)'[^']*'(?!\w)"
    r"|(?=[^\s`]*[^\W\d_])[^\s`]*\w[./_\\][^\s`]*\w"
)
#: A word in the name of a student has at least so many letters. One that more than this share of
#: the class have in their names is no name.
_FEWEST_OF_KIND, _SHARED = 3, 0.1


@dataclass(frozen=True)
class Note:
    """One text, the figures that it is about, and the students, by name or pseudonym."""

    text: str
    figures: tuple[str, ...]
    students: tuple[str, ...]


@dataclass(frozen=True)
class ToLookAt:
    """All notes, each list with the most frequent note first."""

    flags: tuple[Note, ...]
    not_graded: tuple[Note, ...]
    set_aside: tuple[Note, ...]
    unread: tuple[Note, ...]
    waiting: tuple[str, ...]


def to_look_at(graded: GradedClass, pseudonyms: dict[str, str] | None) -> ToLookAt:
    """The notes on the class; with `pseudonyms`, no name of a student and nothing they quote."""
    itself = functools.partial(printable, most=_MOST_CHARACTERS)
    name: Callable[[str], str] = itself if pseudonyms is None else pseudonyms.__getitem__
    clean = _cleaner(graded, hide=pseudonyms is not None)
    each_verdict = [
        (each.student, verdict) for each in graded.submissions for verdict in each.figures
    ]
    return ToLookAt(
        _notes(
            ((clean(flag), verdict.figure, name(student)) for student, verdict in each_verdict
             for flag in verdict.flags)
        ),
        _notes(
            (clean(verdict.reason), verdict.figure, name(student))
            for student, verdict in each_verdict
            if verdict.outcome is Outcome.NOT_GRADED
        ),
        _notes(
            (clean(note), "", name(each.student))
            for each in graded.submissions
            for note in each.set_aside
        ),
        _notes((clean(each.trouble), "", name(each.student)) for each in graded.unread),
        tuple(sorted(name(student) for student in graded.waiting)),
    )  # fmt: skip


def _notes(found: Iterable[tuple[str, str, str]]) -> tuple[Note, ...]:
    """The (text, figure, student) that were `found`, with each text once."""
    figures: dict[str, dict[str, None]] = {}
    students: dict[str, set[str]] = {}
    for text, figure, student in found:
        figures.setdefault(text, {}).update({figure: None} if figure else {})
        students.setdefault(text, set()).add(student)
    return tuple(
        Note(text, tuple(figures[text]), tuple(sorted(who)))
        for text, who in sorted(students.items(), key=lambda pair: (-len(pair[1]), pair[0]))
    )


def _cleaner(graded: GradedClass, *, hide: bool) -> Callable[[str], str]:
    """What makes a note fit for the page; if `hide`, without names and what students quote."""
    known = {f"`{figure}`" for figure in graded.figures} | {*OF_THE_MACHINE}
    names = _parts_of_names(graded.students)

    def clean(text: str) -> str:
        text = printable(text.replace("\u2060", ""), _MOST_CHARACTERS)
        return without_quotes(text, known, names) if hide else text

    return clean


def _parts_of_names(students: Sequence[str]) -> set[str]:
    """The words in the names of students, without those that many share, such as `student`."""
    parts = Counter(
        part
        for student in students
        for part in {word.lower() for word in (student, *re.split(r"\W+|_", student))}
        if len(part) >= _FEWEST_OF_KIND
    )
    most = max(2, len(students) * _SHARED)
    return {part for part, count in parts.items() if count <= most}


def without_quotes(text: str, known: set[str], names: set[str]) -> str:
    """`text` without what a student chose in it: names of files and cells, and parts of `names`.

    What is in `known` stays: names of figures, as code, and of conditions.
    """
    if not _OURS.match(text):
        text = re.sub("^[^`]*?: ", "a file: ", text)
    text = _CHOSEN.sub(lambda found: found[0] if found[0] in known else _LEFT_OUT, text)
    return re.sub(r"\w+", lambda found: _LEFT_OUT if found[0].lower() in names else found[0], text)
