"""One submitted figure, what its recording gives, and whether its value is a certain number.

Every pitfall looks at such a case. A case is made from a recording and a figure only. The functions
of `labs` that drew the student's plot also compute the results here. `grader.figures.expected`
decides which values are right, and how near a value must be.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal

from grader.figures.expected import (
    Expected,
    Operand,
    conclusion,
    values_by_recording,
    values_by_relation,
)
from grader.figures.spec import CHOICE, RELATIONS, TIMES, FigureSpec, Quantity
from labs.course import figures
from labs.course.figures import Figure
from labs.recording.file import Recording
from labs.results.result import Result, result_of
from labs.units import Amount, UnknownUnit, canonical, in_four_digits, rounded, with_unit


@dataclass(frozen=True, eq=False)
class Case:
    """A figure, the recording that it names, and what that recording gives.

    `results` holds the results by variant. For a relation between figures it holds them by figure
    id; then `recording` is that of the first figure, `others` are the cases of the figures, and
    `compare_with` the cases of figures that a student might have taken instead. `changed_from` is
    the case of the first of two runs, if this is of the second one and if there is a first.
    `submitted` is the submitted value in the requested unit; None if its unit cannot be converted.
    `accepted_values` are the right values: for an overhead, the intercept, and the empty sample if
    it tells the same. There is none if the recording gives no figure. `source` is the C that was
    measured, if it is known: that of a released or broken C kernel, or the file saved next to the
    recording if its hash agrees.
    """

    spec: FigureSpec
    figure: Figure
    recording: Recording
    results: Mapping[str, Result]
    submitted: float | None
    accepted_values: tuple[Expected, ...]
    source: str | None = None
    others: tuple[Case, ...] = field(default=(), repr=False)
    compare_with: tuple[Case, ...] = field(default=(), repr=False)
    changed_from: Case | None = field(default=None, repr=False)

    @property
    def expected(self) -> Expected | None:
        """The first of the accepted values, which is the one that a reader sees."""
        return self.accepted_values[0] if self.accepted_values else None

    @property
    def matching_value(self) -> Expected | None:
        """The first accepted value that agrees with the submitted one; None if none does.

        Of a relation the nearest, and of two as near the last, which is of what the runs show.
        """
        if (submitted := self.submitted) is None:
            return None
        agree = [each for each in self.accepted_values if each.accepts(submitted)]
        if self.spec.quantity not in RELATIONS:
            return agree[0] if agree else None
        agree.reverse()
        size = abs(submitted) or 1.0
        off = (round(abs(each.value - submitted) / size, 9) for each in agree)
        return min(zip(off, agree, strict=True), key=lambda pair: pair[0], default=(0, None))[1]

    @property
    def right(self) -> bool:
        """Whether the submitted value agrees with one of the accepted ones."""
        return self.matching_value is not None

    @property
    def result(self) -> Result:
        """The result of the figure's variant; for a relation, of its first figure."""
        return self.results[self.spec.operands[0]]

    @property
    def ticks_a_unit(self) -> float:
        """How many ticks of the figure's clock make up one of the requested unit."""
        return self.result.clock.ticks_in(self.spec.unit)

    def as_operand(self) -> Operand:
        """This figure as a relation sees it."""
        amount = None if self.submitted is None else Amount(self.submitted, self.spec.unit)
        return Operand(self.accepted_values, amount, self.result.estimate, self.result.clock)

    def as_submitted(self) -> str:
        """The figure as the student gave it, without digits that change nothing."""
        value = self.figure.value
        if self.figure.unit == CHOICE:
            return f"conclusion {rounded(value, 6)}"
        counted = self.matching_value if self.spec.quantity is Quantity.SWITCHES else None
        if counted is not None and counted.words and rounded(value) == rounded(counted.value):
            return counted.words
        short = in_four_digits(value)
        if self.submitted is not None and value and math.isfinite(value):
            near = self.submitted * float(short.replace(",", "")) / value
            if replace(self, submitted=near).right != self.right:
                short = rounded(value, 6)
        return with_unit(short, self.figure.unit)


def make_case(
    spec: FigureSpec, figure: Figure, recording: Recording, source: str | None = None
) -> Case:
    """The case of `figure`, which `spec` asks for, with its `recording`.

    Raises KeyError if the recording lacks a variant that the figure needs, and BadRecording if the
    recording does not describe its clock.
    """
    compare_with = (name for name in spec.compare_with if name in recording.variants)
    results = {name: result_of(recording, name, "ns") for name in (*spec.variants, *compare_with)}
    accepted_values = _as_exact(
        spec,
        conclusion(spec, [results[name] for name in spec.variants])
        if spec.quantity is Quantity.CHOICE
        else values_by_recording(spec, results, figure.unit),
    )
    submitted = _submitted_value(spec, figure, results[spec.variant])
    return Case(spec, figure, recording, results, submitted, accepted_values, source)


