"""The figure does not follow from its recording, and no known slip explains it."""

from __future__ import annotations

from grader.case import Case
from grader.figures.spec import Quantity
from grader.pitfalls.pitfall import Pitfall
from grader.verdict import Level


def detect(case: Case) -> str | None:
    if case.right or case.given is None or not case.accepted:
        return None
    if case.spec.quantity is Quantity.CHOICE:
        return None  # grader.pitfalls.conclusion_against_table tells of those
    expected = " or ".join(dict.fromkeys(each.in_words() for each in case.accepted[:2]))
    source = f"{case.figure.recording} gives" if not case.others else "your recordings give"
    return f"You gave {case.as_submitted()}; {source} {expected} for {case.spec.asked}."


PITFALL = Pitfall(
    code="figure-not-from-recording",
    level=Level.PROVENANCE,
    symptom="The figure does not follow from its recording.",
    misconception="A figure is worth what its evidence is worth: it must come from these "
    "samples, not from another run, machine or page.",
    experiment="Compute the figure again from the recording that you hand in.",
    seen_in="report A: setuid, runs of 1217.20 cycles in the mean, 1261.60 in the table",
    detect=detect,
)
