"""A run compared with itself, as if one thing had been changed in between."""

from __future__ import annotations

from grader.cases.case import Case
from grader.cases.spec import Quantity
from grader.cases.verdict import Level
from grader.facts import own_question
from grader.pitfalls.pitfall import Pitfall


def detect(case: Case) -> str | None:
    if case.spec.quantity is not Quantity.CHOICE or len(case.others) != 2:
        return None
    first, second = case.others
    if first.spec.variants != second.spec.variants or first.spec.kernel != own_question.KERNEL:
        return None
    if first.recording.samples_sha256 != second.recording.samples_sha256:
        return None
    return (
        f"{first.figure.recording} and {second.figure.recording} hold the same samples: nothing "
        "was measured a second time."
    )


PITFALL = Pitfall(
    code="same-run-twice",
    level=Level.INTERPRETATION,
    symptom="The run is compared with itself, so no cause of error was tried.",
    misconception="A threat to a figure is tried by a second run in which it would show. A run "
    "never differs from itself.",
    experiment="Change the one thing that you named, and measure again under another name.",
    seen_in="report E: one run, and no second one under other conditions",
    detect=detect,
)
