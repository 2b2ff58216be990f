"""The ways from a right number to a wrong one, in one table, and one rule that decides among them.

Every figure is held against all of them, whatever its unit: a power of ten, another unit, another
number of the run, wrong arithmetic, a factor, and two of these at once.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from enum import IntEnum
from itertools import chain
from typing import Any

import numpy as np

from grader.evidence import memory_use
from grader.evidence.observed import reads_the_counter
from grader.figures.case import (
    AS_READ,
    FEWEST_DIGITS,
    OF_USUAL_SLIPS,
    Case,
    digits_of,
    is_number,
    is_rounded,
)
from grader.figures.expected import Expected, canonical_or
from grader.figures.spec import CHOICE, TIMES, Quantity
from labs.analysis.confidence import Floats
from labs.analysis.net_cost import parts_of
from labs.course import published
from labs.recording import counts
from labs.recording.declared import is_first_time
from labs.recording.file import BadRecording, Recording, distinct, memoized
from labs.results.result import result_of
from labs.units import NANOSECONDS, canonical, in_four_digits, rounded, with_unit


class Rank(IntEnum):
    """How simple a slip is, the simplest first. The simplest that leads to a number explains it."""

    THOUSAND = 1
    READING = 2  # the right number in another unit, or another number that the run shows
    FORMULA = 3  # numbers of the run, put together wrongly
    FACTOR = 4
    TWO_STEPS = 5


@dataclass(frozen=True)
class Way:
    """One way from a right number to a wrong one.

    `number` is the wrong one, in the unit asked for. `code` is the entry of the catalogue that it
    shows, and `what` the evidence: a clause after `You gave 3 ns: `. Who computes `by_hand` begins
    with numbers of three digits; any other number is copied, or made by a program. `fewest` is the
    number of digits that tell this number from its neighbours, and `slack` a share of the number by
    which another reduction of the same samples may differ.
    """

    number: float
    code: str
    rank: Rank
    what: str
    by_hand: bool = False
    fewest: int = FEWEST_DIGITS
    slack: float = 0.0

    def leads_to(self, case: Case) -> bool:
        """Whether the submitted value is this number, as far as its digits tell."""
        near = abs((case.submitted or 0.0) - self.number) <= self.slack * abs(self.number)
        if not self.by_hand:
            return near or is_rounded(case, self.number)
        there = self.number / (_one_written(case) or 1.0)  # where the student rounded
        to_two = self.fewest == OF_USUAL_SLIPS and float(f"{there:.2g}") == case.figure.value
        return to_two or near or is_number(case, self.number, self.fewest)


#: What the entry of the catalogue is called that names two slips.
TWO_SLIPS = "one-of-two-slips"


@memoized
def way_to(case: Case) -> Way | None:
    """The simplest way to the submitted value; None for a right value, and if nothing leads to it.

    If two of the same rank lead to it, neither is the cause: the way that is returned names both.
    Of more, none is named.
    """
    if case.right or case.expected is None or not case.submitted or case.spec.unit == CHOICE:
        return None
    found = [each for each in ways(case) if each.leads_to(case)]
    if digits_of(case.figure.value) > FEWEST_DIGITS:  # so many digits are no chance
        found = [each for each in found if is_rounded(case, each.number)] or found
    simplest = min((each.rank for each in found), default=None)
    found = [each for each in found if each.rank == simplest]
    # Somebody who copied a number has all of its digits.
    exact = [each for each in found if is_rounded(case, each.number)]
    found = list({each.what: each for each in exact or found}.values())
    if len(found) == 1:
        return found[0]
    if len(found) != 2:
        return None
    one, other = (re.split(" It should be | The lab asks ", each.what)[0] for each in found)
    return replace(found[0], code=TWO_SLIPS, what=f"{one.rstrip('.')}. Or: {other}")


def told_by(case: Case, code: str) -> str | None:
    """The evidence if the simplest way to the submitted value is one of this entry's."""
    way = way_to(case)
    if way is None or way.code != code:
        return None
    return f"You gave {case.as_submitted()}: {way.what}"


def ways(case: Case) -> Iterator[Way]:
    """Every way that this figure invites."""
    yield from _powers_of_a_thousand(case)
    yield from _other_units(case)
    asked = f"The lab asks for {case.spec.asked}."
    for number, what in numbers_of(case):
        yield Way(number, "another-number-of-the-run", Rank.READING, f"that is {what}. {asked}")
    yield from _totals(case)
    for number, done, right in slips(case):
        what = f"that is {done}. It should be {right}."
        yield Way(number, "arithmetic-slip", Rank.FORMULA, what, by_hand=True)
    yield from _factors(case)
    yield from _digits_swapped(case)
    yield from _turned_over(case)
    yield from _rows_in_other_units(case, asked)


