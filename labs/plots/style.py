"""The common style of all plots.

The background is white. On a dark page the page inverts the image and turns its hues back (see
picture.html.jinja), so one image serves both. Labels are next to what they name, and there is no
legend. The colours, markers and dashes are in `scale.py`.
"""

from __future__ import annotations

import io
import math
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from matplotlib import rcdefaults
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator

from labs.analysis.confidence import Floats
from labs.plots.scale import INK, QUIET, axis_number, log_ends, symbol
from labs.units import Clock

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
    figure = Figure(figsize=(WIDTH_IN, height), dpi=DPI, facecolor="white")
    FigureCanvasAgg(figure)
    top = 1 - HEADER_IN / height if top is None else top
    bottom = 0.56 / height if bottom is None else bottom
    axes = figure.add_axes((left, bottom, right - left, top - bottom))
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


def make_room(figure: Figure, axes: Axes) -> None:
    """Move the ends of the axes inwards, if their numbers or texts would leave the figure."""
    canvas = figure.canvas
    assert isinstance(canvas, FigureCanvasAgg), "made by new_figure"
    renderer = canvas.get_renderer()  # type: ignore[no-untyped-call]
    words, wide = axes.yaxis.get_tightbbox(renderer), figure.bbox.width
    left = max(0.008 - words.x0 / wide, 0.0) if words else 0.0
    ends = [text.get_window_extent(renderer).x1 for text in axes.texts]
    right = max(max(ends, default=0.0) / wide - 0.985, 0.0)
    box = axes.get_position()
    axes.set_position((box.x0 + left, box.y0, box.width - left - right, box.height))


def log_axis(axes: Axes, values: Floats, predicted: float | None) -> tuple[float, float]:
    """Make the vertical axis logarithmic with plain numbers, and return its ends.

    All `values` fit on the axis, and so does the `predicted` one. A logarithmic axis has no zero. A
    coarse clock gives values of 0: draw them at the lower end, which then has the label 0.
    """
    ends = log_ends(values, predicted)
    labels = ends.labels()
    axes.set_yscale("log")
    axes.yaxis.set_major_locator(FixedLocator(sorted(labels)))
    axes.yaxis.set_major_formatter(
        FuncFormatter(lambda value, _: labels.get(value, axis_number(value)))
    )
    axes.yaxis.set_minor_locator(NullLocator())
    return ends.floor, ends.ceiling


def png(figure: Figure) -> bytes:
    """The figure as a PNG image. The same figure gives the same bytes: there is no date in them."""
    image = io.BytesIO()
    figure.savefig(image, format="png", metadata={"Software": None})
    return image.getvalue()


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
