"""Units of time, the conversion between them, and numbers and factors as text.

Ticks and core cycles have no fixed length: to convert them into seconds, we need the clock.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

#: Nanoseconds in one of each unit that has a fixed length.
NANOSECONDS = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}

#: Every unit that a figure may have, and its full name.
NAMES = {
    "ticks": "ticks",
    "cycles": "core cycles",
    "ns": "nanoseconds",
    "us": "microseconds",
    "ms": "milliseconds",
    "s": "seconds",
}

#: Other spellings that mean the same unit.
SPELLINGS = {
    "µs": "us",
    "μs": "us",
    "tick": "ticks",
    "cycle": "cycles",
    "sec": "s",
    "nsec": "ns",
    "usec": "us",
    "msec": "ms",
    **{words: unit for unit, words in NAMES.items() if words != unit},
    **{words.removesuffix("s"): unit for unit, words in NAMES.items() if words != unit},
}


def is_number(value: object) -> bool:
    """Whether a student gave a finite number."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


class UnknownUnit(ValueError):
    """A unit that is not one of :data:`NAMES`."""


@dataclass(frozen=True)
class Clock:
    """The clock that a variant read.

    `frequency_hz` is in ticks per second, `step` in ticks (the greatest common divisor of many
    differences), `core_cycle_ticks` in ticks per core cycle, or None if it was not measured.
    `grain` is the number of ticks by which the clock usually advances. Example: the OS computes a
    clock in ns from a counter with a step of 10 ns, so that it reads 20, 30 and sometimes 21. Its
    step is then 1, and its grain is 10.
    """

    frequency_hz: float
    step: int
    core_cycle_ticks: float | None = None
    grain: int = 1

    @property
    def coarseness(self) -> int:
        """The larger of step and grain: the clock cannot distinguish times that differ by less."""
        return max(self.step, self.grain)

    def ticks_in(self, unit: str) -> float:
        """Ticks in one `unit`.

        Raises UnknownUnit, and ValueError for core cycles if their length is not known.
        """
        unit = canonical(unit)
        if unit == "ticks":
            return 1.0
        if unit == "cycles":
            if not self.core_cycle_ticks:
                raise ValueError("the length of a core cycle is not known here; ask for ns")
            return self.core_cycle_ticks
        return NANOSECONDS[unit] * self.frequency_hz / 1e9

    def convert(self, value: float, unit: str, into: str) -> float:
        """`value`, given in `unit`, in the unit `into`."""
        return value * self.ticks_in(unit) / self.ticks_in(into)


@dataclass(frozen=True)
class Amount:
    """A value with its unit. Only a conversion gives the number of another unit."""

    value: float
    unit: str

    def into(self, unit: str, clock: Clock) -> Amount:
        """The same amount in another unit.

        Raises UnknownUnit, and ValueError for core cycles if their length is not known.
        """
        return Amount(clock.convert(self.value, self.unit, unit), canonical(unit))


def spelled(unit: str) -> str:
    """`unit` as the kit spells it: `us` for `µs`. What is no unit stays as it is."""
    return SPELLINGS.get(unit.strip(), unit.strip())


def converted(value: float, unit: str, into: str) -> float | None:
    """`value` in another unit, without a clock; None if the two have no fixed relation."""
    units = spelled(unit), spelled(into)
    if units[0] == units[1]:
        return value
    known = [NANOSECONDS[each] for each in units if each in NANOSECONDS]
    return value * known[0] / known[1] if len(known) == 2 else None


def canonical(unit: str) -> str:
    """The one spelling of `unit` that the kit uses: `us` for `µs`. Raises UnknownUnit."""
    name = spelled(unit)
    if name not in NAMES:
        there = ", ".join(NAMES)
        raise UnknownUnit(f"unit {unit!r} is not known; use one of {there}")
    return name


#: Smaller numbers have an exponent.
_SMALLEST = 1e-7