def _expected(case: Case) -> str:
    """The right value in short: the verdict states below what is accepted."""
    if case.expected is None:
        return "no figure"
    return with_unit(rounded(case.expected.value), case.spec.unit)


#: Beyond this share of a number, its interval holds too many others.
MOST_SLACK = 0.01


def _slack(right: Expected) -> float:
    """By what share of it another reduction of the same samples may differ from a right value."""
    half = (right.high - right.low) / 2
    return min(half / abs(right.value), MOST_SLACK) if right.value else 0.0


def _powers_of_a_thousand(case: Case) -> Iterator[Way]:
    for power in (-9, -6, -3, 3, 6, 9):
        larger = "larger" if power > 0 else "smaller"
        what = (
            f"your recording gives {_expected(case)}. The digits agree, and the figure is "
            f"{10 ** abs(power):,} times {larger}."
        )
        for each in case.accepted_values:
            # Nothing else is a thousand times off: two digits are enough, and the interval counts.
            number, slack = each.value * 10.0**power, _slack(each) if abs(power) == 3 else 0.0
            yield Way(number, "unit-slip", Rank.THOUSAND, what, True, OF_USUAL_SLIPS, slack)


def _factors(case: Case) -> Iterator[Way]:
    for factor, times in ((2.0, "twice"), (0.5, "half of")):
        what = f"that is {times} what your recording gives, {_expected(case)}."
        for each in case.accepted_values:
            yield Way(each.value * factor, "half-or-double", Rank.FACTOR, what, by_hand=True)
    for power in (-2, -1, 1, 2):
        what = f"a decimal point is in the wrong place. Your recording gives {_expected(case)}."
        if power == 2 and case.spec.unit == TIMES:
            what = f"that is the value in percent. Your recording gives {_expected(case)}."
        for each in case.accepted_values:
            yield Way(each.value * 10.0**power, "arithmetic-slip", Rank.FACTOR, what)


#: Of a value with more digits than this nobody reads two digits the wrong way round.
MOST_DIGITS = 6


def _digits_swapped(case: Case) -> Iterator[Way]:
    """The right value to as many digits, with two neighbouring digits the wrong way round."""
    given, one = digits_of(case.figure.value), _one_written(case)
    if not FEWEST_DIGITS <= given <= MOST_DIGITS or not one:
        return
    for each in case.accepted_values:
        right = each.value / one
        if not math.isfinite(right):
            continue
        # Of a negative value the digits are those without its sign.
        mantissa, exponent = f"{abs(right):.{given - 1}e}".split("e")
        digits = mantissa.replace(".", "")
        for place in range(len(digits) - 1):
            pair = digits[place + 1] + digits[place]
            other = digits[:place] + pair + digits[place + 2 :]
            if pair[0] != pair[1]:
                number = math.copysign(float(f"{other[0]}.{other[1:]}e{exponent}"), right) * one
                what = f"your recording gives {_expected(case)}: two digits are swapped."
                yield Way(number, "arithmetic-slip", Rank.FACTOR, what)


def _turned_over(case: Case) -> Iterator[Way]:
    """One divided by the figure: as many of it as fit into a unit of time."""
    spec = case.spec
    if spec.quantity is Quantity.RATIO:
        over, under = spec.operands[:2]
        what = (
            f"in your recording {over} takes {_expected(case)} as long as {under}, and not the "
            "other way round."
        )
        for each in case.accepted_values:
            if each.value:
                number = 1 / each.value
                yield Way(number, "ratio-upside-down", Rank.READING, what, True, OF_USUAL_SLIPS)
    if not spec.is_time or not (one := _one_written(case)):
        return
    for each in case.accepted_values:
        in_time = {"": each.value / one}
        in_time |= {
            f" {unit}": case.result.clock.convert(each.value, spec.unit, unit)
            for unit in NANOSECONDS
        }
        for unit, length in in_time.items():
            if length:
                many = f"1{unit} divided by {rounded(length)}{unit}"
                what = f"that is {many}, turned over: how many there are in a time."
                yield Way(one / length, "arithmetic-slip", Rank.FACTOR, what)


def _one_written(case: Case) -> float:
    """How long one of the units is that the student wrote, in the unit asked for."""
    return case.submitted / case.figure.value if case.submitted and case.figure.value else 0.0


# Another unit: each of them is 1 ns long times some number, and the student called one another.

#: Two clocks whose rates differ by less than this share are one.
SAME_CLOCK = 0.01
#: A ratio of two clocks this near to 2 or to 1/2 tells no clock: a mere factor is plainer.
NEAR_TWO = 0.005
_NOMINAL = re.compile(r"@ ?(\d+(?:\.\d+)?) ?GHz")


def _rates(case: Case) -> dict[str, float]:
    """How many ticks, core cycles and ns make up one ns."""
    clock = case.result.clock
    ticks = clock.frequency_hz / 1e9
    of_core = {"core cycles": ticks / clock.core_cycle_ticks} if clock.core_cycle_ticks else {}
    return {"ns": 1.0, "ticks": ticks, **of_core}


