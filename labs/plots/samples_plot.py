"""The plot of every sample of a variant, in the order taken."""

from __future__ import annotations

import math

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from labs.analysis.arrays import Floats
from labs.common.units import canonical
from labs.languages.words import label
from labs.plots.known_number import Mark
from labs.plots.labels import numbers_apart
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
    title_and_key,
)
from labs.plots.taken import (
    Taken,
    axis_names,
    batch_names,
    key_of,
    medians_of,
    operations_marked,
    taken_of,
)
from labs.recording.file import Integers, Recording


def samples_figure(
    recording: Recording,
    variant: str,
    unit: str = "ns",
    prediction: Mark | None = None,
) -> Figure:
    """Every sample of `variant` as a point, in the order taken, on a logarithmic axis in `unit`.

    Warm-up samples have a colour and a marker of their own. So have cold samples, if the variant
    measures a first time. Labels at the right name the batch sizes. The prediction is a labelled
    line: that of a cost is multiplied by the operations of the shortest samples.

    Raises KeyError for an unknown variant, units.UnknownUnit for an unknown unit, and ValueError if
    `unit` is core cycles and their length is not known.
    """
    unit = canonical(unit)
    clock = recording.samples(variant).clock  # raises KeyError for an unknown variant
    taken = taken_of(recording, variant)
    lengths = taken.ticks / clock.ticks_in(unit)
    k = operations_marked(recording, variant)
    predicted = k * prediction.into(unit, clock) if prediction else None

    figure, axes = new_figure(3.7, right=0.86, bottom=0.75 / 3.7)
    floor, ceiling = log_axis(axes, "y", lengths, predicted)
    shown = np.maximum(lengths, floor)
    axes.set_ylim(floor * 0.75, ceiling)
    axes.set_xlim(-0.012 * len(shown), 1.012 * len(shown))
    _draw_points(axes, taken, shown)
    key = key_of(taken)
    if prediction is not None and predicted is not None:
        axes.axhline(max(predicted, floor), color=GREEN, linewidth=1.5, dashes=(6, 3))
        key.append((prediction.key_text(k), GREEN))
    _name_batches(figure, axes, taken.batch[taken.later], shown[taken.later])
    below, beside = axis_names(taken, unit)
    axes.set_xlabel(label(below))
    axes.set_ylabel(label(beside))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    make_room_at_left(figure, axes)
    make_room_at_right(figure, axes)
    numbers_apart(axes)
    title_and_key(figure, f"{recording.kernel} {variant}: every sample", key)
    return figure


def _draw_points(axes: Axes, taken: Taken, shown: Floats) -> None:
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


def _name_batches(figure: Figure, axes: Axes, batch: Integers, shown: Floats) -> None:
    """Name each batch size at the right, at most a line of text off the height of its points.

    If there is no room for this, neighbouring batch sizes share a name.
    """
    low, high = np.log10(axes.get_ylim())
    medians = medians_of(batch, shown)
    heights = {k: (math.log10(middle) - low) / (high - low) for k, middle in medians.items()}
    # Two labels touch if their distance is less than this share of the axis.
    line = 1.03 * FONT_PT / 72 / (figure.get_figheight() * axes.get_position().height)
    for height, words, _ in batch_names(heights, line):
        axes.text(
            1.01, height, label(words), transform=axes.transAxes, va="center", fontsize=FONT_PT,
            color=INK,
        )  # fmt: skip
