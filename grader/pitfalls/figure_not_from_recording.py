"""The figure does not follow from its recording, and no known slip explains it."""

from __future__ import annotations

from collections.abc import Callable

from grader.case import Case
from grader.pitfalls.pitfall import Pitfall
from grader.verdict import Level


def pitfall(explained: Callable[[Case], bool]) -> Pitfall:
    """The entry; `explained` says whether another pitfall accounts for the difference."""

    def detect(case: Case) -> str | None:
        if case.right or case.given is None or not case.accepted or explained(case):
            return None
        expected = " or ".join(each.in_words() for each in case.accepted)
        return (
            f"You gave {case.as_submitted()}; {case.figure.recording} gives {expected} for "
            f"{case.spec.asked}."
        )

    return Pitfall(
        code="figure-not-from-recording",
        level=Level.PROVENANCE,
        symptom="The figure does not follow from its recording.",
        misconception="A figure is worth what its evidence is worth: it must come from these "
        "samples, not from another run, machine or page.",
        experiment="Compute the figure again from the recording that you hand in.",
        seen_in="report A: setuid, runs of 1217.20 cycles in the mean, 1261.60 in the table",
        detect=detect,
    )