def _kind_of(unit: str) -> str:
    """Which of the rates a unit goes by; '' for what is no unit of time."""
    return {"": "", "cycles": "core cycles", "ticks": "ticks"}.get(canonical_or(unit), "ns")


def _other_units(case: Case) -> Iterator[Way]:
    """The right value in a unit that was called another one, or by a clock nobody measured."""
    spec, rates, written = case.spec, _rates(case), _kind_of(case.figure.unit)
    if spec.quantity is Quantity.RATIO:
        yield from _unlike_units(case, rates)
    if not written or not (spec.is_time or spec.quantity is Quantity.STEP):
        return
    given = f"your recording gives {_expected(case)}."
    for unit, rate in rates.items():
        if unit == written or written not in rates:
            continue
        factor = rate / rates[written]
        if abs(factor - 1) <= SAME_CLOCK:
            continue
        what = f"{given} You gave the value in {unit}, called {case.figure.unit}: "
        what += f"{_of_clock(unit, written, rates)}."
        numbers = [(each.value * factor, _slack(each)) for each in case.accepted_values]
        shown = [] if case.others else _shown_in(case, unit, spec.variant)
        few = 1 if spec.quantity is Quantity.STEP and case.figure.value != 1 else FEWEST_DIGITS
        for number, slack in (*numbers, *((each, 0.0) for each in shown)):
            yield Way(number, _code_of({unit, written}), Rank.READING, what, True, few, slack)
    yield from _other_clocks(case, rates, written, given)


def _code_of(units: set[str]) -> str:
    if "core cycles" not in units:
        return "ticks-for-nanoseconds"
    return "cycles-for-ticks" if "ticks" in units else "cycles-for-nanoseconds"


def _of_clock(unit: str, other: str, rates: dict[str, float]) -> str:
    """The clause on the clock that is the factor between two units."""
    if "ns" in (unit, other):
        clock = unit if other == "ns" else other
        return f"there are {rounded(rates[clock], 4)} {clock} a ns"
    cycle = rates["ticks"] / rates["core cycles"]
    return f"a core cycle takes {rounded(cycle)} ticks on this machine"


def _shown_in(case: Case, unit: str, variant: str) -> list[float]:
    """What the run shows of a variant in another unit, under the name of the written one.

    A run shows its core cycles at one speed, so that their number is not quite that of its ns.
    """
    one, name = _one_written(case), canonical(unit)
    if case.others or not one or not case.spec.is_time or case.spec.quantity is Quantity.DIFFERENCE:
        return []
    # Who counts in us writes thousands of ticks.
    step = NANOSECONDS.get(canonical(case.figure.unit), 1.0)
    shown = cost_of(case.recording, variant, name)
    return [shown / step * one] if shown is not None else []


def _other_clocks(case: Case, rates: dict[str, float], written: str, given: str) -> Iterator[Way]:
    """Ticks divided by a clock that was not measured, or twice by the one that was."""
    if case.others or not case.spec.is_time:
        return
    ticks, core = rates["ticks"], rates.get("core cycles", 0.0)
    stated = _NOMINAL.search(" ".join(case.recording.condition("machine.cpu")))
    nominal = float(stated[1]) if stated else 0.0
    counter = reads_the_counter(case.recording, case.spec.variant)
    found: list[tuple[float, str, str]] = []
    if written == "ns":
        what = "You gave the value in ns, called ticks."
        found.append((1 / ticks, "ticks-for-nanoseconds", what))
        if core:
            what = f"The factor: {_of_clock('ticks', 'core cycles', rates)}."
            found.append((core / ticks, "cycles-for-ticks", what))
    clocks = {"the core's own clock": core if written == "ns" else 0.0}
    clocks["the clock in the processor's name"] = nominal
    for name, rate in clocks.items():
        own = ticks if written == "ns" else core if written == "core cycles" else 0.0
        if counter and rate and own:
            what = (
                f"The factor is that of {name}, {rounded(rate)} GHz; your counter ran at "
                f"{rounded(ticks, 4)} GHz."
            )
            by = own / rate if written == "ns" else rate / own
            found.append((by, "nominal-clock", what))
    for factor, code, what in found:
        near_two = code != "ticks-for-nanoseconds" and abs(max(factor, 1 / factor) - 2) <= NEAR_TWO
        if abs(factor - 1) > SAME_CLOCK and not near_two:
            for each in case.accepted_values:
                number = each.value * factor
                yield Way(number, code, Rank.READING, f"{given} {what}", by_hand=True)


