"""Numbers that slips of arithmetic make of a run: how each was computed, and how it should be.

The forms are those that students make: a subtrahend too often or not often enough, a divisor
forgotten or taken twice, another row subtracted, added or averaged, a wrong operand.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from grader.cases.case import Case
from grader.cases.spec import Quantity
from grader.facts.memory import page_faults
from grader.facts.numbers import slips_of_rows
from labs.common.units import rounded
from labs.results.result import result_of

#: A number, how it was computed, and how it should be.
Slip = tuple[float, str, str]

#: A series of variants: args0, args1 ... args12.
_IN_A_SERIES = re.compile(r"([a-z-]*[a-z-])(\d{1,4})$")
#: The size in the name of a variant: fork-wait-64mb.
_SIZE = re.compile(r"-(\d{1,4})(?:mb|m|kb|k)$")


def slips(case: Case) -> Iterator[Slip]:
    """The slips that the figure of `case` invites, the plainest first."""
    quantity = case.spec.quantity
    if quantity is Quantity.DIFFERENCE:
        yield from _of_difference(case) if not case.others else slips_of_rows.of_relation(case)
    elif quantity is Quantity.RATIO:
        yield from slips_of_rows.of_ratio(case)
    elif not case.others and case.spec.is_time:
        if quantity is Quantity.COST and case.result.net is not None:
            yield from _of_net(case)
            yield from _of_size(case)
            yield from _of_page(case)
        yield from _of_column(case)
        yield from slips_of_rows.of_rows(case)


def _of_net(case: Case) -> Iterator[Slip]:
    """Slips in (whole - times * baseline) / parts."""
    in_unit = case.spec.unit
    # In core cycles a run shows a line of its own: at one speed.
    net = result_of(case.recording, case.spec.variant, in_unit).net
    if net is None:
        return
    unit = case.result.clock.ticks_in(in_unit)
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
    right += f" {in_unit}" if base else f" {in_unit}, one of {parts:g} parts"
    if base and parts != 2 and case.expected is not None:
        own, once = case.expected.value, times * base / parts
        what = f"{rounded(own)} - {rounded(once)}, the baseline subtracted a second time"
        yield own - once, what, f"{rounded(own)}: the run's value has it subtracted already"
    if base:
        # Of two parts, twice as much subtracted is all of it from one part only.
        twice = () if parts == 2 else (2 * times,)
        for wrong in sorted({1.0, *twice, -times} - {times}, reverse=True):
            yield (whole - wrong * base) / parts, text(wrong), right
    if parts != 1:
        yield whole - times * base, text(times, ""), right
        yield (whole - times * base) / parts**2, text(times, f" / {parts**2:g}"), right
        if base:
            all_of_it = rounded(times * base)
            yield whole / parts - times * base, f"{rounded(whole)}{of} - {all_of_it}", right


def _of_size(case: Case) -> Iterator[Slip]:
    """The cost divided by a size that is in the name of the variant."""
    size = _SIZE.search(case.spec.variant)
    if size is not None and int(size[1]) > 1 and case.expected is not None:
        divided = f"{rounded(case.expected.value)} / {size[1]}"
        yield case.expected.value / int(size[1]), divided, _right(case, case.spec.variant)


def _of_page(case: Case) -> Iterator[Slip]:
    """The cost of a page fault, divided by the bytes of its page or by the pages that it maps."""
    if case.spec.kernel not in page_faults.KERNELS or case.expected is None:
        return
    right = _right(case, case.spec.variant)
    cost = case.expected.value
    for size in page_faults.PAGE_BYTES:
        yield (
            cost / size,
            f"{rounded(cost)} / {size:,}, for one of the {size:,} bytes of a page",
            right,
        )
    if case.spec.variant == page_faults.OF_FILE:
        many = page_faults.MAPPED_AROUND
        what = f"{rounded(cost)} / {many}, for one of the {many} pages that this page fault maps"
        yield cost / many, what, right


def _of_column(case: Case) -> Iterator[Slip]:
    """The mean of all samples, whatever number of operations each of them holds."""
    recording, name = case.recording, case.spec.variant
    mine = recording.rows_of(name)
    unit = case.result.clock.ticks_in(case.spec.unit)
    if len(set(recording.batch[mine].tolist())) < 2:
        return  # then it is a sample with all its operations (cost_of_many_for_one)
    right = "the slope: how much a sample grows with each operation in it"
    if case.spec.quantity is Quantity.OVERHEAD:
        right = "the intercept: a sample without the operations in it"
    for chosen, what in ((mine & (recording.sample >= 0), ""), (mine, ", warm-up included")):
        if chosen.any():
            mean = float(recording.ticks[chosen].mean()) / unit
            yield mean, f"the mean of the whole column of ticks{what}", right


def _of_difference(case: Case) -> Iterator[Slip]:
    """Slips in (first - second) / divisor, and the ends of a series for a part of it."""
    costs = {name: slips_of_rows.cost_of(case, name) for name in case.spec.operands[:2]}
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
    number = _IN_A_SERIES.match(first)
    if number is not None and int(number[2]) not in (0, 1, divisor):
        yield over / int(number[2]), f"{first} / {number[2]}", right
    ends = _ends_of_series(case, first)
    if ends is not None:
        (low, at_low), (high, at_high) = ends
        low_cost, high_cost = (slips_of_rows.cost_of(case, name) for name in (low, high))
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
    return f"{what}, {case.expected.as_text()}" if case.expected is not None else what
