"""The plot of several figures side by side, with their 95 % intervals."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from labs.common.units import NAMES
from labs.plots.known_number import Mark
from labs.plots.style import (
    BLUE,
    CHARACTER,
    FAINT,
    FONT_PT,
    GREEN,
    INK,
    VERMILLION,
    log_axis,
    make_room_at_right,
    new_figure,
    symbol,
    title_and_key,
)
from labs.results.result import Result, with_ends


def estimates_figure(results: Sequence[Result], prediction: Mark | None = None) -> Figure:
    """The figures of several results with their 95 % intervals, one row each, on a log axis.

    All values are in the unit of the first result. A result keeps its row if it has no figure or a
    negative one, and the row says so. Raises ValueError if `results` is empty.
    """
    if not results:
        raise ValueError("nothing to compare")
    unit = results[0].unit
    known = [
        (row, result.estimate.into(unit, result.clock))
        for row, result in enumerate(results)
        if result.estimate is not None and result.estimate.value > 0
    ]
    longest = max(len(result.variant) for result in results)
    left = max(0.20, 0.025 + CHARACTER * longest)
    figure, axes = new_figure(1.35 + 0.38 * len(results), left=left, right=0.76)
    values = [value for _, e in known for value in (max(e.low, e.value / 10), e.high)]
    predicted = prediction.into(unit, results[0].clock) if prediction else None
    floor, ceiling = log_axis(axes, "x", np.array(values or [1.0]), predicted)
    axes.set_xlim(floor, ceiling)
    axes.set_ylim(len(results) - 0.5, -0.5)
    axes.set_yticks(range(len(results)), [result.variant for result in results])
    axes.tick_params(axis="y", length=0)
    for row, estimate in known:
        low = max(estimate.low, floor)
        axes.plot([low, estimate.high], [row, row], color=BLUE, linewidth=2.4, alpha=0.55)
        axes.plot([estimate.value], [row], color=BLUE, marker="o", markersize=6)
    rows = dict(known)
    for row, result in enumerate(results):
        axes.axhline(row, color=FAINT, linewidth=0.6, zorder=0)
        inside = rows.get(row)
        if inside is not None:
            text = with_ends(inside, symbol(unit))
        else:
            text = "no figure" if result.estimate is None else "not above zero"
        axes.text(
            1.02, row, text, transform=axes.get_yaxis_transform(), va="center", fontsize=FONT_PT,
            color=INK if inside is not None else VERMILLION,
        )  # fmt: skip
    key = [("● figure", BLUE), ("━ its 95 % interval", BLUE)]
    if prediction is not None and predicted is not None:
        axes.axvline(max(predicted, floor), color=GREEN, linewidth=1.5, dashes=(6, 3))
        key.append((prediction.key_text(), GREEN))
    make_room_at_right(figure, axes)
    axes.set_xlabel(f"{results[0].what} ({NAMES[unit]}, log axis)")
    title_and_key(figure, f"{results[0].recording.kernel}: {results[0].what} of each variant", key)
    return figure
