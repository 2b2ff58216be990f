"""Draw figures with their intervals: points against what was varied, or rows in groups.

Of a series, only the points were measured; the thin line between them guides the eye. The name of a
series is to the right of its last point. Each series has its own colour, marker and dash.

The rows have groups with headings. The groups can be compared but must not be mixed, so each has
its own colour and marker.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator

from labs.analysis.estimates import Floats
from labs.plots import style
from labs.plots.scale import LOG_FROM, spread_out
from labs.units import NAMES

#: The height of a line of a label, in inches.
_SERIES_LINE_IN = 0.17

Dash = str | tuple[int, tuple[int, ...]]


@dataclass(frozen=True)
class Look:
    """Colour, marker and dash of a series: each of them alone distinguishes it from the others.

    `sign` is the marker as a character for texts.
    """

    colour: str
    marker: str
    sign: str
    dash: Dash


LOOKS = (
    Look(style.BLUE, "o", "●", "-"),
    Look(style.VERMILLION, "^", "▲", (0, (5, 2))),
    Look(style.GREEN, "s", "■", (0, (2, 1))),
    Look(style.PURPLE, "D", "◆", (0, (7, 2, 1, 2))),
    Look(style.OCHRE, "v", "▼", (0, (4, 1, 1, 1, 1, 1))),
    Look(style.INK, "P", "✚", (0, (1, 2))),
)

#: The entry of a key for the bars of the points.
INTERVALS = ("bars: 95 % interval", style.QUIET)


@dataclass(frozen=True)
class Point:
    """A figure with its interval at `x`, in the units of the axes."""

    x: float
    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Series:
    """The points of a series, in the order of x; at each x of `missing` there is no figure."""

    name: str
    points: tuple[Point, ...]
    look: Look
    missing: tuple[float, ...] = ()

    def drawable(self, log: bool) -> list[Point]:
        """The points that the axis can show: a logarithmic axis shows only values above 0."""
        return [point for point in self.points if point.value > 0 or not log]


@dataclass(frozen=True)
class XAxis:
    """The horizontal axis: its name, and a label for each of its `places`.

    With `log` it is logarithmic in base 2.
    """

    name: str
    places: tuple[float, ...]
    labels: tuple[str, ...]
    log: bool = False


@dataclass(frozen=True)
class YAxis:
    """The vertical axis: its name, and whether it is logarithmic; a linear axis includes 0.

    The axis also includes the values in `reach`, in addition to those of the series.
    """

    name: str
    log: bool
    reach: Sequence[float] = ()


def series_figure(
    panels: Sequence[tuple[str, Sequence[Series]]],
    x_axis: XAxis,
    y_axis: YAxis,
    title: str,
    key: Sequence[tuple[str, str]],
    *,
    height: float = 3.9,
    more: Callable[[Axes], None] | None = None,
) -> Figure:
    """Panels side by side with a common vertical axis, each with a heading (or '') and series.

    `key` lists texts and colours, and `height` is in inches. `more` draws into each panel what a
    view adds to it.
    Raises ValueError if no series has a point that the axis can show.
    """
    log = y_axis.log
    points = [p for _, some in panels for each in some for p in each.drawable(log)]
    if not points:
        raise ValueError("no figure to draw")
    headed = any(heading for heading, _ in panels)
    top = 1 - (0.82 if headed else 0.62) / height
    lines = max(label.count("\n") for label in x_axis.labels) + 1
    bottom = (0.54 + _SERIES_LINE_IN * (lines - 1)) / height
    figure, first = style.new_figure(height, left=0.10, right=0.97, top=top, bottom=bottom)
    ends = _scale_of_series(first, points, y_axis)
    first.set_ylim(*ends)
    if not log:
        first.yaxis.set_major_formatter(FuncFormatter(lambda v, _: style.axis_number(round(v, 9))))
    first.set_ylabel(y_axis.name)
    style.make_room_at_left(figure, first)
    all_axes = _side_by_side(figure, first, len(panels))
    room = _room(panels)
    for number, (axes, (heading, some)) in enumerate(zip(all_axes, panels, strict=True)):
        if number:
            _scale_of_series(axes, points, y_axis)
            axes.tick_params(labelleft=False)
        axes.set_ylim(*ends)
        _label_x_axis(axes, x_axis, room[number] * len(panels) + (0.03 if x_axis.log else 0.0))
        for each in some:
            _draw_series(axes, each, log, ends[0])
        _name_at_right(axes, [(each, each.drawable(log)) for each in some])
        if heading:
            axes.set_title(heading, loc="left", fontsize=style.FONT_PT, color=style.INK, pad=5)
        if more is not None:
            more(axes)
    figure.text(
        (first.get_position().x0 + 0.97) / 2, 0.10 / height, x_axis.name,
        ha="center", va="bottom", fontsize=style.FONT_PT, color=style.INK,
    )  # fmt: skip
    if any(each.missing for _, some in panels for each in some):
        key = [*key, ("○ hollow, at the foot: no figure", style.QUIET)]
    style.title_and_key(figure, title, key)
    return figure


def _side_by_side(figure: Figure, first: Axes, count: int) -> list[Axes]:
    """The axes of `count` panels in a row, in the place of the axes `first`."""
    box, gap = first.get_position(), 0.04
    width = (box.width - gap * (count - 1)) / count
    first.set_position((box.x0, box.y0, width, box.height))
    others = [
        figure.add_axes((box.x0 + n * (width + gap), box.y0, width, box.height))
        for n in range(1, count)
    ]
    for axes in others:
        style.quiet_frame(axes)
    return [first, *others]


def _room(panels: Sequence[tuple[str, Sequence[Series]]]) -> list[float]:
    """The room for the names at the right of each panel, as a share of the figure's width."""
    return [
        1.3 * style.CHARACTER
        + 0.92 * style.CHARACTER * max((len(each.name) for each in some), default=0)
        for _, some in panels
    ]


