"""A few long loops, each bracketed once: a mean of each, and a margin of error from those."""

from __future__ import annotations

from grader.cases.case import Case
from grader.cases.spec import Quantity
from grader.cases.verdict import Level
from grader.pitfalls.pitfall import Live, Pitfall
from labs.analysis.student import student_t
from labs.common.units import rounded
from labs.recording.declared import is_first_time

MOST_MEANS = 19
LONG_LOOP = 1_000


def detect(case: Case) -> str | None:
    if case.spec.quantity is Quantity.STEP:
        return None
    for name in case.spec.variants:
        samples = case.recording.samples(name)
        count = len(samples)
        if not 0 < count <= MOST_MEANS or is_first_time(case.recording, name):
            continue
        loop = int(samples.batch.min())
        if loop < LONG_LOOP:
            continue
        margin = (
            f"a 95 % margin from {count} of them is {rounded(student_t(count - 1))} standard "
            "errors, not 2"
            if count > 1
            else "one of them has no margin at all"
        )
        return (
            f"Your recording holds {count} sample{'s' if count > 1 else ''} of {name}, each of "
            f"{loop:,} operations or more: {margin}."
        )
    return None


PITFALL = Pitfall(
    code="margin-from-few-means",
    level=Level.SUFFICIENCY,
    symptom="The spread of a few means says little of the error.",
    misconception="Ten million operations in one timed region are one sample: the mean hides all "
    "that happened in it.",
    experiment="Split the loop into many short samples and look at them one by one.",
    seen_in="report B: a margin of 0.03 ns from three means",
    detect=detect,
    broken=(Live("bracketed_once", "timer-overhead-monotonic"),),
)
