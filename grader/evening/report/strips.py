"""The plot of a figure's spread: one strip for each kind of machine, as SVG of a few kilobytes.

Accepted numbers are bars that point up, and the others are bars that point down, so that colour is
not needed to distinguish them. The axis covers the accepted numbers; what lies outside is counted.
The page's style gives the colours, so the plot is readable on light and dark ground.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from grader.evening.report.spread import OfKind, Spread
from labs.common.html import filled
from labs.common.units import rounded

#: In units of the SVG: on a phone of 390 pixels, text of this size still has 10 pixels.
WIDTH, _MARGIN, _LINE, _BAR, _GAP, _AXIS = 480, 12, 18, 22, 8, 22
_BINS = 80
#: The axis is logarithmic from this ratio of its ends on.
_LOG_FROM = 6.0
#: The share of accepted numbers that may lie outside the axis, at either end.
_OUTSIDE = 0.01
#: The most labels on the axis.
_LABELS = 6
_SVG = Path(__file__).with_name("strips.html.jinja")


@dataclass(frozen=True)
class Strip:
    """One kind of machine: its name and its count as text, its bars as SVG paths, its median.

    `y` is the top of the strip and `base` the height of its line; `median` is None if nothing was
    accepted or if it lies outside.
    """

    machine: str
    text: str
    y: float
    base: float
    up: str
    down: str
    median: float | None


@dataclass(frozen=True)
class _Axis:
    """From numbers to places; `log` says whether it is logarithmic."""

    low: float
    high: float
    log: bool

    def places(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Where `values` are, from 0 to 1; others lie outside."""
        ends = np.array([self.low, self.high])
        if self.log:
            with np.errstate(divide="ignore", invalid="ignore"):
                values, ends = np.log(values), np.log(ends)
        return (values - ends[0]) / (ends[1] - ends[0])  # type: ignore[no-any-return]

    def labels(self) -> list[tuple[float, str]]:
        """Round numbers on the axis, each with its place."""
        numbers = _powers(self.low, self.high) if self.log else _steps(self.low, self.high)
        return [(float(self.places(np.array([n]))[0]), rounded(n)) for n in numbers]


def strips_as_svg(spread: Spread) -> str:
    """The plot; '' if there is no number to show."""
    axis = _axis(spread)
    if axis is None:
        return ""
    strips, y = [], 0.0
    for kind in spread.kinds:
        strips.append(_strip(kind, axis, y))
        y += _LINE + 2 * _BAR + _GAP
    return filled(
        _SVG,
        title=_title(spread, axis),
        strips=strips,
        width=WIDTH,
        height=y + _AXIS + _LINE,
        margin=_MARGIN,
        bottom=y,
        labels=[(_at(place), text) for place, text in axis.labels()],
        unit=f"{unit_symbol(spread.unit)}{', log axis' if axis.log else ''}",
    )


def unit_symbol(unit: str) -> str:
    return {"us": "µs"}.get(unit, unit)


def _title(spread: Spread, axis: _Axis) -> str:
    ends = f"{rounded(axis.low)} to {rounded(axis.high)} {unit_symbol(spread.unit)}"
    return (
        f"{spread.figure}, by kind of machine, from {ends}. Bars up: accepted numbers. Bars down: "
        "numbers that were not accepted. The table below has the medians."
    )


def _axis(spread: Spread) -> _Axis | None:
    """The axis over nearly all accepted numbers, or over all numbers if none was accepted."""
    every = [value for kind in spread.kinds for value in (*kind.accepted, *kind.others)]
    values = np.array(spread.accepted or every)
    if not len(values):
        return None
    low, high = (float(end) for end in np.quantile(values, (_OUTSIDE, 1 - _OUTSIDE)))
    if len(values) < 1 / _OUTSIDE:
        low, high = float(values.min()), float(values.max())
    if low > 0 and high / low >= _LOG_FROM:
        return _Axis(low / 1.25, high * 1.25, log=True)
    room = 0.25 * (high - low) or 0.25 * abs(high) or 1.0
    begin = low - room
    axis = _Axis(max(begin, 0.0) if low >= 0 else begin, high + room, log=False)
    return axis if math.isfinite(axis.high - axis.low) else None


def _strip(kind: OfKind, axis: _Axis, y: float) -> Strip:
    accepted, others = (np.array(each, dtype=float) for each in (kind.accepted, kind.others))
    places = [axis.places(each) for each in (accepted, others)]
    counts = [
        np.histogram(each[(each >= 0) & (each <= 1)], _BINS, (0.0, 1.0))[0] for each in places
    ]
    most = max(1, *(int(each.max()) for each in counts))
    base = y + _LINE + _BAR
    outside = sum(int(((each < 0) | (each > 1) | np.isnan(each)).sum()) for each in places)
    text = f"{len(accepted) + len(others):,} handed in"
    if outside:
        text += f", {outside:,} outside"
    median = None
    if len(accepted) and 0 <= (place := float(np.median(places[0]))) <= 1:
        median = _at(place)
    return Strip(
        kind.machine,
        text,
        y,
        base,
        _bars(counts[0], base, -_BAR / most),
        _bars(counts[1], base, _BAR / most),
        median,
    )


def _bars(counts: NDArray[np.int64], base: float, unit: float) -> str:
    """The bars as one path; `unit` is the height of one, negative if they point up."""
    wide = (WIDTH - 2 * _MARGIN) / _BINS
    return "".join(
        f"M{_MARGIN + number * wide:.1f} {base:g}v{count * unit:.1f}h{wide - 0.6:.1f}V{base:g}z"
        for number, count in enumerate(counts.tolist())
        if count
    )


def _at(place: float) -> float:
    return round(_MARGIN + place * (WIDTH - 2 * _MARGIN), 1)


def _powers(low: float, high: float) -> list[float]:
    """Round numbers on a logarithmic axis: 1, 2, 5, 10, or only the powers of ten."""
    for factors in ((1, 2, 5), (1,)):
        powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
        found = [f * 10.0**power for power in powers for f in factors]
        found = [number for number in found if low <= number <= high]
        if len(found) <= _LABELS:
            return found
    return found[:: math.ceil(len(found) / _LABELS)]


def _steps(low: float, high: float) -> list[float]:
    """Round numbers at equal distances."""
    rough = (high - low) / (_LABELS - 1)
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(f * power for f in (1, 2, 5, 10) if f * power >= rough)
    first = math.ceil(low / step)
    return [n * step for n in range(first, math.floor(high / step) + 1)]
