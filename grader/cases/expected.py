"""One value that is right for a figure, and the range around it that the grader accepts.

There is one rule for all figures. A value is accepted if it lies in the 95 % interval, as computed
or as the student saw it printed, or within 5 % of the value: whoever reduces the same samples by
hand, with a mean, a median or least squares, gets another number. A few figures are exact, such as
a count. Of these a value is accepted beside the interval only if it is the right one rounded:
within half a percent, which is what rounding to three digits changes at most in any unit, or
rounded to two digits in the unit of the figure. A count may also differ by half a hundredth.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

from grader.cases.spec import CHOICE, TIMES
from labs.analysis.processes import ByProcess
from labs.common.units import rounded
from labs.results import digits

#: A value within this share of the kit's own is accepted, however narrow the interval is.
NEAR = 0.05
#: Rounding to three digits changes a number by at most this share. It is all that exact figures
#: allow.
ROUNDING = 0.005
#: A count for one operation may differ by this much: it is printed with two decimals.
COUNT_MARGIN = 0.005
#: A share of the number itself, for the last bits of the arithmetic.
ARITHMETIC = 1e-9
#: An accepted range is printed in steps of at most this share of its width.
FINENESS = 0.025

Range = tuple[float, float]


@dataclass(frozen=True)
class Expected:
    """What the recording gives for the figure: value and 95 % interval, in `unit`.

    `words` is the text that a reader sees; if it is empty, value and interval in `unit` are shown.
    `by_process` holds the values of the single processes, if they are known, because a relation
    compares process by process. `shown` holds the ends of the interval as the student's run prints
    it, which may differ from the judged one. `one` is the length of one of the units in which the
    student handed the figure in, because rounding happens in these. If the value is `exact`,
    only what rounds to it is accepted beside the interval.
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

    def accepted(self) -> tuple[Range, Range]:
        """The accepted values: a range, and the value rounded to two digits.

        The rounded value need not lie in the range.
        """
        middle = self.value
        if self.unit == CHOICE or not math.isfinite(middle):
            return (middle, middle), (middle, middle)
        ends = [self.low, self.high, *(self.shown or ())]
        share = ROUNDING if self.exact else NEAR
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
            value, low, high = digits.rounded_apart(self.value, self.low, self.high, 1.0)
        return f"{value} {self.unit} (95 % interval {low} to {high})"


def accepted_as_text(values: Iterable[Expected]) -> str:
    """What is accepted for right values in the same unit: '82 to 106 us'; '' if there is none.

    Ranges that meet are one range. Conclusions are not stated: that would give them away.
    """
    right = [each for each in values if each.unit != CHOICE]
    ranges: list[Range] = []
    for low, high in sorted(ends for each in right for ends in each.accepted()):
        if ranges and low <= ranges[-1][1] * (1 + math.copysign(ARITHMETIC, ranges[-1][1])):
            ranges[-1] = (ranges[-1][0], max(high, ranges[-1][1]))
        else:
            ranges.append((low, high))
    return f"{' or '.join(map(_range_as_text, ranges))} {right[0].unit}" if right else ""


def why_more_is_accepted(values: Iterable[Expected]) -> str:
    """Sentences on values that are accepted outside the interval that the student's run shows.

    Empty if there are none, and for counts and conclusions, which have no interval.
    """
    right = [each for each in values if each.unit != CHOICE and each.low < each.high]
    sentences = []
    beside = [each for each in right for ends in each.accepted() if _is_beside(ends, each)]
    if beside:
        exact = beside[0].exact
        sentences.append("Rounded values count too." if exact else "Values within 5 % count too.")
    if any(each.shown and not _holds(each.shown, (each.low, each.high)) for each in right):
        sentences.append("Values at each clock speed of the run count too.")
    return " ".join(sentences)


def _is_beside(ends: Range, right: Expected) -> bool:
    """Whether the accepted range reaches out of the interval of the value, judged and shown."""
    every = (right.low, right.high, *(right.shown or ()))
    return not _holds((min(every), max(every)), ends)


def _holds(outer: Range, inner: Range) -> bool:
    """Whether the range `inner` lies in `outer`, but for the last bits of the arithmetic."""
    slack = ARITHMETIC * max(map(abs, (*outer, *inner)))
    return outer[0] - slack <= inner[0] and inner[1] <= outer[1] + slack


def _range_as_text(ends: Range) -> str:
    """Both ends as text, rounded into the range, so that every value between them is accepted."""
    low, high = ends
    if high - low <= ARITHMETIC * max(abs(low), abs(high)):
        return f"{high:,.6g}"
    decimals = max(0, math.ceil(-math.log10(FINENESS * (high - low))))
    shift, slack = 10.0**decimals, 1e-6
    texts = (
        f"{math.ceil(low * shift - slack) / shift + 0.0:,.{decimals}f}",
        f"{math.floor(high * shift + slack) / shift + 0.0:,.{decimals}f}",
    )
    return " to ".join(text.rstrip("0").rstrip(".") if decimals else text for text in texts)
