"""Units of time, and what it takes to turn one into another.

Ticks and core cycles have no fixed length: turning them into seconds needs the clock that was read.
"""

from __future__ import annotations

from dataclasses import dataclass

#: Nanoseconds in one of each unit that has a fixed length.
NANOSECONDS = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}

#: Every unit that a figure may have, and its name in words.
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


class UnknownUnit(ValueError):
    """A unit that is not one of :data:`NAMES`."""


@dataclass(frozen=True)
class Clock:
    """The clock that a variant read.

    `frequency_hz` is in ticks per second, `step` in ticks (the greatest common divisor of many
    differences), `core_cycle_ticks` the ticks in one core cycle, or None where it was not measured.
    `grain` is by how much it advances at a time, in ticks: a clock in ns that the OS makes from a
    counter with a step of 10 ns reads 20, 30 and now and then 21, so that its step is 1 and its
    grain 10.
    """

    frequency_hz: float
    step: int
    core_cycle_ticks: float | None = None
    grain: int = 1

    @property
    def coarseness(self) -> int:
        """The larger of step and grain: what lies closer together cannot be told apart."""
        return max(self.step, self.grain)

    def ticks_in(self, unit: str) -> float:
        """Ticks in one `unit`.

        Raises UnknownUnit, and ValueError for core cycles where their length is not known.
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


def canonical(unit: str) -> str:
    """The one spelling of `unit` that the kit uses: `us` for `µs`. Raises UnknownUnit."""
    name = SPELLINGS.get(unit.strip(), unit.strip())
    if name not in NAMES:
        raise UnknownUnit(f"unit {unit!r} is not known; use one of {', '.join(NAMES)}")
    return name


def rounded(value: float, digits: int = 3) -> str:
    """`value` with so many significant digits and no exponent where that reads well."""
    if value == 0:
        return "0"
    text = f"{value:.{digits}g}"
    return f"{float(text):,.0f}" if abs(value) >= 10**digits else f"{float(text):g}"


def times(count: int) -> str:
    """How often, in words: `once`, `3 times`."""
    return "once" if count == 1 else f"{count:,} times"
