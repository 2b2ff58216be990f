"""Ticks divided by a clock that was not measured: the one in the brand string, or the core's."""

from __future__ import annotations

import re
from collections.abc import Iterator

from grader.cases.case import Case
from grader.cases.digits import is_times
from grader.cases.verdict import Level
from grader.facts.observed import reads_the_counter
from grader.pitfalls.pitfall import Live, MistakeKind, Pitfall
from labs.common.units import NANOSECONDS, UnknownUnit, canonical, rounded

_NOMINAL = re.compile(r"@ ?(\d+(?:\.\d+)?) ?GHz")

#: Two frequencies this near to each other are one; a declared one must be the measured one.
SAME, DECLARED_SAME = 0.01, 0.005


def detect(case: Case) -> str | None:
    if case.others or not case.spec.is_time:
        return None
    if not reads_the_counter(case.recording, case.spec.variant):
        return None
    if case.right or not case.accepted_values:
        return _declared(case)
    if any(is_times(case, factor) for factor in (0.5, 2.0)):
        return None  # plainer, and a core at twice the counter's rate looks the same
    for frequency, factor, what in _clocks(case):
        if abs(factor - 1) > SAME and is_times(case, factor):
            return (
                f"You gave {case.as_submitted()}; your recording gives "
                f"{case.accepted_values[0].as_text()}. The factor is that of {what}, "
                f"{rounded(frequency / 1e9)} GHz; your counter ran at "
                f"{rounded(case.result.clock.frequency_hz / 1e9, 4)} GHz."
            )
    return None


def _clocks(case: Case) -> Iterator[tuple[float, float, str]]:
    """Frequencies that may have been taken for the counter's (or for the core's, of a figure in
    cycles), the factor by which the figure is then off, and what they are."""
    clock = case.result.clock
    core = clock.frequency_hz / clock.core_cycle_ticks if clock.core_cycle_ticks else None
    stated = _NOMINAL.search(" ".join(case.recording.condition("machine.cpu")))
    nominal = float(stated[1]) * 1e9 if stated else None
    try:
        unit = canonical(case.figure.unit)
    except UnknownUnit:
        return
    if unit in NANOSECONDS:
        if nominal:
            yield nominal, clock.frequency_hz / nominal, "the clock in the processor's name"
        if core:
            yield core, clock.frequency_hz / core, "the core's own clock"
    elif unit == "cycles" and core and nominal:
        yield nominal, nominal / core, "the clock in the processor's name"


def _declared(case: Case) -> str | None:
    """A C kernel that reads the counter and states another frequency than the one measured."""
    name = case.spec.variant
    declared = case.recording.number(f"clock.{name}.frequency_hz")
    measured = case.recording.number("counter.frequency_hz")
    if not declared or not measured or abs(declared / measured - 1) <= DECLARED_SAME:
        return None
    if abs(declared / 1e9 - 1) <= DECLARED_SAME:
        return None  # ticks called ns: grader.pitfalls.ticks_for_nanoseconds
    return (
        f"Your C kernel states that the clock of {name} runs at {rounded(declared / 1e9, 4)} GHz; "
        f"the run measured its counter at {rounded(measured / 1e9, 4)} GHz."
    )


PITFALL = Pitfall(
    code="nominal-clock",
    level=Level.INTERPRETATION,
    symptom="Ticks were turned into time with a clock rate that nobody measured.",
    misconception="The counter's rate is neither the clock rate on the box or in lscpu, nor the "
    "clock rate of the core.",
    experiment="Count the ticks of one second by CLOCK_MONOTONIC_RAW and divide by them.",
    seen_in="reports A and C: the clock that lscpu prints; the turbo clock on the box",
    detect=detect,
    explains=MistakeKind.CLOCK,
    shows_in_recording=True,
    yields_to=(
        "read-and-write-counted-along",
        "touching-counted-as-switch",
        "two-results-for-one",
    ),
    broken=(Live("clock_on_the_box", "timer-overhead-fenced"),),
)
