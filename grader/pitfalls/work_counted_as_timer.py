"""The mean of an interval that holds work, handed in as the timer's overhead."""

from __future__ import annotations

from grader.case import Case, is_meant
from grader.figures.spec import Quantity
from grader.pitfalls.pitfall import Pitfall, Slip
from grader.verdict import Level
from labs.units import rounded


def detect(case: Case) -> str | None:
    line = case.result.line
    if case.spec.quantity is not Quantity.OVERHEAD or case.right or line is None:
        return None
    per_unit = line.clock.ticks_in(case.spec.unit)
    for k, mean in zip(line.batch, line.location / per_unit, strict=True):
        if case.given is not None and is_meant(case.given, mean):
            return (
                f"You gave {case.as_submitted()}: that is your mean interval at k = {k:.0f}, "
                f"{rounded(float(mean))} {case.spec.unit}, with {k:.0f} operations inside."
            )
    return None


PITFALL = Pitfall(
    code="work-counted-as-timer",
    level=Level.INTERPRETATION,
    symptom="The work between the readings is counted as overhead of the timer.",
    misconception="A timed interval is overhead plus k times the cost of what it holds.",
    experiment="Draw the mean against k and read the line at k = 0.",
    seen_in="report D: clock and operation are one number",
    detect=detect,
    explains=Slip.CONTENTS,
)
