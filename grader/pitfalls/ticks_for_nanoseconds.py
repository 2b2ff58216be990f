"""The number of ticks handed in as if a tick were a nanosecond, or the other way round."""

from __future__ import annotations

from grader.case import Case
from grader.pitfalls.pitfall import Pitfall, Slip
from grader.verdict import Level
from labs.units import rounded


def detect(case: Case) -> str | None:
    if case.right or case.expected is None or not case.spec.is_time:
        return None
    ticks_per_ns = case.result.clock.frequency_hz / 1e9
    for factor, told in (
        (ticks_per_ns, "the value in ticks, called ns"),
        (1 / ticks_per_ns, "the value in ns, called ticks"),
    ):
        if abs(factor - 1) > 0.01 and case.is_times(factor):
            return (
                f"You gave {case.as_submitted()}; your recording gives {case.expected.in_words()}. "
                f"The factor is that of your counter, {rounded(ticks_per_ns, 4)} ticks a ns: "
                f"{told}."
            )
    return None


PITFALL = Pitfall(
    code="ticks-for-nanoseconds",
    level=Level.INTERPRETATION,
    symptom="The figure is off by exactly the frequency of the counter.",
    misconception="A tick is one step of the counter, not a nanosecond and not a core cycle.",
    experiment="Read the counter twice, one second apart, and divide the ticks by 1,000,000,000.",
    seen_in="report A: ticks divided by the clock that lscpu prints",
    detect=detect,
    explains=Slip.CLOCK,
)
