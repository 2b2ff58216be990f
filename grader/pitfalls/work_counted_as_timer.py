"""The mean of a sample that holds work, handed in as the timer's overhead."""

from __future__ import annotations

from grader.cases.case import Case
from grader.cases.digits import is_number
from grader.cases.spec import Quantity
from grader.cases.verdict import Level
from grader.facts.observed import usual_ticks
from grader.pitfalls.pitfall import Live, MistakeKind, Pitfall
from labs.common.units import rounded

#: Work that takes more than the readings is not mistaken for none.
CLEARLY_LESS = 0.5


def detect(case: Case) -> str | None:
    if case.spec.quantity is not Quantity.OVERHEAD or case.right or case.submitted is None:
        return None
    samples = case.recording.samples(case.spec.variant)
    per_unit = samples.clock.ticks_in(case.spec.unit)
    recording = case.recording
    mine = recording.rows_of(case.spec.variant)
    everything = (
        (samples.ticks, samples.batch),
        (recording.ticks[mine], recording.batch[mine]),  # warm-up included
    )
    for k in [size for size in samples.batch_sizes if size != 0]:
        means = [usual_ticks(samples, k)]
        empty = usual_ticks(samples, 0) if (samples.batch == 0).any() else 0.0
        if empty < CLEARLY_LESS * means[0]:
            # No mean of the empty samples is as large as these.
            means += [float(each[each_batch == k].mean()) for each, each_batch in everything]
        mean = next((each for each in means if is_number(case, each / per_unit)), None)
        if mean is not None:
            operations = f"{k} operation{'s' if k > 1 else ''}"
            return (
                f"You gave {case.as_submitted()}: that is your mean sample at k = {k}, "
                f"{rounded(mean / per_unit)} {case.spec.unit}, with {operations} inside."
            )
    return None


PITFALL = Pitfall(
    code="work-counted-as-timer",
    level=Level.INTERPRETATION,
    symptom="The work between the readings is counted as overhead of the timer.",
    misconception="A sample is overhead plus k times the cost of what it holds.",
    experiment="Draw the mean against k and read the line at k = 0.",
    seen_in="report D: clock and operation are one number",
    detect=detect,
    explains=MistakeKind.CONTENTS,
    broken=(Live("clock_and_work", "timer-overhead-monotonic"),),
)
