"""The verdict on one figure: its points, and the findings that explain them.

A verdict is plain data. :mod:`grader.judging.check` makes it, and
:mod:`grader.judging.presentation` turns it into text. Nothing here knows of notebooks, of nbgrader
or of the command line.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

#: How a failed figure is called that keeps more than half of its points.
PARTLY_RIGHT = "partly right"
#: How a figure is called that was not handed in, and the code of the finding that says so.
NOT_HANDED_IN, NO_FIGURE = "not handed in", "no-figure"


class Outcome(str, Enum):
    """How a check of a figure ended; `not graded` is never a pass and never a zero."""

    PASSED = "passed"
    FAILED = "failed"
    NOT_GRADED = "not graded"


class Level(str, Enum):
    """The four levels of a check, most basic first; each level has its own points."""

    PROVENANCE = "provenance"
    VALIDITY = "validity"
    SUFFICIENCY = "sufficiency"
    INTERPRETATION = "interpretation"


@dataclass(frozen=True)
class Finding:
    """A pitfall diagnosed in this submission.

    `evidence` quotes the student's own data. `experiment` is one thing to try, which decides
    whether the finding is right. `misconception` is '' if the evidence says what the value is.
    `broken` names a C kernel that makes the mistake on purpose; '' if there is none.
    """

    code: str
    level: Level
    symptom: str
    evidence: str
    misconception: str
    experiment: str
    broken: str = ""

    @property
    def to_see(self) -> str:
        """How to see the mistake made, and repaired; '' if no C kernel makes it."""
        if not self.broken:
            return ""
        return f'lab.broken("{self.broken}"), or in a terminal: labs broken {self.broken}'


@dataclass(frozen=True)
class Verdict:
    """The judgement of one figure, of which `asked` says what the lab asks for.

    `points` and `max_points` are sums over `levels`, which maps each level to (points, most). The
    most basic of the `findings` comes first. `reason` says why, in a sentence or two. `accepted`
    says which values pass, as `82 to 106 us`; it is empty if a value would give the answer away or
    if no value is right. `why_accepted` says why some of them lie outside the interval. `praise`
    and `look_next` have text if everything is right. `answer` says which conclusion is right; it
    has text only after the lab was handed in with another one. `tries` counts a student's answers
    to one question, and `flags` are for a person to look at; both cost nothing. `recording` is the
    path of the judged recording, relative to the lab folder; its `fingerprints` are the same in a
    copy of it, and in no other run. With `at_most`, the core was shared during all of its run, so a
    whole core would give the figure or less. `values` has the numbers behind the sentences: what
    was `submitted`, the ranges that are `accepted` (where `accepted` has text), and their `unit`.
    `note` says that this recording is not of the newest run, or that its run was ended by the time
    limit, if that is so.
    """

    figure: str
    outcome: Outcome
    points: float
    max_points: float
    reason: str
    levels: dict[Level, tuple[float, float]] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()
    praise: str = ""
    look_next: str = ""
    answer: str = ""
    tries: int | None = None
    flags: tuple[str, ...] = ()
    recording: str | None = None
    fingerprints: tuple[str, ...] = ()
    note: str = ""
    accepted: str = ""
    why_accepted: str = ""
    at_most: bool = False
    values: dict[str, Any] = field(default_factory=dict)
    asked: str = ""

    @property
    def in_words(self) -> str:
        """The outcome for a reader; a failed figure with most of its points is partly right.

        What was not handed in has not failed yet.
        """
        codes = [finding.code for finding in self.findings]
        return outcome_in_words(self.outcome, self.points, self.max_points, codes)

    def plain(self) -> dict[str, Any]:
        """All fields, and those of the findings; `dataclasses.asdict` would copy every text."""
        return {**vars(self), "findings": [dict(vars(each)) for each in self.findings]}

    def as_json(self) -> dict[str, Any]:
        """The object that `grader check --json` prints for this figure."""
        return {
            "figure": self.figure,
            "asked": self.asked,
            "outcome": self.outcome.value,
            "points": self.points,
            "max_points": self.max_points,
            "findings": [finding.code for finding in self.findings],
            "reason": self.reason,
            "accepted": self.accepted,
            "at_most": self.at_most,
            "values": self.values,
            "levels": {level.value: list(pair) for level, pair in self.levels.items()},
            "tries": self.tries,
            "flags": list(self.flags),
            "note": self.note,
        }


def outcome_in_words(
    outcome: Outcome, points: float, max_points: float, codes: Sequence[str]
) -> str:
    """How an outcome with these points and these codes of findings is called; see `in_words`."""
    if outcome is Outcome.FAILED and list(codes) == [NO_FIGURE]:
        return NOT_HANDED_IN
    if outcome is Outcome.FAILED and points > max_points / 2:
        return PARTLY_RIGHT
    return outcome.value


#: Of each outcome, by its words: its sign, and the colour of the border, which is visible on light
#: and dark backgrounds; text has the page's own colour.
LOOKS = {
    Outcome.PASSED.value: ("✓", "#009E73"),
    PARTLY_RIGHT: ("◐", "#E69F00"),
    NOT_HANDED_IN: ("○", "#808080"),
    Outcome.FAILED.value: ("✗", "#D55E00"),
    Outcome.NOT_GRADED.value: ("?", "#808080"),
}
MARKS = {words: mark for words, (mark, _) in LOOKS.items()}
#: How the id of a cell begins that shows the evidence.
EVIDENCE_CELL = "evidence-beside-"
