"""The right value in another unit, or by another clock; another number of the run; and slips."""

from __future__ import annotations

import math

from grader.evidence import traps
from grader.evidence.observed import reads_the_counter
from grader.evidence.other_numbers import TWO_SLIPS, Rank, told_by, way_to
from grader.figures.case import Case, is_rounded
from grader.figures.spec import CHOICE, Quantity
from grader.figures.verdict import Finding, Level
from grader.pitfalls.pitfall import Live, MistakeKind, Pitfall, pitfall
from labs.units import NAMES, rounded


@pitfall(
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
    return f"You gave {case.as_submitted()}; the lab asks for this figure {asked}."


#: A slope known to this factor is distinguishable from one a thousand times larger or smaller.
KNOWN_TO = 4.0


@pitfall(
    symptom="The figure is off by a whole power of a thousand.",
    misconception="A number was copied without its unit: ns and µs differ by 1,000.",
    experiment="Compute the figure once more, with the unit behind each number.",
    seen_in="report C: 3.2 s for 10 million calls printed as 320 µs a call",
    explains=MistakeKind.UNIT,
    shows_in_recording=True,
    broken=(Live("ns_called_us", "timer-overhead-monotonic"),),
)
def unit_slip(case: Case) -> str | None:
    """A factor of a thousand between the figure and its recording: ns printed as µs."""
    if case.right or case.expected is None:
        return _misstated_in_the_c(case) if not case.others else None
    return told_by(case, unit_slip.code)


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
        f"cycles, not one. {case.as_submitted()} is off by the same factor."
    )


#: A counter this near to 1 GHz does tick once a ns.
COUNTER_OF_ONE_GHZ = 0.005


@pitfall(
    symptom="The figure is off by the frequency of the counter.",
    misconception="A tick is neither a nanosecond nor a core cycle.",
    experiment="Read the counter twice, one second apart, and divide the ticks by 1,000,000,000.",
    seen_in="report A: ticks divided by the clock that lscpu prints",
    explains=MistakeKind.CLOCK,
    shows_in_recording=True,
    yields_to="creation-without-its-end, read-and-write-counted-along, touching-counted-as-switch, "
    "two-results-for-one",
    broken=(Live("ticks_called_ns", "timer-overhead-fenced"),),
)
def ticks_for_nanoseconds(case: Case) -> str | None:
    """The number of ticks handed in as if a tick were a nanosecond, or the other way round."""
    if case.right or case.expected is None:
        return _declared_as_ns(case) if not case.others and case.spec.is_time else None
    return told_by(case, ticks_for_nanoseconds.code)


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


@pitfall(
    symptom="The figure is off by the frequency of the core.",
    misconception="A core cycle is a nanosecond only at 1 GHz.",
    experiment="Show the run in both units and write each number with its unit.",
    seen_in="report A: cycles beside the nanoseconds of other reports",
    explains=MistakeKind.CLOCK,
    yields_to="creation-without-its-end, read-and-write-counted-along, touching-counted-as-switch, "
    "two-results-for-one",
)
def cycles_for_nanoseconds(case: Case) -> str | None:
    """Core cycles handed in as if a cycle were a nanosecond, or the other way round."""
    return told_by(case, cycles_for_nanoseconds.code)


@pitfall(
    symptom="The figure is off by the ratio of core clock and counter.",
    misconception="The core runs faster or slower than the counter.",
    experiment="Time 1,000 dependent additions, one core cycle each, and count the ticks.",
    seen_in="report A: counter ticks called cycles; report C: cycles from the turbo clock",
    explains=MistakeKind.CLOCK,
)
def cycles_for_ticks(case: Case) -> str | None:
    """Core cycles handed in as counter ticks, or the other way round."""
    return told_by(case, cycles_for_ticks.code)


#: A declared frequency this near to the measured one is the same.
DECLARED_SAME_CLOCK = 0.005


@pitfall(
    symptom="Ticks were turned into time with a clock rate that nobody measured.",
    misconception="The counter's rate is neither that on the box nor that of the core.",
    experiment="Count the ticks of one second by CLOCK_MONOTONIC_RAW.",
    seen_in="reports A and C: the clock that lscpu prints; the turbo clock on the box",
    explains=MistakeKind.CLOCK,
    shows_in_recording=True,
    yields_to="read-and-write-counted-along, touching-counted-as-switch, two-results-for-one",
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
    return told_by(case, nominal_clock.code)


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
    symptom="The ratio compares numbers of different units.",
    misconception="Each clock counts in ticks of its own; only times can be divided.",
    experiment="Turn both into nanoseconds, then divide.",
    seen_in="report A: cycles of machines with different clocks",
    explains=MistakeKind.RELATION,
)
def ratio_of_unlike_units(case: Case) -> str | None:
    """A ratio of numbers in different units: ticks of the counter over nanoseconds of a clock."""
    return told_by(case, ratio_of_unlike_units.code)


@pitfall(
    symptom="The figure is off by a factor of two.",
    misconception="Some things come in pairs: a pair of readings has one overhead together, a "
    "round trip holds two switches.",
    experiment="Write down what one sample contains, and which part of it your figure is.",
    seen_in="report B: it does not say whether it prints one switch or both",
    explains=MistakeKind.FACTOR,
)
def half_or_double(case: Case) -> str | None:
    """Off by two: a pair counted as one, or a whole as a half."""
    return told_by(case, half_or_double.code)


