"""The verdict on one figure: its points, and the findings that explain them.

A verdict is plain data. :mod:`grader.judging.check` makes it, and
:mod:`grader.judging.presentation` turns it into text. Nothing here knows of notebooks, of nbgrader
or of the command line.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Any


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
    whether the finding is right.
    """

    code: str
    level: Level
    symptom: str
    evidence: str
    misconception: str
    experiment: str


@dataclass(frozen=True)
class Verdict:
    """The judgement of one figure.

    `points` and `max_points` are sums over `levels`, which maps each level to (points, most). The
    most basic of the `findings` comes first. `reason` is one sentence for the outcome. `praise` and
    `look_next` have text if everything is right. `flags` are for a person to look at and cost
    nothing. `recording` is the path of the judged recording, relative to the lab folder; its
    `fingerprints` are the same in a copy of it, and in no other run. `note` says that this
    recording is not of the newest run, if that is so.
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
    flags: tuple[str, ...] = ()
    recording: str | None = None
    fingerprints: tuple[str, ...] = ()
    note: str = ""

    def as_json(self) -> dict[str, Any]:
        """The object that `grader check --json` prints for this figure."""
        return {
            "figure": self.figure,
            "outcome": self.outcome.value,
            "points": self.points,
            "max_points": self.max_points,
            "findings": [finding.code for finding in self.findings],
            "reason": self.reason,
            "levels": {level.value: list(pair) for level, pair in self.levels.items()},
            "flags": list(self.flags),
            "note": self.note,
        }