def _scale_of_series(axes: Axes, points: Sequence[Point], y_axis: YAxis) -> tuple[float, float]:
    """Set the scale of the vertical axis so that all points fit, and return its ends."""
    highs = [*(point.high for point in points), *y_axis.reach]
    if not y_axis.log:
        low = min(0.0, *(point.low for point in points))
        high = max([*highs, 1e-9])
        return low - 0.04 * (high - low), high + 0.08 * (high - low)
    lows = [max(point.low, point.value / 3) for point in points]
    return style.log_axis(axes, "y", np.array([*lows, *highs, *(p.value for p in points)]), None)


def _label_x_axis(axes: Axes, x_axis: XAxis, room: float) -> None:
    """Label the horizontal axis, and leave `room` (a share of the panel) at its right end."""
    first, last = x_axis.places[0], x_axis.places[-1]
    if x_axis.log:
        axes.set_xscale("log", base=2)
        alone = 0.5 if last == first else 0.0  # one place has no width of its own
        wide = (np.log2(last / first) + 2 * alone) / (0.96 - room)
        axes.set_xlim(first * 2 ** (-0.04 * wide - alone), last * 2 ** (room * wide + alone))
    else:
        wide = max(last - first, 1.0) / (0.96 - room)
        axes.set_xlim(first - 0.04 * wide, last + room * wide)
    labels = style.without_overlap(axes, dict(zip(x_axis.places, x_axis.labels, strict=True)))
    axes.xaxis.set_major_locator(FixedLocator(list(x_axis.places)))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: labels.get(value, "")))
    axes.xaxis.set_minor_locator(NullLocator())