def _unlike_units(case: Case, rates: dict[str, float]) -> Iterator[Way]:
    """A ratio of numbers in different units: ticks of one clock over ns or ticks of another."""
    over, under = (case.results[name].clock.frequency_hz for name in case.spec.operands[:2])
    factors, unlike = {over / under, under / over}, "ratio-of-unlike-units"
    factors |= {one / other for one in rates.values() for other in rates.values()}
    for factor in factors:
        what = (
            f"your recording gives {_expected(case)}. The factor between them is that of two "
            f"units, {rounded(max(factor, 1 / factor))}."
        )
        if abs(factor - 1) > SAME_CLOCK:
            for each in case.accepted_values:
                number, slack = each.value * factor, _slack(each)
                yield Way(number, unlike, Rank.READING, what, True, FEWEST_DIGITS, slack)


def _rows_in_other_units(case: Case, asked: str) -> Iterator[Way]:
    """Another row of the run, read in another unit than the one that was written."""
    if case.others or not case.spec.is_time or case.spec.quantity is Quantity.DIFFERENCE:
        return
    written = _kind_of(case.figure.unit)
    for name in case.recording.variants[:MOST_VARIANTS]:
        for unit in _rates(case):
            if name == case.spec.variant or unit == written:
                continue
            what = f"that is the cost of {name} in {unit}. {asked}"
            for number in _shown_in(case, unit, name):
                yield Way(number, "another-number-of-the-run", Rank.TWO_STEPS, what)


#: Twice the cost is another slip: a pair counted as one.
FEWEST_OPERATIONS = 3


def _totals(case: Case) -> Iterator[Way]:
    """A whole sample for one operation, the longest one, and a cost divided once too often."""
    spec, line = case.spec, case.result.line
    if case.others or spec.quantity not in (Quantity.COST, Quantity.WHOLE):
        return
    if is_first_time(case.recording, spec.variant):
        return
    recording, per_unit = case.recording, case.result.clock.ticks_in(spec.unit)
    mine = recording.rows_of(spec.variant)  # a cold sample of the warm-up may be the longest
    parts = parts_of(case.recording, spec.variant) if spec.quantity is Quantity.COST else 1.0
    for k in sorted(set(recording.batch[mine].tolist())):
        longest = float(recording.ticks[mine & (recording.batch == k)].max()) / per_unit
        what = f"that is the longest of your samples at k = {k}"
        what += ", divided by its operations." if k * parts > 1 else "."
        operations = max(k, 1) * parts
        rank = Rank.FORMULA if operations > 1 else Rank.READING
        yield Way(longest / operations, "another-number-of-the-run", rank, what)
        for each in case.accepted_values if k >= FEWEST_OPERATIONS else ():
            what = (
                f"that is {rounded(each.value)} / {k}, divided once more by the operations of a "
                f"sample. It should be {_expected(case)}."
            )
            yield Way(each.value / k, "arithmetic-slip", Rank.FORMULA, what)
    means = dict(zip(line.batch.tolist(), line.location.tolist(), strict=True)) if line else {}
    totals = [(k, mean / per_unit) for k, mean in means.items()]
    totals += [(k, each.value * k) for k in means for each in case.accepted_values]
    for size, total in (*totals, *whole_samples(case)):
        if size >= FEWEST_OPERATIONS and size in means:
            what = (
                f"your samples with {size:.0f} operations inside take "
                f"{rounded(means[size] / per_unit)} {spec.unit} for all of them together."
            )
            yield Way(total, "cost-of-many-for-one", Rank.READING, what, slack=AS_READ)


#: What the reports call the things that a C kernel measures.
SUBJECTS = {
    "timer_overhead": "timer overhead",
    "system_call": "system call",
    "own_call": "system call",
    "procedure_call": "procedure call",
    "own_procedure": "procedure call",
    "task_creation": "task creation",
    "own_creation": "task creation",
    "process_switch": "process switch",
    "thread_switch": "thread switch",
    "own_switch": "thread switch",
}


def printed_by(case: Case) -> str:
    """Which report prints the submitted value, as a clause; '' for none, and for few digits."""
    subject = SUBJECTS.get(case.spec.kernel)
    if subject is None or not case.spec.is_time or digits_of(case.figure.value) < FEWEST_DIGITS:
        return ""
    every = published.figures(subject)
    for each in (*published.settled(every), *published.settled(every, in_time=False)):
        unit, numbers = each.unit.split("/")[0], [each.value * _one_written(case)]
        if unit in NANOSECONDS:
            numbers.append(case.result.clock.convert(each.value, unit, case.spec.unit))
        if any(is_rounded(case, number) for number in numbers):
            return (
                f"what report {each.report} prints for {each.quantity}, "
                f"{rounded(each.value, 6)} {each.unit}"
            )
    return ""


#: A number, in the unit asked for, and what it is.
Shown = tuple[float, str]

#: Somebody who reads the count of switches elsewhere finds one or two more or fewer.
NEAR_COUNT = 0.05


