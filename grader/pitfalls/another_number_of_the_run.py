"""A number of the same run, but not the one that the lab asks for."""

from __future__ import annotations

from grader.cases.case import Case
from grader.cases.digits import is_rounded
from grader.cases.verdict import Level
from grader.facts.numbers.other_numbers import numbers_of
from grader.pitfalls.pitfall import MistakeKind, Pitfall


def detect(case: Case) -> str | None:
    if case.right or case.expected is None or case.submitted is None:
        return None
    found = list(
        dict.fromkeys(what for number, what in numbers_of(case) if is_rounded(case, number))
    )
    if not found:
        return None
    # More than two that fit tell nothing.
    if len(found) > 2:
        return None
    return (
        f"You gave {case.as_submitted()}: that is {', or '.join(found)}. The lab asks for "
        f"{_asked(case)}."
    )


def _asked(case: Case) -> str:
    return f"{case.spec.asked}: {case.expected.as_text() if case.expected else 'no figure'}"


PITFALL = Pitfall(
    code="another-number-of-the-run",
    level=Level.INTERPRETATION,
    symptom="The figure is another number of the same run.",
    misconception="A run shows many numbers; each answers another question.",
    experiment="Write down what the lab asks for, then find the row and the column of that name.",
    seen_in="common where a number is copied from a table",
    detect=detect,
    explains=MistakeKind.CONTENTS,
    yields_to=(
        "cost-of-many-for-one",
        "loop-counted-along",
        "read-and-write-counted-along",
        "step-assumed-one",
        "timer-not-subtracted",
        "two-results-for-one",
        "unclear-divisor",
        "work-counted-as-timer",
    ),
)