def make_relation(
    spec: FigureSpec, figure: Figure, others: tuple[Case, ...], compare_with: tuple[Case, ...] = ()
) -> Case:
    """The case of a relation between the figures of `others`, which are in the order of `spec.of`.

    `compare_with` are the cases of figures that a student might have taken instead.
    """
    results = {case.spec.id: case.result for case in others}
    first = others[0]
    submitted = _submitted_value(spec, figure, first.result)
    if spec.quantity is Quantity.CHOICE:
        naive = [bool(case.spec.demonstrates) for case in others]
        accepted = conclusion(spec, [case.result for case in others], naive)
    else:
        accepted = values_by_relation(spec, [case.as_operand() for case in others], figure.unit)
    exact = _as_exact(spec, accepted)
    case = Case(spec, figure, first.recording, results, submitted, exact, first.source)
    return replace(case, others=others, compare_with=compare_with)


def _as_exact(spec: FigureSpec, values: list[Expected]) -> tuple[Expected, ...]:
    """The right values, each as exact as the figure asks for."""
    return tuple(replace(each, exact=bool(spec.why_exact)) for each in values)


def _submitted_value(spec: FigureSpec, figure: Figure, result: Result) -> float | None:
    """The submitted value in the requested unit; None if its unit cannot be converted."""
    if spec.unit in (TIMES, CHOICE):
        known = (CHOICE,) if spec.unit == CHOICE else figures.OF_A_RATIO
        return figure.value if figure.unit in known else None
    try:
        return result.clock.convert(figure.value, canonical(figure.unit), spec.unit)
    except (UnknownUnit, ValueError):
        return None


# Whether a submitted value is a certain number, as far as its own digits tell.
#
# The more numbers are tried, and the wider each is taken, the more often a random value lies near
# one of them. So a value with three digits is a number only if it is that number rounded to three
# digits. A value with fewer digits is near too many numbers to name one of them.

#: A value with fewer digits than this tells no number from its neighbours.
FEWEST_DIGITS = 3
#: Enough digits for the few numbers that a figure is usually confused with.
OF_USUAL_SLIPS = 2

#: How far a value may lie from the number that it is, as a share of it, however many digits it has:
#: somebody who computes by hand begins with numbers of three digits.
BY_HAND = 0.002
#: A value of few digits is a number that has no other digits: this near, as a share of it.
AS_READ = 0.0005
#: Of a value with all its digits the last ones depend on the order of the arithmetic.
LAST_BITS = 1e-6
#: ... and however few of three digits it has.
ROUNDED = 0.005


@functools.lru_cache
def digits_of(value: float) -> int:
    """How many significant digits `value` was given with, at least.

    Zeros at the end of 5200 may or may not be digits. Three digits are taken for meant, but of 400
    only two: a round number tells little.
    """
    if value == 0:
        return 0
    number = Decimal(repr(float(value))).normalize().as_tuple()
    exponent = number.exponent
    assert isinstance(exponent, int)  # it is a text for NaN and infinity only
    zeros = max(exponent, 0)
    most = FEWEST_DIGITS if len(number.digits) > 1 else OF_USUAL_SLIPS
    return max(len(number.digits), min(len(number.digits) + zeros, most))


def is_number(case: Case, number: float, fewest_digits: int = FEWEST_DIGITS) -> bool:
    """Whether the submitted value is this number, in the unit asked for, as far as its digits tell.

    This is stricter than `Expected.accepts`: a mean or a minimum that happens to lie near something
    else must not be taken for it.
    """
    submitted, given = case.submitted, digits_of(case.figure.value)
    if submitted is None or number == 0 or not math.isfinite(number):
        return False
    if given < fewest_digits:
        # 2 may have been read as 2.000; whoever rounded 2.04 to 2 cannot be told from others.
        return abs(submitted - number) <= AS_READ * abs(number)
    if given < FEWEST_DIGITS:
        # In the unit that the student wrote: there the value was rounded.
        there = number * case.figure.value / submitted
        return float(f"{there:.{given}g}") == case.figure.value
    last_place = _half_of_last_place(case.figure.value, given) / abs(case.figure.value)
    share = min(max(last_place, BY_HAND), ROUNDED)
    return abs(submitted - number) <= share * abs(number)


def is_rounded(case: Case, number: float) -> bool:
    """Whether the submitted value is this number, rounded to the digits that it was given with.

    For numbers that are copied as they are: nobody computed anything from rounded ones.
    """
    submitted, given = case.submitted, digits_of(case.figure.value)
    if not submitted or number == 0 or not math.isfinite(number):
        return False
    if given < FEWEST_DIGITS:
        return is_number(case, number)
    there = number * case.figure.value / submitted  # in the unit that the student wrote
    slack = 1.01 * _half_of_last_place(case.figure.value, given)
    return abs(there - case.figure.value) <= slack + LAST_BITS * abs(there)


def is_number_of_samples(case: Case, number: float) -> bool:
    """Whether the submitted value is this number, and the right value in ticks is not nearer.

    For example, a round trip may take 2.6 times as long as a switch, and at 2.6 GHz the ticks of a
    switch are the same number.
    """
    if case.submitted is None or not is_number(case, number, OF_USUAL_SLIPS):
        return False
    submitted, ticks_per_ns = case.submitted, case.result.clock.frequency_hz / 1e9
    in_ticks = [each.value * ticks_per_ns for each in case.accepted_values]
    return all(abs(submitted - number) <= abs(submitted - each) for each in in_ticks)


def _half_of_last_place(value: float, digits: int) -> float:
    first_place = Decimal(repr(float(value))).adjusted()
    return float(0.5 * 10.0 ** (first_place - digits + 1))
