"""The common style of all plots: background, colours, frame, title, logarithmic axis, labels.

The background is opaque white, so that a plot looks the same on a light and on a dark page. The
colours follow Okabe and Ito ("Color Universal Design", 2008); some are darker, so that text in them
has enough contrast on white. Labels stand next to what they name, and there is no legend.
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
from labs.plots.canvas import Canvas

BLUE, VERMILLION, GREEN, PURPLE = "#0072B2", "#D55E00", "#007A5A", "#AA3377"
OCHRE = "#9A6700"
INK, QUIET, FAINT = "#1A1A1A", "#595959", "#D9D9D9"

#: An inch of a plot takes 96 CSS pixels on the page. It is drawn with more pixels, for sharp text.
WIDTH_IN, DPI = 7.5, 144
CSS_PIXELS_PER_INCH = 96
FONT_PT = 10.0
#: The average width of a character of text, as a share of the figure's width.
CHARACTER = 0.6 * FONT_PT / 72 / WIDTH_IN


def new_figure(
    height: float,
    *,
    left: float = 0.13,
    right: float = 0.97,
    top: float | None = None,
    bottom: float | None = None,
) -> tuple[Figure, Axes]:
    """A figure in the common style with one pair of axes.

    `height` is in inches; `left`, `right`, `top` and `bottom` are the ends of the axes as shares of
    the figure.
    """
    try:
        figure, axes = _prepared.pop()
    except IndexError:
        figure, axes = _blank_figure()
    figure.set_size_inches(WIDTH_IN, height)
    top = 1 - 0.62 / height if top is None else top
    bottom = 0.56 / height if bottom is None else bottom
    axes.set_position((left, bottom, right - left, top - bottom))
    return figure, axes


#: At most one blank figure, made ahead.
_prepared: list[tuple[Figure, Axes]] = []
#: So many ticks it has on each axis; further ones are made where they are needed.
_TICKS = 9


def prepare_figure() -> None:
    """Make the figure of the next plot ahead: that takes a third of the time of a plot.

    For a moment when nobody waits.
    """
    if not _prepared:
        figure, axes = _blank_figure()
        for axis in (axes.xaxis, axes.yaxis):
            axis.get_major_ticks(_TICKS)
        _prepared.append((figure, axes))


def _blank_figure() -> tuple[Figure, Axes]:
    figure = Figure(figsize=(WIDTH_IN, WIDTH_IN), dpi=DPI, facecolor="white")
    Canvas(figure)
    axes = figure.add_axes((0.1, 0.1, 0.8, 0.8))
    quiet_frame(axes)
    return figure, axes


def quiet_frame(axes: Axes) -> None:
    """Draw only the left and lower side of the frame, in grey, and set the size of the labels."""
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set_color(QUIET)
    axes.tick_params(labelsize=FONT_PT, colors=QUIET, labelcolor=INK)
    for label in (axes.xaxis.label, axes.yaxis.label):
        label.set_fontsize(FONT_PT)
        label.set_color(INK)


def title_and_key(figure: Figure, title: str, key: Sequence[tuple[str, str]]) -> None:
    """Write the title, and below it the key: a text in its own colour for each mark of the plot."""
    height = figure.get_figheight()
    figure.text(
        0.015, 1 - 0.10 / height, title, va="top", fontsize=FONT_PT + 2, color=INK, weight="bold"
    )
    x = 0.015
    for words, colour in key:
        text = figure.text(x, 1 - 0.34 / height, words, va="top", fontsize=FONT_PT, color=colour)
        x += text.get_window_extent().width / figure.bbox.width + 0.03


def make_room_at_left(figure: Figure, axes: Axes, *below: Axes) -> None:
    """Move the left end of the axes inwards, if long numbers push their label off the figure.

    Other axes `below` them move by the same distance.
    """
    canvas = figure.canvas
    assert isinstance(canvas, FigureCanvasAgg), "made by new_figure"
    renderer = canvas.get_renderer()  # type: ignore[no-untyped-call]
    words = [each.yaxis.get_tightbbox(renderer) for each in (axes, *below)]
    missing = 0.008 - min((box.x0 for box in words if box), default=1.0) / figure.bbox.width
    for each in (axes, *below) if missing > 0 else ():
        box = each.get_position()
        each.set_position((box.x0 + missing, box.y0, box.width - missing, box.height))


def make_room_at_right(figure: Figure, axes: Axes) -> None:
    """Move the right end of the axes inwards, if text at their right ends outside the figure."""
    canvas = figure.canvas
    assert isinstance(canvas, FigureCanvasAgg), "made by new_figure"
    renderer = canvas.get_renderer()  # type: ignore[no-untyped-call]
    ends = [text.get_window_extent(renderer).x1 for text in axes.texts]
    beyond = max(ends, default=0.0) / figure.bbox.width - 0.985
    if beyond > 0:
        box = axes.get_position()
        axes.set_position((box.x0, box.y0, box.width - beyond, box.height))
        if axes.get_xscale() == "log":
            numbers = axes.xaxis.get_major_formatter()
            labels = {float(place): numbers(place) for place in axes.xaxis.get_majorticklocs()}
            kept = _without_overlap(labels, box.width - beyond, *axes.get_xlim())
            axes.xaxis.set_major_locator(FixedLocator(sorted(kept)))


def log_axis(
    axes: Axes, direction: Literal["x", "y"], values: Floats, predicted: float | None
) -> tuple[float, float]:
    """Make one axis logarithmic with plain numbers, and return its ends.

    All `values` fit on the axis, and so does the `predicted` one. A logarithmic axis has no zero. A
    coarse clock gives values of 0: draw them at the lower end, which then has the label 0.
    """
    above = values[values > 0]
    if predicted is not None and predicted > 0:
        above = np.append(above, predicted)
    least, most = (float(above.min()), float(above.max())) if len(above) else (1.0, 10.0)
    zeros = bool((values == 0).any())
    floor = least / 3 if zeros else least / 1.4
    ceiling = max(most * 1.4, floor * 4)
    places = _ticks(least if zeros else floor, ceiling)
    labels = {place: axis_number(place) for place in places}
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
        labels = _without_overlap(labels, axes.get_position().width, floor, ceiling)
    axis.set_major_locator(FixedLocator(sorted(labels)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: labels.get(value, axis_number(value))))
    axis.set_minor_locator(NullLocator())
    return floor, ceiling


def _without_overlap(
    labels: dict[float, str], width: float, floor: float, ceiling: float
) -> dict[float, str]:
    """As many of the labels as do not overlap on a logarithmic axis, evenly chosen.

    `width` is the share of the figure's width that the axis takes.
    """
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


def axis_number(value: float) -> str:
    """A number as an axis shows it."""
    return f"{value:,.0f}" if value >= 1000 else f"{value:g}"


def plural(count: int, noun: str) -> str:
    """A count with its noun: `1 process`, `10 processes`."""
    form = noun if count == 1 else f"{noun}es" if noun.endswith("s") else f"{noun}s"
    return f"{count:,} {form}"


def symbol(unit: str) -> str:
    """The unit as a text shows it after a number."""
    return {"us": "µs"}.get(canonical(unit), canonical(unit))
