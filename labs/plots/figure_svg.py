"""The two pictures of a figure, as SVG: its value among others, and its evidence.

Every page that shows one figure shows these: a run and a check in a notebook, feedback, the gallery
and the docs. Nothing here loads a library that draws, so that they can be made by the thousand.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np

from labs.analysis.confidence import Bools, Estimate, Floats
from labs.analysis.line import Line
from labs.html import Table, filled, image_address
from labs.plots import scale
from labs.plots.taken import Taken, taken_of
from labs.recording.file import Recording
from labs.results.result import Result, result_of, sensible
from labs.terminal import typeset
from labs.units import (
    NAMES,
    NANOSECONDS,
    in_four_digits,
    plural,
    ranges_as_text,
    readable_unit,
    rounded,
    unit_symbol,
)

WIDTH = 680
#: The width of a picture of one axis, whose words are legible on a phone.
_NARROW = 480
#: The width of a plot in a notebook: with text of 12 pixels and more, it is legible on a phone too.
PLOT_WIDTH = 440
_MARGIN, _TEXT, _SMALL = 10, 14, 12
#: A letter is about so wide, as a share of the size of its text.
_WIDE = 0.6
_DRAWING, _FIGURE = (
    Path(__file__).with_name(name) for name in ("drawing.html.jinja", "picture.html.jinja")
)


@dataclass
class Paper:
    """White paper of `width` and `height` in CSS pixels; x counts rightwards and y downwards."""

    width: float
    height: float
    parts: list[str] = field(default_factory=list)

    def text(
        self, x: float, y: float, words: str, colour: str = scale.INK, *, anchor: str = "start",
        size: int = _TEXT, bold: bool = False, halo: bool = False,
    ) -> None:  # fmt: skip
        """Write `words` with their baseline at `y`; `anchor` is start, middle or end.

        With a `halo`, a line behind them has a gap.
        """
        # XML has no control characters and no lone surrogates.
        shown = "".join(each if each.isprintable() else "?" for each in words)
        shown = shown.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
        # What most of the text has stands once, at the beginning: a class has many drawings.
        look = f" font-size='{size}'" if size != _SMALL else ""
        look += f" text-anchor='{anchor}'" if anchor != "start" else ""
        look += " stroke='#fff' stroke-width='4' paint-order='stroke'" if halo else ""
        look += " font-weight='bold'" if bold else ""
        self.parts.append(f"<text x='{x:.0f}' y='{y:.0f}' fill='{colour}'{look}>{shown}</text>")

    def line(
        self, x: float, y: float, to_x: float, to_y: float, colour: str, wide: float = 1.0,
        dashes: str = "",
    ) -> None:  # fmt: skip
        """Draw a straight line."""
        dashed = f" stroke-dasharray='{dashes}'" if dashes else ""
        self.parts.append(
            f"<path d='M{x:.1f} {y:.1f}L{to_x:.1f} {to_y:.1f}' stroke='{colour}'"
            f" stroke-width='{wide:g}'{dashed}/>"
        )

    def path(
        self, steps: str, colour: str, *, hollow: bool = False, opacity: float = 1.0,
        wide: float = 0.0,
    ) -> None:  # fmt: skip
        """Draw a closed path, filled or hollow, or an open one as lines that are so `wide`."""
        inside = f"stroke='{colour}'" if hollow or wide else f"fill='{colour}'"
        inside += f" stroke-width='{wide:.2f}'" if wide else ""
        faint = f" opacity='{opacity:g}'" if opacity < 1 else ""
        self.parts.append(f"<path d='{steps}' {inside}{faint}/>")

    def box(
        self, x: float, y: float, to_x: float, to_y: float, colour: str, opacity: float
    ) -> None:
        """Fill a rectangle of at least one pixel each way."""
        wide, high = max(to_x - x, 1), max(to_y - y, 1)
        self.path(f"M{x:.1f} {y:.1f}h{wide:.1f}v{high:.1f}h{-wide:.1f}z", colour, opacity=opacity)

    def sign(self, x: float, y: float, marker: str, colour: str, size: float = 6) -> None:
        """Draw a marker, named as in matplotlib; `O` is a hollow dot."""
        r = size
        dot = f"M{x - r:.1f} {y:.1f}a{r} {r} 0 1 0 {2 * r} 0a{r} {r} 0 1 0 {-2 * r} 0z"
        steps = {
            "o": dot,
            "O": dot,
            "D": f"M{x - r:.1f} {y:.1f}l{r} {-r}l{r} {r}l{-r} {r}z",
            "s": f"M{x - r:.1f} {y - r:.1f}h{2 * r}v{2 * r}h{-2 * r}z",
            "^": f"M{x:.1f} {y - r:.1f}l{r} {2 * r}h{-2 * r}z",
            ">": f"M{x + r:.1f} {y:.1f}l{-1.6 * r:.1f} {-r}v{2 * r}z",
            "<": f"M{x - r:.1f} {y:.1f}l{1.6 * r:.1f} {-r}v{2 * r}z",
        }
        if marker in steps:
            self.path(steps[marker], colour, hollow=marker == "O")
        else:
            self.line(x - r, y - r, x + r, y + r, colour, 1.6)
            self.line(x - r, y + r, x + r, y - r, colour, 1.6)

    def svg(self) -> str:
        """The drawing as an SVG document without a script, a link or a date."""
        return (
            f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {self.width:g} {self.height:g}'"
            f" width='{self.width:g}' height='{self.height:g}'"
            f" font-family='DejaVu Sans,Verdana,sans-serif' font-size='{_SMALL}' fill='none'>"
            f"<path d='M0 0h{self.width:g}v{self.height:g}H0z' fill='#fff'/>"
            f"{''.join(self.parts)}</svg>"
        )


@dataclass(frozen=True)
class Drawing:
    """A drawn picture: its SVG, the unit of its numbers, a description, and its data as a table."""

    svg: str
    unit: str
    description: str
    table: Table
    width: int = WIDTH

    @property
    def image(self) -> bytes:
        """The SVG as a file holds it."""
        return self.svg.encode()

    def as_figure(self) -> str:
        """An HTML figure: the image, its description and a folded table."""
        words = {"note": "", "kind": self.description, "meaning": ""}
        address, table = image_address(self.svg), self.table.as_html()
        return filled(_FIGURE, width=self.width, address=address, table=table, **words)

    def as_html(self) -> str:
        """The image alone, with its description."""
        address = image_address(self.svg)
        return filled(_DRAWING, description=self.description, address=address, width=self.width)


def text_width(words: str, size: int = _TEXT) -> float:
    """About how wide a text is, in CSS pixels; the font is not known here."""
    return _WIDE * size * len(words)


def head(paper: Paper, title: str, key: Sequence[tuple[str, str]]) -> float:
    """Write a title and the texts of a key with their colours, each in as many lines as it needs.

    Returns the y below them.
    """
    size, edge = _TEXT - 1, 8
    y, most = 0.0, int((paper.width - 2 * edge) / text_width("x", size))
    for line in textwrap.wrap(title, int(most * 0.9)):
        y += 19
        paper.text(edge, y, line, bold=True, size=size)
    x = paper.width
    for words, colour in key:
        for part in textwrap.wrap(words, most):
            if x + text_width(part, size) > paper.width - edge:
                x, y = edge, y + 19
            paper.text(x, y, part, colour, size=size)
            x += text_width(part, size) + 16
    return y + 10


# The value among others: what was handed in, what is accepted, what was predicted, on one axis.


class Mark(NamedTuple):
    """A number with its name, and the ends of its interval if it has one; see `_SIGNS` for `kind`.

    The axis lies where the figures of runs and the accepted values are.
    """

    name: str
    value: float
    kind: str = "figure"
    low: float | None = None
    high: float | None = None
    text: str = ""  # the number as its reader knows it

    @classmethod
    def of(cls, name: str, estimate: Estimate) -> Mark:
        """The mark of a figure with its interval."""
        text = sensible(estimate)[0]
        return cls(name, estimate.value, "figure", estimate.low, estimate.high, text)

    def number(self, unit: str) -> str:
        """The number with its unit, as it stands beside the mark."""
        text = f"{self.text or in_four_digits(self.value)} {unit_symbol(unit)}"
        return text.replace("-", "\N{MINUS SIGN}")

    @property
    def ends(self) -> tuple[float | None, float | None]:
        return self.low, self.high


#: The marker and the colour of each kind of mark.
_SIGNS = {
    "figure": ("o", scale.BLUE),
    "handed in": ("D", scale.INK),
    "broken": ("D", scale.VERMILLION),
    "earlier": ("o", scale.PURPLE),
    "predicted": ("line", scale.GREEN),
    "published": ("x", scale.QUIET),
}
#: The axis reaches over marks of these kinds, however far they are from each other.
_HOME = ("figure", "broken", "earlier")
#: A mark that is this many times off the others is not on the axis, but an arrow beside it.
_FAR = 100.0
#: So is a published figure that is this many times off: none makes the axis coarser.
_FAR_PUBLISHED = 4.0
_ROW = 19


class Axis(NamedTuple):
    """A horizontal axis from `low` to `high`, which are logarithms if `log`."""

    low: float
    high: float
    log: bool
    left: float = _MARGIN + 45
    right: float = _NARROW - 75

    def at(self, value: float) -> float:
        """The x of a value; one outside has that of the end of the axis."""
        place = math.log(max(value, 1e-300)) if self.log else value
        share = (place - self.low) / (self.high - self.low)
        return self.left + min(max(share, 0.0), 1.0) * (self.right - self.left)

    @property
    def ends(self) -> tuple[float, float]:
        """The least and the largest number on it."""
        return (math.exp(self.low), math.exp(self.high)) if self.log else (self.low, self.high)

    def numbers(self) -> list[float]:
        """Round numbers on it."""
        if self.log:
            low, high = self.ends
            return sorted(scale.LogEnds(low, high, low, False).labels())
        return _round_numbers(self.low, self.high)


def axis_over(values: Sequence[float], *, whole: bool, log: bool = False) -> Axis:
    """An axis on which all `values` lie, with room at its ends. A `whole` one begins at 0.

    It is logarithmic where they are far from each other, and with `log` where they are above 0.
    """
    low, high = min(values), max(values)
    if low > 0 and (log or high / low > scale.LOG_FROM):
        return Axis(math.log(low / 1.3), math.log(high * 1.3), True)
    if whole and low >= 0:
        return Axis(0.0, 1.12 * high or 1.0, False)
    room = 0.12 * (high - low) or 0.2 * abs(high) or 1.0
    return Axis(low - room, high + room, False)


def _round_numbers(low: float, high: float) -> list[float]:
    """About 4 to 8 round numbers from `low` to `high`."""
    raw = (high - low) / 6
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(power * n for n in (1, 2, 5, 10) if power * n >= raw)
    first = math.ceil(low / step - 1e-9)
    return [round(n * step, 12) for n in range(first, math.floor(high / step + 1e-9) + 1)]


def value_drawing(
    marks: Sequence[Mark],
    unit: str,
    accepted: Sequence[Sequence[float]] = (),
    published: Sequence[float] = (),
    between: str = "",
) -> Drawing:
    """The `marks`, the `accepted` ranges and `published` figures on one axis in `unit`.

    A number that is far off all figures and ranges is an arrow at the end of the axis, with the
    factor. Words `between` the first two marks, which are above 0, make the axis logarithmic.
    Raises ValueError without a mark.
    """
    if not marks:
        raise ValueError("no number to draw")
    ends = [v for each in marks if each.kind in _HOME for v in (each.value, *each.ends)]
    home = [v for v in (*ends, *(end for pair in accepted for end in pair)) if v is not None]
    home = home or [marks[0].value]
    figures = [each.value for each in marks if each.kind == "figure"]
    # The middle on a logarithmic axis; 0 if not all have a place there.
    middle = math.sqrt(min(home) * max(home)) if min(home) > 0 else 0.0
    centre = figures[0] if len(figures) == 1 else middle
    far = [0.0 if e.kind in _HOME else _times_off(e.value, centre) for e in marks]
    near = [each.value for each, off in zip(marks, far, strict=True) if not off]
    off_published = {value: _times_off(value, centre, _FAR_PUBLISHED) for value in published}
    near += [value for value, off in off_published.items() if not off]
    # How wide one interval is says its share of the value. Close values need a closer look.
    single = not accepted and sum(each.kind in _HOME for each in marks) < 2
    axis = axis_over([*home, *near], whole=single, log=bool(between))

    placed = []
    for each, off in zip(marks, far, strict=True):
        x = axis.at(each.value) if not off else axis.right + 40 if off > 0 else axis.left - 30
        placed.append((each, off, x, f"{each.name} {each.number(unit)}"))
    rows = _rows([(x, text_width(words)) for _, _, x, words in placed], _NARROW)
    room = 30 if between else 0
    y = 16 + _ROW * (max(rows) + 1) + 14 + room
    paper = Paper(_NARROW, y + (60 if accepted else 40))
    for low, high in accepted:
        paper.box(axis.at(low), y - 10, axis.at(high), y + 10, scale.GREEN, 0.25)
    draw_axis(paper, axis, y, NAMES.get(unit, unit))
    _draw_published(paper, axis, off_published, y, [*filter(None, far)])
    # Lines to names of higher rows pass behind the names of lower ones, which come last.
    for row, (each, off, x, words) in sorted(
        zip(rows, placed, strict=True), key=lambda pair: pair[0], reverse=True
    ):
        _draw_mark(paper, axis, each, off, (x, y))
        colour = _SIGNS[each.kind][1]
        top, bold = y - 22 - room - _ROW * row, each.kind == "figure"
        paper.line(x, top + 4, x, y - 12, colour, 0.7)
        paper.text(_start(x, text_width(words), _NARROW), top, words, colour, bold=bold, halo=True)
    if between:
        _draw_between(paper, [x for _, _, x, _ in placed], y - 17, between)
    if accepted:
        words = f"▮ accepted: {_ranges(accepted, unit)}"
        middle = (axis.at(accepted[0][0]) + axis.at(accepted[0][1])) / 2
        wide = text_width(words, _SMALL)
        paper.text(_start(middle, wide, _NARROW), y + 53, words, scale.GREEN, size=_SMALL)
    words, table = _value_in_words(marks, far, unit, accepted)
    words += f" Between {marks[0].name} and {marks[1].name}: {between}." if between else ""
    if published:
        printed = [in_four_digits(value) for value in sorted(published)]
        between = " to ".join(dict.fromkeys((printed[0], printed[-1])))
        words += f" Crosses: published figures, {between} {unit_symbol(unit)}."
        below = tuple(("published", number, "", "") for number in printed)
        table = Table(table.caption, table.header, (*table.rows, *below))
    return Drawing(paper.svg(), unit, words, table, _NARROW)


def _draw_between(paper: Paper, places: Sequence[float], y: float, words: str) -> None:
    """Draw an arrow from the second place to the first, and the words above its middle."""
    to, begin = places[:2]
    paper.line(begin, y, to, y, scale.VERMILLION, 1.6)
    paper.sign(to + (-6 if to > begin else 6), y, ">" if to > begin else "<",
               scale.VERMILLION, 5)  # fmt: skip
    middle = _start((begin + to) / 2, text_width(words), paper.width)
    paper.text(middle, y - 8, words, scale.VERMILLION, bold=True, halo=True)


def _draw_published(
    paper: Paper, axis: Axis, published: Mapping[float, float], y: float, far: Sequence[float]
) -> None:
    """Draw a cross for each number; those far off share an arrow, unless a mark of `far` has it."""
    if not published:
        return
    for value, off in published.items():
        if not off:
            paper.sign(axis.at(value), y, "x", scale.QUIET, 4)
    for off in {min(published.values()), max(published.values())} - {0.0}:
        if not any(off * other > 0 for other in far):
            mark = Mark("", 0.0, "published")
            _draw_mark(paper, axis, mark, off, (axis.right + 40 if off > 0 else axis.left - 30, y))
    paper.text(_MARGIN, y + 36, "× published figures", scale.QUIET, size=_SMALL)


def _times_off(value: float, middle: float, most: float = _FAR) -> float:
    """How many times `value` is above the `middle`, or (negative) below; 0 if it is near."""
    if value <= 0 or middle <= 0:
        return 0.0
    factor = value / middle
    return factor if factor > most else -1 / factor if factor < 1 / most else 0.0


def _start(x: float, wide: float, width: float) -> float:
    """Where a text begins whose middle should be at `x`, so that it stays on paper of `width`."""
    return max(_MARGIN, min(x - wide / 2, width - _MARGIN - wide))


def _rows(texts: Sequence[tuple[float, float]], width: float) -> list[int]:
    """A row for each text of this middle and width, from the axis upwards, so that none touch."""
    rows: list[list[tuple[float, float]]] = []
    found = []
    for x, wide in texts:
        left = _start(x, wide, width)
        right = left + wide + _TEXT
        row = 0
        # A line goes up to each text of a higher row, and must not cross a lower one.
        while row < len(rows) and any(left < b and right > a for a, b in rows[row]):
            row += 1
        rows += [[] for _ in range(row + 1 - len(rows))]
        for below in rows[:row]:
            below.append((x - 2, x + 2))
        rows[row].append((left, right))
        found.append(row)
    return found


def draw_axis(paper: Paper, axis: Axis, y: float, name: str) -> None:
    """Draw the axis at the height `y`, with its numbers and its name below it."""
    paper.line(axis.left - 12, y, axis.right + 12, y, scale.QUIET)
    free = 0.0
    for place in axis.numbers():
        x, words = axis.at(place), scale.axis_number(place)
        paper.line(x, y, x, y + 5, scale.QUIET)
        if x - text_width(words, _SMALL) / 2 > free:
            paper.text(x, y + 20, words, scale.QUIET, anchor="middle", size=_SMALL)
            free = x + text_width(words, _SMALL) / 2 + 6
    if axis.log:
        name = f"{name}, log axis"
    elif axis.low > 0:
        name = f"{name}; the axis does not begin at 0"
    paper.text(axis.right + 12, y + 36, name, scale.QUIET, anchor="end", size=_SMALL)


def _draw_mark(paper: Paper, axis: Axis, mark: Mark, off: float, at: tuple[float, float]) -> None:
    (x, y), (shape, colour) = at, _SIGNS[mark.kind]
    if off:
        paper.sign(x, y, ">" if off > 0 else "<", colour)
        words = f"× {rounded(off, 2)}" if off > 0 else f"÷ {rounded(-off, 2)}"
        paper.text(x, y + 20, words, colour, anchor="middle", size=_SMALL)
        return
    if mark.low is not None and mark.high is not None:
        paper.line(axis.at(mark.low), y, axis.at(mark.high), y, colour, 4)
    if shape == "line":
        paper.line(x, y - 11, x, y + 11, colour, 2.5)
    else:
        paper.sign(x, y, shape, colour)


def _ranges(accepted: Sequence[Sequence[float]], unit: str) -> str:
    return f"{ranges_as_text(accepted)} {unit_symbol(unit)}"


def _value_in_words(
    marks: Sequence[Mark],
    far: Sequence[float],
    unit: str,
    accepted: Sequence[Sequence[float]],
) -> tuple[str, Table]:
    """The description and the table of the picture of a value."""
    said, rows = [], []
    for each, off in zip(marks, far, strict=True):
        side = "above" if off > 0 else "below"
        beyond = f" ({rounded(abs(off), 2)} times {side} it)" if off else ""
        said.append(f"{each.name} {each.number(unit)}{beyond}")
        ends = (rounded(v, 4) if v is not None else "" for v in each.ends)
        rows.append((each.name, each.text or rounded(each.value, 4), *ends))
    rows += [("accepted", "", rounded(low, 4), rounded(high, 4)) for low, high in accepted]
    if accepted:
        said.append(f"accepted {_ranges(accepted, unit)}")
    table = Table(f"Values in {NAMES.get(unit, unit)}", ("", "value", "from", "to"), tuple(rows))
    return f"On one axis: {'; '.join(said)}.", table


# Many figures on one axis, a row for each kind.

#: What takes less than this, a core cycle or so, is at the lower end of such an axis.
LEAST_NS = 0.3
#: The axis reaches at least from one of these to the other: a clock's reading, and a large fork.
_ENDS_NS = (1.0, 2e7)
#: So many rows of names stand above a row of marks; a name without room is in the table only.
_MOST_ROWS = 2


def overview_drawing(rows: Sequence[tuple[str, Sequence[Mark]]], cycle_ns: float | None) -> Drawing:
    """All `rows` of marks in ns on one logarithmic axis; a row has a name.

    A mark of the kind "no figure" is hollow at the margin, whatever its value; one at or below 0 is
    an arrow at the lower end. The axis has core cycles too if one takes `cycle_ns`. Raises
    ValueError if no mark is above zero.
    """
    known = [each.value for _, marks in rows for each in marks if each.value > 0]
    if not known:
        raise ValueError("no figure to draw")
    low, high = min(*_ENDS_NS, max(min(known), LEAST_NS) / 1.3), max(*_ENDS_NS, 1.3 * max(known))
    left = 2 * _MARGIN + max(text_width(name, _SMALL + 1) for name, _ in rows)
    axis = Axis(math.log(low), math.log(high), True, left, WIDTH - 50.0)
    laid_out = []
    for name, marks in rows:
        shown = [each for each in marks if each.kind != "no figure"]
        named = sorted((e for e in shown if e.kind != "published"), key=lambda mark: mark.value)
        named = [*named[:1], *named[:0:-1]]  # the smallest, and the largest, come first
        places = _rows([(axis.at(mark.value), text_width(mark.name, 10)) for mark in named], WIDTH)
        kept = [each for each in zip(named, places, strict=True) if each[1] < _MOST_ROWS]
        laid_out.append((name, shown, kept, len(marks) - len(shown)))
    heights = [38 + 12 * max((row for _, row in kept), default=0) for _, _, kept, _ in laid_out]
    paper = Paper(WIDTH, 110 + sum(heights))
    _draw_scale(paper, axis, 60.0 + sum(heights), 40, cycle_ns)
    y = 44.0
    for (name, shown, kept, without), high in zip(laid_out, heights, strict=True):
        y += high
        paper.line(axis.left, y, axis.right, y, scale.FAINT)
        paper.text(_MARGIN, y + 4, name, bold=True, size=_SMALL)
        for mark, row in kept:
            x, top = axis.at(mark.value), y - 10 - 12 * row
            paper.line(x, top + 2, x, y - 4, scale.QUIET, 0.5)
            paper.text(
                _start(x, text_width(mark.name, 10), WIDTH), top, mark.name, size=10, halo=True
            )
        for mark in sorted(shown, key=lambda each: each.kind != "published"):
            shape, colour = _SIGNS[mark.kind]
            paper.sign(axis.at(mark.value), y, shape if mark.value > 0 else "<", colour, 4)
        if without:
            paper.sign(axis.right + 12, y, "O", scale.BLUE, 4)
            paper.text(axis.right + 20, y + 4, f"{without:,}", scale.QUIET, size=_SMALL)
    drawn = {mark.kind for _, marks in rows for mark in marks}
    key = [("●", "this machine", scale.BLUE)]
    key += [("×", "published", scale.QUIET)] if "published" in drawn else []
    key += [("○", "so many without a figure", scale.BLUE)] if "no figure" in drawn else []
    x = float(_MARGIN)
    for sign, words, colour in key:
        paper.text(x, paper.height - 10, f"{sign} {words}", colour, size=_SMALL)
        x += text_width(words, _SMALL) + 40
    table = Table(
        "Figures in nanoseconds",
        ("", "figure", "value"),
        tuple(
            (name, mark.name, mark.text if mark.kind == "no figure" else rounded(mark.value, 4))
            for name, marks in rows
            for mark in marks
        ),
    )
    kind = f"{len(known)} figures of {len(rows)} kinds on one logarithmic axis"
    ends = f"from {rounded(min(known))} to {rounded(max(known))} ns"
    crosses = "; crosses are published figures" if "published" in drawn else ""
    return Drawing(paper.svg(), "ns", f"{kind}, {ends}{crosses}.", table)


def _draw_scale(
    paper: Paper, axis: Axis, bottom: float, top: float, cycle_ns: float | None
) -> None:
    """Number the axis in time above all rows, and in core cycles below them.

    The lines through the rows are those of time, so its numbers come first.
    """
    for power in range(math.ceil(axis.low / math.log(10)), int(axis.high / math.log(10)) + 1):
        x, unit = axis.at(10.0**power), readable_unit(10.0 ** (power + 1))
        words = f"{rounded(10.0**power / NANOSECONDS[unit])} {unit_symbol(unit)}"
        paper.line(x, top + 6, x, bottom, scale.FAINT, 0.7)
        paper.text(x, top, words, scale.QUIET, anchor="middle", size=_SMALL)
    for power in range(0, 12, 2) if cycle_ns else ():
        at = 10.0**power * (cycle_ns or 1.0)
        if axis.low <= math.log(at) <= axis.high:
            x, words = axis.at(at), f"{10**power:,}"
            paper.line(x, bottom - 4, x, bottom, scale.QUIET)
            paper.text(x, bottom + 14, words, scale.QUIET, anchor="middle", size=_SMALL)
    if cycle_ns:
        paper.text(_MARGIN, bottom + 14, "core cycles", scale.QUIET, size=_SMALL)


# The evidence: the line T(k), and beside it what each sample says of the figure.


class _Column:
    """Numbers that are drawn above one name; `hollow` ones do not count for the figure.

    `values` are in the order taken, and `ascending` is sorted, once for all that is read off it.
    """

    def __init__(self, name: str, values: Floats, *, hollow: bool = False) -> None:
        self.name, self.hollow = name, hollow
        self.values = values[np.isfinite(values)]
        self.ascending = np.sort(self.values)

    def quantiles(self, *percent: float) -> list[float]:
        """The values below which so many percent of all values lie; not of an empty column."""
        last = len(self.ascending) - 1
        places = np.array(percent) / 100 * last
        found: list[float] = np.interp(places, np.arange(last + 1), self.ascending).tolist()
        return found


class Panel(NamedTuple):
    """A part of the paper with a linear vertical axis from `low` to `high`."""

    left: float
    right: float
    top: float
    bottom: float
    low: float
    high: float

    def down(self, value: float) -> float:
        """The y of a value; one outside has that of the end of the axis."""
        share = min(max((value - self.low) / (self.high - self.low), 0.0), 1.0)
        return self.bottom - share * (self.bottom - self.top)

    def across(self, share: float) -> float:
        """The x of a share of the horizontal axis, which begins and ends beside the frame."""
        return self.left + 6 + share * (self.right - self.left - 12)


_HEIGHT, _TOP, _BOTTOM = 320, 84, 272
#: The room for the value at the right.
_AT_RIGHT = 92
#: Fewer numbers than these are drawn one by one, and more as a band of their density.
_FEW = 40
_BINS = 32
#: The axis holds all samples but so many percent at either end, for each batch size.
_TAILS = 1.0
#: And no sample that is farther off than so many times the lower quartile is off the median.
_REACH = 8.0


def evidence_drawing(recording: Recording, variant: str) -> Drawing:
    """The line T(k) of `variant`, and what each of its samples says of the figure.

    With a line, a sample says T(k) less its overhead for each operation, or T(k) less the cost of
    its operations. Of a first time, each process says one value. Without a figure, the samples are
    drawn as they are. Raises KeyError for an unknown variant, and BadRecording if the recording
    does not state its clock.
    """
    result = result_of(recording, variant, "ns")
    middle = result.estimate.value if result.estimate is not None else _middle(result)
    if readable_unit(middle) != "ns":
        unit = readable_unit(middle)
        result = result_of(recording, variant, unit)
    columns, what = _columns(result)
    unit = unit_symbol(result.unit)
    paper = Paper(WIDTH, _HEIGHT)
    straight = result.line if result.line is not None and result.line.straight else None
    paper.text(_MARGIN, 24, f"{recording.kernel} {variant}"[:70], bold=True, size=_TEXT + 1)
    aside = result.aside_as_text()
    samples = plural(len(recording.samples(variant)), "sample")
    key = f"{samples}{f' (set aside: {aside})' if aside else ''}"
    paper.text(_MARGIN, 44, key[:100], scale.QUIET, size=_SMALL)
    left = _MARGIN + 60.0
    if straight is not None:
        _draw_line(paper, result, straight, unit)
        left = 385.0
    _draw_columns(paper, result, columns, left, f"{what} ({unit})")
    return Drawing(paper.svg(), result.unit, *_evidence_in_words(result, columns, what))


def _middle(result: Result) -> float:
    """The median of all samples, in the unit of the result; 0 without any."""
    ticks = result.recording.samples(result.variant).ticks
    return float(np.median(ticks)) / result.clock.ticks_in(result.unit) if len(ticks) else 0.0


def _columns(result: Result) -> tuple[list[_Column], str]:
    """What is drawn beside the line, and what it is."""
    recording, variant = result.recording, result.variant
    taken, per_unit = taken_of(recording, variant), result.clock.ticks_in(result.unit)
    ticks, k = taken.ticks / per_unit, taken.batch
    line, net = result.line, result.net
    if taken.cold.any():
        return [_Column("first of each process", _beyond_later(taken, ticks))], result.what
    if line is None or not line.straight:
        return _by_size(taken, ticks), "length of a sample"
    if net is None:
        each = ticks - k * line.cost.value / per_unit
    else:
        subtracted = 0.0 if net.baseline is None else net.times * net.baseline.value / per_unit
        with np.errstate(divide="ignore", invalid="ignore"):
            each = ((ticks - line.overhead.value / per_unit) / k - subtracted) / net.parts
    # An empty sample is no point of the line.
    return _by_size(taken, each, k > 0), f"{result.what} by each sample"


def _beyond_later(taken: Taken, lengths: Floats) -> Floats:
    """How much longer each cold sample is than the median of the later ones of its process."""
    found = []
    for place in np.flatnonzero(taken.cold).tolist():
        later = lengths[taken.later & (taken.process == taken.process[place])]
        found.append(lengths[place] - (np.median(later) if len(later) else 0.0))
    return np.array(found, np.float64)


def _by_size(taken: Taken, values: Floats, chosen: Bools | bool = True) -> list[_Column]:
    """The chosen values of each batch size, and before them those of the warm-up."""
    later, warm = taken.later & chosen, taken.warm & chosen
    found = [_Column("warm-up", values[warm], hollow=True)] if warm.any() else []
    for size in np.unique(taken.batch[later]).tolist():
        found.append(_Column(f"{size:,}", values[later & (taken.batch == size)]))
    return found


def _panel_of_line(
    paper: Paper, result: Result, line: Line, box: tuple[float, float, float, float]
) -> Panel:
    """Draw the line T(k) with its points into a part of the paper: left, right, top, bottom."""
    per_unit = result.clock.ticks_in(result.unit)
    mean, most = line.location / per_unit, float(line.batch.max())
    overhead, cost = line.overhead.value / per_unit, line.cost.value / per_unit
    high = 1.08 * max(float(mean.max()), overhead, 1e-12)
    low = min(0.0, overhead, float(mean.min()))
    panel = Panel(max(box[0], room_at_left(low, high)), *box[1:], low, high)
    draw_vertical(paper, panel, f"mean sample T(k) ({unit_symbol(result.unit)})")
    ends = panel.down(overhead), panel.down(overhead + cost * most)
    paper.line(panel.across(0), ends[0], panel.across(1), ends[1], scale.BLUE, 1.6)
    for size, value in zip(line.batch.tolist(), mean.tolist(), strict=True):
        paper.sign(panel.across(size / most), panel.down(value), "o", scale.BLUE, 3.5)
    return panel


def _draw_k(paper: Paper, panel: Panel, line: Line) -> None:
    """Number the horizontal axis of a panel with the batch sizes of the line."""
    sizes, most = (0.0, *line.batch.tolist()), float(line.batch.max())
    names = [(panel.across(k / most), f"{k:,.0f}") for k in sizes]
    draw_names(paper, panel, names, "k, operations in a sample")


def line_drawing(result: Result) -> str:
    """The line T(k) = overhead + k * cost of `result`, and below it the residuals, as SVG.

    Values are in the unit of `result`. Raises ValueError if no line could be fitted; the message
    says why.
    """
    line = result.line
    if line is None:
        raise ValueError(f"no line to draw: {result.no_figure}")
    per_unit, unit = result.clock.ticks_in(result.unit), unit_symbol(result.unit)
    overhead, cost = (rounded(each.value / per_unit) for each in (line.overhead, line.cost))
    key = [
        ("● mean of the steady samples, bars: 2 standard errors", scale.BLUE),
        (f"◆ overhead {overhead} {unit}", scale.VERMILLION),
    ]
    if line.empty is not None:
        key.append((f"○ empty sample {rounded(line.empty.value / per_unit)} {unit}", scale.PURPLE))
    words = f"T(k) = {overhead} + {cost} × k {unit}"
    title = words if line.straight else "the points are not on a line"
    paper = Paper(PLOT_WIDTH, 0)
    top = head(paper, f"{result.recording.kernel} {result.variant}: {title}", key) + 34
    panel = _panel_of_line(paper, result, line, (_MARGIN + 60, PLOT_WIDTH - 16, top, top + 190))
    at_0 = panel.down(line.overhead.value / per_unit)
    paper.sign(panel.across(0), at_0, "D", scale.VERMILLION)
    if line.empty is not None:
        at = panel.down(line.empty.value / per_unit)
        paper.sign(panel.across(0), at, "O", scale.PURPLE, 8)
    off, error = line.residual / per_unit, 2 * line.uncertainty / per_unit
    most = 1.25 * float(np.max(np.abs(off) + error)) or 1.0
    below = Panel(panel.left, panel.right, top + 240, top + 330, -most, most)
    draw_vertical(paper, below, f"off the line ({unit})")
    paper.line(below.left, below.down(0), below.right, below.down(0), scale.INK, 1.2)
    for k, value, half in zip(line.batch.tolist(), off.tolist(), error.tolist(), strict=True):
        x = below.across(k / float(line.batch.max()))
        draw_bar(paper, x, below.down(value - half), below.down(value + half), scale.BLUE)
        paper.sign(x, below.down(value), "o", scale.BLUE, 3)
    _draw_k(paper, below, line)
    paper.height = below.bottom + 48
    return paper.svg()


def draw_bar(paper: Paper, x: float, low: float, high: float, colour: str) -> None:
    """An upright interval between two heights, with ends wider than its point."""
    paper.line(x, low, x, high, colour, 1.2)
    for y in (low, high):
        paper.line(x - 5, y, x + 5, y, colour, 1.2)


def _draw_line(paper: Paper, result: Result, line: Line, unit: str) -> None:
    """Draw the line T(k) with its points, and mark the intercept or slope that is the figure."""
    per_unit, most = result.clock.ticks_in(result.unit), float(line.batch.max())
    overhead, cost = line.overhead.value / per_unit, line.cost.value / per_unit
    panel = _panel_of_line(paper, result, line, (_MARGIN + 60, 310, _TOP, _BOTTOM))
    _draw_k(paper, panel, line)
    if result.estimate is None:
        return  # neither of them is a figure
    if result.net is None:
        paper.sign(panel.across(0), panel.down(overhead), "D", scale.VERMILLION, 6)
        words = f"◆ at k = 0: {in_four_digits(overhead)} {unit}"
        paper.text(panel.across(0) + 12, panel.top + 12, words, scale.VERMILLION, size=_SMALL)
        return
    half = most / 2
    x, y = panel.across(1), panel.down(overhead + cost * half)
    paper.line(panel.across(0.5), y, x, y, scale.VERMILLION, 1, "4 3")
    paper.line(x, y, x, panel.down(overhead + cost * most), scale.VERMILLION, 1, "4 3")
    words = f"{in_four_digits(cost)} {unit} for each"
    paper.text(x, y + 16, words, scale.VERMILLION, anchor="end", size=_SMALL)
    net = result.net
    if net.baseline is not None:
        less = f"{net.times:g} × {in_four_digits(net.baseline.value / per_unit)}"
        words = f"less {less}, {net.baseline_variant}"[:40]
        paper.text(x, y + 32, words, scale.QUIET, anchor="end", size=_SMALL)
    if net.parts != 1:
        paper.text(x, y + 48, f"divided by {net.parts:g}", scale.QUIET, anchor="end", size=_SMALL)


def room_at_left(low: float, high: float) -> float:
    """The x at which a panel begins, so that the numbers of its axis have room beside it."""
    numbers = map(scale.axis_number, _round_numbers(low, high))
    return max(_MARGIN + 60, 14 + max((text_width(each, _SMALL) for each in numbers), default=0))


def draw_vertical(paper: Paper, panel: Panel, name: str) -> None:
    """Draw the vertical axis of a panel with its numbers, and its name above it."""
    paper.line(panel.left, panel.top - 6, panel.left, panel.bottom, scale.QUIET)
    paper.line(panel.left, panel.bottom, panel.right, panel.bottom, scale.QUIET)
    for place in _round_numbers(panel.low, panel.high):
        y = panel.down(place)
        paper.line(panel.left - 4, y, panel.left, y, scale.QUIET)
        paper.text(panel.left - 7, y + 4, scale.axis_number(place), scale.QUIET, anchor="end",
                   size=_SMALL)  # fmt: skip
    paper.text(panel.left - 50, panel.top - 20, name, scale.QUIET, size=_SMALL)


def draw_names(
    paper: Paper, panel: Panel, names: Sequence[tuple[float, str]], what: str = ""
) -> None:
    """Write names below their places and, below them, what they are.

    As many are written as do not touch: the last one, and so on.
    """
    free = paper.width
    for x, words in reversed(names):
        half = text_width(words, _SMALL) / 2
        x = min(x, paper.width - half - 1)
        if x + half < free:
            paper.text(x, panel.bottom + 18, words, scale.QUIET, anchor="middle", size=_SMALL)
            free = x - half - 5
    middle = (panel.left + panel.right) / 2
    paper.text(middle, panel.bottom + 38, what, scale.QUIET, anchor="middle", size=_SMALL)


def _draw_columns(
    paper: Paper, result: Result, columns: Sequence[_Column], left: float, name: str
) -> None:
    """Draw each column as a band of its density, the figure as a line, and count what is beyond."""
    counted = [each for each in columns if not each.hollow and len(each.values)]
    if not counted:
        return
    ends = [_ends(each) for each in counted]
    low, high = min(low for low, _ in ends), max(high for _, high in ends)
    figure = result.estimate
    if figure is not None:
        low, high = min(low, figure.low), max(high, figure.high)
    room = 0.06 * (high - low) or 0.1 * abs(high) or 1.0
    panel = Panel(left, WIDTH - _AT_RIGHT, _TOP, _BOTTOM, low - room, high + room)
    draw_vertical(paper, panel, name)
    each_wide = (panel.right - panel.left) / len(columns)
    middles = [panel.left + (n + 0.5) * each_wide for n in range(len(columns))]
    for x, column in zip(middles, columns, strict=True):
        _draw_column(paper, panel, x, 0.42 * each_wide, column)
    if figure is not None:
        top, bottom = panel.down(figure.high), panel.down(figure.low)
        paper.box(panel.left, top, panel.right, bottom, scale.VERMILLION, 0.25)
        y = panel.down(figure.value)
        paper.line(panel.left, y, panel.right, y, scale.VERMILLION, 1.6)
        words = f"{sensible(figure)[0]} {unit_symbol(result.unit)}"
        paper.text(panel.right + 4, y + 5, words, scale.VERMILLION, bold=True)
    what = "k  (↑ ↓: so many samples lie beyond the axis)" if len(columns) > 1 else ""
    names = [(x, each.name) for x, each in zip(middles, columns, strict=True)]
    draw_names(paper, panel, names, what)


def _ends(column: _Column) -> tuple[float, float]:
    """Between which values a column is drawn; a few long samples do not flatten the others."""
    low, first, middle, third, high = column.quantiles(_TAILS, 25, 50, 75, 100 - _TAILS)
    # Samples on a shared core are longer, however many they are; none is shorter for it.
    reach = _REACH * ((middle - first) or (third - first))
    return (max(low, first - reach), min(high, middle + reach)) if reach > 0 else (low, high)


def _draw_column(paper: Paper, panel: Panel, x: float, half: float, column: _Column) -> None:
    """Draw one column: a band, or dots if it is short. What is beyond is counted at the ends."""
    below = int(np.searchsorted(column.ascending, panel.low))
    above = len(column.values) - int(np.searchsorted(column.ascending, panel.high, "right"))
    if (count := len(column.values) - below - above) < _FEW:
        inside = (column.values >= panel.low) & (column.values <= panel.high)
        for n, value in enumerate(column.values[inside].tolist()):  # side by side in that order
            at = x + half * (2 * (n + 0.5) / count - 1)
            paper.sign(at, panel.down(value), "O" if column.hollow else "o", scale.BLUE, 2.5)
    else:
        _draw_band(paper, panel, x, half, column)
    for beyond, y, sign in ((above, panel.top - 2, "↑"), (below, panel.bottom - 3, "↓")):
        if beyond:
            words, size = f"{beyond:,}{sign}", _SMALL - 2
            paper.text(x, y, words, scale.QUIET, anchor="middle", size=size, halo=sign == "↓")


def _draw_band(paper: Paper, panel: Panel, x: float, half: float, column: _Column) -> None:
    edges = np.linspace(panel.low, panel.high, _BINS + 1)
    inside = np.searchsorted(column.ascending, edges)
    inside[-1] = np.searchsorted(column.ascending, panel.high, "right")
    counts = np.diff(inside)
    wide = half * np.sqrt(counts / counts.max())
    high, steps = (panel.bottom - panel.top) / _BINS, []
    for n in np.flatnonzero(counts).tolist():
        y, w = panel.down(float(edges[n + 1])), max(float(wide[n]), 0.5)
        if column.hollow:
            steps.append(f"M{x - w:.1f} {y:.1f}h{2 * w:.1f}v{high:.1f}h{-2 * w:.1f}z")
        else:
            steps.append(f"M{x - w:.1f} {y + high / 2:.1f}h{2 * w:.1f}")
    hollow, thick = column.hollow, 0.0 if column.hollow else high
    paper.path("".join(steps), scale.BLUE, hollow=hollow, opacity=0.75, wide=thick)


def _evidence_in_words(result: Result, columns: Sequence[_Column], what: str) -> tuple[str, Table]:
    """The description and the table of the picture of the evidence."""
    unit, rows, said = unit_symbol(result.unit), [], []
    for each in columns:
        if len(each.values):
            quartiles = map(rounded, each.quantiles(25, 50, 75))
            rows.append((each.name, f"{len(each.values):,}", *quartiles))
    if result.line is not None and result.line.straight:
        per_unit = result.clock.ticks_in(result.unit)
        overhead, cost = result.line.overhead.value / per_unit, result.line.cost.value / per_unit
        said.append(f"T(k) = {rounded(overhead)} + {rounded(cost)} × k {unit}.")
    counted = [row for row in rows if row[0] != "warm-up"]
    if counted:
        first, last = counted[0], counted[-1]
        said.append(f"Median at {first[0]}: {first[3]} {unit}.")
        if last is not first:
            said.append(f"At {last[0]}: {last[3]} {unit}.")
    if result.estimate is not None:
        said.append(f"The line across: {result.what} {result.value_as_text()}.")
        rows.append((result.what, f"{result.n:,}", rounded(result.estimate.low),
                     sensible(result.estimate)[0], rounded(result.estimate.high)))  # fmt: skip
    table = Table(
        f"{what} of {result.recording.kernel} {result.variant}, in {NAMES[result.unit]}",
        ("k", "samples", "lower quartile", "median", "upper quartile"),
        tuple(rows),
    )
    kind = f"Samples of {result.recording.kernel} {result.variant}: {what} at each k."
    return typeset(" ".join([kind, *said])), table
