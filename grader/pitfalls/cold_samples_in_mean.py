"""A plain mean over all samples, cold ones and interruptions included."""

from __future__ import annotations

from grader.case import Case, is_meant
from grader.figures.spec import Quantity
from grader.pitfalls.pitfall import Pitfall, Slip
from grader.verdict import Level
from labs.units import rounded


def detect(case: Case) -> str | None:
    if case.spec.quantity is not Quantity.OVERHEAD or case.right or case.expected is None:
        return None
    mine = case.recording.variant_index == case.recording.variants.index(case.spec.variant)
    empty = mine & (case.recording.batch == 0)
    if not empty.any() or case.given is None:
        return None
    per_unit = case.result.clock.ticks_in(case.spec.unit)
    for chosen, told in (
        (empty, "warm-up included"),
        (empty & (case.recording.sample >= 0), "interruptions included"),
    ):
        if not chosen.any():
            continue
        mean = float(case.recording.ticks[chosen].mean()) / per_unit
        if is_meant(case.given, mean):
            worst = float(case.recording.ticks[chosen].max()) / per_unit
            return (
                f"You gave {case.as_submitted()}: the mean of all empty intervals, {told}. The "
                f"largest of them is {rounded(worst)} {case.spec.unit}; typical is "
                f"{case.expected.in_words()}."
            )
    return None


PITFALL = Pitfall(
    code="cold-samples-in-mean",
    level=Level.INTERPRETATION,
    symptom="A few extreme samples carry the mean.",
    misconception="A mean takes a page fault or an interrupt for a part of every interval.",
    experiment="Leave out the largest 1 % of the samples and see how far the mean moves.",
    seen_in="report E: 366 ns, then 90 to 96 ns, reported as 104 ns",
    detect=detect,
    explains=Slip.REDUCTION,
)
