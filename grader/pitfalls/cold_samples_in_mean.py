"""A plain mean over all samples, cold ones and interruptions included."""

from __future__ import annotations

import numpy as np

from grader.cases.case import Case
from grader.cases.digits import is_number
from grader.cases.spec import Quantity
from grader.cases.verdict import Level
from grader.facts.observed import usual_ticks
from grader.pitfalls.pitfall import Live, MistakeKind, Pitfall
from labs.analysis.net_cost import parts_of
from labs.common.units import rounded

#: From this factor on the extreme samples, and nothing else, make the mean what it is.
CARRIED = 1.03


def detect(case: Case) -> str | None:
    spec = case.spec
    about = (Quantity.OVERHEAD, Quantity.COST, Quantity.WHOLE)
    if spec.quantity not in about or case.right or case.submitted is None:
        return None
    recording = case.recording
    mine = recording.rows_of(spec.variant)
    if spec.quantity is Quantity.OVERHEAD:
        mine &= recording.batch == 0
    samples = recording.samples(spec.variant)
    usual = {size: usual_ticks(samples, size) for size in samples.batch_sizes}
    per_unit = samples.clock.ticks_in(spec.unit)
    if spec.quantity is Quantity.COST:
        per_unit *= parts_of(recording, spec.variant)
    for chosen, what in (
        (mine, "warm-up included"),
        (mine & (recording.sample >= 0), "interruptions included"),
    ):
        chosen = chosen & np.isin(recording.batch, list(usual))
        if not chosen.any():
            continue
        ticks = recording.ticks[chosen] / per_unit
        operations = recording.batch[chosen].clip(min=1)
        without = np.array([usual[size] for size in recording.batch[chosen].tolist()]) / per_unit
        for mean, typical in (
            ((ticks / operations).mean(), (without / operations).mean()),
            (ticks.sum() / operations.sum(), without.sum() / operations.sum()),
        ):
            if is_number(case, float(mean)) and mean > CARRIED * typical:
                return (
                    f"You gave {case.as_submitted()}: the mean of all {len(ticks)} samples, "
                    f"{what}. Without the few samples far from the others, such as one of "
                    f"{rounded(float((ticks / operations).max()))}, the mean is "
                    f"{rounded(float(typical))} {spec.unit}."
                )
    return None


PITFALL = Pitfall(
    code="cold-samples-in-mean",
    level=Level.INTERPRETATION,
    symptom="A few extreme samples shift the mean.",
    misconception="A mean spreads one page fault or one interrupt over all samples.",
    experiment="Leave out the largest 1 % of the samples and see how far the mean moves.",
    seen_in="report E: 366 ns, then 90 to 96 ns, reported as 104 ns",
    detect=detect,
    explains=MistakeKind.REDUCTION,
    broken=(Live("untouched_records", "timer-overhead-monotonic"),),
)
