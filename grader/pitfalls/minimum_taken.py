"""The smallest sample handed in for the typical one."""

from __future__ import annotations

from grader.cases.case import Case
from grader.cases.digits import FEWEST_DIGITS, digits_of, is_number
from grader.cases.spec import Quantity
from grader.cases.verdict import Level
from grader.facts.observed import usual_ticks
from grader.pitfalls.pitfall import MistakeKind, Pitfall
from labs.analysis.net_cost import parts_of
from labs.common.units import rounded

#: Nearer to the typical sample than this, the smallest one is not what makes the figure wrong.
CLEARLY_LESS = 0.99

#: What half of the samples are is their middle, and no lucky one.
MOST_AS_SHORT = 50.0


def detect(case: Case) -> str | None:
    spec = case.spec
    about = (Quantity.OVERHEAD, Quantity.COST, Quantity.WHOLE)
    if spec.quantity not in about or case.right or not case.submitted:
        return None
    if digits_of(case.figure.value) < FEWEST_DIGITS:
        return None  # one step of the clock is often a round number (one_sample_taken)
    samples = case.recording.samples(spec.variant)
    per_unit = samples.clock.ticks_in(spec.unit)
    if spec.quantity is Quantity.COST:
        per_unit *= parts_of(case.recording, spec.variant)
    sizes = list(samples.batch_sizes)
    for size in [0] if spec.quantity is Quantity.OVERHEAD else sizes:
        ticks = samples.ticks[samples.batch == size]
        if not len(ticks):
            continue
        each = max(size, 1) * per_unit
        least, usual = float(ticks.min()) / each, usual_ticks(samples, size) / each
        share = 100 * float((ticks == ticks.min()).mean())
        if is_number(case, least) and least < CLEARLY_LESS * usual and share < MOST_AS_SHORT:
            return (
                f"You gave {case.as_submitted()}, the smallest of {len(ticks)} samples at k = "
                f"{size}; only {share:.2g} % of them are that short. A typical one takes "
                f"{rounded(usual)} {spec.unit}."
            )
    return None


PITFALL = Pitfall(
    code="minimum-taken",
    level=Level.INTERPRETATION,
    symptom="The figure is the luckiest sample.",
    misconception="The minimum is a lower limit. If the counter counts in steps, the minimum can "
    "be a whole step too short.",
    experiment="Sort the samples and look where the middle one lies.",
    seen_in="common in benchmark scripts",
    detect=detect,
    explains=MistakeKind.REDUCTION,
)
