"""How many students have each outcome, by figure."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from grader.cases.verdict import NOT_HANDED_IN, PARTLY_RIGHT, Outcome
from grader.evening.report.graded_class import GradedClass
from grader.evening.report.spread import specs_of

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


def outcomes_of_class(graded: GradedClass) -> tuple[Outcomes, ...]:
    """The outcomes of every figure, in the order of the lab."""
    specs = specs_of(graded.lab)
    rows = []
    for figure in graded.figures:
        found = Counter(verdict.in_words for _, verdict in graded.verdicts_on(figure))
        asked = specs[figure].asked if figure in specs else ""
        rows.append(Outcomes(figure, asked, tuple(found[word] for word in WORDS)))
    return tuple(rows)
