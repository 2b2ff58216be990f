"""The figure does not follow from its recording, and no known slip explains it."""

from __future__ import annotations

from grader.cases.case import Case
from grader.cases.digits import is_number
from grader.cases.spec import Quantity
from grader.cases.verdict import Level
from grader.facts.dates import measured_after
from grader.pitfalls.pitfall import Pitfall
from labs.recording.file import BadRecording
from labs.results.result import result_of

#: Of a recording with more variants than this no other is looked at.
MOST_VARIANTS = 20


def detect(case: Case) -> str | None:
    if case.right or case.submitted is None or not case.accepted_values:
        return None
    if case.spec.quantity is Quantity.CHOICE:
        return None  # grader.pitfalls.conclusion_against_table tells of those
    expected = " or ".join(dict.fromkeys(each.as_text() for each in case.accepted_values[:2]))
    source = f"{case.figure.recording} gives" if not case.others else "your recordings give"
    evidence = f"You gave {case.as_submitted()}; {source} {expected} for {case.spec.asked}."
    if any(measured_after(case.figure, each.recording) for each in case.others or (case,)):
        return f"{evidence} That was measured after you handed the figure in: hand it in again."
    taken = _of_another_variant(case)
    if taken:
        return f"{evidence} What you gave is the cost of {taken}."
    return None if case.right_in_older_kit else evidence


def _of_another_variant(case: Case) -> str | None:
    """The one other variant of the recording whose value was handed in, where there is one."""
    recording = case.recording
    if case.others or not case.spec.is_time:
        return None
    found = []
    for name in recording.variants[:MOST_VARIANTS]:
        try:
            result = result_of(recording, name, case.spec.unit)
        except (KeyError, ValueError, BadRecording):
            continue
        if name not in case.spec.variants and result.estimate is not None:
            found += [name] * is_number(case, result.estimate.value)
    return found[0] if len(found) == 1 else None


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