def rounded(value: float, digits: int = 3) -> str:
    """`value` with `digits` significant digits, in most cases without an exponent."""
    if value == 0:
        return "0"
    text = f"{value:.{digits}g}"
    if abs(float(text)) >= 10**digits:
        return fixed(float(text), 0)
    # Of a count for each operation, a reader sees the zeros.
    few = _SMALLEST <= abs(value) < 1e-4
    return f"{Decimal(text).normalize():f}" if few else f"{float(text):g}"


def fixed(value: float, decimals: int, *, signed: bool = False) -> str:
    """`value` with so many digits after the point. What rounds to zero has no sign: `0.00`."""
    value = round(value, decimals) + 0.0  # -0.0 + 0.0 is 0.0
    return f"{value:+,.{decimals}f}" if signed and value else f"{value:,.{decimals}f}"


def in_four_digits(value: float) -> str:
    """`value` with as many digits as most intervals support."""
    value = float(f"{value:.4g}")
    return fixed(value, 0) if abs(value) >= 1_000 else rounded(value, 4)


def readable_unit(ns: float) -> str:
    """The unit in which a reader expects so many nanoseconds: numbers stay below 10,000."""
    return next((unit for unit, one in NANOSECONDS.items() if abs(ns) < 10_000 * one), "s")


def unit_symbol(unit: str) -> str:
    """The unit as a text shows it after a number; what is no unit stays as it is."""
    return {"us": "µs"}.get(unit, unit)


def with_unit(number: str, unit: str) -> str:
    """A number with its unit: `1 cycle`, `2 cycles`, `1 ns`."""
    one = number == "1" and unit in ("ticks", "cycles")
    return f"{number} {unit.removesuffix('s') if one else unit}"


def times(count: int) -> str:
    """The count as text: `once`, `3 times`."""
    return "once" if count == 1 else f"{count:,} times"


def plural(count: float, noun: str) -> str:
    """A count with its noun: `1 process`, `10 processes`, `1.5 CPUs`."""
    form = noun if count == 1 else f"{noun}es" if noun.endswith("s") else f"{noun}s"
    return f"{count:,} {form}" if isinstance(count, int) else f"{count:g} {form}"


_MOST_SHOWN = 1_000_000


def is_within_tenth(factor: float) -> bool:
    """Whether what is so many times another is within 10 % of it."""
    return 0.9 <= factor <= 1.1


def factor_text(factor: float) -> str:
    """A factor above 0 for a reader: `within 10 %`, `3 times as much`, `3 times less`."""
    if is_within_tenth(factor):
        return "within 10 %"
    by = rounded(off_by(factor))
    if off_by(factor) > _MOST_SHOWN:
        by = f"more than {_MOST_SHOWN:,}"
    return f"{by} times {'as much' if factor > 1 else 'less'}"


def off_by(factor: float) -> float:
    """By which factor of 1 or more something was off; 1 is exact."""
    return max(factor, 1 / factor)


#: A range is printed in steps of at most this share of its width.
_FINENESS = 0.025


def ranges_as_text(ranges: Sequence[Sequence[float]]) -> str:
    """Ranges as text, each rounded into itself, so that every value between its ends lies in it.

    A single number is left out where there is a range.
    """
    wide = [(low, high) for low, high in ranges if high - low > 1e-9 * max(abs(low), abs(high))]
    return " or ".join(_range_as_text(low, high) for low, high in wide) or " or ".join(
        f"{high:,.6g}" for _, high in ranges
    )


def _range_as_text(low: float, high: float) -> str:
    decimals = max(0, math.ceil(-math.log10(_FINENESS * (high - low))))
    shift, slack = 10.0**decimals, 1e-6
    texts = (
        f"{math.ceil(low * shift - slack) / shift + 0.0:,.{decimals}f}",
        f"{math.floor(high * shift + slack) / shift + 0.0:,.{decimals}f}",
    )
    return " to ".join(text.rstrip("0").rstrip(".") if decimals else text for text in texts)


#: A sentence shows at most this many digits after the point.
MOST_DECIMALS = 6
#: An interval that holds a number may seem to end there, if it ends nearer than this share of its
#: width: two first times that are the same step of a clock differ by what rounding leaves.
_BESIDE_EXCLUDED = 1e-3


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
