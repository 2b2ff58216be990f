"""The common style of all plots, and the canvas that draws their text and image fast.

The background is white. On a dark page the page inverts the image and turns its hues back (see
picture.html.jinja), so one image serves both. The colours follow Okabe and Ito ("Color Universal
Design", 2008); some are darker, so that text in them has enough contrast on white and on black.
Labels are next to what they name, and there is no legend.
"""

from __future__ import annotations

import functools
import math
import struct
import textwrap
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import numpy as np
from matplotlib import rcdefaults, rcParams
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.backend_bases import GraphicsContextBase
from matplotlib.backends.backend_agg import FigureCanvasAgg, RendererAgg
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.text import Text
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator
from matplotlib.transforms import Bbox
from numpy.typing import NDArray

from labs.analysis.estimates import Floats
from labs.plots.scale import (
    BLUE,
    FAINT,
    GREEN,
    INK,
    OCHRE,
    PURPLE,
    QUIET,
    VERMILLION,
    axis_number,
    log_ends,
    png_chunk,
    symbol,
)
from labs.units import Clock

__all__ = [
    "BAR_PT",
    "BLUE",
    "CAP_PT",
    "CHARACTER",
    "CSS_PIXELS_PER_INCH",
    "DPI",
    "FAINT",
    "FONT_PT",
    "GREEN",
    "HEADER_IN",
    "INK",
    "MARGIN",
    "OCHRE",
    "POINT_PT",
    "PURPLE",
    "QUIET",
    "VERMILLION",
    "WIDTH_IN",
    "axis_number",
    "grow",
    "log_axis",
    "make_room_at_left",
    "make_room_at_right",
    "new_figure",
    "prepare_figure",
    "quiet_frame",
    "symbol",
    "title_and_key",
]

# matplotlib has read this file of the current folder, which may be a stranger's. It can ask for
# LaTeX, which runs programs.
if Path("matplotlibrc").exists():
    rcdefaults()

#: An inch of a plot takes 96 CSS pixels on the page. It is drawn with more pixels, for sharp text.
#: On a phone of 390 pixels the plot is scaled down, and its text still has 9 pixels.
WIDTH_IN, DPI = 5.2, 144
CSS_PIXELS_PER_INCH = 96
FONT_PT = 10.0
#: The average width of a character of text, as a share of the figure's width.
CHARACTER = 0.6 * FONT_PT / 72 / WIDTH_IN
#: A point and its interval: the ends of the interval are wider than the point, so a narrow interval
#: does not hide in it.
POINT_PT, CAP_PT, BAR_PT = 4.5, 4.0, 1.2
#: The room above the axes, which a title and a key of one line each take.
HEADER_IN = 0.62
_TITLE_LINE_IN, _KEY_LINE_IN = 0.23, 0.19
#: The height of letters above their baseline, as a share of the size of the font.
_ASCENT = 0.78
#: The least distance of words from the left and right edge, as a share of the figure's width.
MARGIN = 0.015


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
    top = 1 - HEADER_IN / height if top is None else top
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
    for name in (axes.xaxis.label, axes.yaxis.label):
        name.set_fontsize(FONT_PT)
        name.set_color(INK)


def title_and_key(figure: Figure, title: str, key: Sequence[tuple[str, str]]) -> None:
    """Write the title, and below it the key: a text in its own colour for each mark of the plot.

    Title and key take as many lines as they need. The figure grows if these are more than two.
    """
    heading = _lines_of(figure, title, INK, fontsize=FONT_PT + 2, weight="bold")
    below = 0.10 + _TITLE_LINE_IN * len(heading)
    x, number, placed = MARGIN, 0, []
    for words, colour in key:
        for part in _lines_of(figure, words, colour, fontsize=FONT_PT):
            wide = part.get_window_extent().width / figure.bbox.width
            if x > MARGIN and x + wide > 1 - MARGIN:
                x, number = MARGIN, number + 1
            part.set_x(x)
            placed.append((part, below + number * _KEY_LINE_IN))
            x += wide + 2 * CHARACTER
    grow(figure, max(below + _KEY_LINE_IN * (number + 1) + 0.06 - HEADER_IN, 0.0))
    placed += [(line, 0.10 + n * _TITLE_LINE_IN) for n, line in enumerate(heading)]
    for text, down in placed:
        # Signs such as ┃ are higher than letters, so texts of a line share their baseline.
        baseline = down + _ASCENT * float(text.get_fontsize()) / 72
        text.set_y(1 - baseline / figure.get_figheight())


def _lines_of(figure: Figure, words: str, colour: str, **font: Any) -> list[Text]:
    """The words as one text of the figure, or as several if one is wider than the figure."""
    text = figure.text(MARGIN, 0, words, va="baseline", color=colour, **font)
    share = (1 - 2 * MARGIN) * figure.bbox.width / max(text.get_window_extent().width, 1.0)
    if share >= 1:
        return [text]
    text.remove()
    parts = textwrap.wrap(words, max(int(0.97 * share * len(words)), 10))
    return [figure.text(MARGIN, 0, part, va="baseline", color=colour, **font) for part in parts]


