"""Evidence of an operation that is only the operation's own book: it counts itself."""

from __future__ import annotations

from grader.cases.case import Case
from grader.cases.verdict import Level
from grader.facts import own_question
from grader.pitfalls.pitfall import Pitfall


def detect(case: Case) -> str | None:
    found = own_question.counts_itself(case) if own_question.asks(case) else None
    if found is None:
        return None
    variable, call = found
    return (
        f"Your count looks only at {variable}, which your operation counts up beside its call of "
        f"{call}(). If {call}() did nothing, the count would be the same."
    )


PITFALL = Pitfall(
    code="counts-itself",
    level=Level.VALIDITY,
    symptom="The evidence of the operation is what the operation says of itself.",
    misconception="A counter beside a call counts how often its line was reached. It does not show "
    "what the call did.",
    experiment="Take the call out and leave the counter in. If the run still ends well, count "
    "where the effect arrives.",
    seen_in="report D: exchanges that the loop counts, and switches that the OS did not",
    detect=detect,
    yields_to=("operations-not-counted", "no-c-to-read"),
    in_own_c=True,
)
