"""A conclusion about a difference that the intervals do not show.

Its words say which conclusion is right, so that it is reported only after the lab is handed in.
"""

from __future__ import annotations

from grader.cases.case import Case
from grader.cases.conclusion import compared_as
from grader.cases.spec import Quantity
from grader.cases.verdict import Level
from grader.pitfalls.pitfall import MistakeKind, Pitfall
from labs.results.at_one_clock import compared_at_one_clock


def detect(case: Case) -> str | None:
    spec = case.spec
    if spec.quantity is not Quantity.CHOICE or case.right or len(spec.operands) != 2:
        return None
    if case.submitted is None or case.submitted not in range(1, len(spec.choices) + 1):
        return None
    chosen = spec.choices[int(case.submitted) - 1]
    if chosen.known or case.expected is None or case.expected.value != len(spec.choices):
        return None  # only the last conclusion is that the data do not decide
    first, second = (compared_as(spec, case.results[name]) for name in spec.operands)
    if first.estimate is None or second.estimate is None:
        return None
    found = compared_at_one_clock(first, second)
    if found.distinguishable:
        return None
    return f"You concluded that {chosen.text}. By your data {found.sentence()}"


PITFALL = Pitfall(
    code="trend-inside-the-noise",
    level=Level.INTERPRETATION,
    symptom="Your conclusion explains a difference that the data do not show.",
    misconception="Two measurements never agree to the last digit. If the interval of their "
    "difference holds zero, nobody can say which is larger.",
    experiment="Measure both once more, and look at lab.compare: does the order stay?",
    seen_in="report A: cost increases with arguments, though three cost more than four and five",
    detect=detect,
    explains=MistakeKind.RELATION,
    tells_answer=True,
)
