"""Draw recordings and results with matplotlib: every sample, the line, and figures side by side.

Needs no notebook: a figure comes back, and `png` turns it into bytes. What each plot says in words
and as a table is in :mod:`labs.plots.picture`. Nothing is told by colour alone: each colour has a
marker or a dash of its own.
"""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator
from numpy.typing import NDArray

from labs.analysis.arrays import Floats
from labs.analysis.line import Line
from labs.common.units import NAMES, Clock, canonical, rounded
from labs.plots.series import spread
from labs.plots.style import (
    BLUE,
    CHARACTER,
    FAINT,
    FONT_PT,
    GREEN,
    INK,
    PURPLE,
    VERMILLION,
    head,
    log_axis,
    many,
    new_figure,
    plain,
    quiet_frame,
    room_at_left,
    room_at_right,
    symbol,
)
from labs.recording import declared
from labs.recording.file import Integers, Recording
from labs.results.result import Result, sensible


@dataclass(frozen=True)
class Mark:
    """A number to be drawn as a labelled line, in `unit`, and what to call it in the plot."""

    value: float
    unit: str
    name: str = "your prediction"

    def into(self, unit: str, clock: Clock) -> float:
        """The number in another unit. Raises ValueError where it cannot be turned into it."""
        return clock.convert(self.value, self.unit, unit)


def samples_figure(
    recording: Recording,
    variant: str,
    unit: str = "ns",
    prediction: Mark | None = None,
) -> Figure:
    """Every interval of `variant` as a point, in the order taken, on a logarithmic axis in `unit`.

    Warm-up samples, and cold ones where the first time is what is measured, have a colour and a
    marker of their own, batch sizes are named beside their
    points, and the prediction is a labelled line. Raises KeyError for an unknown variant,
    units.UnknownUnit, ValueError for core cycles where their length is not known.
    """
    unit = canonical(unit)
    index = recording.variants.index(variant) if variant in recording.variants else -1
    mine = recording.variant_index == index
    clock = recording.samples(variant).clock  # says so where there is no such variant
    lengths = recording.ticks[mine] / clock.ticks_in(unit)
    warm = recording.sample[mine] < 0
    first = cold_ones(recording, variant, recording.process[mine], recording.sample[mine]) & ~warm
    later = ~(warm | first)
    batch, process = recording.batch[mine], recording.process[mine]
    order = np.arange(len(lengths))
    predicted = prediction.into(unit, clock) if prediction else None

    figure, axes = new_figure(3.6, top=0.83, right=0.86)
    floor, ceiling = log_axis(axes, "y", lengths, predicted)
    shown = np.maximum(lengths, floor)
    axes.set_ylim(floor * 0.75, ceiling)
    axes.set_xlim(-0.012 * len(order), 1.012 * len(order))
    for start in np.flatnonzero(np.diff(process)):
        axes.axvline(start + 0.5, color=FAINT, linewidth=0.6, zorder=0)
    # A thousand points may be larger than ten thousand.
    steady_size = float(np.clip(2.3 * (8_000 / max(len(order), 1)) ** 0.25, 2.3, 3.4))
    for chosen, colour, alpha, marker, size in (
        (later, BLUE, 0.55, "o", steady_size),
        (warm | first, VERMILLION, 0.75, "^", 3.6 if warm.any() else 5.5),
    ):
        axes.plot(
            order[chosen], shown[chosen], color=colour, alpha=alpha, linestyle="none",
            marker=marker, markersize=size, markeredgewidth=0,
        )  # fmt: skip
    key = [(f"● {many(int((~warm).sum()), 'sample')}", BLUE)]
    if first.any():
        key.append(
            (f"▲ {int(first.sum()):,} of them cold: each the first of its process", VERMILLION)
        )
    if warm.any():
        key.append((f"▲ {int(warm.sum()):,} of warm-up, not counted", VERMILLION))
    if prediction is not None and predicted is not None:
        axes.axhline(max(predicted, floor), color=GREEN, linewidth=1.5, dashes=(6, 3))
        key.append(
            (f"╌ {prediction.name}: {plain(prediction.value)} {symbol(prediction.unit)}", GREEN)
        )
    _name_batches(figure, axes, batch[later], shown[later])
    processes = len(np.unique(process))
    axes.set_xlabel(
        f"intervals in the order taken ({many(processes, 'process')}"
        + (", parted by lines)" if processes > 1 else ")")
    )
    axes.set_ylabel(f"length of an interval\n({NAMES[unit]}, log axis)")
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    room_at_left(figure, axes)
    room_at_right(figure, axes)
    head(figure, f"{recording.kernel} {variant}: every interval", key)
    return figure


