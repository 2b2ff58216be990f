"""Draw figures with their intervals against what was varied.

Of a series, only the points were measured; the thin line between them guides the eye. The name of a
series is to the right of its last point. Each series has its own colour, marker and dash.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from labs.plots import scale, style
from labs.plots.scale import Look, spread_out

#: The height of a line of a label, in inches.
_SERIES_LINE_IN = 0.17

#: The entry of a key for the bars of the points.
INTERVALS = ("bars: 95 % interval", scale.QUIET)


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
        first.yaxis.set_major_formatter(FuncFormatter(lambda v, _: scale.axis_number(round(v, 9))))
    first.set_ylabel(y_axis.name)
    style.make_room(figure, first)
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
            axes.set_title(heading, loc="left", fontsize=style.FONT_PT, color=scale.INK, pad=5)
        if more is not None:
            more(axes)
    figure.text(
        (first.get_position().x0 + 0.97) / 2, 0.10 / height, x_axis.name,
        ha="center", va="bottom", fontsize=style.FONT_PT, color=scale.INK,
    )  # fmt: skip
    if any(each.missing for _, some in panels for each in some):
        key = [*key, ("○ hollow, at the foot: no figure", scale.QUIET)]
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
    return style.log_axis(axes, np.array([*lows, *highs, *(p.value for p in points)]), None)


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
