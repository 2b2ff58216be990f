"""The values and conclusions that are right for a figure, and the range that the grader accepts.

There is one rule for all figures. A value is accepted if it lies in the 95 % interval, as computed
or as the student saw it printed. It is accepted within 5 % of the value too: whoever reduces the
same samples by hand, with a mean, a median or least squares, gets another number.

A few figures are exact, such as a count. Outside the interval, the grader accepts only the right
value rounded: within half a percent, or rounded to two digits in the unit of the figure. Half a
percent is what rounding to three digits changes at most in any unit. A count may also differ by
half a hundredth.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from grader.figures.spec import CHOICE, RELATIONS, TIMES, FigureSpec, Quantity
from labs.analysis import confidence, cpu_core
from labs.analysis.confidence import ByProcess, Estimate
from labs.analysis.line import Line
from labs.analysis.thresholds import SURE
from labs.recording import counts, declared
from labs.recording.file import Recording
from labs.results.result import Result, naive_estimate, result_of, sensible
from labs.results.results_compared import may_be_the_clock
from labs.units import (
    Amount,
    Clock,
    UnknownUnit,
    canonical,
    printed_interval,
    ranges_as_text,
    rounded,
    rounded_apart,
)

#: A value within this share of the kit's own is accepted, however narrow the interval is.
ACCEPTED_WITHIN = 0.05
#: Rounding to three digits changes a number by at most this share. It is all that exact figures
#: allow.
ROUNDING = 0.005
#: A count for one operation may differ by this much: it is printed with two decimals.
COUNT_MARGIN = 0.005
#: A share of the number itself, for the last bits of the arithmetic.
ARITHMETIC = 1e-9

Range = tuple[float, float]


@dataclass(frozen=True)
class Expected:
    """What the recording gives for the figure: value and 95 % interval, in `unit`.

    `words` is the text that a reader sees; if it is empty, value and interval in `unit` are shown.
    `by_process` holds the values of the single processes, if they are known, because a relation
    compares process by process. `shown` holds the ends of the interval as the student's run prints
    it, which may differ from the judged one. `one` is the length of one of the units in which the
    student handed the figure in, because rounding happens in these. If the value is `exact`,
    only what rounds to it is accepted beside the interval. `of_programs` is as in `Comparison`.
    """

    value: float
    low: float
    high: float
    unit: str
    words: str = ""
    by_process: ByProcess | None = field(default=None, repr=False, compare=False)
    shown: Range | None = field(default=None, compare=False)
    one: float = field(default=1.0, compare=False)
    exact: bool = field(default=False, compare=False)
    of_programs: bool = field(default=False, compare=False)

    def accepted(self) -> tuple[Range, Range]:
        """The accepted values: a range, and the value rounded to two digits.

        The rounded value need not lie in the range.
        """
        middle = self.value
        if self.unit == CHOICE or not math.isfinite(middle):
            return (middle, middle), (middle, middle)
        ends = [self.low, self.high, *(self.shown or ())]
        share = ROUNDING if self.exact else ACCEPTED_WITHIN
        ends += [middle * (1 - share), middle * (1 + share)]
        in_two_digits = float(f"{middle / self.one:.1e}") * self.one
        return (min(ends), max(ends)), (in_two_digits, in_two_digits)

    def accepts(self, value: float) -> bool:
        """Whether `value` is accepted for this one."""
        return any(
            low - ARITHMETIC * abs(low) <= value <= high + ARITHMETIC * abs(high)
            for low, high in self.accepted()
        )

    def as_text(self) -> str:
        """The value and its interval for a reader; a count has no interval."""
        if self.words:
            return self.words
        if self.low == self.high:
            return f"{rounded(self.value)} {self.unit}"
        value, low, high = (rounded(number) for number in (self.value, self.low, self.high))
        if self.unit == TIMES:  # the reader looks whether 1 is in the interval
            value, low, high = rounded_apart(self.value, self.low, self.high, 1.0)
        sure = rounded(100 * SURE) if self.of_programs else "95"
        return f"{value} {self.unit} ({sure} % interval {low} to {high})"


def accepted_ranges(values: Iterable[Expected]) -> list[Range]:
    """What is accepted for right values in the same unit; ranges that meet are one.

    Conclusions are not stated: that would give them away.
    """
    ranges: list[Range] = []
    for low, high in sorted(
        ends for each in values if each.unit != CHOICE for ends in each.accepted()
    ):
        if ranges and low <= ranges[-1][1] * (1 + math.copysign(ARITHMETIC, ranges[-1][1])):
            ranges[-1] = (ranges[-1][0], max(high, ranges[-1][1]))
        else:
            ranges.append((low, high))
    return ranges


def accepted_as_text(values: Sequence[Expected]) -> str:
    """The same for a reader: '82 to 106 us'; '' if there is none."""
    ranges = accepted_ranges(values)
    return f"{ranges_as_text(ranges)} {values[0].unit}" if ranges else ""


def why_more_is_accepted(values: Iterable[Expected]) -> str:
    """Sentences on values that are accepted outside the interval that the student's run shows.

    Empty if there are none, and for counts and conclusions, which have no interval.
    """
    right = [each for each in values if each.unit != CHOICE and each.low < each.high]
    sentences = []
    beside = [each for each in right for ends in each.accepted() if _is_beside(ends, each)]
    if beside:
        exact = beside[0].exact
        sentences.append(
            "This includes rounded values." if exact else "This includes values within 5 %."
        )
    if any(each.shown and not _holds(each.shown, (each.low, each.high)) for each in right):
        sentences.append("This includes values at each clock speed of the run.")
    return " ".join(sentences)


def _is_beside(ends: Range, right: Expected) -> bool:
    """Whether the accepted range reaches out of the interval of the value, judged and shown."""
    every = (right.low, right.high, *(right.shown or ()))
    return not _holds((min(every), max(every)), ends)


def _holds(outer: Range, inner: Range) -> bool:
    """Whether the range `inner` lies in `outer`, but for the last bits of the arithmetic."""
    slack = ARITHMETIC * max(map(abs, (*outer, *inner)))
    return outer[0] - slack <= inner[0] and inner[1] <= outer[1] + slack


# The right values of a relation: between variants of one recording, or between other figures.
#
# A relation between figures may follow from their recordings or from the student's own figures: a
# mistake in one of those figures has already cost its points. Every operand brings its unit and its
# clock, and all are converted to ns before they are compared.

#: The unit in which operands are compared.
COMMON = "ns"


@dataclass(frozen=True)
class Operand:
    """A figure that a relation refers to.

    `accepted` are its right values, `submitted` is what the student handed in (None if its unit
    cannot be converted), and `shown` is the estimate that its run shows. `clock` converts all of
    them.
    """

    accepted: tuple[Expected, ...]
    submitted: Amount | None
    shown: Estimate | None
    clock: Clock

    def by_recording(self) -> Estimate | None:
        """What the recording gives, in the common unit."""
        if not self.accepted:
            return None
        first = self.accepted[0]
        value, low, high = first.value, first.low, first.high
        return self._common(Estimate(value, low, high, first.unit, "", 0, 0, first.by_process))

    def as_submitted(self) -> Estimate | None:
        """The student's own figure, in the common unit, without an interval."""
        if self.submitted is None:
            return None
        value = self.submitted.value
        return self._common(Estimate(value, value, value, self.submitted.unit, "", 0, 0))

    def as_shown(self) -> Estimate | None:
        """The estimate that the run shows, in the common unit."""
        return self._common(self.shown) if self.shown is not None else None

    def _common(self, estimate: Estimate) -> Estimate | None:
        try:
            return estimate.into(COMMON, self.clock)
        except (UnknownUnit, ValueError):  # a ratio or a count, or cycles of unknown length
            return None