def grow(figure: Figure, more: float) -> None:
    """Make the figure higher by `more` inches at its top. All that is on it keeps its place."""
    if more <= 0:
        return
    before = figure.get_figheight()
    share = before / (before + more)
    figure.set_figheight(before + more)
    for axes in figure.axes:
        box = axes.get_position()
        axes.set_position((box.x0, box.y0 * share, box.width, box.height * share))
    for text in figure.texts:
        text.set_y(text.get_position()[1] * share)


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
            kept = _without_overlap(labels, axes.get_position(), *axes.get_xlim())
            axes.xaxis.set_major_locator(FixedLocator(sorted(kept)))


def log_axis(
    axes: Axes, direction: Literal["x", "y"], values: Floats, predicted: float | None
) -> tuple[float, float]:
    """Make one axis logarithmic with plain numbers, and return its ends.

    All `values` fit on the axis, and so does the `predicted` one. A logarithmic axis has no zero. A
    coarse clock gives values of 0: draw them at the lower end, which then has the label 0.
    """
    ends = log_ends(values, predicted)
    floor, ceiling = ends.floor, ends.ceiling
    labels = ends.labels()
    axis: Axis
    if direction == "x":
        axes.set_xscale("log")
        axis = axes.xaxis
    else:
        axes.set_yscale("log")
        axis = axes.yaxis
    if direction == "x":
        labels = _without_overlap(labels, axes.get_position(), floor, ceiling)
    axis.set_major_locator(FixedLocator(sorted(labels)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: labels.get(value, axis_number(value))))
    axis.set_minor_locator(NullLocator())
    return floor, ceiling


def _without_overlap(
    labels: dict[float, str], box: Bbox, floor: float, ceiling: float
) -> dict[float, str]:
    """As many of the labels as do not overlap on a logarithmic axis, evenly chosen.

    `box` is the place of the axes on the figure. Labels that would leave the figure are left out.
    """
    per_factor = box.width / math.log(ceiling / floor)
    at = {place: box.x0 + per_factor * math.log(place / floor) for place in sorted(labels)}
    half = {place: 0.5 * CHARACTER * (len(labels[place]) + 1) for place in at}
    places = [place for place in at if 0 <= at[place] - half[place] <= 1 - 2 * half[place]]
    for step in range(1, len(places)):
        kept = places[::step]
        if all(at[a] + half[a] <= at[b] - half[b] for a, b in pairwise(kept)):
            return {place: labels[place] for place in kept}
    return {place: labels[place] for place in places[:1]}


def png(figure: Figure) -> bytes:
    """The figure as a PNG image. The same figure gives the same bytes: there is no date in them."""
    canvas = figure.canvas
    assert isinstance(canvas, Canvas), "made by new_figure"
    return canvas.png()


def warm_up() -> None:
    """Load fonts and code, so that the first plot takes no longer than the next."""
    figure, axes = new_figure(2.0)
    log_axis(axes, "y", np.array([1.0, 100.0]), None)
    title_and_key(figure, "●▲╌ k = 0", [("0123456789", INK)])
    png(figure)
    prepare_figure()


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


@dataclass(frozen=True)
class Mark:
    """A number in `unit` that a plot shows as a line with the label `name`."""

    value: float
    unit: str
    name: str = "your prediction"

    def into(self, unit: str, clock: Clock) -> float:
        """The number in another unit. Raises ValueError if it cannot be converted."""
        return clock.convert(self.value, self.unit, unit)

    @property
    def at_start(self) -> str:
        """Its name as a sentence begins with it."""
        return f"{self.name[0].upper()}{self.name[1:]}"

    def of(self, variant: str) -> str:
        """The beginning of a sentence on this number of `variant`: Your prediction for fork."""
        return f"{self.at_start} for {variant}"

    def key_text(self, times: int = 1) -> str:
        """The text for the line at `times` this number, in the key of a plot."""
        if times > 1:
            shown = f"{axis_number(times * self.value)} {symbol(self.unit)}"
            return f"╌ {self.name} × {times:,}: {shown}"
        return f"╌ {self.name}: {axis_number(self.value)} {symbol(self.unit)}"


# Most of the time of a plot goes into its text and into the PNG image. A plot that is drawn again
# after a further run has nearly the same words, so the canvas keeps their pictures.

Pixels = NDArray[np.uint8]

#: How many pictures of words, and how many sizes of them, are kept: a few megabytes.
_KEPT = 512
#: A longer text is not kept.
_LONGEST = 120