def _draw_series(axes: Axes, series: Series, log: bool, floor: float) -> None:
    points, look = series.drawable(log), series.look
    axes.plot(
        list(series.missing), [floor] * len(series.missing),
        linestyle="none", color=look.colour, marker=look.marker, markersize=6,
        markerfacecolor="white", markeredgewidth=1.1, clip_on=False, zorder=3,
    )  # fmt: skip
    if not points:
        return
    x = [point.x for point in points]
    value = np.array([point.value for point in points])
    low = np.array([point.low for point in points])
    below = value - (np.maximum(low, floor) if log else low)
    above = np.array([point.high for point in points]) - value
    # The line has a gap where a figure is missing.
    gaps = [(gap, math.nan) for gap in series.missing]
    path = sorted([*zip(x, value.tolist(), strict=True), *gaps])
    axes.plot(
        [at for at, _ in path], [v for _, v in path], color=look.colour, linewidth=1.2,
        linestyle=look.dash, alpha=0.75,
    )  # fmt: skip
    axes.errorbar(
        x, value, yerr=[np.maximum(below, 0), np.maximum(above, 0)], color=look.colour,
        fmt=look.marker, markersize=style.POINT_PT, capsize=style.CAP_PT, elinewidth=style.BAR_PT,
    )  # fmt: skip


def _name_at_right(axes: Axes, drawn: Sequence[tuple[Series, list[Point]]]) -> None:
    """Write each series' name to the right of its last point, and keep names from touching."""
    named = [
        (series, points[-1].x, points[-1].value)
        for series, points in drawn
        if points and series.name
    ]
    if not named:
        return
    scale, back = axes.transData, axes.transAxes.inverted()
    places = [
        (tuple(back.transform(scale.transform((x, value)))), series) for series, x, value in named
    ]
    places.sort(key=lambda place: float(place[0][1]))
    away = 1.3 * style.CHARACTER / axes.get_position().width
    # 1.15 lines of text, as a share of the axes' height.
    line = 1.15 * style.FONT_PT / 72 * style.DPI / axes.get_window_extent().height
    heights = spread_out([float(y) for (_, y), _ in places], line)
    for ((x, y), series), height in zip(places, heights, strict=True):
        moved = abs(height - y) > line / 3
        axes.annotate(
            series.name, (x, y), (x + away, height), xycoords="axes fraction",
            textcoords="axes fraction", va="center", fontsize=style.FONT_PT,
            color=series.look.colour,
            arrowprops={"arrowstyle": "-", "color": series.look.colour, "lw": 0.6, "alpha": 0.6,
                        "shrinkA": 1, "shrinkB": 4} if moved else None,
        )  # fmt: skip