def values_by_relation(spec: FigureSpec, operands: Sequence[Operand], unit: str) -> list[Expected]:
    """The right values of a relation between `operands` that was submitted in `unit`.

    They follow from the recordings, from the student's own figures, or from the estimates that the
    runs show, because these are what the student compares. The intervals of the accepted values can
    be wider: they hold at every clock speed of the run.
    """
    found: list[Expected] = []
    for of in (Operand.by_recording, Operand.as_submitted, Operand.as_shown):
        estimates = [estimate for each in operands if (estimate := of(each)) is not None]
        if len(estimates) == len(operands):
            found += related(spec, tuple(estimates), operands[0].clock, unit)
    return list(dict.fromkeys(found))


def related(
    spec: FigureSpec, operands: tuple[Estimate, ...], clock: Clock, unit: str
) -> list[Expected]:
    """The right values of the relation between `operands`, which must be in the common unit.

    Raises ValueError if one of them is not.
    """
    if units := {each.unit for each in operands} - {COMMON}:
        raise ValueError(f"{spec.id}: an operand is in {' and '.join(sorted(units))}")
    first, second = operands[:2]
    left = None
    if first.by_process and second.by_process:
        left = confidence.difference_by_process(first.by_process, second.by_process)
    of_programs = bool(left and left.programs)
    if spec.quantity is Quantity.RATIO:
        if second.value <= 0:
            return []
        found = confidence.ratio(first, second)
        printed = printed_interval(*found, 1.0)
        return [Expected(*found, spec.unit, shown=printed, of_programs=of_programs)]
    value, low, high = confidence.difference(first, second)
    # The difference of the two values by hand gives processes other weights, and is right too.
    by_hand = first.value - second.value
    low, high = min(low, by_hand), max(high, by_hand)
    between = replace(first, value=value, low=low, high=high, by_process=left)
    try:
        inside = between.into(spec.unit, clock)
    except ValueError:
        return []
    printed = printed_interval(inside.value, inside.low, inside.high, 0.0)
    shown: Range = (printed[0] / spec.divisor, printed[1] / spec.divisor)
    inside = inside.times(1 / spec.divisor)
    right = Expected(inside.value, inside.low, inside.high, spec.unit, "", inside.by_process, shown)
    one = length_of(unit, spec.unit, clock)
    return [replace(right, one=one, of_programs=of_programs)]


