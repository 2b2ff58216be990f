"""Units and the rates of clocks: the right value in another unit, or by another clock."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import replace

from grader.cases.case import Case, is_number, is_times
from grader.cases.spec import CHOICE, Quantity
from grader.cases.verdict import Level
from grader.facts.observed import reads_the_counter
from grader.pitfalls.pitfall import Live, MistakeKind, pitfall
from labs.results.result import result_of
from labs.units import NAMES, NANOSECONDS, SPELLINGS, UnknownUnit, canonical, rounded


@pitfall(
    code="unit-unknown",
    level=Level.INTERPRETATION,
    symptom="The figure's unit cannot be converted into the unit that the lab asks for.",
    misconception="A figure without a usable unit says nothing.",
    experiment=f"Give one of {', '.join(NAMES)}; for a ratio, times; for the number of a "
    "conclusion, choice.",
    seen_in="report C: cycles, ns and µs mixed",
)
def unit_unknown(case: Case) -> str | None:
    """A unit that is none, or not one of this quantity."""
    if case.submitted is not None:
        return None
    asked = "by number" if case.spec.unit == CHOICE else f"in {case.spec.unit}"
    return f"You gave {case.as_submitted()}; the lab asks for {case.spec.asked}, {asked}."


#: A slope known to this factor is distinguishable from one a thousand times larger or smaller.
KNOWN_TO = 4.0
#: Values that differ by at most this share lie close together.
CLOSE = 0.02


@pitfall(
    code="unit-slip",
    level=Level.INTERPRETATION,
    symptom="The figure is off by a whole power of a thousand.",
    misconception="A number was copied without its unit: ns and µs differ by 1,000.",
    experiment="Divide the total time of the run by its operations, and write the unit next to "
    "every number.",
    seen_in="report C: 3.2 s for 10 million calls printed as 320 µs a call",
    explains=MistakeKind.UNIT,
    shows_in_recording=True,
    broken=(Live("ns_called_us", "timer-overhead-monotonic"),),
)
def unit_slip(case: Case) -> str | None:
    """A factor of a thousand between the figure and its recording: ns printed as µs."""
    if not case.spec.is_time:
        return None
    if case.right or case.expected is None:
        return _misstated_in_the_c(case) if not case.others else None
    for power in (-9, -6, -3, 3, 6, 9):
        if _is_times(case, 10.0**power):
            larger = "larger" if power > 0 else "smaller"
            return (
                f"You gave {case.as_submitted()}; your recording gives {case.expected.as_text()}: "
                f"the digits agree, the figure is {10 ** abs(power):,} times {larger}."
            )
    return None


def _is_times(case: Case, factor: float) -> bool:
    """Whether the value is a right one times `factor`, or that to two digits.

    Of no other factor are two digits enough: nothing else is a thousand times off. For ns printed
    as µs, everything in the interval counts, where it is narrow.
    """
    submitted = case.submitted
    if not submitted or is_times(case, factor):
        return bool(submitted)
    if abs(math.log10(factor)) == 3 and any(
        replace(each, exact=True).accepts(submitted / factor)
        and each.high - each.low <= CLOSE * abs(each.value)
        for each in case.accepted_values
    ):
        return True
    per_unit = case.figure.value / submitted  # where the student rounded
    products = (each.value * factor * per_unit for each in case.accepted_values)
    return any(float(f"{product:.2g}") == case.figure.value for product in products)


def _misstated_in_the_c(case: Case) -> str | None:
    """The clock's unit is misstated: an addition, one core cycle, takes a thousand by it."""
    line, cycle = case.result.line, case.result.clock.core_cycle_ticks
    if not case.spec.of_overhead or line is None or not cycle:
        return None
    cost = line.cost
    if cost.low <= 0 or cost.high > KNOWN_TO * cost.low:
        return None
    power = 3 * round(math.log10(cost.value / cycle) / 3)
    # A bent line may be too flat, but never a thousand times too steep.
    if power == 0 or (power < 0 and not line.straight):
        return None
    if abs(math.log10(cost.value / cycle) - power) > math.log10(KNOWN_TO):
        return None
    return (
        f"By the clock that your C states, an addition takes {rounded(cost.value / cycle)} core "
        f"cycles, but it takes only one. {case.as_submitted()} is off by the same factor."
    )


#: A counter this near to 1 GHz does tick once a ns.
COUNTER_OF_ONE_GHZ = 0.005


