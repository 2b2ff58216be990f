"""How many digits of a comparison are shown: each end of an interval stays on its side."""

from __future__ import annotations

from labs.results.warning_thresholds import VISIBLE
from labs.units import fixed

#: A sentence shows at most this many digits after the point.
MOST_DECIMALS = 6
#: An interval that holds a number may seem to end there, if it ends nearer than this share of its
#: width: two first times that are the same step of a clock differ by what rounding leaves.
_BESIDE_EXCLUDED = 1e-3


def another_result(plain: float, value: float, low: float, high: float) -> bool:
    """Whether `plain`, calculated from printed numbers, is visibly not `value` (`low`, `high`)."""
    return not low <= plain <= high and abs(plain - value) >= VISIBLE * abs(value)


def printed_interval(value: float, low: float, high: float, excluded: float) -> tuple[float, float]:
    """The ends of an interval as a comparison prints them, or the exact ones if farther out."""
    texts = rounded_apart(value, low, high, excluded)
    printed = [float(text.replace(",", "")) for text in texts[1:]]
    return min(low, printed[0]), max(high, printed[1])


def rounded_apart(value: float, low: float, high: float, excluded: float) -> tuple[str, str, str]:
    """The three numbers as text.

    They show at least one digit of the half-width and two digits of the value (two digits after the
    point without a half-width), and enough digits to keep each end on its side of `excluded`. An
    end of an interval that holds `excluded` may seem to be equal to it.
    """
    half, decimals = (high - low) / 2, 0 if high > low else 2
    larger = max(abs(value), half)
    while half > 0 and decimals < MOST_DECIMALS and min(10 * half, larger) * 10**decimals < 9.5:
        decimals += 1
    near = _BESIDE_EXCLUDED * (high - low) if low < excluded < high else 0.0
    while decimals < MOST_DECIMALS and any(
        abs(end - excluded) > near and round(end, decimals) == excluded for end in (low, high)
    ):
        decimals += 1
    return fixed(value, decimals), fixed(low, decimals), fixed(high, decimals)
