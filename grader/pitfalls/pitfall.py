"""What an entry of the catalogue of pitfalls consists of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from grader.case import Case
from grader.verdict import Finding, Level


@dataclass(frozen=True)
class Pitfall:
    """A known way to measure or report wrongly.

    `detect` looks at one case and returns the evidence in the student's own data as one sentence,
    or None. The texts are the wording, apart from detection. `seen_in` says where the mistake was
    met (report A to E, or a tool).
    """

    code: str
    level: Level
    symptom: str
    misconception: str
    experiment: str
    seen_in: str
    detect: Callable[[Case], str | None]

    def find(self, case: Case) -> Finding | None:
        """The finding, where this case shows the pitfall."""
        evidence = self.detect(case)
        return None if evidence is None else self.finding(evidence)

    def finding(self, evidence: str) -> Finding:
        """The finding with this evidence."""
        return Finding(
            self.code, self.level, self.symptom, evidence, self.misconception, self.experiment
        )
