"""How every benchmark talks: what must hold, figures with their spread, and whether it held."""

from __future__ import annotations

import statistics
from collections.abc import Sequence


def say(line: str = "") -> None:
    """Print a line at once: a benchmark takes minutes, and its reader waits."""
    print(line, flush=True)


def must_hold(claim: str) -> None:
    """The first line of a benchmark, or of a part of it."""
    say(f"   must hold: {claim}")


def verdict(held: bool, figures: str) -> bool:
    """Say whether it held, by which figures; returns `held`."""
    say(f"   {'holds' if held else 'DOES NOT HOLD'}: {figures}")
    return held


def skipped(why: str) -> bool:
    """Say why nothing was measured. Returns True: nothing is known against the claim."""
    say(f"   SKIPPED: {why}")
    return True


def median_and_range(values: Sequence[float], digits: int = 2, unit: str = "") -> str:
    """`12.3 ns (11.9 to 12.8)`."""
    middle, low, high = statistics.median(values), min(values), max(values)
    of = f" {unit}" if unit else ""
    return f"{middle:.{digits}f}{of} ({low:.{digits}f} to {high:.{digits}f})"


def percent_off(ratio: float) -> str:
    """A ratio of 1.012 as `+1.2 %`."""
    return f"{100 * (ratio - 1):+.1f} %"


def show(head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table: the first column to the left, all others to the right."""
    widths = [max(len(row[i]) for row in (head, *rows)) for i in range(len(head))]
    for row in (head, *rows):
        cells = [row[0].ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        print("  " + "   ".join(cells), flush=True)


def milliseconds(seconds: Sequence[float]) -> tuple[str, str, str]:
    """Median, smallest and largest of some times, in milliseconds."""
    chosen = (statistics.median(seconds), min(seconds), max(seconds))
    return tuple(f"{1000 * value:.1f}" for value in chosen)  # type: ignore[return-value]
