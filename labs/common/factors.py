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
    off, side = off_by(factor), "as much" if factor > 1 else "less"
    if off > _MOST_SHOWN:
        return f"more than {_MOST_SHOWN:,} times {side}"
    return f"{rounded(off, 2)} times {side}"


def off_by(factor: float) -> float:
    """By which factor of 1 or more something was off; 1 is exact."""
    return max(factor, 1 / factor)
