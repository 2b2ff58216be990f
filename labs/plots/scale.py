"""Colours, numbers on axes, and where labels go: what every plot shares, whatever draws it.

Nothing here draws, or loads a library that draws. The colours follow Okabe and Ito ("Color
Universal Design", 2008); some are darker, so that text in them has enough contrast on white and on
black.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from labs.analysis.confidence import Floats
from labs.units import canonical, fixed, unit_symbol

BLUE, VERMILLION, GREEN, PURPLE = "#0072B2", "#C44E00", "#007A5A", "#AA3377"
OCHRE = "#9A6700"
INK, QUIET, FAINT = "#1A1A1A", "#595959", "#D9D9D9"


Dash = str | tuple[int, tuple[int, ...]]


@dataclass(frozen=True)
class Look:
    """Colour, marker and dash of a series: each of them alone distinguishes it from the others.

    `sign` is the marker as a character for texts.
    """

    colour: str
    marker: str
    sign: str
    dash: Dash


LOOKS = (
    Look(BLUE, "o", "●", "-"),
    Look(VERMILLION, "^", "▲", (0, (5, 2))),
    Look(GREEN, "s", "■", (0, (2, 1))),
    Look(PURPLE, "D", "◆", (0, (7, 2, 1, 2))),
    Look(OCHRE, "v", "▼", (0, (4, 1, 1, 1, 1, 1))),
    Look(INK, "P", "✚", (0, (1, 2))),
)

#: An axis is logarithmic if the largest value is at least this many times the smallest.
LOG_FROM = 6.0


@dataclass(frozen=True)
class LogEnds:
    """The ends of a logarithmic axis. `floor` stands for 0 if there are `zeros`.

    Its numbers begin at `lowest`, which is the floor or, with zeros, the least value above 0.
    """

    floor: float
    ceiling: float
    lowest: float
    zeros: bool

    def labels(self) -> dict[float, str]:
        """The numbers of the axis, by their places."""
        places = _round_numbers(self.lowest, self.ceiling)
        labels = {place: axis_number(place) for place in places}
        if self.zeros:
            labels[self.floor] = "0"
        return labels


def log_ends(values: Floats, predicted: float | None = None) -> LogEnds:
    """The ends of a logarithmic axis on which all `values` and the `predicted` one fit.

    A logarithmic axis has no zero. A coarse clock gives values of 0: draw them at the lower end.
    """
    above = values[values > 0]
    if predicted is not None and predicted > 0:
        above = np.append(above, predicted)
    least, most = (float(above.min()), float(above.max())) if len(above) else (1.0, 10.0)
    zeros = bool((values == 0).any())
    floor = least / 3 if zeros else least / 1.4
    ceiling = max(most * 1.4, floor * 4)
    return LogEnds(floor, ceiling, least if zeros else floor, zeros)


def _round_numbers(low: float, high: float) -> list[float]:
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
    shown = fixed(value, 0) if abs(value) >= 1000 else f"{value + 0.0:g}"
    return shown.replace("-", "\N{MINUS SIGN}", 1) if value < 0 else shown


def symbol(unit: str) -> str:
    """The unit as a text shows it after a number."""
    return unit_symbol(canonical(unit))


def spread_out(heights: Sequence[float], apart: float) -> list[float]:
    """Move ascending `heights` as little as possible, until neighbours are at least `apart`."""
    groups: list[list[float]] = []  # for each: the sum of its members' wished places, their count
    for height in heights:
        groups.append([height, 1.0])
        while len(groups) > 1 and _touch(groups[-2], groups[-1], apart):
            wish, count = groups.pop()
            before = groups[-1]
            # The wishes of the later members, converted to the place of the first member.
            before[0] += wish - count * before[1] * apart
            before[1] += count
    placed = []
    for wish, count in groups:
        placed += [wish / count + number * apart for number in range(int(count))]
    return placed


def _touch(lower: list[float], upper: list[float], apart: float) -> bool:
    return upper[0] / upper[1] - (lower[0] / lower[1] + (lower[1] - 1) * apart) < apart
