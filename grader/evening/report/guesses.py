"""Predictions of a class against its results: how far they were off, and to which side.

A guess counts if it was made before its recording, and if its figure has passed: a factor to a
wrong figure says nothing about the guess.
"""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass

from grader.cases.verdict import Outcome
from grader.evening.report.graded_class import GradedClass
from labs.common.factors import RIGHT_WITHIN, off_by
from labs.common.units import rounded
from labs.course import guide


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
        near=sum(off_by(factor) <= RIGHT_WITHIN for factor in factors),
        low=sum(factor > RIGHT_WITHIN for factor in factors),
        high=sum(factor < 1 / RIGHT_WITHIN for factor in factors),
        off=math.exp(statistics.median(off)),
        sure=statistics.fmean(sure) if sure else None,
    )