class Canvas(FigureCanvasAgg):
    """The canvas of all our plots."""

    _size: tuple[float, float, float] | None = None

    def get_renderer(self) -> RendererAgg:
        """The renderer for the figure's size; matplotlib asks for it whenever it draws."""
        width, height = self.get_width_height(physical=True)
        size = (width, height, self.figure.dpi)
        if self._size != size:
            self._size = size
            self.renderer: RendererAgg = _Renderer(*size)  # type: ignore[no-untyped-call]
        return self.renderer

    def png(self) -> bytes:
        """Draw the figure, and return it as a PNG image without a date."""
        self.draw()  # type: ignore[no-untyped-call]
        return png_of(np.asarray(self.buffer_rgba()))  # type: ignore[no-untyped-call]


def png_of(pixels: Pixels) -> bytes:
    """The PNG image of `pixels`, shape (height, width, 4): red, green, blue, opacity.

    Plots are areas of one colour, which compress best and fastest without the filters that PNG has
    for photographs. The format is ISO/IEC 15948.
    """
    height, width, _ = pixels.shape
    channels, colour_type = (3, 2) if pixels[..., 3].min() == 255 else (4, 6)
    rows = np.zeros((height, 1 + channels * width), np.uint8)  # a row begins with its filter: 0
    for channel in range(channels):
        rows[:, 1 + channel :: channels] = pixels[..., channel]
    head = struct.pack(">IIBBBBB", width, height, 8, colour_type, 0, 0, 0)
    chunks = ((b"IHDR", head), (b"IDAT", zlib.compress(rows.data, 2)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(png_chunk(kind, data) for kind, data in chunks)


class _Renderer(RendererAgg):
    """As matplotlib's, but it keeps the pictures and the sizes of words."""

    def draw_text(self, gc: GraphicsContextBase, *what: Any, **options: Any) -> None:
        """Draw a text at the pixel next to its place.

        `what` is x, y (downwards), the text, its font, its angle, and whether it is a formula.
        """
        x, y, s, prop, angle, *more = what
        if options.get("ismath", more and more[0]) or len(s) > _LONGEST:
            super().draw_text(gc, *what, **options)  # type: ignore[no-untyped-call]
            return
        red, green, blue = gc.get_rgb()[:3]
        colour = (red, green, blue, gc.get_alpha())
        words = _words(s, prop.copy(), angle, colour, self.dpi, rcParams["text.hinting"])
        if words is None:
            return
        pixels, left, below = words
        bottom = round(self.height) - round(y) - below
        self.draw_image(gc, round(x) + left, bottom, pixels)

    def get_text_width_height_descent(
        self, s: str, prop: FontProperties, ismath: Any
    ) -> tuple[float, float, float]:
        """The width, height and descent of `s`, in pixels."""
        if ismath or len(s) > _LONGEST:
            return _size_of(self, s, prop, ismath)
        return _size(s, prop.copy(), self.dpi, rcParams["text.hinting"])


@functools.lru_cache(_KEPT)
def _size(s: str, prop: FontProperties, dpi: float, hinting: object) -> tuple[float, float, float]:
    return _size_of(RendererAgg(1, 1, dpi), s, prop, False)  # type: ignore[no-untyped-call]


def _size_of(
    renderer: RendererAgg, s: str, prop: FontProperties, ismath: Any
) -> tuple[float, float, float]:
    width, height, descent = RendererAgg.get_text_width_height_descent(renderer, s, prop, ismath)  # type: ignore[no-untyped-call]
    return float(width), float(height), float(descent)


@functools.lru_cache(_KEPT)
def _words(
    s: str,
    prop: FontProperties,
    angle: float,
    colour: tuple[float, float, float, float],
    dpi: float,
    hinting: object,
) -> tuple[Pixels, int, int] | None:
    """The picture of `s`, its lowest row first, and how far its left and lower edge are to the
    right of and below the origin of the text; None if nothing is to be seen."""
    width, height, descent = _size(s, prop, dpi, hinting)
    reach = int(np.hypot(width, height + descent)) + 8
    renderer = RendererAgg(2 * reach, 2 * reach, dpi)  # type: ignore[no-untyped-call]
    gc = renderer.new_gc()
    gc.set_foreground(colour[:3])
    gc.set_alpha(colour[3])
    renderer.draw_text(gc, reach, reach, s, prop, angle)  # type: ignore[no-untyped-call]
    pixels = np.asarray(renderer.buffer_rgba())  # type: ignore[no-untyped-call]
    rows = np.flatnonzero(pixels[..., 3].any(axis=1))
    columns = np.flatnonzero(pixels[..., 3].any(axis=0))
    if not len(rows):
        return None
    top, bottom, left, right = rows[0], rows[-1] + 1, columns[0], columns[-1] + 1
    words = np.ascontiguousarray(pixels[top:bottom, left:right][::-1])
    return words, int(left) - reach, int(bottom) - reach