def numbers_of(case: Case) -> Iterator[Shown]:
    """The other numbers of the recording of `case`."""
    if case.others:
        return
    quantity = case.spec.quantity
    if quantity is Quantity.OVERHEAD:
        yield from _beside_overhead(case)
    elif quantity in (Quantity.COST, Quantity.WHOLE):
        yield from _beside_cost(case)
        if is_first_time(case.recording, case.spec.variant):
            yield from _of_first_times(case)
    elif quantity is Quantity.STEP:
        yield from _beside_step(case)
    elif quantity is Quantity.SWITCHES:
        yield from _of_counts(case)


def _beside_overhead(case: Case) -> Iterator[Shown]:
    if (line := case.result.line) is not None:
        slope = line.cost.value / line.clock.ticks_in(case.spec.unit)
        yield slope, "the slope of your line, the cost of one addition"


def _beside_cost(case: Case) -> Iterator[Shown]:
    net = case.result.net
    for result in (case.result, result_of(case.recording, case.spec.variant, case.spec.unit)):
        # In core cycles a run shows a line of its own: at one speed.
        if result.line is not None:
            what = "the intercept of your line, the cost of the readings"
            yield result.line.overhead.into(case.spec.unit, result.clock).value, what
    if net is not None and net.baseline is not None:
        what = f"the cost of {net.baseline_variant}, which is to be subtracted"
        yield net.baseline.value / case.ticks_a_unit, what


def _of_first_times(case: Case) -> Iterator[Shown]:
    recording = case.recording
    mine = recording.rows_of(case.spec.variant)
    ticks = recording.ticks[mine] / case.ticks_a_unit
    if not len(ticks):
        return
    median, largest = float(np.median(ticks)), float(ticks.max())
    yield median, "the median of all samples, nearly all of them later calls"
    yield largest, "the largest of all samples, of one process"
    if median:
        yield largest / median, "a ratio: the largest sample divided by the median one"


def _beside_step(case: Case) -> Iterator[Shown]:
    line, samples = case.result.line, case.recording.samples(case.spec.variant)
    step = case.result.clock.step / case.ticks_a_unit
    if line is not None:
        yield line.overhead.value / case.ticks_a_unit, "the overhead of a pair of readings"
    if len(samples):
        least = float(samples.ticks.min()) / case.ticks_a_unit
        if least > step:
            yield least, "the shortest sample"
    yield 2 * step, "twice the step, where no two samples lie next to each other"


def _of_counts(case: Case) -> Iterator[Shown]:
    seen = counts.switches_of(case.recording, case.spec.variant)
    if seen is None:
        return
    yield seen.claim, "what the C kernel claims, not what the OS counted"
    whole = f"about the switches of the whole run, of which the OS counted {seen.counted:,}"
    given = case.submitted or 0.0
    is_count = given >= 1 and given == int(given)
    if is_count and abs(given - seen.counted) <= max(1, NEAR_COUNT * seen.counted):
        yield given, whole
    if seen.each:
        yield 1 / seen.each, "upside down: exchanges for one switch"


def whole_samples(case: Case) -> Iterator[tuple[int, float]]:
    """Each batch size and the mean of its samples, in the unit asked for; then without warm-up."""
    recording, name = case.recording, case.spec.variant
    mine = recording.rows_of(name)
    for size in sorted(set(recording.batch[mine].tolist())):
        for rows in (mine, mine & (recording.sample >= 0)):
            ticks = recording.ticks[rows & (recording.batch == size)]
            if len(ticks):
                yield int(size), float(ticks.mean()) / case.ticks_a_unit


#: Of a recording with more variants than this no other is looked at.
MOST_VARIANTS = 20


def variants_of_same_value(case: Case, recording: Recording) -> Iterator[str]:
    """The variants of `recording` whose value was handed in as the figure of `case`."""
    for name in recording.variants[:MOST_VARIANTS]:
        cost = cost_of(recording, name, case.spec.unit)
        if cost is not None and is_rounded(case, cost):
            yield name


# A line through all samples follows from its recording, however far it lies from the kit's own.

#: Reduces the samples of a batch size before the line is fitted. None fits it through all of them.
Location = Callable[[Floats], Any] | None

#: The ordinary ways to a line by hand: through what, what stands for each batch size, and whether
#: only the smallest and the largest batch count.
LINES_BY_HAND: tuple[tuple[str, Location, bool], ...] = (
    ("all samples", None, False),
    ("the mean at each k", np.mean, False),
    ("the median at each k", np.median, False),
    ("the lower quartile at each k", lambda ticks: np.percentile(ticks, 25), False),
    ("the means at the smallest and the largest k", np.mean, True),
    ("the medians at the smallest and the largest k", np.median, True),
)