def length_of(unit: str, into: str, clock: Clock) -> float:
    """How long one `unit` is, measured in the unit `into`; 1 if that cannot be converted."""
    try:
        return Amount(1.0, unit).into(into, clock).value
    except (UnknownUnit, ValueError):
        return 1.0


#: A printed end of an interval may differ from the end by this share of the half-width. Where it
#: differs more, the unit is too large for the digits that are printed.
MOST_ROUNDED_AWAY = 0.06

#: An empty sample may differ by this share from the intercept, even if both are known better.
MOST_BETWEEN_OVERHEADS = 0.25


def values_by_recording(
    spec: FigureSpec, results: Mapping[str, Result], unit: str
) -> list[Expected]:
    """The right values of a figure that was submitted in `unit`, from `results` by variant.

    Empty if the recording gives no figure.
    """
    first = results[spec.variant]
    if spec.quantity is Quantity.STEP:
        step = first.clock.step / first.clock.ticks_in(spec.unit)
        one = length_of(unit, spec.unit, first.clock)
        return [Expected(step, step, step, spec.unit, one=one)]
    if spec.quantity is Quantity.SWITCHES:
        return _switches(spec, first)
    if not spec.demonstrates and any(results[name].estimate is None for name in spec.variants):
        return []
    if spec.quantity in RELATIONS:
        return _of_variants(spec, [results[name] for name in spec.variants], unit)
    found = list(_accepted_estimates(spec, first, unit))
    if spec.demonstrates and not found:
        # A repeated mistake may leave no estimate; its author reports the mean of all samples.
        value = naive_estimate(_estimated(first, spec.unit)).value
        one = length_of(unit, spec.unit, first.clock)
        found = [Expected(value, value, value, spec.unit, one=one)]
    return found


def _of_variants(spec: FigureSpec, results: list[Result], unit: str) -> list[Expected]:
    """The right values of a relation between variants of one recording."""
    first = results[0]
    alternatives = [_alternatives(each) for each in results]
    most = min(len(each) for each in alternatives)
    operands = [tuple(each[i] for each in alternatives) for i in range(most)]
    # A student relates the estimates that the run shows.
    shown = (each.estimate.into(COMMON, each.clock) for each in results if each.estimate)
    operands.append(tuple(shown))
    found = [each for pair in operands for each in related(spec, pair, first.clock, unit)]
    return list(dict.fromkeys(found))


