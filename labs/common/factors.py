"""Say by which factor one number differs from another, and when that is near enough for a guess."""

from __future__ import annotations

from labs.common.units import rounded

#: A guess within this factor of what was found counts as right.
RIGHT_WITHIN = 2.0
_MOST_SHOWN = 1_000_000


def factor_text(factor: float) -> str:
    """A factor above 0 for a reader: `within 10 %`, `3 times as much`, `3 times less`."""
    if 0.9 <= factor <= 1.1:
        return "within 10 %"
    number_1 = rounded(off_by(factor), 2)
    if off_by(factor) > _MOST_SHOWN:
        number_1 = f"{_MOST_SHOWN:,}"
        if factor > 1:
            return f"more than {number_1} times as much"
        return f"more than {number_1} times less"
    return f"{number_1} times as much" if factor > 1 else f"{number_1} times less"


def off_by(factor: float) -> float:
    """By which factor of 1 or more something was off; 1 is exact."""
    return max(factor, 1 / factor)
