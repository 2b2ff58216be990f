"""What a check says of one figure: points, and the findings behind them.

A verdict is plain data. :mod:`grader.judging.check` makes it, :mod:`grader.judging.presentation`
words it; neither a notebook nor nbgrader nor a command line is known here.
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
    """The four levels of a check, most basic first; points are given per level."""

    PROVENANCE = "provenance"
    VALIDITY = "validity"
    SUFFICIENCY = "sufficiency"
    INTERPRETATION = "interpretation"


@dataclass(frozen=True)
class Finding:
    """A pitfall diagnosed in this submission.

    `evidence` quotes the student's own data; `experiment` is the one thing to try that decides.
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

    `points` and `max_points` are sums over `levels`, which maps each level to (points, most).
    `findings` stand most basic first. `reason` is one sentence for the outcome. `praise` and
    `look_next` are filled where all is right. `flags` are for a person to look at and cost nothing.
    `recording` names the recording that was judged, relative to the lab folder; its `fingerprints`
    are the same in a copy of it, and in no other run.
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
        }
