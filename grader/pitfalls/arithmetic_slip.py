"""A slip in the arithmetic: a wrong divisor, a wrong subtrahend, a whole column, swapped digits."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from grader.cases.case import Case
from grader.cases.digits import FEWEST_DIGITS, digits_of, is_number
from grader.cases.spec import Quantity
from grader.cases.verdict import Level
from grader.pitfalls.pitfall import MistakeKind, Pitfall
from labs.analysis.net_cost import Net
from labs.common.units import rounded
from labs.results.result import result_of

#: Of a value with more digits than this nobody reads two digits the wrong way round.
MOST_DIGITS = 6

#: A series of variants: args0, args1 ... args12.
_IN_A_SERIES = re.compile(r"([a-z-]*[a-z-])(\d{1,4})$")

#: A number, how it was computed, and how it should be.
Slip = tuple[float, str, str]


def detect(case: Case) -> str | None:
    if case.right or case.expected is None or case.submitted is None:
        return None
    for number, done, right in _slips(case):
        if is_number(case, number):
            return f"You gave {case.as_submitted()}: that is {done}. It should be {right}."
    return _swapped(case)


def _slips(case: Case) -> Iterator[Slip]:
    quantity = case.spec.quantity
    if quantity is Quantity.COST and not case.others:
        if case.result.net is not None:
            yield from _of_net(case, case.result.net)
        yield from _of_column(case)
    elif quantity is Quantity.DIFFERENCE and not case.others:
        yield from _of_difference(case)
    elif quantity is Quantity.RATIO and case.expected is not None:
        over, under = case.spec.operands[:2]
        right = f"{over} / {under} = {case.expected.as_text()}"
        yield case.expected.value - 1, f"({over} - {under}) / {under}", right
        yield 100 * case.expected.value, "the ratio in percent", right


def _of_net(case: Case, net: Net) -> Iterator[Slip]:
    """Slips in (whole - times * baseline) / parts."""
    unit = case.result.clock.ticks_in(case.spec.unit)
    whole, parts, times = net.whole.value / unit, net.parts, net.times
    base = net.baseline.value / unit if net.baseline is not None else 0.0
    of = f" / {parts:g}" if parts != 1 else ""

    def text(subtracted: float, divisor: str = of) -> str:
        left = rounded(whole)
        if subtracted:
            many = f"{abs(subtracted):g} x " if abs(subtracted) != 1 else ""
            left += f" {'-' if subtracted > 0 else '+'} {many}{rounded(base)}"
        return f"({left}){divisor}" if divisor and subtracted else f"{left}{divisor}"

    right = text(times)
    right += f" {case.spec.unit}" if base else f" {case.spec.unit}, one of {parts:g} parts"
    if base:
        # Of two parts, twice as much subtracted is all of it from one part only.
        twice = () if parts == 2 else (2 * times,)
        for wrong in {1.0, *twice, -times} - {times}:
            yield (whole - wrong * base) / parts, text(wrong), right
    if parts != 1:
        yield whole - times * base, text(times, ""), right
        yield (whole - times * base) / parts**2, text(times, f" / {parts**2:g}"), right
        if base:
            all_of_it = rounded(times * base)
            yield whole / parts - times * base, f"{rounded(whole)}{of} - {all_of_it}", right


def _of_column(case: Case) -> Iterator[Slip]:
    """The mean of all samples, whatever number of operations each of them holds."""
    recording, name = case.recording, case.spec.variant
    mine = recording.rows_of(name)
    unit = case.result.clock.ticks_in(case.spec.unit)
    if len(set(recording.batch[mine].tolist())) < 2:
        return  # then it is a sample with all its operations (cost_of_many_for_one)
    right = "the slope: how much a sample grows with each operation in it"
    for chosen, what in ((mine & (recording.sample >= 0), ""), (mine, ", warm-up included")):
        if chosen.any():
            mean = float(recording.ticks[chosen].mean()) / unit
            yield mean, f"the mean of the whole column of ticks{what}", right


def _of_difference(case: Case) -> Iterator[Slip]:
    """Slips in (first - second) / divisor, and the ends of a series for a part of it."""
    costs = {name: _cost(case, name) for name in case.spec.operands[:2]}
    first, second = case.spec.operands[:2]
    over, under, divisor = costs[first], costs[second], case.spec.divisor
    if over is None or under is None:
        return
    right = f"({first} - {second})" + (f" / {divisor:g}" if divisor != 1 else "")
    if divisor != 1:
        yield over - under, f"{first} - {second}", right
        for wrong in (divisor - 1, divisor + 1, 2 * divisor):
            yield (over - under) / wrong, f"({first} - {second}) / {wrong:g}", right
        yield over / divisor, f"{first} / {divisor:g}", right
    ends = _ends_of_series(case, first)
    if ends is not None:
        (low, at_low), (high, at_high) = ends
        low_cost, high_cost = _cost(case, low), _cost(case, high)
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


def _cost(case: Case, name: str) -> float | None:
    result = case.results.get(name) or result_of(case.recording, name, "ns")
    if result.estimate is None:
        return None
    return result.clock.convert(result.estimate.value, "ns", case.spec.unit)


def _swapped(case: Case) -> str | None:
    """The right value to as many digits, with two neighbouring digits the wrong way round."""
    given, value = digits_of(case.figure.value), case.figure.value
    if not FEWEST_DIGITS <= given <= MOST_DIGITS or case.submitted is None:
        return None
    for each in case.accepted_values:
        right = each.value * (value / case.submitted)
        if not math.isfinite(right):
            continue
        mantissa, exponent = f"{right:.{given - 1}e}".split("e")
        digits = mantissa.replace(".", "")
        for place in range(len(digits) - 1):
            pair = digits[place + 1] + digits[place]
            other = digits[:place] + pair + digits[place + 2 :]
            if pair[0] != pair[1] and float(f"{other[0]}.{other[1:]}e{exponent}") == value:
                return (
                    f"You gave {case.as_submitted()}; your recording gives {each.as_text()}: "
                    "two digits are swapped."
                )
    return None


PITFALL = Pitfall(
    code="arithmetic-slip",
    level=Level.INTERPRETATION,
    symptom="The numbers are right, the arithmetic is not.",
    misconception="Each number of a formula stands for something in the sample: how often the "
    "baseline is inside, how many parts there are.",
    experiment="Write the formula with names first, then with numbers, and compute it once more.",
    seen_in="report A: half of a sum less a whole; two digits swapped in its tables",
    detect=detect,
    explains=MistakeKind.REDUCTION,
)