@pitfall(
    code="ticks-for-nanoseconds",
    level=Level.INTERPRETATION,
    symptom="The figure is off by the frequency of the counter.",
    misconception="A tick is the unit in which a counter counts, not a nanosecond and not a "
    "core cycle.",
    experiment="Read the counter twice, one second apart, and divide the ticks by 1,000,000,000.",
    seen_in="report A: ticks divided by the clock that lscpu prints",
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
def ticks_for_nanoseconds(case: Case) -> str | None:
    """The number of ticks handed in as if a tick were a nanosecond, or the other way round."""
    # A step handed in as 1 was not converted: nobody looked.
    is_step = case.spec.quantity is Quantity.STEP and case.figure.value != 1
    if not (case.spec.is_time or is_step):
        return None
    if case.right or case.expected is None:
        return _declared_as_ns(case) if not case.others else None
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


def _declared_as_ns(case: Case) -> str | None:
    """A C kernel that reads the counter and calls its ticks ns."""
    name = case.spec.variant
    declared = case.recording.number(f"clock.{name}.frequency_hz")
    measured = case.recording.number("counter.frequency_hz")
    if not declared or not measured or not reads_the_counter(case.recording, name):
        return None
    if (
        abs(declared / 1e9 - 1) > COUNTER_OF_ONE_GHZ
        or abs(measured / 1e9 - 1) <= COUNTER_OF_ONE_GHZ
    ):
        return None
    return (
        f"Your C kernel calls the ticks of {name} ns; the run measured its counter at "
        f"{rounded(measured / 1e9, 4)} ticks a ns."
    )


#: A core this near to 1 GHz does take a ns for a cycle.
CORE_OF_ONE_GHZ = 0.01


@pitfall(
    code="cycles-for-nanoseconds",
    level=Level.INTERPRETATION,
    symptom="The figure is off by the frequency of the core.",
    misconception="A core cycle is a nanosecond only at 1 GHz; a number keeps the unit it was "
    "printed with.",
    experiment="Show the run in both units and write each number with its unit.",
    seen_in="report A: cycles beside the nanoseconds of other reports",
    explains=MistakeKind.CLOCK,
    yields_to=(
        "creation-without-its-end",
        "read-and-write-counted-along",
        "touching-counted-as-switch",
        "two-results-for-one",
    ),
)
def cycles_for_nanoseconds(case: Case) -> str | None:
    """Core cycles handed in as if a cycle were a nanosecond, or the other way round."""
    clock = case.result.clock
    cycle = clock.core_cycle_ticks
    if case.right or case.expected is None or not case.spec.is_time or not cycle:
        return None
    try:
        unit = canonical(case.figure.unit)
    except UnknownUnit:
        return None
    per_ns = clock.frequency_hz / 1e9 / cycle
    if abs(per_ns - 1) <= CORE_OF_ONE_GHZ or not (unit in NANOSECONDS or unit == "cycles"):
        return None
    factor, other = (1 / per_ns, "ns") if unit == "cycles" else (per_ns, "cycles")
    if not is_times(case, factor) and not _is_shown_in_unit(case, other, unit):
        return None
    meant = "core cycles" if other == "cycles" else "ns"
    return (
        f"You gave {case.as_submitted()}; your recording gives {case.expected.as_text()}. In "
        f"this run the core made {rounded(per_ns, 4)} cycles a ns: you gave the value in {meant} "
        f"and called it {unit}."
    )


def _is_shown_in_unit(case: Case, other: str, unit: str) -> bool:
    """Whether the run shows this number in the unit `other`, and it was called `unit`.

    A run shows its core cycles at one speed, so that their number is not quite that of its ns.
    """
    if case.others or case.spec.unit not in (unit, other):
        return False
    shown = result_of(case.recording, case.spec.variant, other).estimate
    clock = case.result.clock
    return shown is not None and is_number(case, clock.convert(shown.value, unit, case.spec.unit))


@pitfall(
    code="cycles-for-ticks",
    level=Level.INTERPRETATION,
    symptom="The figure is off by the ratio of core clock and counter.",
    misconception="The counter runs at a fixed rate; the core runs faster or slower than it.",
    experiment="Time 1,000 dependent additions, one core cycle each, and count the ticks.",
    seen_in="report A: counter ticks called cycles; report C: cycles from the turbo clock",
    explains=MistakeKind.FACTOR,
)
def cycles_for_ticks(case: Case) -> str | None:
    """Core cycles handed in as counter ticks, or the other way round."""
    cycle = case.result.clock.core_cycle_ticks
    if case.right or case.expected is None or not case.spec.is_time or not cycle:
        return None
    # Of a time only this way round: the other is a division by the core's clock (nominal_clock).
    unit = case.figure.unit.strip()
    is_time = SPELLINGS.get(unit, unit) in NANOSECONDS
    factors = (1 / cycle,) if is_time else (1 / cycle, cycle)
    off = any(is_times(case, factor) for factor in factors) or _is_cycles_called_ticks(case)
    if abs(cycle - 1) <= 0.02 or not off:
        return None
    if is_times(case, 2.0) or is_times(case, 0.5):
        return None  # plainer, and a core at twice the counter's rate looks the same
    return (
        f"You gave {case.as_submitted()}; your recording gives {case.expected.as_text()}. On this "
        f"machine a core cycle takes {rounded(cycle)} ticks, and that is the factor between them."
    )


def _is_cycles_called_ticks(case: Case) -> bool:
    """Whether the run shows this number in core cycles and it was called ticks, or the reverse.

    A run shows its core cycles at one speed, so that their number is not quite that of its ticks.
    """
    unit = SPELLINGS.get(case.figure.unit.strip(), case.figure.unit.strip())
    if case.others or unit not in ("ticks", "cycles"):
        return False
    other = "cycles" if unit == "ticks" else "ticks"
    shown = result_of(case.recording, case.spec.variant, other).estimate
    clock = case.result.clock
    return shown is not None and is_number(case, clock.convert(shown.value, unit, case.spec.unit))


_NOMINAL = re.compile(r"@ ?(\d+(?:\.\d+)?) ?GHz")
#: Two frequencies this near to each other are one; a declared one must be the measured one.
SAME_CLOCK, DECLARED_SAME_CLOCK = 0.01, 0.005


@pitfall(
    code="nominal-clock",
    level=Level.INTERPRETATION,
    symptom="Ticks were turned into time with a clock rate that nobody measured.",
    misconception="The counter's rate is neither the clock rate on the box or in lscpu, nor the "
    "clock rate of the core.",
    experiment="Count the ticks of one second by CLOCK_MONOTONIC_RAW and divide by them.",
    seen_in="reports A and C: the clock that lscpu prints; the turbo clock on the box",
    explains=MistakeKind.CLOCK,
    shows_in_recording=True,
    yields_to=("read-and-write-counted-along", "touching-counted-as-switch", "two-results-for-one"),
    broken=(Live("clock_on_the_box", "timer-overhead-fenced"),),
)
def nominal_clock(case: Case) -> str | None:
    """Ticks divided by a clock that was not measured: that in the brand string, or the core's."""
    if case.others or not case.spec.is_time:
        return None
    if not reads_the_counter(case.recording, case.spec.variant):
        return None
    if case.right or not case.accepted_values:
        return _declared_at_another_rate(case)
    if any(is_times(case, factor) for factor in (0.5, 2.0)):
        return None  # plainer, and a core at twice the counter's rate looks the same
    for frequency, factor, what in _clocks_taken(case):
        if abs(factor - 1) > SAME_CLOCK and is_times(case, factor):
            return (
                f"You gave {case.as_submitted()}; your recording gives "
                f"{case.accepted_values[0].as_text()}. The factor is that of {what}, "
                f"{rounded(frequency / 1e9)} GHz; your counter ran at "
                f"{rounded(case.result.clock.frequency_hz / 1e9, 4)} GHz."
            )
    return None


def _clocks_taken(case: Case) -> Iterator[tuple[float, float, str]]:
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


def _declared_at_another_rate(case: Case) -> str | None:
    """A C kernel that reads the counter and states another frequency than the one measured."""
    name = case.spec.variant
    declared = case.recording.number(f"clock.{name}.frequency_hz")
    measured = case.recording.number("counter.frequency_hz")
    if not declared or not measured or abs(declared / measured - 1) <= DECLARED_SAME_CLOCK:
        return None
    if abs(declared / 1e9 - 1) <= DECLARED_SAME_CLOCK:
        return None  # ticks called ns: ticks-for-nanoseconds
    return (
        f"Your C kernel states that the clock of {name} runs at {rounded(declared / 1e9, 4)} GHz; "
        f"the run measured its counter at {rounded(measured / 1e9, 4)} GHz."
    )


@pitfall(
    code="ratio-of-unlike-units",
    level=Level.INTERPRETATION,
    symptom="The ratio compares numbers of different units.",
    misconception="Each clock counts in ticks of its own; only times can be divided.",
    experiment="Turn both into nanoseconds, then divide.",
    seen_in="report A: cycles of machines with different clocks side by side",
    explains=MistakeKind.RELATION,
)
def ratio_of_unlike_units(case: Case) -> str | None:
    """A ratio of numbers in different units: ticks of the counter over nanoseconds of a clock."""
    if case.spec.quantity is not Quantity.RATIO or case.right or case.expected is None:
        return None
    over, under = (case.results[name].clock.frequency_hz for name in case.spec.operands[:2])
    if abs(over / under - 1) <= 0.01 or not is_times(case, over / under):
        return None
    return (
        f"You gave {rounded(case.submitted or 0)}; your recording gives {case.expected.as_text()}. "
        f"The factor between them is that of the two clocks' units, {rounded(under / over)}."
    )


@pitfall(
    code="half-or-double",
    level=Level.INTERPRETATION,
    symptom="The figure is off by a factor of two.",
    misconception="Some things come in pairs: a pair of readings has one overhead together, a "
    "round trip holds two switches.",
    experiment="Write down what one sample contains, and which part of it your figure is.",
    seen_in="report B: a trial holds two switches, and the report does not say whether it prints "
    "one or both",
    explains=MistakeKind.FACTOR,
)
def half_or_double(case: Case) -> str | None:
    """Off by two: a pair counted as one, or a whole as a half."""
    if case.right or case.expected is None or not case.spec.is_time:
        return None
    for factor, what in ((2.0, "twice"), (0.5, "half")):
        if is_times(case, factor):
            return (
                f"You gave {case.as_submitted()}, {what} of what your recording gives: "
                f"{case.expected.as_text()}."
            )
    return None
