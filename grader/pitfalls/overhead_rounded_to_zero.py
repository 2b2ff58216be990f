"""A time kept in whole units that are longer than it: always 0."""

from __future__ import annotations

from grader.cases.case import Case
from grader.cases.verdict import Level
from grader.pitfalls.pitfall import Live, MistakeKind, Pitfall
from labs.common.units import canonical

#: Of a clock that is merely coarse some samples see a step: as many as the time is long.
MOST_NOT_ZERO = 0.01
FEWEST_SAMPLES = 100


def detect(case: Case) -> str | None:
    if not case.spec.is_time or case.others:
        return None
    if case.submitted == 0 and not case.right and _is_shorter_than_its_unit(case):
        return (
            f"You gave {case.as_submitted()}; your recording gives "
            f"{case.accepted_values[0].as_text()}, which is 0 only in whole units of "
            "something longer."
        )
    samples = case.recording.samples(case.spec.variant)
    not_zero = int((samples.ticks != 0).sum())
    if len(samples) < FEWEST_SAMPLES or not_zero > MOST_NOT_ZERO * len(samples):
        return None
    unit = 1e6 / samples.clock.frequency_hz
    return (
        f"{len(samples) - not_zero:,} of your {len(samples):,} samples are 0, whatever the work "
        f"between the readings: samples were kept in whole units of {unit:g} µs."
    )


def _is_shorter_than_its_unit(case: Case) -> bool:
    """Whether the right value is less than 1 in the unit of the figure: whole units lose it.

    Otherwise somebody who gave 0 took it from elsewhere.
    """
    right = [each.value for each in case.accepted_values]
    unit = canonical(case.figure.unit)  # `submitted` is known, so there is such a unit
    return bool(right) and abs(case.result.clock.convert(right[0], case.spec.unit, unit)) < 1


PITFALL = Pitfall(
    code="overhead-rounded-to-zero",
    level=Level.INTERPRETATION,
    symptom="A time is always 0 if it is stored in whole units longer than itself.",
    misconception="An integer division drops the remainder, and a mean of zeros stays zero.",
    experiment="Keep the samples in the finest unit of the clock, and divide once, at the end.",
    seen_in="a benchmark tool that keeps its overhead in whole microseconds",
    detect=detect,
    explains=MistakeKind.UNIT,
    shows_in_recording=True,
    broken=(Live("whole_microseconds", "timer-overhead-monotonic"),),
)
