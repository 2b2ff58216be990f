"""A trend is concluded where the intervals cannot tell the two apart."""

from __future__ import annotations

from grader.cases.case import Case
from grader.cases.spec import Quantity
from grader.cases.verdict import Level
from grader.figures.choices import EDGE_FROM
from grader.pitfalls.pitfall import MistakeKind, Pitfall
from labs.analysis.compare import separation
from labs.results.compared import compared


def detect(case: Case) -> str | None:
    spec = case.spec
    if spec.quantity is not Quantity.CHOICE or case.right or len(spec.operands) != 2:
        return None
    if case.submitted is None or case.submitted not in range(1, len(spec.choices) + 1):
        return None
    chosen = spec.choices[int(case.submitted) - 1]
    if chosen.known:
        return None  # no estimate decides
    results = [case.results[name] for name in spec.operands]
    first, second = (result.estimate for result in results)
    if first is None or second is None or abs(separation(first, second)) >= EDGE_FROM:
        return None
    return f"You concluded that {chosen.text}. By your data {compared(*results).sentence()}"


PITFALL = Pitfall(
    code="trend-inside-the-noise",
    level=Level.INTERPRETATION,
    symptom="A difference is explained that the data do not show.",
    misconception="Two measurements never agree to the last digit. Which is larger means nothing "
    "while the interval of their difference holds zero.",
    experiment="Measure both once more, and look at lab.compare: does the order stay?",
    seen_in="report A: cost increases with arguments, though three cost more than four and five",
    detect=detect,
    explains=MistakeKind.RELATION,
)