def cold_ones(
    recording: Recording, variant: str, process: Integers, sample: Integers
) -> NDArray[np.bool_]:
    """Which samples of `variant` are the first of their process, where only the first is cold.

    `process` and `sample` are theirs, shape (n,) as the answer; none is where all are alike.
    """
    cold = np.zeros(len(process), dtype=np.bool_)
    if declared.is_first_time(recording, variant):
        order = np.lexsort((sample, process))
        cold[order[np.flatnonzero(np.diff(process[order], prepend=-1))]] = True
    return cold


def line_figure(result: Result) -> Figure:
    """The line T(k) = overhead + k * cost of `result`, and below it what the points miss it by.

    Raises ValueError where no line could be fitted; the message says why.
    """
    line = result.line
    if line is None:
        raise ValueError(f"no line to draw: {result.no_figure}")
    per_unit = result.clock.ticks_in(result.unit)
    mean, error = line.location / per_unit, 2 * line.uncertainty / per_unit
    overhead, cost = line.overhead.value / per_unit, line.cost.value / per_unit
    figure, axes = new_figure(4.6, top=0.87, bottom=0.40, right=0.97)
    below = figure.add_axes((0.13, 0.11, 0.84, 0.20), sharex=axes)
    quiet_frame(below)

    reach = float(line.batch.max())
    ends = np.array([0.0, reach])
    axes.plot(ends, overhead + cost * ends, color=INK, linewidth=1.2, zorder=1)
    axes.plot(line.batch, mean, color=BLUE, linestyle="none", marker="o", markersize=6)
    axes.plot([0], [overhead], color=VERMILLION, linestyle="none", marker="D", markersize=6)
    key = [
        ("● mean of the steady samples", BLUE),
        (f"◆ overhead {rounded(overhead)} {symbol(result.unit)}", VERMILLION),
    ]
    if line.empty is not None:
        empty = line.empty.value / per_unit
        axes.plot(
            [0], [empty], color=PURPLE, linestyle="none", marker="s", markersize=9,
            markerfacecolor="none", markeredgewidth=1.4,
        )  # fmt: skip
        key.append((f"□ empty interval {rounded(empty)} {symbol(result.unit)}", PURPLE))
    axes.set_xlim(-0.03 * reach, 1.03 * reach)
    low, high = axes.get_ylim()
    axes.set_ylim(min(0.0, low), high)
    axes.set_ylabel(f"mean interval T(k)\n({NAMES[result.unit]})")
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: plain(round(value, 9))))
    axes.tick_params(labelbottom=False)

    below.axhline(0, color=INK, linewidth=1.2, zorder=1)
    below.errorbar(
        line.batch, line.residual / per_unit, yerr=error, color=BLUE, fmt="o", markersize=5,
        capsize=3, elinewidth=1.1,
    )  # fmt: skip
    most = float(np.max(np.abs(line.residual / per_unit) + error)) or 1.0
    below.set_ylim(-1.25 * most, 1.25 * most)
    below.yaxis.set_major_locator(MaxNLocator(nbins=3, symmetric=True))
    below.set_ylabel(f"off the line\n({NAMES[result.unit]})")
    below.set_xlabel("k: operations in an interval (bars: 2 standard errors)")
    below.xaxis.set_major_locator(FixedLocator([0, *_apart(line.batch, reach)]))
    below.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    room_at_left(figure, axes, below)
    head(
        figure,
        f"{result.recording.kernel} {result.variant}: {_line_in_words(line, result)}",
        key,
    )
    return figure