Scale = Literal["by span", "log"]
#: The heights of a line of text, of the dots below it, and of a heading, in inches.
_LINE_IN, _TRACK_IN, _HEADING_IN = 0.20, 0.25, 0.30
#: The margin of the axes at either side, as a share of the figure's width, and the left end of
#: texts and their indentation below a heading, as shares of the axes' width.
_LEFT = 0.06
_AT_LEFT, _INDENT = (style.MARGIN - _LEFT) / (1 - 2 * _LEFT), 0.03


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
    colour: str = style.INK
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
    one begins at 0. `key` lists texts and colours.
    """
    every_row = [row for group in groups for row in group.rows]
    dots = [dot for row in every_row for dot in row.dots]
    levels = [row.level for row in every_row if row.level is not None and row.level > 0]
    values = np.array([dot.value for dot in dots if dot.value > 0] or [1.0])
    headed = [group for group in groups if group.heading]
    inside = 0.05 + _HEADING_IN * len(headed)
    inside += sum(map(_height, every_row))
    height = inside + style.HEADER_IN + 0.60
    figure, axes = style.new_figure(height, left=_LEFT, right=1 - _LEFT, bottom=0.60 / height)
    floor = _scale_of_rows(axes, dots, values, scale, levels)
    axes.set_ylim(inside, 0)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    y = 0.05
    for group in groups:
        if group.heading:
            mark = f"{group.look.sign} " if group.look else ""
            colour = group.look.colour if group.look else style.QUIET
            _write(axes, _AT_LEFT, y + 0.17, f"{mark}{group.heading}", colour)
            y += _HEADING_IN
        for row in group.rows:
            _write(axes, _AT_LEFT + (_INDENT if headed else 0), y + 0.11, row.name, style.INK)
            below = y + _LINE_IN * (1 + _is_long(row))
            _write(axes, 1 - _AT_LEFT, below - _LINE_IN + 0.11, row.text, row.colour)
            axes.axhline(below + 0.09, color=style.FAINT, linewidth=0.6, zorder=0)
            _draw_row(axes, row, below, floor)
            y += _height(row)
    axes.set_xlabel(_axis_name(what, NAMES.get(unit, unit), axes))
    style.title_and_key(figure, title, key)
    return figure


def _axis_name(what: str, unit_name: str, axes: Axes) -> str:
    """What the horizontal axis shows, and what a reader must know of it."""
    if axes.get_xscale() == "log":
        return f"{what} ({unit_name}, log axis)"
    return f"{what} ({unit_name})"


def _is_long(row: Row) -> bool:
    """Whether the name and the text of a row need a line each."""
    return (len(row.name) + len(row.text) + 4) * style.CHARACTER > 1 - 2 * style.MARGIN


def _height(row: Row) -> float:
    """The height of a row, in inches."""
    return _LINE_IN * (1 + _is_long(row)) + _TRACK_IN


def _draw_row(axes: Axes, row: Row, y: float, floor: float) -> None:
    """Draw what a row marks, and its dots, below the height `y`."""
    if row.level is not None:  # not across the text
        at = max(row.level, floor)
        ends = [y - 0.01, y + 0.19]
        axes.plot([at, at], ends, color=style.GREEN, linewidth=1.5, dashes=(3, 1.2))
    for dot in row.dots:
        _draw_dot(axes, dot, y + 0.09, floor)


def _scale_of_rows(
    axes: Axes, dots: Sequence[Dot], values: Floats, scale: Scale, levels: Sequence[float]
) -> float:
    """Set the horizontal axis. Returns its lower end if it is logarithmic, else 0."""
    highs = [dot.high for dot in dots if dot.high is not None]
    lows = [dot.low for dot in dots if dot.low is not None]
    if scale == "log" or values.max() / values.min() >= LOG_FROM:
        near = [max(low, float(values.min()) / 3) for low in lows]
        floor, ceiling = style.log_axis(
            axes, "x", np.array([*values, *highs, *near, *levels]), None
        )
        axes.set_xlim(floor, ceiling)
        return floor
    end = max(float(values.max()), *highs, 0.0) if highs else float(values.max())
    begin = min([0.0, *lows])
    axes.set_xlim(begin, 1.05 * end)
    axes.xaxis.set_major_locator(MaxNLocator(5))
    axes.xaxis.set_major_formatter(
        FuncFormatter(lambda value, _: style.axis_number(round(value, 6)))
    )
    return 0.0


def _draw_dot(axes: Axes, dot: Dot, y: float, floor: float) -> None:
    log = floor > 0
    if log and dot.value <= 0:
        return
    look = dot.look
    axes.plot(
        [dot.value], [y], color=look.colour, marker=look.marker, markersize=style.POINT_PT + 0.5,
        markeredgewidth=1.3 if look.marker == "x" else 0, clip_on=False, zorder=3,
    )  # fmt: skip
    if dot.low is not None and dot.high is not None:
        # The ends are higher than the dot, so that it cannot hide a narrow interval.
        # Where the axis cannot show the lower end, the bar leaves the plot without an end.
        beyond = log and dot.low < floor
        low = floor if beyond else dot.low
        ends = [dot.high] if beyond else [low, dot.high]
        axes.plot([low, dot.high], [y, y], color=look.colour, linewidth=style.BAR_PT)
        axes.plot(
            ends, [y] * len(ends), color=look.colour, linestyle="none", marker="|",
            markersize=2 * style.CAP_PT + 2, markeredgewidth=style.BAR_PT, clip_on=False,
        )  # fmt: skip


def _write(axes: Axes, x: float, y: float, words: str, colour: str) -> None:
    """Write `words` at the left or right end of the axes, with their middle at the height `y`."""
    axes.text(
        x, y, words, transform=axes.get_yaxis_transform(), va="center", fontsize=style.FONT_PT,
        color=colour, ha="right" if x > 0.5 else "left",
    )  # fmt: skip
