"""The figure does not follow from its recording, and no known slip explains it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from grader.cases.case import Case
from grader.cases.digits import is_number
from grader.cases.spec import Quantity
from grader.cases.verdict import Finding, Level
from grader.facts.dates import measured_after
from grader.facts.same_value import variants_of_same_value
from grader.pitfalls.pitfall import Pitfall


def detect(case: Case) -> str | None:
    if case.right or case.submitted is None or not case.accepted_values:
        return None
    if case.spec.quantity is Quantity.CHOICE:
        # grader.pitfalls.conclusion_against_table reports the others.
        return _of_stale_conclusion(case) if is_stale(case) else None
    expected = " or ".join(_without_repeats(each.as_text() for each in case.accepted_values[:2]))
    evidence = f"You gave {case.as_submitted()}; {case.figure.recording} gives {expected}."
    if case.others:
        names = " and ".join(each.spec.id for each in case.others)
        evidence = f"You gave {case.as_submitted()}; your figures {names} give {expected}."
    if is_stale(case):
        return (
            f"{evidence} This recording was made after you handed the figure in: hand the figure "
            "in again."
        )
    return None if case.right_in_older_kit and not what_it_is(case) else evidence


def _without_repeats(values: Iterable[str]) -> list[str]:
    """The values as text, without one that another one gives with its interval: '2.7 us'."""
    different = list(dict.fromkeys(values))
    return [
        each for each in different if not any(other.startswith(f"{each} (") for other in different)
    ]


def _of_stale_conclusion(case: Case) -> str:
    """It does not say whether the newer figures support the conclusion still."""
    newer = [
        each.figure.recording or each.spec.id
        for each in case.others or (case,)
        if measured_after(case.figure, each.recording)
    ]
    return (
        f"You gave {case.as_submitted()}; afterwards {' and '.join(newer)} was measured. Compare "
        "anew, and conclude again."
    )


def is_stale(case: Case) -> bool:
    """Whether the figure is wrong and older than a recording of it: what is wrong is its age."""
    if case.right or not case.accepted_values:
        return False
    return any(measured_after(case.figure, each.recording) for each in case.others or (case,))


def with_what_it_is(finding: Finding, case: Case, what_it_is: Callable[[Case], str]) -> Finding:
    """The finding, and what the figure is the value of, if this finding is of such a figure."""
    if finding.code != PITFALL.code:
        return finding
    known = what_it_is(case)
    return replace(finding, evidence=f"{finding.evidence} {known}") if known else finding


def what_it_is(case: Case) -> str:
    """Which variant of its own recording the figure is the cost of, as a sentence; '' if none."""
    if case.right or case.others or not case.spec.is_time:
        return ""
    line = case.result.line
    if case.spec.of_overhead and line is not None and line.empty is not None:
        empty = line.empty.value / line.clock.ticks_in(case.spec.unit)
        if is_number(case, empty):
            return (
                "What you gave is the mean of your empty samples, and not the intercept of the "
                "line."
            )
    same = variants_of_same_value(case, case.recording)
    found = [name for name in same if name not in case.spec.variants]
    return f"What you gave is the cost of {found[0]}." if len(found) == 1 else ""


PITFALL = Pitfall(
    code="figure-not-from-recording",
    level=Level.PROVENANCE,
    symptom="The figure does not follow from its recording.",
    misconception="A figure is worth what its evidence is worth: it must come from these "
    "samples, not from another run, machine or page.",
    experiment="Compute the figure again from the recording that you hand in.",
    seen_in="report A: setuid, runs of 1217.20 cycles on average, 1261.60 in the table",
    detect=detect,
)
