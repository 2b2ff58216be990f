"""The plot of the line T(k) = overhead + k * cost, with the residuals of the points below it."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from labs.analysis.arrays import Floats
from labs.analysis.line import Line
from labs.common.units import NAMES, rounded
from labs.languages.words import label
from labs.plots.style import (
    BAR_PT,
    BLUE,
    CAP_PT,
    INK,
    POINT_PT,
    PURPLE,
    VERMILLION,
    axis_number,
    make_room_at_left,
    new_figure,
    quiet_frame,
    symbol,
    title_and_key,
)
from labs.results.result import Result

#: How wide a digit of a batch size is, as a share of the axis.
DIGIT = 0.0235
#: A longer label of the largest size would reach out of the picture, so it ends at its mark.
LONGEST_CENTRED = 6


def line_figure(result: Result) -> Figure:
    """The line T(k) = overhead + k * cost of `result`, with the residuals of the points below it.

    Values are in the unit of `result`. Raises ValueError if no line could be fitted; the message
    says why.
    """
    line = result.line
    if line is None:
        raise ValueError(f"no line to draw: {result.no_figure}")
    per_unit = result.clock.ticks_in(result.unit)
    mean = line.location / per_unit
    overhead, cost = line.overhead.value / per_unit, line.cost.value / per_unit
    figure, axes = new_figure(4.6, top=0.87, bottom=0.40, right=0.97)
    below = figure.add_axes((0.13, 0.11, 0.84, 0.20), sharex=axes)
    quiet_frame(below)

    reach = float(line.batch.max())
    ends = np.array([0.0, reach])
    axes.plot(ends, overhead + cost * ends, color=INK, linewidth=1.2, zorder=1)
    axes.plot(
        line.batch, mean, color=BLUE, linestyle="none", marker="o", markersize=6, clip_on=False
    )
    axes.plot([0], [overhead], color=VERMILLION, linestyle="none", marker="D", markersize=6)
    key = [
        ("● mean of the steady samples, bars: 2 standard errors", BLUE),
        (f"◆ overhead {rounded(overhead)} {symbol(result.unit)}", VERMILLION),
    ]
    if line.empty is not None:
        empty = line.empty.value / per_unit
        axes.plot(
            [0], [empty], color=PURPLE, linestyle="none", marker="s", markersize=9,
            markerfacecolor="none", markeredgewidth=1.4,
        )  # fmt: skip
        key.append((f"□ empty sample {rounded(empty)} {symbol(result.unit)}", PURPLE))
    axes.set_xlim(-0.03 * reach, 1.03 * reach)
    low, high = axes.get_ylim()
    axes.set_ylim(min(0.0, low), high)
    axes.set_ylabel(label(f"mean sample T(k)\n({NAMES[result.unit]})"))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: axis_number(round(value, 9))))
    axes.tick_params(labelbottom=False)

    _draw_residuals(below, result, line)
    make_room_at_left(figure, axes, below)
    title_and_key(
        figure,
        _title(line, result),
        key,
    )
    return figure


def _draw_residuals(below: Axes, result: Result, line: Line) -> None:
    """Draw how far each point is off the line, with its uncertainty."""
    per_unit, reach = result.clock.ticks_in(result.unit), float(line.batch.max())
    error = 2 * line.uncertainty / per_unit
    below.axhline(0, color=INK, linewidth=1.2, zorder=1)
    below.errorbar(
        line.batch, line.residual / per_unit, yerr=error, color=BLUE, fmt="o",
        markersize=POINT_PT, capsize=CAP_PT, elinewidth=BAR_PT,
    )  # fmt: skip
    most = float(np.max(np.abs(line.residual / per_unit) + error)) or 1.0
    below.set_ylim(-1.25 * most, 1.25 * most)
    below.yaxis.set_major_locator(MaxNLocator(nbins=3, symmetric=True))
    below.yaxis.set_major_formatter(FuncFormatter(lambda value, _: axis_number(round(value, 9))))
    below.set_ylabel(label(f"off the line\n({NAMES[result.unit]})"))
    below.set_xlabel(label("k: operations in a sample"))
    places = _apart(line.batch, reach)
    below.set_xticks([0, *sorted(places)], ["0", *map(_size, sorted(places))])
    if len(_size(reach)) > LONGEST_CENTRED:
        below.get_xticklabels()[-1].set_horizontalalignment("right")


def _apart(places: Floats, reach: float) -> list[float]:
    """The `places` on an axis from 0 to `reach` whose labels do not overlap, also not with 0."""
    kept: list[float] = []
    for place in sorted(places.tolist(), reverse=True):
        digits = len(_size(place))
        from_next = max(0.09, DIGIT * (digits + len(_size(kept[-1]))) / 2 + 0.01) if kept else 0.0
        from_zero = max(0.06, DIGIT * (digits + 1) / 2 + 0.01)
        if place > from_zero * reach and (not kept or kept[-1] - place > from_next * reach):
            kept.append(place)
    return kept


def _size(batch: float) -> str:
    return f"{batch:,.0f}"


def _title(line: Line, result: Result) -> str:
    """What is shown, with the equation of the line."""
    per_unit, kernel = result.clock.ticks_in(result.unit), result.recording.kernel
    if not line.straight:
        return f"{kernel} {result.variant}: the points are not on a line"
    overhead, cost = line.overhead.value / per_unit, line.cost.value / per_unit
    equation = f"T(k) = {rounded(overhead)} + {rounded(cost)} × k {symbol(result.unit)}"
    return f"{kernel} {result.variant}: {equation}"
