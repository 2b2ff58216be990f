"""The one look of all plots: ground, colours, frame, title, logarithmic axis, words on them.

An opaque white ground, so that a plot reads alike in a light and a dark page; colours after Okabe
and Ito ("Color Universal Design", 2008), some darkened so that text in them has enough contrast on
white; labels beside what they name instead of a legend.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from labs.analysis.arrays import Floats
from labs.common.units import canonical

BLUE, VERMILLION, GREEN, PURPLE = "#0072B2", "#D55E00", "#007A5A", "#AA3377"
OCHRE = "#9A6700"
INK, QUIET, FAINT = "#1A1A1A", "#595959", "#D9D9D9"

#: Size on the page in CSS pixels is 96 times the size in inches; drawn finer, for sharp text.
WIDTH_IN, DPI = 7.5, 144
CSS_PIXELS_PER_INCH = 96
FONT_PT = 10.0
#: What a character of text takes on average, as a share of the figure's width.
CHARACTER = 0.6 * FONT_PT / 72 / WIDTH_IN


def new_figure(
    height: float,
    *,
    left: float = 0.13,
    right: float = 0.97,
    top: float | None = None,
    bottom: float | None = None,
) -> tuple[Figure, Axes]:
    """A figure of the common look with one pair of axes; margins as shares of the whole."""
    figure = Figure(figsize=(WIDTH_IN, height), dpi=DPI, facecolor="white")
    FigureCanvasAgg(figure)
    top = 1 - 0.62 / height if top is None else top
    bottom = 0.56 / height if bottom is None else bottom
    axes = figure.add_axes((left, bottom, right - left, top - bottom))
    quiet_frame(axes)
    return figure, axes


def quiet_frame(axes: Axes) -> None:
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set_color(QUIET)
    axes.tick_params(labelsize=FONT_PT, colors=QUIET, labelcolor=INK)
    for label in (axes.xaxis.label, axes.yaxis.label):
        label.set_fontsize(FONT_PT)
        label.set_color(INK)


def head(figure: Figure, title: str, key: Sequence[tuple[str, str]]) -> None:
    """The title, and under it each mark of the plot named in its own colour, from left to right."""
    height = figure.get_figheight()
    figure.text(
        0.015, 1 - 0.10 / height, title, va="top", fontsize=FONT_PT + 2, color=INK, weight="bold"
    )
    x = 0.015
    for words, colour in key:
        text = figure.text(x, 1 - 0.34 / height, words, va="top", fontsize=FONT_PT, color=colour)
        x += text.get_window_extent().width / figure.bbox.width + 0.03


def room_at_left(figure: Figure, axes: Axes, *below: Axes) -> None:
    """Move the left end of the axes inwards where long numbers push their label off the figure,
    and that of others, which stand `below` it, as far."""
    canvas = figure.canvas
    assert isinstance(canvas, FigureCanvasAgg), "made by new_figure"
    renderer = canvas.get_renderer()  # type: ignore[no-untyped-call]
    words = [each.yaxis.get_tightbbox(renderer) for each in (axes, *below)]
    missing = 0.008 - min((box.x0 for box in words if box), default=1.0) / figure.bbox.width
    for each in (axes, *below) if missing > 0 else ():
        box = each.get_position()
        each.set_position((box.x0 + missing, box.y0, box.width - missing, box.height))


def room_at_right(figure: Figure, axes: Axes) -> None:
    """Move the right end of the axes inwards where words beside them end outside of the figure."""
    canvas = figure.canvas
    assert isinstance(canvas, FigureCanvasAgg), "made by new_figure"
    renderer = canvas.get_renderer()  # type: ignore[no-untyped-call]
    ends = [text.get_window_extent(renderer).x1 for text in axes.texts]
    beyond = max(ends, default=0.0) / figure.bbox.width - 0.985
    if beyond > 0:
        box = axes.get_position()
        axes.set_position((box.x0, box.y0, box.width - beyond, box.height))


def log_axis(
    axes: Axes, direction: Literal["x", "y"], values: Floats, predicted: float | None
) -> tuple[float, float]:
    """Make one axis logarithmic with plain numbers; returns its ends, with room for all `values`.

    A logarithmic axis has no zero: values of 0, which a coarse clock yields, are to be drawn at the
    lower end, which is then labelled 0.
    """
    above = values[values > 0]
    if predicted is not None and predicted > 0:
        above = np.append(above, predicted)
    least, most = (float(above.min()), float(above.max())) if len(above) else (1.0, 10.0)
    zeros = bool((values == 0).any())
    floor = least / 3 if zeros else least / 1.4
    ceiling = max(most * 1.4, floor * 4)
    places = _ticks(least if zeros else floor, ceiling)
    labels = {place: plain(place) for place in places}
    if zeros:
        labels[floor] = "0"
    axis: Axis
    if direction == "x":
        axes.set_xscale("log")
        axis = axes.xaxis
    else:
        axes.set_yscale("log")
        axis = axes.yaxis
    if direction == "x":
        labels = _side_by_side(labels, axes.get_position().width, floor, ceiling)
    axis.set_major_locator(FixedLocator(sorted(labels)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: labels.get(value, plain(value))))
    axis.set_minor_locator(NullLocator())
    return floor, ceiling


def _side_by_side(
    labels: dict[float, str], width: float, floor: float, ceiling: float
) -> dict[float, str]:
    """As many of the labels as stand apart on a logarithmic axis that takes `width` of a figure."""
    places = sorted(labels)
    at = [width * math.log(place / floor) / math.log(ceiling / floor) for place in places]
    half = [0.5 * CHARACTER * (len(labels[place]) + 1) for place in places]
    for step in range(1, len(places)):
        kept = range(0, len(places), step)
        if all(at[n] + half[n] <= at[n + step] - half[n + step] for n in kept[:-1]):
            break
    return {places[n]: labels[places[n]] for n in kept}


def _ticks(low: float, high: float) -> list[float]:
    """Between 4 and about 8 round numbers from `low` to `high`, evenly spread on a log axis."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    for steps in ((1,), (1, 3), (1, 2, 5), (1, 1.5, 2, 3, 4, 5, 6, 8)):
        places = [
            float(f"{step * 10.0**power:.6g}")
            for power in range(first, last + 1)
            for step in steps
            if low <= step * 10.0**power <= high
        ]
        if len(places) >= 4:
            break
    every = -(-len(places) // 8)
    return places[::every]


def plain(value: float) -> str:
    """A number as it stands on an axis."""
    return f"{value:,.0f}" if value >= 1000 else f"{value:g}"


def many(count: int, noun: str) -> str:
    """A count with its noun: `1 process`, `10 processes`."""
    plural = noun if count == 1 else f"{noun}es" if noun.endswith("s") else f"{noun}s"
    return f"{count:,} {plural}"


def symbol(unit: str) -> str:
    """The unit as it stands behind a number."""
    return {"us": "µs"}.get(canonical(unit), canonical(unit))
