"""The number of ticks handed in as if a tick were a nanosecond, or the other way round."""

from __future__ import annotations

from grader.cases.case import Case
from grader.cases.digits import is_number, is_times
from grader.cases.spec import Quantity
from grader.cases.verdict import Level
from grader.facts.observed import reads_the_counter
from grader.pitfalls.pitfall import Live, MistakeKind, Pitfall
from labs.common.units import rounded

#: A counter this near to 1 GHz does tick once a ns.
SAME = 0.005


def detect(case: Case) -> str | None:
    # A step handed in as 1 was not converted: nobody looked.
    is_step = case.spec.quantity is Quantity.STEP and case.figure.value != 1
    if not (case.spec.is_time or is_step):
        return None
    if case.right or case.expected is None:
        return _declared(case) if not case.others else None
    ticks_per_ns = case.result.clock.frequency_hz / 1e9
    for factor, what in (
        (ticks_per_ns, "the value in ticks, called ns"),
        (1 / ticks_per_ns, "the value in ns, called ticks"),
    ):
        if abs(factor - 1) > 0.01 and (
            is_times(case, factor) or (is_step and is_number(case, case.expected.value * factor, 1))
        ):
            return (
                f"You gave {case.as_submitted()}; your recording gives "
                f"{case.expected.as_text()}. The factor is that of your counter, "
                f"{rounded(ticks_per_ns, 4)} ticks a ns: you gave {what}."
            )
    return None


def _declared(case: Case) -> str | None:
    """A C kernel that reads the counter and calls its ticks ns."""
    name = case.spec.variant
    declared = case.recording.number(f"clock.{name}.frequency_hz")
    measured = case.recording.number("counter.frequency_hz")
    if not declared or not measured or not reads_the_counter(case.recording, name):
        return None
    if abs(declared / 1e9 - 1) > SAME or abs(measured / 1e9 - 1) <= SAME:
        return None
    return (
        f"Your C kernel calls the ticks of {name} ns; the run measured its counter at "
        f"{rounded(measured / 1e9, 4)} ticks a ns."
    )


PITFALL = Pitfall(
    code="ticks-for-nanoseconds",
    level=Level.INTERPRETATION,
    symptom="The figure is off by the frequency of the counter.",
    misconception="A tick is the unit in which a counter counts, not a nanosecond and not a "
    "core cycle.",
    experiment="Read the counter twice, one second apart, and divide the ticks by 1,000,000,000.",
    seen_in="report A: ticks divided by the clock that lscpu prints",
    detect=detect,
    explains=MistakeKind.CLOCK,
    shows_in_recording=True,
    yields_to=(
        "creation-without-its-end",
        "read-and-write-counted-along",
        "touching-counted-as-switch",
        "two-results-for-one",
    ),
    broken=(Live("ticks_called_ns", "timer-overhead-fenced"),),
)