@memoized
def reduction_of(case: Case) -> str:
    """What the line goes through that gives the submitted value by hand; '' if none does.

    It is '' for a right value too.
    """
    net, quantity = case.result.net, case.spec.quantity
    of_line = not case.others and quantity in (Quantity.COST, Quantity.OVERHEAD)
    if not of_line or case.right or not case.submitted:
        return ""
    for through, location, ends in LINES_BY_HAND:
        for least in (1, 0):  # without the empty samples, and with them
            if ends and not least and quantity is Quantity.OVERHEAD:
                continue  # that is the mean of the empty samples, and no line
            line = _line(case.recording, case.spec.variant, location, least, ends=ends)
            if line is None:
                continue
            slope, intercept = line
            if net is not None and net.baseline_variant is not None:
                baseline = _line(case.recording, net.baseline_variant, location, least, ends=ends)
                slope -= net.times * baseline[0] if baseline else 0.0
            parts = net.parts if net is not None else 1.0
            ticks = intercept if quantity is Quantity.OVERHEAD else slope / parts
            if is_rounded(case, number := ticks / case.ticks_a_unit):
                return through
            there = number * case.figure.value / case.submitted  # in the unit that was written
            if float(f"{there:.{FEWEST_DIGITS}g}") == case.figure.value:
                return through  # 31 may be 31.0
    return ""


@memoized
def _line(
    recording: Recording, name: str, location: Location, least: int, *, ends: bool
) -> tuple[float, float] | None:
    """Slope and intercept in ticks, from the batch sizes of at least `least`; None without two."""
    rows = recording.rows_of(name) & (recording.sample >= 0) & (recording.batch >= least)
    k, ticks = recording.batch[rows], recording.ticks[rows].astype(float)
    sizes = distinct(k)
    if len(sizes) < 2:
        return None
    if location is not None:
        sizes = sizes[[0, -1]] if ends else sizes
        k, ticks = sizes, np.array([location(ticks[k == size]) for size in sizes])
    from_middle = k - k.mean()  # of so few points, np.polyfit takes ten times as long
    slope = float(from_middle @ ticks / (from_middle @ from_middle))
    return slope, float(ticks.mean() - slope * k.mean())


# Numbers that are made of the right rows of a table in a wrong way, or of another row.

#: A number, how it was computed, and how it should be.
Slip = tuple[float, str, str]

#: Of a run with more rows than this, no other row is tried: some pair of many fits any number.
MOST_NAMED_VARIANTS = 4
#: A row that is less than this share of another one makes no difference beside it.
LEAST_BESIDE = 0.01


def slips_of_rows(case: Case) -> Iterator[Slip]:
    """The figure's row with another row of its run: subtracted, added, averaged, divided by."""
    own = case.spec.variant
    mine = cost_of(case.recording, own, case.spec.unit)
    if mine is None or case.expected is None:
        return
    right = f"{own} alone, {_expected(case)}"
    for name, other in _other_rows(case, case.recording, (own,)):
        if abs(mine) < LEAST_BESIDE * abs(other) or abs(other) < LEAST_BESIDE * abs(mine):
            continue  # then each of these is one of the two
        yield mine - other, f"{own} - {name}", right
        yield other - mine, f"{name} - {own}", right
        yield mine + other, f"{own} + {name}", right
        yield (mine + other) / 2, f"({own} + {name}) / 2", right
        if other:
            yield mine / other, f"a ratio, {own} / {name}", right


def slips_of_ratio(case: Case) -> Iterator[Slip]:
    """Slips in over / under."""
    if case.expected is None:
        return
    over, under = case.spec.operands[:2]
    right = f"{over} / {under} = {_expected(case)}"
    yield case.expected.value - 1, f"({over} - {under}) / {under}", right
    first, second = (_operand(case, name) for name in (over, under))
    if first is None or second is None:
        return
    for unit, length in (("ns", 1.0), ("us", 1000.0)):
        yield (first - second) / length, f"the difference {over} - {under} in {unit}", right
    if case.others:
        recording, used = case.others[0].recording, [each.spec.variant for each in case.others]
    else:
        recording, used = case.recording, list(case.spec.variants)
        means = [_mean_of_column(recording, name) for name in (over, under)]
        if means[1]:
            what = "the ratio of the means of whole samples, with all that is in them"
            yield means[0] / means[1], what, right
    for name, other in _other_rows(case, recording, tuple(used), "ns"):
        if other:
            yield first / other, f"{over} / {name}", right
        if second:
            yield other / second, f"{name} / {under}", right
            yield (first - other) / second, f"({over} - {name}) / {under}", right


