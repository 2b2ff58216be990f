"""Time stamps of 1.8e18 ns kept in a double, which holds them in steps of 256 ns."""

from __future__ import annotations

from grader.cases.case import Case
from grader.cases.verdict import Level
from grader.facts.observed import step_of
from grader.pitfalls.pitfall import Live, Pitfall

LEAST_STEP = 16
FEWEST_SEEN = 10

#: The clock itself steps this many times finer than the samples.
FINER = 4


def detect(case: Case) -> str | None:
    for name in case.spec.variants:
        samples = case.recording.samples(name)
        seen = step_of(samples.ticks)
        power_of_two = seen & (seen - 1) == 0
        if seen < max(LEAST_STEP, FINER * samples.clock.step) or not power_of_two:
            continue
        if (samples.ticks != 0).sum() < FEWEST_SEEN:
            continue
        return (
            f"All {len(samples):,} samples of {name} are multiples of {seen} ticks, but the "
            f"clock itself steps by {samples.clock.step}."
        )
    return None


PITFALL = Pitfall(
    code="timestamps-in-double",
    level=Level.SUFFICIENCY,
    symptom="The readings lost their last digits before they were subtracted.",
    misconception="A double holds 53 bits: nanoseconds since 1970 need 61, and so come in steps of "
    "256.",
    experiment="Subtract the readings as whole numbers first. Print their difference as a whole "
    "number and as a double.",
    seen_in="a benchmark suite that keeps time stamps of 1.8e18 ns in a double",
    detect=detect,
    broken=(Live("stamps_in_double", "timer-overhead-monotonic"),),
)
