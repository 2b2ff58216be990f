"""What an entry of the catalogue of pitfalls consists of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum

from grader.cases.case import Case
from grader.cases.verdict import Finding, Level
from labs.recording.file import BadRecording


class Slip(IntEnum):
    """How a figure can miss what its recording gives, in the order in which slips are looked for.

    Of a figure that is not right one slip is told, the plainest that accounts for it: a unit before
    a clock, a number that stands in this recording before a mere factor.
    """

    UNIT = 1
    CLOCK = 2
    RELATION = 3
    CONTENTS = 4
    REDUCTION = 5
    FACTOR = 6


@dataclass(frozen=True)
class Live:
    """How a broken C kernel shows the pitfall live: its run, handed in as that figure.

    `needs` says what a machine must have for it, such as `two CPUs`; empty: nothing. `believed` is
    the variant whose result is handed in, where the mistake lies in taking that one.
    """

    kernel: str
    figure: str
    needs: str = ""
    believed: str = ""


@dataclass(frozen=True)
class Pitfall:
    """A known way to measure or report wrongly.

    `detect` looks at one case and returns the evidence in the student's own data as one sentence,
    or None. The texts are the wording, apart from detection. `seen_in` says where the mistake was
    met (report A to E, or a tool). An entry that `explains` a wrong figure names the kind of slip;
    where the same slip can as well be made in the C, so that the figure does follow from its
    recording, it `shows_in_recording`, and is looked for in right figures too. One that `yields_to`
    others keeps silent where one of those is found: they say the same, and more exactly. `broken`
    are C kernels that make the mistake.
    """

    code: str
    level: Level
    symptom: str
    misconception: str
    experiment: str
    seen_in: str
    detect: Callable[[Case], str | None]
    explains: Slip | None = None
    shows_in_recording: bool = False
    yields_to: tuple[str, ...] = ()
    broken: tuple[Live, ...] = ()

    def find(self, case: Case) -> Finding | None:
        """The finding, where this case shows the pitfall."""
        try:
            evidence = self.detect(case)
        except BadRecording:
            # It compares with a variant that the figure does not need, and whose clock the
            # recording does not describe.
            return None
        return None if evidence is None else self.finding(evidence)

    def finding(self, evidence: str) -> Finding:
        """The finding with this evidence."""
        return Finding(
            self.code, self.level, self.symptom, evidence, self.misconception, self.experiment
        )