def _switches(spec: FigureSpec, result: Result) -> list[Expected]:
    """The switches that the OS counted, divided by the operations that the C kernel states."""
    seen = counts.switches_of(result.recording, result.variant)
    if seen is None:
        return []
    shown = (max(0.0, seen.each - COUNT_MARGIN), seen.each + COUNT_MARGIN)
    words = f"{seen.rate} {spec.unit}" if seen.each < counts.RARE else ""
    return [Expected(seen.each, seen.each, seen.each, spec.unit, words, shown=shown)]


def _alternatives(result: Result) -> list[Estimate]:
    """The values that count as this result in a relation, in ns.

    A timer has its intercept and its empty sample. A cost has its value as a time, and its value in
    core cycles converted to a time.
    """
    assert result.estimate is not None  # the caller has seen to it
    line = result.line
    if declared.is_overhead(result.recording, result.variant) and line is not None:
        return [each.into("ns", result.clock) for each in _overheads(line)]
    if result.net is None:
        return [result.estimate]
    found = [result.net.net.into("ns", result.clock)]
    if result.clock.core_cycle_ticks is not None:
        in_cycles = _estimated(result, "cycles").estimate
        if in_cycles is not None:
            found.append(in_cycles.into("ns", result.clock))
    return found


def _overheads(line: Line) -> list[Estimate]:
    """What a timer costs: the intercept, and the empty sample if it tells the same.

    Work may overlap with a clock that does not wait for it. Then a pair adds less to a sample with
    work than it takes by itself, and the figure is the one that the run shows, the intercept.
    """
    beside, empty = line.overhead, line.empty
    if empty is None:
        return [beside]
    meet = beside.low <= empty.high and empty.low <= beside.high
    near = abs(empty.value - beside.value) <= MOST_BETWEEN_OVERHEADS * abs(beside.value)
    return [beside, empty] if meet or near else [beside]


def _estimated(result: Result, unit: str) -> Result:
    """The same result in another unit.

    Raises ValueError for core cycles of unknown length.
    """
    return result if unit == result.unit else result_of(result.recording, result.variant, unit)


def _accepted_estimates(spec: FigureSpec, result: Result, unit: str) -> Iterator[Expected]:
    """The estimates in the requested unit and in the submitted one: their intervals may differ."""
    for into in dict.fromkeys((spec.unit, canonical_or(unit, spec.unit))):
        try:
            again = _estimated(result, into)
            factor = again.clock.ticks_in(into) / again.clock.ticks_in(spec.unit)
        except ValueError:  # core cycles of unknown length: another unit will do
            continue
        one = length_of(unit, spec.unit, again.clock)
        for estimate in _estimates_of_quantity(spec.quantity, again, into):
            inside, words = estimate.times(factor), _text_of_run(spec, again, estimate)
            value = Expected(inside.value, inside.low, inside.high, spec.unit, words, one=one)
            shown = _shown(again, estimate, factor)
            yield replace(value, by_process=inside.by_process, shown=shown)


def _shown(result: Result, estimate: Estimate, factor: float) -> Range | None:
    """The interval that the run prints for this value; None if the run shows another value.

    `factor` converts from the unit of `result`. The ends are the printed ones and the exact ones,
    whichever lie farther out.
    """
    shown = result.estimate
    if shown is None or not math.isclose(shown.value, estimate.value, rel_tol=1e-9):
        return None
    ends = [shown.low, shown.high]
    for end, text in zip((shown.low, shown.high), sensible(shown)[1:], strict=True):
        printed = float(text.replace(",", ""))
        if abs(printed - end) <= MOST_ROUNDED_AWAY * shown.half_width:
            ends.append(printed)
    return min(ends) * factor, max(ends) * factor