def slips_of_relation(case: Case) -> Iterator[Slip]:
    """Slips in the difference of two figures."""
    first, second = (_operand(case, name) for name in case.spec.operands[:2])
    if first is None or second is None:
        return
    over, under = case.spec.operands[:2]
    unit, clock = case.spec.unit, case.result.clock
    one, other = (clock.convert(each, "ns", unit) for each in (first, second))
    right = f"{over} - {under}"
    yield other - one, f"{under} - {over}, the other way round", right
    yield one + other, f"{over} + {under}, added", right
    nets = [case.results[name].net for name in (over, under)]
    if nets[0] is None or nets[1] is None:
        return
    for parts in {each.parts for each in nets if each is not None} - {1.0}:
        yield parts * (one - other), f"{parts:g} x ({over} - {under})", right
    if nets[0].baseline is not None:
        again = nets[0].baseline.times(nets[0].times / nets[0].parts).into(unit, clock).value
        done = f"{over} - {under} - {rounded(again)}, the baseline subtracted a second time"
        yield one - other - again, done, right
    timed = [each.unsubtracted.into(unit, clock).value for each in nets if each is not None]
    what = f"{over} - {under}, each as timed: their baselines were not subtracted"
    yield timed[0] - timed[1], what, right


@memoized
def cost_of(recording: Recording, name: str, unit: str) -> float | None:
    """The cost of a variant as the run shows it in `unit`; None if it shows none."""
    try:
        estimate = result_of(recording, name, unit).estimate
    except (KeyError, ValueError, BadRecording):
        return None
    return None if estimate is None else estimate.value


def _operand(case: Case, name: str) -> float | None:
    """An operand of a relation, in ns."""
    estimate = case.results[name].estimate
    return None if estimate is None else estimate.value


def _other_rows(
    case: Case, recording: Recording, used: tuple[str, ...], unit: str = ""
) -> Iterator[tuple[str, float]]:
    """The other variants with their costs, in the unit asked for; without the baselines."""
    names = recording.variants
    stated = [recording.condition(f"variant.{name}.baseline") for name in names]
    others = [name for name in names if name not in {*used, *chain.from_iterable(stated)}]
    if len(others) > MOST_NAMED_VARIANTS:
        ends = _ends_of_series(case, used[0]) or ()
        others = [each for each in others if each in (*case.spec.compare_with, *dict(ends))]
    for name in others:
        cost = cost_of(recording, name, unit or case.spec.unit)
        if cost is not None:
            yield name, cost


def _mean_of_column(recording: Recording, name: str) -> float:
    """The plain mean of a column, in ns."""
    ticks = recording.ticks[recording.rows_of(name)]
    return float(ticks.mean()) / recording.clock(name).ticks_in("ns") if len(ticks) else 0.0


# The forms of slips are those that students make: a subtrahend too often or not often enough, a
# divisor forgotten or taken twice, another row subtracted, added or averaged, a wrong operand.

#: A series of variants: args0, args1 ... args12.
_IN_A_SERIES = re.compile(r"([a-z-]*[a-z-])(\d{1,4})$")
#: The size in the name of a variant: fork-wait-64mb.
_SIZE = re.compile(r"-(\d{1,4})(?:mb|m|kb|k)$")


def slips(case: Case) -> Iterator[Slip]:
    """The slips that the figure of `case` invites, the plainest first."""
    quantity = case.spec.quantity
    if quantity is Quantity.DIFFERENCE:
        yield from _of_difference(case) if not case.others else slips_of_relation(case)
    elif quantity is Quantity.RATIO:
        yield from slips_of_ratio(case)
    elif not case.others and case.spec.is_time:
        if quantity is Quantity.COST and case.result.net is not None:
            yield from _of_net(case)
            yield from _of_size(case)
            yield from _of_page(case)
        yield from _of_column(case)
        yield from slips_of_rows(case)


def _of_net(case: Case) -> Iterator[Slip]:
    """Slips in (whole - times * baseline) / parts."""
    in_unit, number = case.spec.unit, in_four_digits  # as many digits as a cell of lab 06 prints
    # In core cycles a run shows a line of its own: at one speed.
    net = result_of(case.recording, case.spec.variant, in_unit).net
    if net is None:
        return
    unit = case.result.clock.ticks_in(in_unit)
    whole, parts, times = net.whole.value / unit, net.parts, net.times
    base = net.baseline.value / unit if net.baseline is not None else 0.0
    of = f" / {parts:g}" if parts != 1 else ""

    def text(subtracted: float, divisor: str = of) -> str:
        left = number(whole)
        if subtracted:
            many = f"{abs(subtracted):g} x " if abs(subtracted) != 1 else ""
            left += f" {'-' if subtracted > 0 else '+'} {many}{number(base)}"
        return f"({left}){divisor}" if divisor and subtracted else f"{left}{divisor}"

    right = text(times)
    right += f" {in_unit}" if base else f" {in_unit}, one of {parts:g} parts"
    if base and parts != 2 and case.expected is not None:
        own, once = case.expected.value, times * base / parts
        what = f"{number(own)} - {number(once)}, the baseline subtracted a second time"
        yield own - once, what, f"{number(own)}: the run's value has it subtracted already"
    if base:
        for wrong in sorted({1.0, -times} - {times}, reverse=True):
            yield (whole - wrong * base) / parts, text(wrong), right
    if parts != 1:
        yield whole - times * base, text(times, ""), right
        if base:
            one = times * base / parts
            told = f"{number(whole)} - {number(times * base)} / {parts:g}"
            what = f"{told}: only the baseline is divided"
            if times == parts:  # its author may have divided nothing
                what = f"{told}, or {number(whole)} - {number(one)}: the whole is not divided"
            yield whole - one, what, right
        yield (whole - times * base) / parts**2, text(times, f" / {parts**2:g}"), right
        if base:
            all_of_it = number(times * base)
            yield whole / parts - times * base, f"{number(whole)}{of} - {all_of_it}", right


