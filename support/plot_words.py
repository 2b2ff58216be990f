"""The words of a plot with their places, and which of them overlap or leave the plot."""

from __future__ import annotations

import itertools
from xml.etree import ElementTree

from matplotlib.axis import Axis
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from labs.plots.figure_svg import text_width


def words_of(figure: Figure | str) -> list[tuple[str, Bbox]]:
    """Each piece of text that is seen in a figure or in SVG, with its place in pixels."""
    if isinstance(figure, str):
        return [(each.text or "", _place(each.attrib, each.text or "")) for each in _texts(figure)]
    assert isinstance(figure.canvas, FigureCanvasAgg)
    figure.draw_without_rendering()
    unseen: set[int] = set()
    for axis in figure.findobj(Axis):
        low, high = sorted(axis.get_view_interval())
        for tick in axis.get_major_ticks():
            if not low <= tick.get_loc() <= high:
                unseen |= {id(tick.label1), id(tick.label2)}
    return [
        # Of an annotation without its arrow.
        (text.get_text(), Text.get_window_extent(text))
        for text in figure.findobj(Text)
        if text.get_visible() and text.get_text().strip() and id(text) not in unseen
    ]


def _texts(svg: str) -> list[ElementTree.Element]:
    return [each for each in ElementTree.fromstring(svg).iter() if each.tag.endswith("text")]


def _place(of: dict[str, str], words: str) -> Bbox:
    """The box of a text of SVG, by the width for which the layout takes it."""
    size = int(of.get("font-size", 12))
    wide = text_width(words, size)
    before = {"start": 0, "middle": 0.5, "end": 1}[of.get("text-anchor", "start")]
    left = float(of["x"]) - wide * before
    base = float(of["y"])
    return Bbox.from_extents(left, base - 0.78 * size, left + wide, base + 0.22 * size)


def collisions(figure: Figure | str) -> list[str]:
    """What is wrong with the places of the words, one line for each case."""
    words, wrong = words_of(figure), []
    if isinstance(figure, str):
        whole = ElementTree.fromstring(figure).attrib
        width, height = float(whole["width"]), float(whole["height"])
    else:
        width, height = figure.bbox.width, figure.bbox.height
    for text, box in words:
        inside = box.x0 >= 0 and box.x1 <= width
        if not (inside and box.y0 >= 0 and box.y1 <= height):
            wrong.append(f"{text!r} leaves the plot")
    # The box of a text is a little larger than its letters.
    for (one, a), (other, b) in itertools.combinations(words, 2):
        across = min(a.x1, b.x1) - max(a.x0, b.x0)
        upwards = min(a.y1, b.y1) - max(a.y0, b.y0)
        if across > 1 and upwards > 0.25 * min(a.height, b.height):
            wrong.append(f"{one!r} and {other!r} overlap")
    return wrong
