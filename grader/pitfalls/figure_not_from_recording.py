"""The figure differs from what its recording gives, and no known slip explains it.

Nobody is accused: whoever reduces the samples in another way may be far from the kit's value. The
finding says by how much the figure differs, and how many samples the kit leaves out and why.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

from grader.cases.case import Case
from grader.cases.digits import is_number
from grader.cases.expected import NEAR, Expected
from grader.cases.spec import Quantity
from grader.cases.verdict import Finding, Level
from grader.facts.dates import measured_after
from grader.facts.numbers.reductions import reduction_of
from grader.facts.same_value import variants_of_same_value
from grader.pitfalls.pitfall import Pitfall
from labs.common.units import rounded
from labs.results.result import REASONS

#: Beyond this factor the two values show by themselves how far apart they are.
MOST_APART = 100.0
#: Quantities for which no samples are averaged.
WITHOUT_SAMPLES = (Quantity.STEP, Quantity.SWITCHES, Quantity.CHOICE)


def detect(case: Case) -> str | None:
    if case.right or case.submitted is None or not case.accepted_values:
        return None
    if case.spec.quantity is Quantity.CHOICE:
        # grader.pitfalls.conclusion_against_table reports the others.
        return _of_stale_conclusion(case) if is_stale(case) else None
    expected = _nearest(case, case.submitted).as_text()
    evidence = f"You gave {case.as_submitted()}; {case.figure.recording} gives {expected}."
    if case.others:
        names = " and ".join(each.spec.id for each in case.others)
        evidence = f"You gave {case.as_submitted()}; your figures {names} give {expected}."
    if is_stale(case):
        return (
            f"{evidence} This recording was made after you handed the figure in: hand the figure "
            "in again."
        )
    return evidence


def _nearest(case: Case, submitted: float) -> Expected:
    """The right value that the submitted one is nearest to."""
    return min(case.accepted_values, key=lambda each: abs(each.value - submitted))


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
    """The finding, and what the figure is the value of, if this finding is of such a figure.

    A figure that is an ordinary reduction of its own samples follows from them, and keeps the
    points of provenance. It is told which samples the kit leaves out, as is a figure of which
    nothing is known.
    """
    if finding.code != PITFALL.code:
        return finding
    stale = is_stale(case)
    line = "" if stale else reduction_of(case)
    if line:
        finding = replace(finding, level=Level.INTERPRETATION)
        told = [line, _left_out(case)]
    elif known := what_it_is(case):
        told = [known]
    else:
        told = [] if stale else [_how_far(case), _left_out(case)]
    return replace(finding, evidence=" ".join(filter(None, (finding.evidence, *told))))


def _how_far(case: Case) -> str:
    """By how much the figure differs, and why so little matters; '' if that shows by itself."""
    if case.submitted is None or case.spec.quantity is Quantity.CHOICE:
        return ""
    right = _nearest(case, case.submitted).value
    times = case.submitted / right if right else 0.0
    if not 1 / MOST_APART <= times <= MOST_APART:
        return ""
    number_1, number_2 = rounded(100 * abs(times - 1), 2), rounded(times, 2)
    if times < 1:
        apart = f"Yours is {number_1} % lower."
    elif times < 2:
        apart = f"Yours is {number_1} % higher."
    else:
        apart = f"Yours is {number_2} times as large."
    return f"{apart} {case.spec.why_exact}".rstrip() if abs(times - 1) <= NEAR else apart


def _left_out(case: Case) -> str:
    """How many samples the kit leaves out, and why; '' for what is not an average of samples.

    A relation of other figures follows from the student's own ones, whatever samples these count.
    """
    if case.others or case.spec.quantity in WITHOUT_SAMPLES:
        return ""
    results = [case.results[name] for name in case.spec.variants]
    if any(each.line is None for each in results):
        return ""
    aside = sum((Counter(each.set_aside) for each in results), Counter[str]())
    left = sum(each.n for each in results)
    number_1, number_2 = f"{aside.total():,}", f"{left + aside.total():,}"
    if not aside:
        return f"The kit counts all {number_2} samples."
    each = ", ".join(REASONS[why].format(number_1=f"{count:,}") for why, count in aside.items())
    return f"The kit leaves out {number_1} of {number_2} samples: {each}."


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
    symptom="The figure differs from its recording.",
    misconception="Other samples were used, or another formula.",
    experiment="Compute it again.",
    seen_in="report A: setuid, runs of 1217.20 cycles on average, 1261.60 in the table",
    detect=detect,
)