def estimates_figure(results: Sequence[Result], prediction: Mark | None = None) -> Figure:
    """The figures of several results with their 95 % intervals, one row each, on a log axis.

    All are shown in the unit of the first. A result without a figure, or below zero, keeps its row
    and says so. Raises ValueError where there is no result.
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
            text = f"{sensible(inside)[0]} ± {rounded(inside.half_width, 2)} {symbol(unit)}"
        else:
            text = "no figure" if result.estimate is None else "not above zero"
        axes.text(
            1.02, row, text, transform=axes.get_yaxis_transform(), va="center", fontsize=FONT_PT,
            color=INK if inside is not None else VERMILLION,
        )  # fmt: skip
    key = [("● figure", BLUE), ("━ its 95 % interval", BLUE)]
    if prediction is not None and predicted is not None:
        axes.axvline(max(predicted, floor), color=GREEN, linewidth=1.5, dashes=(6, 3))
        key.append(
            (f"╌ {prediction.name}: {plain(prediction.value)} {symbol(prediction.unit)}", GREEN)
        )
    room_at_right(figure, axes)
    axes.set_xlabel(f"{results[0].what} ({NAMES[unit]}, log axis)")
    head(figure, f"{results[0].recording.kernel}: {results[0].what} of each variant", key)
    return figure


def png(figure: Figure) -> bytes:
    """The figure as a PNG image, without anything in it that changes from run to run."""
    canvas = figure.canvas
    assert isinstance(canvas, FigureCanvasAgg), "made by new_figure"
    buffer = io.BytesIO()
    # Little compression: half the time of the default for a tenth more bytes.
    options = {"metadata": {"Software": None}, "pil_kwargs": {"compress_level": 2}}
    canvas.print_png(buffer, **options)  # type: ignore[no-untyped-call]
    return buffer.getvalue()


def warm_up() -> None:
    """Load fonts and code, so that the first plot is as quick as the next."""
    figure, axes = new_figure(2.0)
    log_axis(axes, "y", np.array([1.0, 100.0]), None)
    head(figure, "●▲╌ k = 0", [("0123456789", INK)])
    png(figure)


def _name_batches(figure: Figure, axes: Axes, batch: Floats, shown: Floats) -> None:
    """Name each batch size at the right, at the height of its points or less than a line off it;
    where names have no room so, near ones share one."""
    low, high = np.log10(axes.get_ylim())
    sizes = np.unique(batch).tolist()
    if not sizes:
        return
    heights = sorted(
        ((math.log10(float(np.median(shown[batch == k]))) - low) / (high - low), int(k))
        for k in sizes
    )
    # Less than this share of the axis, and one line of text touches the next.
    line = 1.03 * FONT_PT / 72 / (figure.get_figheight() * axes.get_position().height)
    moved = spread([height for height, _ in heights], line)
    groups: list[list[tuple[float, int]]]
    if all(abs(to - height) < 0.75 * line for to, (height, _) in zip(moved, heights, strict=True)):
        groups = [[(to, k)] for to, (_, k) in zip(moved, heights, strict=True)]
    else:
        groups = []
        for height, k in heights:
            if groups and height - groups[-1][-1][0] < line:
                groups[-1].append((height, k))
            else:
                groups.append([(height, k)])
    for group in groups:
        numbers = sorted(k for _, k in group)
        words = f"k = {numbers[0]:,}" + (f" to {numbers[-1]:,}" if len(numbers) > 1 else "")
        axes.text(
            1.01, sum(height for height, _ in group) / len(group), words,
            transform=axes.transAxes, va="center", fontsize=FONT_PT, color=INK,
        )  # fmt: skip


def _apart(places: Floats, reach: float) -> list[float]:
    """Those of `places` whose labels do not run into each other or into 0."""
    kept: list[float] = []
    for place in sorted(places.tolist(), reverse=True):
        if place > 0.05 * reach and (not kept or kept[-1] - place > 0.06 * reach):
            kept.append(place)
    return kept


def _line_in_words(line: Line, result: Result) -> str:
    per_unit = result.clock.ticks_in(result.unit)
    if not line.straight:
        return "the points are not on a line"
    overhead, cost = line.overhead.value / per_unit, line.cost.value / per_unit
    return f"T(k) = {rounded(overhead)} + {rounded(cost)} × k {symbol(result.unit)}"
