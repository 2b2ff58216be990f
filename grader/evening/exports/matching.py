"""Which student of the gradebook a row of another system's table is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from grader.evening.exports.sheet import Graded


@dataclass(frozen=True)
class Matched:
    """The students by the number of their row; who has no row; and rows that fit several."""

    of_row: Mapping[int, Graded]
    without_row: tuple[str, ...]
    doubtful: tuple[str, ...]


def match(rows: Iterable[tuple[int, Iterable[str]]], students: Mapping[str, Graded]) -> Matched:
    """Finds the student of each row by its keys: logins, e-mail addresses and numbers, no names.

    Two people may have the same name. Letter case and blanks do not count. A row that fits two
    students, or a student who fits two rows, is doubtful, and gets no grade.
    """
    by_key: dict[str, set[str]] = {}
    for student, graded in students.items():
        for key in (student, graded.email, graded.lms_id):
            if key.strip():
                by_key.setdefault(_plain(key), set()).add(student)
    found: dict[int, set[str]] = {}
    for row, keys in rows:
        fits = {one for key in keys if key.strip() for one in by_key.get(_plain(key), ())}
        if fits:
            found[row] = fits
    times: dict[str, int] = {}
    for fits in found.values():
        for student in fits:
            times[student] = times.get(student, 0) + 1
    of_row = {
        row: students[next(iter(fits))]
        for row, fits in found.items()
        if len(fits) == 1 and times[next(iter(fits))] == 1
    }
    sure = {graded.student for graded in of_row.values()}
    doubtful = sorted(student for student in times if student not in sure)
    without = sorted(student for student in students if student not in times)
    return Matched(of_row, tuple(without), tuple(doubtful))


def _plain(key: str) -> str:
    return key.strip().lstrip("'").casefold()
