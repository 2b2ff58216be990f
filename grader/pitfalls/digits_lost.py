"""Microseconds times 1000: numbers in ns whose last three digits were never measured."""

from __future__ import annotations

from grader.cases.case import Case
from grader.cases.verdict import Level
from grader.facts.observed import step_of
from grader.pitfalls.pitfall import Live, Pitfall
from labs.common.units import rounded

#: Of a sample of this many steps or more the lost digits are not missed.
MOST_STEPS = 10
FEWEST_SEEN = 10


def detect(case: Case) -> str | None:
    # Elsewhere the clocks of the OS may themselves give microseconds in the form of ns (macOS).
    if not "".join(case.recording.condition("os")).startswith("Linux"):
        return None
    for name in case.spec.variants:
        result = case.results[name]
        samples = case.recording.samples(name)
        seen = step_of(samples.ticks)
        if not seen or seen % 1000 or (samples.ticks != 0).sum() < FEWEST_SEEN:
            continue
        longest = max(samples.ticks[samples.batch == samples.batch.max()].mean(), 0)
        if longest >= MOST_STEPS * seen:
            continue
        return (
            f"All {len(samples):,} samples of {name} are multiples of "
            f"{rounded(seen / result.clock.ticks_in('ns'))} ns; your longest samples take "
            f"{rounded(float(longest) / result.clock.ticks_in('ns'))} ns on average."
        )
    return None


PITFALL = Pitfall(
    code="digits-lost",
    level=Level.SUFFICIENCY,
    symptom="The clock's steps are longer than the operation that it times.",
    misconception="Microseconds times 1000 are nanoseconds that end in three zeros: the lost "
    "digits do not come back.",
    experiment="Look at the last digits of the samples, and use a clock with smaller steps.",
    seen_in="report B: its first version used gettimeofday times 1000",
    detect=detect,
    broken=(Live("microseconds_times_1000", "timer-overhead-monotonic"),),
)
