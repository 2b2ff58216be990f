"""Which labels fit on an axis."""

from __future__ import annotations

import math

from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, MaxNLocator

from labs.plots.style import CHARACTER

#: Of numbers on a linear axis: as many as matplotlib takes unasked.
_MOST_NUMBERS = 9


def without_overlap(axes: Axes, labels: dict[float, str]) -> dict[float, str]:
    """The labels of the horizontal axis that do not overlap: the last one, and so on leftwards."""
    width, scale = axes.get_position().width, axes.transData + axes.transAxes.inverted()
    kept: dict[float, str] = {}
    free = math.inf
    for place in sorted(labels, reverse=True):
        middle = width * float(scale.transform((place, axes.get_ylim()[0]))[0])
        longest = max(len(line) for line in labels[place].split("\n"))
        half = 0.5 * CHARACTER * longest
        if middle + half < free:
            kept[place] = labels[place]
            free = middle - half - 0.5 * CHARACTER
    return kept


def numbers_apart(axes: Axes) -> None:
    """Number a horizontal axis of whole numbers at as many even places as have room.

    Between two numbers, at least the width of a character stays free. Set the formatter, the
    limits and the width of the axes before.
    """
    low, high = axes.get_xlim()
    number = axes.xaxis.get_major_formatter()
    for most in range(_MOST_NUMBERS, 0, -1):
        locator = MaxNLocator(most, integer=True, steps=(1, 2, 5, 10))
        even = locator.tick_values(low, high)
        axes.xaxis.set_major_locator(FixedLocator(even))
        longest = max(len(number(place)) for place in even if low <= place <= high)
        room = axes.get_position().width * (even[1] - even[0]) / (high - low)
        if CHARACTER * (longest + 1) <= room:
            return
