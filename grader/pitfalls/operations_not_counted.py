"""A student's own operation whose happening nothing shows: it was not counted, or only claimed."""

from __future__ import annotations

from grader.cases.case import Case
from grader.cases.verdict import Level
from grader.facts import own_question
from grader.pitfalls.pitfall import Pitfall
from labs.common.units import rounded


def detect(case: Case) -> str | None:
    if not own_question.asks(case):
        return None
    itself = own_question.claims_by_itself(case)
    if itself is not None:
        return f"Your C {itself}: what the recording states of operations is its own claim."
    trials = own_question.trials(case)
    if not trials:
        return "The recording does not state how many operations were counted in each process."
    for trial in trials:
        if trial.idle:
            return (
                f"Where nothing was done, your function counted {rounded(trial.idle)} operations."
            )
        if trial.of_operation != trial.tried:
            return (
                f"After the last sample the run made {rounded(trial.tried)} operations, and your "
                f"function counted {rounded(trial.of_operation)}."
            )
    held, counted = own_question.in_samples(case)
    if counted is None or counted < held:
        return f"The samples hold {held:,} operations, and {counted or 0:,} were counted."
    return None


PITFALL = Pitfall(
    code="operations-not-counted",
    level=Level.VALIDITY,
    symptom="Nothing shows that the operation happened as often as the figure claims.",
    misconception="A time is the cost of an operation only if the operation took place. A program "
    "that fails early is fast too, and what it says of itself is no count.",
    experiment="Leave one operation out of ten. Does your count notice it?",
    seen_in="report C: a read that fails each time, timed as a read",
    detect=detect,
    yields_to=("no-c-to-read",),
    in_own_c=True,
)
