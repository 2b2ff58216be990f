"""Draw figures one below the other: one row for each with its interval, in groups with headings.

The groups can be compared but must not be mixed, so each has its own colour and marker.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from labs.analysis.arrays import Floats
from labs.common.units import NAMES
from labs.plots.series import Look
from labs.plots.style import (
    CHARACTER,
    FAINT,
    FONT_PT,
    INK,
    QUIET,
    axis_number,
    log_axis,
    make_room_at_right,
    new_figure,
    title_and_key,
)

#: The axis is logarithmic if the largest value is at least this many times the smallest.
LOG_FROM = 6.0
_LINE_IN, _HEADING_IN = 0.27, 0.30


@dataclass(frozen=True)
class Dot:
    """One number of a row, with the ends of its interval if it has one."""

    value: float
    look: Look
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Row:
    """A row: the name at its left, its dots, and the text at its right."""

    name: str
    dots: tuple[Dot, ...]
    text: str
    colour: str = INK


@dataclass(frozen=True)
class Group:
    """Rows under a heading. The heading shows the marker of `look`, if the group has one."""

    heading: str
    rows: tuple[Row, ...]
    look: Look | None = None


def rows_figure(
    groups: Sequence[Group],
    unit: str,
    what: str,
    title: str,
    key: Sequence[tuple[str, str]],
    *,
    from_zero: bool = True,
) -> Figure:
    """All groups on one horizontal axis, with the quantity `what` in `unit`.

    The axis is logarithmic if the values span a factor of LOG_FROM or more. A linear one begins at
    0, or without `from_zero` near the lowest end of an interval. `key` lists texts and colours.
    Raises ValueError if no row has a number above 0.
    """
    dots = [dot for group in groups for row in group.rows for dot in row.dots]
    values = np.array([dot.value for dot in dots if dot.value > 0])
    if not len(values):
        raise ValueError("no figure to draw")
    rows = sum(len(group.rows) for group in groups)
    inside = _LINE_IN * rows + _HEADING_IN * len(groups) + 0.1
    longest_name = max(len(row.name) for group in groups for row in group.rows)
    longest_text = max(len(row.text) for group in groups for row in group.rows)
    height = inside + 1.22
    figure, axes = new_figure(
        height,
        left=min(0.034 + 0.97 * CHARACTER * longest_name, 0.46),
        right=max(0.965 - 0.93 * CHARACTER * longest_text, 0.56),
        top=1 - 0.62 / height,
        bottom=0.60 / height,
    )
    floor = _scale(axes, dots, values, from_zero)
    axes.set_ylim(inside, 0)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    y = 0.05
    left = 0.015
    for group in groups:
        y += _HEADING_IN
        mark = group.look
        if mark is not None:
            _write_at_left(figure, axes, left, y - 0.12, inside, mark.sign, mark.colour)
        _write_at_left(
            figure,
            axes,
            left + (1.8 * CHARACTER if mark else 0),
            y - 0.12,
            inside,
            group.heading,
            QUIET,
        )
        for row in group.rows:
            y += _LINE_IN
            middle = y - 0.13
            axes.axhline(middle, color=FAINT, linewidth=0.6, zorder=0)
            _write_at_left(figure, axes, left + 0.012, middle, inside, row.name, INK)
            axes.text(
                1.02, middle, row.text, transform=axes.get_yaxis_transform(), va="center",
                fontsize=FONT_PT, color=row.colour,
            )  # fmt: skip
            for dot in row.dots:
                _draw(axes, dot, middle, floor)
    make_room_at_right(figure, axes)
    cut = axes.get_xlim()[0] > 0
    kind = ", log axis" if floor > 0 else "; the axis does not begin at 0" if cut else ""
    axes.set_xlabel(f"{what} ({NAMES[unit]}{kind})")
    title_and_key(figure, title, key)
    return figure


def _scale(axes: Axes, dots: Sequence[Dot], values: Floats, from_zero: bool) -> float:
    """Set the horizontal axis. Returns its lower end if it is logarithmic, else 0."""
    highs = [dot.high for dot in dots if dot.high is not None]
    lows = [dot.low for dot in dots if dot.low is not None]
    if values.max() / values.min() >= LOG_FROM:
        near = [max(low, float(values.min()) / 3) for low in lows]
        floor, ceiling = log_axis(axes, "x", np.array([*values, *highs, *near]), None)
        axes.set_xlim(floor, ceiling)
        return floor
    end = max(float(values.max()), *highs, 0.0) if highs else float(values.max())
    begin = min([0.0, *lows])
    if not from_zero:
        lowest = min([*lows, *(dot.value for dot in dots)])
        begin = max(lowest - 0.1 * (end - lowest), 0.0) if lowest > 0 else lowest
        axes.set_xlim(begin, end + 0.1 * (end - lowest))
    else:
        axes.set_xlim(begin, 1.05 * end)
    axes.xaxis.set_major_locator(MaxNLocator(6))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: axis_number(round(value, 6))))
    return 0.0


def _draw(axes: Axes, dot: Dot, y: float, floor: float) -> None:
    log = floor > 0
    if log and dot.value <= 0:
        return
    if dot.low is not None and dot.high is not None:
        low = max(dot.low, floor) if log else dot.low
        axes.plot([low, dot.high], [y, y], color=dot.look.colour, linewidth=2.4, alpha=0.5)
    axes.plot(
        [dot.value], [y], color=dot.look.colour, marker=dot.look.marker, markersize=6,
        markeredgewidth=1.3, clip_on=False, zorder=3,
    )  # fmt: skip


def _write_at_left(
    figure: Figure, axes: Axes, x: float, y: float, inside: float, words: str, colour: str
) -> None:
    """Write `words` at the left edge of the figure, at the height `y` of `inside` on the axes."""
    box = axes.get_position()
    at = box.y1 - box.height * y / inside
    figure.text(x, at, words, va="center", fontsize=FONT_PT, color=colour)
