"""What a person has to look at: flags, figures that were not graded, and what was set aside.

Equal notes are shown once, with everybody whom they are about. Notes quote names of files and of
cells, which students chose; where students have pseudonyms, these quotes are left out too.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from grader.cases.verdict import Outcome
from grader.evening.report.graded_class import GradedClass
from grader.judging.flags import OF_THE_MACHINE
from grader.submissions.safe_copy import printable

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
_FEWEST, _SHARED = 3, 0.1


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
    name = _by_itself if pseudonyms is None else pseudonyms.__getitem__
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


def _by_itself(student: str) -> str:
    return printable(student, _MOST_CHARACTERS)


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
        if len(part) >= _FEWEST
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
