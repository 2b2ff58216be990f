"""Which labels fit on an axis, and where labels go that would overlap."""

from __future__ import annotations

import math
from collections.abc import Sequence

from matplotlib.axes import Axes

from labs.plots.style import CHARACTER


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


def spread_out(heights: Sequence[float], apart: float) -> list[float]:
    """Move ascending `heights` as little as possible, until neighbours are at least `apart`."""
    groups: list[list[float]] = []  # for each: the sum of its members' wished places, their count
    for height in heights:
        groups.append([height, 1.0])
        while len(groups) > 1 and _touch(groups[-2], groups[-1], apart):
            wish, count = groups.pop()
            before = groups[-1]
            # The wishes of the later members, converted to the place of the first member.
            before[0] += wish - count * before[1] * apart
            before[1] += count
    placed = []
    for wish, count in groups:
        placed += [wish / count + number * apart for number in range(int(count))]
    return placed


def _touch(lower: list[float], upper: list[float], apart: float) -> bool:
    return upper[0] / upper[1] - (lower[0] / lower[1] + (lower[1] - 1) * apart) < apart