def _of_size(case: Case) -> Iterator[Slip]:
    """The cost divided by a size that is in the name of the variant."""
    size = _SIZE.search(case.spec.variant)
    if size is not None and int(size[1]) > 1 and case.expected is not None:
        divided = f"{rounded(case.expected.value)} / {size[1]}"
        yield case.expected.value / int(size[1]), divided, _right(case, case.spec.variant)


def _of_page(case: Case) -> Iterator[Slip]:
    """The cost of a page fault, divided by the bytes of its page or by the pages that it maps."""
    if case.spec.kernel not in memory_use.PAGE_FAULT_KERNELS or case.expected is None:
        return
    right = _right(case, case.spec.variant)
    cost = case.expected.value
    for size in memory_use.PAGE_BYTES:
        what = f"{rounded(cost)} / {size:,}, for one of the {size:,} bytes of a page"
        yield cost / size, what, right
    if case.spec.variant == memory_use.OF_FILE:
        many = memory_use.MAPPED_AROUND
        what = f"{rounded(cost)} / {many}, for one of the {many} pages that this page fault maps"
        yield cost / many, what, right


def _of_column(case: Case) -> Iterator[Slip]:
    """The mean of all samples, whatever number of operations each of them holds."""
    recording, name = case.recording, case.spec.variant
    mine = recording.rows_of(name)
    if len(set(recording.batch[mine].tolist())) < 2:
        return  # then it is a sample with all its operations (cost_of_many_for_one)
    right = "the slope: how much a sample grows with each operation in it"
    if case.spec.quantity is Quantity.OVERHEAD:
        right = "the intercept: a sample without the operations in it"
    for chosen in (mine & (recording.sample >= 0), mine):  # without warm-up, and with it
        if chosen.any():
            mean = float(recording.ticks[chosen].mean()) / case.ticks_a_unit
            yield mean, "the mean of the whole column of ticks", right


def _of_difference(case: Case) -> Iterator[Slip]:
    """Slips in (first - second) / divisor, and the ends of a series for a part of it."""
    first, second = case.spec.operands[:2]
    over, under = (cost_of(case.recording, name, case.spec.unit) for name in (first, second))
    divisor = case.spec.divisor
    if over is None or under is None:
        return
    right = f"({first} - {second})" + (f" / {divisor:g}" if divisor != 1 else "")
    if divisor != 1:
        yield over - under, f"{first} - {second}", right
        for wrong in (divisor - 1, divisor + 1, 2 * divisor):
            yield (over - under) / wrong, f"({first} - {second}) / {wrong:g}", right
        yield over / divisor, f"{first} / {divisor:g}", right
        open_ended = f"{first} - {second} / {divisor:g}: only the second is divided"
        yield over - under / divisor, open_ended, right
    number = _IN_A_SERIES.match(first)
    if number is not None and int(number[2]) not in (0, 1, divisor):
        yield over / int(number[2]), f"{first} / {number[2]}", right
    ends = _ends_of_series(case, first)
    if ends is not None:
        (low, at_low), (high, at_high) = ends
        unit = case.spec.unit
        low_cost, high_cost = (cost_of(case.recording, name, unit) for name in (low, high))
        if low_cost is not None and high_cost is not None and {low, high} != {first, second}:
            for by in (at_high - at_low, divisor):
                yield (high_cost - low_cost) / by, f"({high} - {low}) / {by:g}", right


def _ends_of_series(case: Case, name: str) -> tuple[tuple[str, int], tuple[str, int]] | None:
    """The first and the last variant of the series that `name` is one of, with their numbers."""
    of = _IN_A_SERIES.match(name)
    matches = [_IN_A_SERIES.match(each) for each in case.recording.variants]
    numbers = {each[0]: int(each[2]) for each in matches if each and of and each[1] == of[1]}
    ends = sorted(numbers.items(), key=lambda item: item[1])
    return (ends[0], ends[-1]) if len(ends) > 1 else None


def _right(case: Case, what: str) -> str:
    return f"{what}, {_expected(case)}" if case.expected is not None else what
