"""A factor of a thousand between the figure and its recording: ns printed as µs."""

from __future__ import annotations

from grader.case import Case
from grader.pitfalls.pitfall import Pitfall, Slip
from grader.verdict import Level


def detect(case: Case) -> str | None:
    if (
        case.right
        or case.expected is None
        or not case.spec.is_time
        or case.spec.unit in ("ticks", "cycles")
    ):
        return None
    for power in (-9, -6, -3, 3, 6, 9):
        if case.is_times(10.0**power):
            larger = "larger" if power > 0 else "smaller"
            return (
                f"You gave {case.as_submitted()}; your recording gives {case.expected.in_words()}: "
                f"the digits agree, the figure is {10 ** abs(power):,} times {larger}."
            )
    return None


PITFALL = Pitfall(
    code="unit-slip",
    level=Level.INTERPRETATION,
    symptom="The figure is off by a whole power of a thousand.",
    misconception="A number was carried over and its unit was not: ns and µs differ by 1,000.",
    experiment="Divide the total time of the run by its operations, units written beside every "
    "number.",
    seen_in="report C: 3.2 s for 10 million calls printed as 320 µs a call",
    detect=detect,
    explains=Slip.UNIT,
)
