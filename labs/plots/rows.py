"""Rows of figures with their intervals, in groups, on one horizontal axis, as SVG.

The groups can be compared but must not be mixed, so each has its own colour and marker.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from labs.plots import scale
from labs.plots.figure_svg import PLOT_WIDTH, Axis, Paper, axis_over, draw_axis, head, text_width
from labs.plots.scale import LOG_FROM, Look
from labs.units import NAMES

_TEXT, _EDGE, _INDENT, _LINE, _TRACK = 13, 8, 14, 19, 26


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
    colour: str = scale.INK
    level: float | None = None


@dataclass(frozen=True)
class Group:
    """Rows under a heading, or '' for none. It shows the marker of `look`, if the group has one."""

    heading: str
    rows: tuple[Row, ...]
    look: Look | None = None


def rows_drawing(
    groups: Sequence[Group],
    unit: str,
    what: str,
    title: str,
    key: Sequence[tuple[str, str]],
    *,
    log: bool = False,
    zone: tuple[float, float] | None = None,
    reach: Sequence[float] = (),
) -> str:
    """All groups as SVG on one horizontal axis of `what` in `unit`, such as ns or times.

    A row has its name and its text, and below them its dots. The axis is logarithmic with `log`,
    and by itself if the values span a factor of LOG_FROM or more. A linear one begins at 0. `key`
    lists texts and colours. A `zone` is shaded in all rows. The axis ends at the numbers of
    `reach`, if there are any; a dot beyond it is an arrow.
    """
    axis = _axis([row for group in groups for row in group.rows], log, reach)
    paper = Paper(PLOT_WIDTH, 0)
    top = head(paper, title, key)
    places: list[tuple[Group | Row, float]] = []  # each with its baseline
    y = top
    for group in groups:
        if group.heading:
            y += 28
            places.append((group, y - 8))
        for row in group.rows:
            y += _LINE * (1 + _is_long(row))
            places.append((row, y))
            y += _TRACK
    if zone is not None:
        paper.box(axis.at(zone[0]), top, axis.at(zone[1]), y, scale.GREEN, 0.14)
    headed = any(group.heading for group in groups)
    for each, place in places:
        if isinstance(each, Row):
            _draw_row(paper, axis, each, place, indented=headed)
        else:
            words = f"{each.look.sign} {each.heading}" if each.look else each.heading
            colour = each.look.colour if each.look else scale.QUIET
            paper.text(_EDGE, place, words, colour, size=_TEXT)
    draw_axis(paper, axis, y + 4, f"{what} ({NAMES.get(unit, unit)})")
    paper.height = y + 48
    return paper.svg()


def _axis(rows: Sequence[Row], log: bool, reach: Sequence[float]) -> Axis:
    """The axis on which all dots, intervals and levels of the rows lie, where it can show them."""
    dots = [dot for row in rows for dot in row.dots]
    above = [dot.value for dot in dots if dot.value > 0] or [1.0]
    log = log or max(above) / min(above) >= LOG_FROM
    every = [v for dot in dots for v in (dot.value, dot.low, dot.high) if v is not None]
    every += [row.level for row in rows if row.level is not None]
    if log:  # an interval that reaches to 0 leaves the axis
        every = [max(value, min(above) / 3) for value in every if value > 0] or above
    ends = reach or every or above
    return axis_over(ends, whole=True, log=log)._replace(left=30.0, right=PLOT_WIDTH - 30.0)


def _is_long(row: Row) -> bool:
    """Whether the name and the text of a row need a line each."""
    return text_width(f"{row.name}    {row.text}", _TEXT) > PLOT_WIDTH - 2 * _EDGE - _INDENT


def _draw_row(paper: Paper, axis: Axis, row: Row, y: float, *, indented: bool) -> None:
    """Draw the name of a row, its text above the height `y`, and below it its dots."""
    most = int((PLOT_WIDTH - 2 * _EDGE - _INDENT) / text_width("x", _TEXT))
    name = row.name if len(row.name) <= most else f"{row.name[: most - 1]}…"
    above = y - _LINE * _is_long(row)
    paper.text(_EDGE + _INDENT * indented, above, name, size=_TEXT)
    paper.text(PLOT_WIDTH - _EDGE, y, row.text, row.colour, anchor="end", size=_TEXT)
    track = y + 12
    paper.line(axis.left, track, axis.right, track, scale.FAINT)
    if row.level is not None:
        x = axis.at(row.level)
        paper.line(x, track - 7, x, track + 9, scale.GREEN, 2, "5 2")
    low, high = axis.ends
    for dot in row.dots:
        if axis.log and dot.value <= 0:
            continue
        if dot.low is not None and dot.high is not None:
            ends = axis.at(dot.low), axis.at(dot.high)
            paper.line(ends[0], track, ends[1], track, dot.look.colour, 1.6)
            # An end is higher than the dot. One that the axis cannot show has none.
            for x, value in zip(ends, (dot.low, dot.high), strict=True):
                if low <= value <= high:
                    paper.line(x, track - 6, x, track + 6, dot.look.colour, 1.6)
        beyond = "<" if dot.value < low else ">" if dot.value > high else ""
        paper.sign(axis.at(dot.value), track, beyond or dot.look.marker, dot.look.colour, 4)
