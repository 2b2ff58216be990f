"""All samples from one process."""

from __future__ import annotations

from grader.cases.case import Case
from grader.cases.spec import Quantity
from grader.cases.verdict import Level
from grader.pitfalls.pitfall import Live, Pitfall
from labs.recording.distinct import distinct

FEWEST_PROCESSES = 3


def detect(case: Case) -> str | None:
    if case.spec.quantity is Quantity.STEP:
        return None
    processes = len(distinct(case.recording.process[case.recording.sample >= 0]))
    if processes >= FEWEST_PROCESSES:
        return None
    return (
        f"All samples come from {processes} process{'es' if processes != 1 else ''}; the spread "
        "between processes cannot be seen in them."
    )


PITFALL = Pitfall(
    code="one-process",
    level=Level.SUFFICIENCY,
    symptom="The interval leaves out the spread between runs.",
    misconception="Many samples of one process are not many runs: the layout in memory and the "
    "physical pages stay the same.",
    experiment="Run the program ten times and compare the medians.",
    seen_in="report E: 20 samples of one run",
    detect=detect,
    broken=(Live("twenty_samples", "timer-overhead-monotonic"),),
)
