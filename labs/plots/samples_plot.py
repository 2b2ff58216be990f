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
from labs.plots.known_number import Mark
from labs.plots.labels import spread_out
from labs.plots.style import (
    BLUE,
    FAINT,
    FONT_PT,
    GREEN,
    INK,
    VERMILLION,
    log_axis,
    make_room_at_left,
    make_room_at_right,
    new_figure,
    plural,
    title_and_key,
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

    Warm-up samples have a colour and a marker of their own. So have cold samples, if the variant
    measures a first time. Labels at the right name the batch sizes, and the prediction is a
    labelled line. Raises KeyError for an unknown variant, units.UnknownUnit for an unknown unit,
    and ValueError if `unit` is core cycles and their length is not known.
    """
    unit = canonical(unit)
    clock = recording.samples(variant).clock  # raises KeyError for an unknown variant
    taken = _taken(recording, variant)
    lengths = taken.ticks / clock.ticks_in(unit)
    predicted = prediction.into(unit, clock) if prediction else None

    figure, axes = new_figure(3.7, right=0.86, bottom=0.75 / 3.7)
    floor, ceiling = log_axis(axes, "y", lengths, predicted)
    shown = np.maximum(lengths, floor)
    axes.set_ylim(floor * 0.75, ceiling)
    axes.set_xlim(-0.012 * len(shown), 1.012 * len(shown))
    _draw_points(axes, taken, shown)
    key = _key(taken)
    if prediction is not None and predicted is not None:
        axes.axhline(max(predicted, floor), color=GREEN, linewidth=1.5, dashes=(6, 3))
        key.append((prediction.key_text(), GREEN))
    _name_batches(figure, axes, taken.batch[taken.later], shown[taken.later])
    processes = len(np.unique(taken.process))
    axes.set_xlabel(
        f"samples in the order taken\n({plural(processes, 'process')}"
        + (", separated by lines)" if processes > 1 else ")")
    )
    axes.set_ylabel(f"length of a sample\n({NAMES[unit]}, log axis)")
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    make_room_at_left(figure, axes)
    make_room_at_right(figure, axes)
    title_and_key(figure, f"{recording.kernel} {variant}: every sample", key)
    return figure


@dataclass(frozen=True, eq=False)
class _Taken:
    """The samples of one variant in the order taken; each array has the shape (n,).

    `warm` samples belong to the warm-up; a `cold` sample is the first of its process.
    """

    ticks: Floats
    batch: Floats
    process: Integers
    warm: Bools
    cold: Bools

    @property
    def later(self) -> Bools:
        """The samples that are neither warm-up nor cold."""
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
        cold=is_cold(recording, variant, process, sample) & ~warm,
    )


def is_cold(
    recording: Recording, variant: str, process: Integers, sample: Integers
) -> NDArray[np.bool_]:
    """Which samples of `variant` are cold, shape (n,).

    If the variant measures a first time, these are the first samples of each process; else there
    are none. `process` and `sample` hold the numbers of the samples, shape (n,).
    """
    cold = np.zeros(len(process), dtype=np.bool_)
    if declared.is_first_time(recording, variant):
        order = np.lexsort((sample, process))
        cold[order[np.flatnonzero(np.diff(process[order], prepend=-1))]] = True
    return cold


def _draw_points(axes: Axes, taken: _Taken, shown: Floats) -> None:
    """Draw a point for each sample at the height `shown`, and a line between two processes."""
    order = np.arange(len(shown))
    between = np.flatnonzero(np.diff(taken.process)) + 0.5
    # One object for all lines: matplotlib takes milliseconds and 20 kB for each.
    axes.vlines(
        between, 0, 1, transform=axes.get_xaxis_transform(), color=FAINT, linewidth=0.6, zorder=0
    )
    # With fewer samples there is room for larger points.
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
    """The entries of the key: the meaning and number of each marker, with its colour."""
    cold, warm = int(taken.cold.sum()), int(taken.warm.sum())
    key = [(f"● {plural(int((~taken.warm).sum()), 'sample')}", BLUE)]
    if cold:
        key.append((f"▲ {cold:,} of them cold: each the first of its process", VERMILLION))
    if warm:
        key.append((f"▲ {warm:,} of warm-up, not counted", VERMILLION))
    return key


def _name_batches(figure: Figure, axes: Axes, batch: Floats, shown: Floats) -> None:
    """Name each batch size at the right, at most a line of text off the height of its points.

    If there is no room for this, neighbouring batch sizes share a name.
    """
    low, high = np.log10(axes.get_ylim())
    sizes = np.unique(batch).tolist()
    if not sizes:
        return
    heights = sorted(
        ((math.log10(float(np.median(shown[batch == k]))) - low) / (high - low), int(k))
        for k in sizes
    )
    # Two labels touch if their distance is less than this share of the axis.
    line = 1.03 * FONT_PT / 72 / (figure.get_figheight() * axes.get_position().height)
    moved = spread_out([height for height, _ in heights], line)
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