# The right recording and the wrong number: another one of it, or a slip on the way from it.


@pitfall(
    symptom="The figure is another number of the same run.",
    misconception="A run shows many numbers.",
    experiment="Find the row of what the lab asks for.",
    seen_in="numbers copied from a table",
    explains=MistakeKind.CONTENTS,
    yields_to="cost-of-many-for-one, loop-counted-along, read-and-write-counted-along, "
    "step-assumed-one, timer-not-subtracted, two-results-for-one, unclear-divisor, "
    "work-counted-as-timer",
)
def another_number_of_the_run(case: Case) -> str | None:
    """A number of the same run, but not the one that the lab asks for."""
    return told_by(case, another_number_of_the_run.code)


@pitfall(
    symptom="The numbers are right, but the arithmetic is wrong.",
    misconception="Each number of a formula stands for something in the sample.",
    experiment="Write the formula with names first, then with numbers.",
    seen_in="report A: half of a sum less a whole; two digits swapped in its tables",
    explains=MistakeKind.REDUCTION,
)
def arithmetic_slip(case: Case) -> str | None:
    """A slip in the arithmetic: a wrong divisor or subtrahend, a whole column, swapped digits."""
    return told_by(case, arithmetic_slip.code)


@pitfall(
    symptom="The figure is the time of many operations, not of one.",
    misconception="A sample holds many operations, and one round of a loop may hold several.",
    experiment="Double the operations in a sample: a total doubles.",
    seen_in="unrolled loops; totals read for means",
    explains=MistakeKind.CONTENTS,
    shows_in_recording=True,
    # With calls that cost half a switch, a round trip is three switches.
    yields_to="read-and-write-counted-along, two-results-for-one",
    broken=(Live("four_calls_for_one", "system-call-getppid"),),
)
def cost_of_many_for_one(case: Case) -> str | None:
    """The time of many operations, handed in as that of one: the divisor is forgotten."""
    if case.spec.quantity not in (Quantity.COST, Quantity.WHOLE) or case.submitted is None:
        return None
    return _several_claimed(case) if case.right else told_by(case, cost_of_many_for_one.code)


def _several_claimed(case: Case) -> str | None:
    """One round makes several system calls, and the figure is that of a round."""
    if case.spec.kernel not in traps.KERNELS:
        return None
    for name, result, claimed in traps.claiming(case):
        each = claimed / (result.net.parts if result.net is not None else 1)
        if each >= 2:
            return (
                f"Your variant {name} states that one round makes {claimed:g} system calls; "
                f"{case.as_submitted()} is the time of one round."
            )
    return None


#: A factor between two clocks is some number between a half and four. So is the quotient of many
#: pairs of numbers in a recording: the digits alone do not tell a clock from such a pair.
OF_CLOCKS = ("cycles-for-nanoseconds", "cycles-for-ticks", "nominal-clock", "ticks-for-nanoseconds")
#: Numbers that a run makes of several: another row may hold the same.
OF_SEVERAL = ("loop-counted-along", "minimum-taken")
OF_NUMBERS = (MistakeKind.CONTENTS, MistakeKind.REDUCTION)


@pitfall(
    symptom="Two slips lead to this number.",
    misconception="A number can fit without being the cause.",
    experiment="Compute both to six digits: your figure is only one of them.",
    seen_in="a percentile that was 2.6 times the figure, on a counter of 2.6 GHz",
    explains=MistakeKind.FACTOR,
)
def one_of_two_slips(case: Case) -> str | None:
    """A value that two slips explain alike: the grader names both."""
    return told_by(case, TWO_SLIPS)


def of_clock_and_number(case: Case, found: list[tuple[Pitfall, Finding]]) -> Finding | None:
    """The finding if a clock and a number of the recording explain the figure.

    A value that is a number of the recording, and is only near what a clock makes of the right one,
    is that number.
    """
    clock = next((each for each in found if each[0].code in OF_CLOCKS), None)
    number = next((each for each in found if each[0].explains in OF_NUMBERS), None)
    if clock is None or number is None:
        return None
    way = way_to(case)
    fits = way is not None and is_rounded(case, way.number)
    return _two(number[1].evidence, clock[0]) if fits else number[1]


def with_known(case: Case, found: tuple[Pitfall, Finding], known: str) -> Finding | None:
    """The finding if the figure is also a `known` number elsewhere, such as another row; None if
    that is the plainer explanation.
    """
    pitfall, finding = found
    if pitfall.code in OF_SEVERAL:
        evidence = finding.evidence.split(" It should be ")[0]
        return one_of_two_slips.finding(f"{evidence} Or: {known[0].lower()}{known[1:]}")
    way = way_to(case)
    if way is None or way.code != pitfall.code or way.rank < Rank.READING:
        return finding
    if known.removeprefix("What you gave is ").rstrip(".") in way.what:
        return finding  # the same row
    if way.rank > Rank.READING or not is_rounded(case, way.number):
        return None
    return _two(f"You gave {case.as_submitted()}. {known}", pitfall)


def _two(evidence: str, other: Pitfall) -> Finding:
    symptom = other.symptom.removesuffix(".")
    return one_of_two_slips.finding(f"{evidence} Or: {symptom[0].lower()}{symptom[1:]}.")
