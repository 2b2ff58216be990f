"""Which labels fit on an axis."""

from __future__ import annotations

import math

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
