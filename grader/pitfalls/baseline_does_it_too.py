"""A baseline that holds the operation itself: what is asked about is subtracted from itself."""

from __future__ import annotations

from grader.cases.case import Case
from grader.cases.verdict import Level
from grader.facts import own_question
from grader.pitfalls.pitfall import Pitfall
from labs.common.units import rounded


def detect(case: Case) -> str | None:
    if not own_question.asks(case):
        return None
    for trial in own_question.trials(case):
        if trial.of_baseline:
            return (
                f"After the last sample the run made {rounded(trial.tried)} baselines, and your "
                f"function counted {rounded(trial.of_baseline)} operations in them."
            )
    return None


PITFALL = Pitfall(
    code="baseline-does-it-too",
    level=Level.VALIDITY,
    symptom="The baseline does what the question is about, so the difference leaves it out.",
    misconception="A baseline is what would be left without the operation: the loop, and what the "
    "operation needs around it. It is not a second way to do the same.",
    experiment="Make the baseline empty and measure again. What was lost before?",
    seen_in="comparisons of two ways to do the same, reported as the cost of one of them",
    detect=detect,
    yields_to=("operations-not-counted",),
    in_own_c=True,
)
