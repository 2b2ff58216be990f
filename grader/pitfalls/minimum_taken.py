"""The smallest sample handed in for the typical one."""

from __future__ import annotations

from grader.case import Case, is_meant
from grader.figures.spec import Quantity
from grader.pitfalls.pitfall import Pitfall, Slip
from grader.verdict import Level


def detect(case: Case) -> str | None:
    if case.spec.quantity is not Quantity.OVERHEAD or case.right or case.expected is None:
        return None
    samples = case.recording.samples(case.spec.variant)
    empty = samples.ticks[samples.batch == 0]
    if not len(empty) or case.given is None:
        return None
    least = float(empty.min()) / samples.clock.ticks_in(case.spec.unit)
    if not is_meant(case.given, least):
        return None
    share = float((empty == empty.min()).mean())
    return (
        f"You gave {case.as_submitted()}, the smallest of {len(empty)} empty intervals; only "
        f"{100 * share:.0f} % of them are that short. Typical is {case.expected.in_words()}."
    )


PITFALL = Pitfall(
    code="minimum-taken",
    level=Level.INTERPRETATION,
    symptom="The figure is the luckiest sample.",
    misconception="The minimum is a floor; of a counter that steps it can be a whole step short.",
    experiment="Sort the samples and look where the middle one lies.",
    seen_in="common in benchmark scripts",
    detect=detect,
    explains=Slip.REDUCTION,
)
