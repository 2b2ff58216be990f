"""Draw figures one below the other: one row for each with its interval, in groups with headings.

The groups can be compared but must not be mixed, so each has its own colour and marker.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from labs.analysis.arrays import Floats
from labs.common.units import NAMES
from labs.languages.words import label
from labs.plots.series import Look
from labs.plots.style import (
    BAR_PT,
    CAP_PT,
    CHARACTER,
    FAINT,
    FONT_PT,
    GREEN,
    HEADER_IN,
    INK,
    MARGIN,
    POINT_PT,
    QUIET,
    axis_number,
    log_axis,
    new_figure,
    title_and_key,
)

#: The axis is logarithmic if the largest value is at least this many times the smallest.
LOG_FROM = 6.0
Scale = Literal["by span", "log", "near"]
#: The heights of a line of text, of the dots below it, and of a heading, in inches.
_LINE_IN, _TRACK_IN, _HEADING_IN = 0.20, 0.25, 0.30
#: The margin of the axes at either side, as a share of the figure's width, and the left end of
#: texts and their indentation below a heading, as shares of the axes' width.
_LEFT = 0.06
_AT_LEFT, _INDENT = (MARGIN - _LEFT) / (1 - 2 * _LEFT), 0.03


@dataclass(frozen=True)
class Dot:
    """One number of a row, with the ends of its interval if it has one."""

    value: float
    look: Look
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Row:
    """A row: its name at the left, its text at the right, and below them its dots.

    `level` is a value that a line marks in this row, such as what was predicted of it.
    """

    name: str
    dots: tuple[Dot, ...]
    text: str
    colour: str = INK
    level: float | None = None


@dataclass(frozen=True)
class Group:
    """Rows under a heading, or '' for none. It shows the marker of `look`, if the group has one."""

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
    scale: Scale = "by span",
) -> Figure:
    """All groups on one horizontal axis, with the quantity `what` in `unit`, such as ns or times.

    A row has two lines: its name and its text, and below them its dots. The axis is logarithmic
    with the `scale` "log", and by default if the values span a factor of LOG_FROM or more. A linear
    one begins at 0, or with "near" a little below the lowest value. `key` lists texts and colours.
    All texts are given in English, and appear in the language of the reader.
    """
    groups = [_in_words(group) for group in groups]
    every_row = [row for group in groups for row in group.rows]
    dots = [dot for row in every_row for dot in row.dots]
    levels = [row.level for row in every_row if row.level is not None and row.level > 0]
    values = np.array([dot.value for dot in dots if dot.value > 0] or [1.0])
    headed = [group for group in groups if group.heading]
    inside = 0.05 + _HEADING_IN * len(headed)
    inside += sum(map(_height, every_row))
    height = inside + HEADER_IN + 0.60
    figure, axes = new_figure(height, left=_LEFT, right=1 - _LEFT, bottom=0.60 / height)
    floor = _scale(axes, dots, values, scale, levels)
    axes.set_ylim(inside, 0)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    y = 0.05
    for group in groups:
        if group.heading:
            mark = f"{group.look.sign} " if group.look else ""
            colour = group.look.colour if group.look else QUIET
            _write(axes, _AT_LEFT, y + 0.17, f"{mark}{group.heading}", colour)
            y += _HEADING_IN
        for row in group.rows:
            _write(axes, _AT_LEFT + (_INDENT if headed else 0), y + 0.11, row.name, INK)
            below = y + _LINE_IN * (1 + _is_long(row))
            _write(axes, 1 - _AT_LEFT, below - _LINE_IN + 0.11, row.text, row.colour)
            axes.axhline(below + 0.09, color=FAINT, linewidth=0.6, zorder=0)
            _draw_row(axes, row, below, floor)
            y += _height(row)
    axes.set_xlabel(_axis_name(what, NAMES.get(unit, unit), axes))
    title_and_key(figure, title, key)
    return figure


def _in_words(group: Group) -> Group:
    """The group in the language of its reader."""
    rows = (replace(row, name=label(row.name), text=label(row.text)) for row in group.rows)
    return Group(label(group.heading), tuple(rows), group.look)


def _axis_name(what: str, unit_name: str, axes: Axes) -> str:
    """What the horizontal axis shows, and what a reader must know of it."""
    if axes.get_xscale() == "log":
        return label(f"{what} ({unit_name}, log axis)")
    if axes.get_xlim()[0] > 0:
        return label(f"{what} ({unit_name}; the axis does not begin at 0)")
    return f"{label(what)} ({label(unit_name)})"


def _is_long(row: Row) -> bool:
    """Whether the name and the text of a row need a line each."""
    return (len(row.name) + len(row.text) + 4) * CHARACTER > 1 - 2 * MARGIN


def _height(row: Row) -> float:
    """The height of a row, in inches."""
    return _LINE_IN * (1 + _is_long(row)) + _TRACK_IN


def _draw_row(axes: Axes, row: Row, y: float, floor: float) -> None:
    """Draw what a row marks, and its dots, below the height `y`."""
    if row.level is not None:  # not across the text
        at = max(row.level, floor)
        ends = [y - 0.01, y + 0.19]
        axes.plot([at, at], ends, color=GREEN, linewidth=1.5, dashes=(3, 1.2))
    for dot in row.dots:
        _draw(axes, dot, y + 0.09, floor)


def _scale(
    axes: Axes, dots: Sequence[Dot], values: Floats, scale: Scale, levels: Sequence[float]
) -> float:
    """Set the horizontal axis. Returns its lower end if it is logarithmic, else 0."""
    highs = [dot.high for dot in dots if dot.high is not None]
    lows = [dot.low for dot in dots if dot.low is not None]
    if scale == "log" or values.max() / values.min() >= LOG_FROM:
        near = [max(low, float(values.min()) / 3) for low in lows]
        floor, ceiling = log_axis(axes, "x", np.array([*values, *highs, *near, *levels]), None)
        axes.set_xlim(floor, ceiling)
        return floor
    end = max(float(values.max()), *highs, 0.0) if highs else float(values.max())
    begin = min([0.0, *lows])
    axes.set_xlim(begin, 1.05 * end)
    if scale == "near" and (lowest := min([*lows, *values])) > 0:
        axes.set_xlim(max(lowest - 0.1 * (end - lowest), 0.0), end + 0.1 * (end - lowest))
    axes.xaxis.set_major_locator(MaxNLocator(5))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: axis_number(round(value, 6))))
    return 0.0


def _draw(axes: Axes, dot: Dot, y: float, floor: float) -> None:
    log = floor > 0
    if log and dot.value <= 0:
        return
    look = dot.look
    axes.plot(
        [dot.value], [y], color=look.colour, marker=look.marker, markersize=POINT_PT + 0.5,
        markeredgewidth=1.3 if look.marker == "x" else 0, clip_on=False, zorder=3,
    )  # fmt: skip
    if dot.low is not None and dot.high is not None:
        # The ends are higher than the dot, so that it cannot hide a narrow interval.
        # Where the axis cannot show the lower end, the bar leaves the plot without an end.
        beyond = log and dot.low < floor
        low = floor if beyond else dot.low
        ends = [dot.high] if beyond else [low, dot.high]
        axes.plot([low, dot.high], [y, y], color=look.colour, linewidth=BAR_PT)
        axes.plot(
            ends, [y] * len(ends), color=look.colour, linestyle="none", marker="|",
            markersize=2 * CAP_PT + 2, markeredgewidth=BAR_PT, clip_on=False,
        )  # fmt: skip


def _write(axes: Axes, x: float, y: float, words: str, colour: str) -> None:
    """Write `words` at the left or right end of the axes, with their middle at the height `y`."""
    axes.text(
        x, y, words, transform=axes.get_yaxis_transform(), va="center", fontsize=FONT_PT,
        color=colour, ha="right" if x > 0.5 else "left",
    )  # fmt: skip