def _text_of_run(spec: FigureSpec, result: Result, estimate: Estimate) -> str:
    """The text with which the student's run shows this value; '' if it shows another value.

    The interval that the run shows spans the clock speeds of the last hour, and the interval that
    the grader judges by does not. Two intervals for one value would confuse the student. A time is
    shown in the requested unit, except if one of the two units is ticks or cycles.
    """
    if not {result.unit, spec.unit} & {"ticks", "cycles"}:
        estimate = estimate.into(spec.unit, result.clock)
        result = _estimated(result, spec.unit)
    shown = result.estimate
    if shown is None or not math.isclose(shown.value, estimate.value, rel_tol=1e-9):
        return ""
    return result.value_as_text()


def _estimates_of_quantity(quantity: Quantity, result: Result, unit: str) -> Iterator[Estimate]:
    line = result.line
    if result.estimate is None:
        return
    if quantity is Quantity.WHOLE:
        if result.net is not None:
            yield result.net.whole.into(unit, result.clock)
    elif quantity is Quantity.OVERHEAD and line is not None:
        yield from (each.into(unit, result.clock) for each in _overheads(line))
    elif result.net is None or unit == "cycles":
        yield result.estimate
    else:
        # Whether a figure follows from its run has nothing to do with other runs' clock speeds.
        yield _at_speeds_of_the_run(result.net.net.into(unit, result.clock), result.recording)


def _at_speeds_of_the_run(estimate: Estimate, recording: Recording) -> Estimate:
    """The estimate, a time, with an interval that holds at every clock speed of its own run.

    A student who converts core cycles to a time by hand uses one of these speeds.
    """
    lengths = cpu_core.cycle_lengths(recording)
    if not lengths:
        return estimate
    mean = sum(lengths) / len(lengths)
    at_speeds = [estimate.value * length / mean for length in lengths]
    return replace(estimate, low=min(estimate.low, *at_speeds), high=max(estimate.high, *at_speeds))


def canonical_or(unit: str, otherwise: str = "") -> str:
    """The one spelling of `unit`, or `otherwise` for what is no unit."""
    try:
        return canonical(unit)
    except UnknownUnit:
        return otherwise


# The student compares the estimates that the runs show, and so does the grader. The values that the
# student handed in do not matter for a conclusion: they have no intervals.


def conclusion(
    spec: FigureSpec, operands: Sequence[Result], naive: Sequence[bool] = ()
) -> list[Expected]:
    """The one conclusion that these results bear out; empty if one of them gives no figure.

    So it is if a cost is below zero, unless what it is about may be nothing. `naive` marks the
    operands that repeat a mistake; their naive value counts. Where known facts speak against all
    conclusions but one, this one is right. The last conclusion is that the data do not decide. It
    is right too where the clock speeds of two runs may explain what they show.
    """
    number = known(spec)
    if number is None:
        shown = [
            naive_estimate(each) if as_read else compared_as(spec, each).estimate
            for each, as_read in zip(operands, naive or [False] * len(operands), strict=True)
        ]
        estimates = tuple(each for each in shown if each is not None)
        if spec.decide is None or len(estimates) < len(shown):
            return []
        below = any(each.high < 0 for each in estimates) and not spec.may_be_nothing
        if below and not any(naive):
            return []  # nothing takes less than no time, so one of the two is wrong
        number = spec.decide(estimates)
        if not any(naive) and _may_be_the_clock(spec, operands):
            number = len(spec.choices)
    return [Expected(number, number, number, CHOICE, f"{number} ({spec.choices[number - 1].text})")]


def _may_be_the_clock(spec: FigureSpec, operands: Sequence[Result]) -> bool:
    """Whether the clock speeds of the two runs alone may lead to the conclusion of the data."""
    if len(operands) != 2 or spec.decide is None:
        return False
    first, second = (compared_as(spec, each) for each in operands)
    return may_be_the_clock(first, second, spec.decide)


def known(spec: FigureSpec) -> int | None:
    """The conclusion that known facts decide; None if the data decide."""
    open_ones = [n for n, each in enumerate(spec.choices, start=1) if not each.known]
    return open_ones[0] if len(open_ones) == 1 else None


def compared_as(spec: FigureSpec, result: Result) -> Result:
    """The result of an operand in the unit in which the lab compares it, if the run has that."""
    unknown = spec.compared_in == "cycles" and result.clock.core_cycle_ticks is None
    return result if unknown else _estimated(result, spec.compared_in)
