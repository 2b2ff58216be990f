"""The whole cost of a first call blamed on main memory, against the student's own figures.

Its words give away part of the answer, so that it is reported only after the lab is handed in.
"""

from __future__ import annotations

from grader.cases.case import Case
from grader.cases.verdict import Level
from grader.pitfalls.pitfall import MistakeKind, Pitfall
from labs.common.units import rounded
from labs.results.result import Result

FIGURE, MAIN_MEMORY = "first-iteration-cause", 1


def detect(case: Case) -> str | None:
    if case.spec.id != FIGURE or case.right or case.submitted != MAIN_MEMORY:
        return None
    if case.expected is None or case.expected.value == len(case.spec.choices):
        return None  # the figures do not say another cause: they decide nothing
    whole, left, load = (_short(case.results[name]) for name in case.spec.operands)
    return (
        f"You blame main memory. By your figures one load from there takes {load}, and a first "
        f"call takes {whole} more than others; with its page touched before, it takes {left} "
        "more."
    )


def _short(result: Result) -> str:
    return f"{rounded(result.estimate.value)} {result.unit}" if result.estimate else "no figure"


PITFALL = Pitfall(
    code="cause-not-isolated",
    level=Level.INTERPRETATION,
    symptom="You blame one cause for everything, but your figures show another.",
    misconception="A first call lacks its page, binding, cache line and branch prediction. Give "
    "back one alone to see how much it counts.",
    experiment="Touch the page before the first call, but call nothing. What is left?",
    seen_in="report D: all four first-run effects are explained by main memory; report E: by a "
    "cached pid",
    detect=detect,
    explains=MistakeKind.RELATION,
    tells_answer=True,
)
