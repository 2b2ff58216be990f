"""The plot of every sample of a variant, in the order taken."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter
from numpy.typing import NDArray

from labs.analysis.arrays import Bools, Floats
from labs.common.units import NAMES, canonical
from labs.plots.mark import Mark
from labs.plots.series import spread
from labs.plots.style import (
    BLUE,
    FAINT,
    FONT_PT,
    GREEN,
    INK,
    VERMILLION,
    head,
    log_axis,
    many,
    new_figure,
    room_at_left,
    room_at_right,
)
from labs.recording import declared
from labs.recording.file import Integers, Recording


def samples_figure(
    recording: Recording,
    variant: str,
    unit: str = "ns",
    prediction: Mark | None = None,
) -> Figure:
    """Every sample of `variant` as a point, in the order taken, on a logarithmic axis in `unit`.

    Warm-up samples, and cold ones where the first time is what is measured, have a colour and a
    marker of their own. Batch sizes are named beside their points, and the prediction is a labelled
    line. Raises KeyError for an unknown variant, units.UnknownUnit, ValueError for core cycles
    where their length is not known.
    """
    unit = canonical(unit)
    clock = recording.samples(variant).clock  # says so where there is no such variant
    taken = _taken(recording, variant)
    lengths = taken.ticks / clock.ticks_in(unit)
    predicted = prediction.into(unit, clock) if prediction else None

    figure, axes = new_figure(3.6, top=0.83, right=0.86)
    floor, ceiling = log_axis(axes, "y", lengths, predicted)
    shown = np.maximum(lengths, floor)
    axes.set_ylim(floor * 0.75, ceiling)
    axes.set_xlim(-0.012 * len(shown), 1.012 * len(shown))
    _draw_points(axes, taken, shown)
    key = _key(taken)
    if prediction is not None and predicted is not None:
        axes.axhline(max(predicted, floor), color=GREEN, linewidth=1.5, dashes=(6, 3))
        key.append((prediction.in_key(), GREEN))
    _name_batches(figure, axes, taken.batch[taken.later], shown[taken.later])
    processes = len(np.unique(taken.process))
    axes.set_xlabel(
        f"samples in the order taken ({many(processes, 'process')}"
        + (", separated by lines)" if processes > 1 else ")")
    )
    axes.set_ylabel(f"length of a sample\n({NAMES[unit]}, log axis)")
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    room_at_left(figure, axes)
    room_at_right(figure, axes)
    head(figure, f"{recording.kernel} {variant}: every sample", key)
    return figure


@dataclass(frozen=True, eq=False)
class _Taken:
    """The samples of one variant in the order taken, each array of shape (n,): which are `warm`,
    of the warm-up, and which are `cold`, the first of their process."""

    ticks: Floats
    batch: Floats
    process: Integers
    warm: Bools
    cold: Bools

    @property
    def later(self) -> Bools:
        """Those that are neither."""
        return ~(self.warm | self.cold)


def _taken(recording: Recording, variant: str) -> _Taken:
    mine = recording.variant_index == recording.variants.index(variant)
    process, sample = recording.process[mine], recording.sample[mine]
    warm = sample < 0
    return _Taken(
        ticks=recording.ticks[mine],
        batch=recording.batch[mine],
        process=process,
        warm=warm,
        cold=cold_ones(recording, variant, process, sample) & ~warm,
    )


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


def _draw_points(axes: Axes, taken: _Taken, shown: Floats) -> None:
    """A point for each sample at the height `shown`, and a line between two processes."""
    order = np.arange(len(shown))
    between = np.flatnonzero(np.diff(taken.process)) + 0.5
    # One object for all lines: matplotlib takes milliseconds and 20 kB for each.
    axes.vlines(
        between, 0, 1, transform=axes.get_xaxis_transform(), color=FAINT, linewidth=0.6, zorder=0
    )
    # A thousand points may be larger than ten thousand.
    steady_size = float(np.clip(2.3 * (8_000 / max(len(order), 1)) ** 0.25, 2.3, 3.4))
    for chosen, colour, alpha, marker, size in (
        (taken.later, BLUE, 0.55, "o", steady_size),
        (~taken.later, VERMILLION, 0.75, "^", 3.6 if taken.warm.any() else 5.5),
    ):
        axes.plot(
            order[chosen], shown[chosen], color=colour, alpha=alpha, linestyle="none",
            marker=marker, markersize=size, markeredgewidth=0,
        )  # fmt: skip


def _key(taken: _Taken) -> list[tuple[str, str]]:
    """What the markers mean and how many there are, each with its colour."""
    cold, warm = int(taken.cold.sum()), int(taken.warm.sum())
    key = [(f"● {many(int((~taken.warm).sum()), 'sample')}", BLUE)]
    if cold:
        key.append((f"▲ {cold:,} of them cold: each the first of its process", VERMILLION))
    if warm:
        key.append((f"▲ {warm:,} of warm-up, not counted", VERMILLION))
    return key


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
