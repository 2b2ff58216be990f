"""Print tables, and times as median and range."""

from __future__ import annotations

import statistics
from collections.abc import Sequence


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
