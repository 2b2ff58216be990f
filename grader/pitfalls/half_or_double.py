"""Off by two: a pair counted as one, or a whole as a half."""

from __future__ import annotations

from grader.cases.case import Case
from grader.cases.digits import is_times
from grader.cases.verdict import Level
from grader.pitfalls.pitfall import MistakeKind, Pitfall


def detect(case: Case) -> str | None:
    if case.right or case.expected is None or not case.spec.is_time:
        return None
    for factor, what in ((2.0, "twice"), (0.5, "half")):
        if is_times(case, factor):
            return (
                f"You gave {case.as_submitted()}, {what} of what your recording gives: "
                f"{case.expected.as_text()}."
            )
    return None


PITFALL = Pitfall(
    code="half-or-double",
    level=Level.INTERPRETATION,
    symptom="The figure is off by a factor of two.",
    misconception="Some things come in pairs: a pair of readings has one overhead together, a "
    "round trip holds two switches.",
    experiment="Write down what one sample contains, and which part of it your figure is.",
    seen_in="report B: a trial holds two switches, and the report does not say whether it prints "
    "one or both",
    detect=detect,
    explains=MistakeKind.FACTOR,
)
