"""Whether a submitted value is a certain number, as far as its own digits tell.

A number that was not meant lies near a random value the more often, the more numbers are tried and
the wider each is taken. So a value with three digits is a number only if it is that number rounded
to three digits. A value with fewer digits is near too many numbers to name one of them.
"""

from __future__ import annotations

import math
from decimal import Decimal

from grader.cases.case import Case
from grader.cases.expected import Expected

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
#: A value computed from the same samples in another way lies within the interval. Times a wrong
#: factor it is known for it if it is this near to the right value times the factor.
NEAR_A_FACTOR = 0.01


def digits_of(value: float) -> int:
    """How many significant digits `value` was given with, at least.

    Zeros at the end of 5200 may or may not be digits. Three digits are taken for meant.
    """
    if value == 0:
        return 0
    number = Decimal(repr(float(value))).normalize().as_tuple()
    exponent = number.exponent
    assert isinstance(exponent, int)  # it is a text for NaN and infinity only
    zeros = max(exponent, 0)
    return max(len(number.digits), min(len(number.digits) + zeros, FEWEST_DIGITS))


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


def is_times(case: Case, factor: float) -> bool:
    """Whether the submitted value is an accepted one times `factor`, as far as its digits tell.

    The value must be near the product, however wide the interval is. An interval that reaches a
    third to either side contains nearly every factor that anybody could have forgotten.
    """
    return any(
        is_number(case, each.value * factor) or _is_within(case, each, factor)
        for each in case.accepted_values
    )


def _is_within(case: Case, right: Expected, factor: float) -> bool:
    submitted, product = case.submitted, right.value * factor
    if submitted is None or digits_of(case.figure.value) < FEWEST_DIGITS:
        return False
    low, high = sorted((right.low * factor, right.high * factor))
    return low <= submitted <= high and abs(submitted - product) <= NEAR_A_FACTOR * abs(product)


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
