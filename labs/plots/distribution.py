"""Plot of the distribution of a variant's samples: the share of them that is at most x long."""

from __future__ import annotations

import math

import matplotlib.patheffects as effects
import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter

from labs.analysis.arrays import Floats
from labs.common.units import NAMES, canonical, plural, rounded
from labs.languages.words import label
from labs.plots import picture, tables
from labs.plots.picture import Picture
from labs.plots.series import LOOKS
from labs.plots.style import (
    CHARACTER,
    FAINT,
    FONT_PT,
    QUIET,
    log_axis,
    make_room_at_left,
    new_figure,
    symbol,
    title_and_key,
)
from labs.recording.file import Recording


def picture_of(recording: Recording, variant: str, unit: str = "ns") -> Picture:
    """The empirical distribution function (ECDF) of the samples at each batch size, in `unit`.

    Warm-up samples are left out. Raises KeyError for an unknown variant, units.UnknownUnit for an
    unknown unit, and ValueError if `unit` is core cycles and their length is not known, or if there
    is no sample after the warm-up.
    """
    unit = canonical(unit)
    steady = recording.samples(variant)
    if not len(steady):
        raise ValueError("there is no sample after the warm-up")
    lengths = steady.ticks / steady.clock.ticks_in(unit)
    by_size = {k: np.sort(lengths[steady.batch == k]) for k in np.unique(steady.batch).tolist()}
    title = f"{recording.kernel} {variant}: how long the samples are"
    return picture.make_picture(
        _figure(by_size, unit, title),
        *_describe(recording, variant, by_size, unit),
        tables.samples_table(recording, variant, unit),
    )


def _figure(by_size: dict[int, Floats], unit: str, title: str) -> Figure:
    figure, axes = new_figure(3.7, left=0.14, right=0.97)
    floor, ceiling = log_axis(axes, "x", np.concatenate(list(by_size.values())), None)
    axes.set_xlim(floor * 0.9, ceiling)
    axes.set_ylim(0, 1.02)
    axes.yaxis.set_major_locator(FixedLocator([0, 0.25, 0.5, 0.75, 1]))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda share, _: f"{100 * share:.0f} %"))
    axes.axhline(0.5, color=FAINT, linewidth=0.8, zorder=0)
    for number, (k, values) in enumerate(by_size.items()):
        look = LOOKS[number % len(LOOKS)]
        # With more lines than colours, a colour comes again with another dash.
        dash = LOOKS[(number + number // len(LOOKS)) % len(LOOKS)].dash
        share = np.arange(1, len(values) + 1) / len(values)
        shown = np.maximum(values, floor)
        axes.plot(
            np.append(shown[0], shown), np.append(0.0, share), drawstyle="steps-post",
            color=look.colour, linestyle=dash, linewidth=1.5,
        )  # fmt: skip
        # Each label has a height of its own, so that labels of neighbouring curves do not overlap.
        height = 0.06 + 0.86 * (number + 0.5) / len(by_size)
        x = shown[min(int(height * len(values)), len(values) - 1)]
        words = f"k = {k:,}"
        # At the right end of the axis there is room only at the left of a curve.
        across = math.log(x / floor) / math.log(ceiling / floor)
        left = across + CHARACTER * (len(words) + 1) / axes.get_position().width > 1
        axes.annotate(
            words, (x, height), (-6 if left else 6, 0), textcoords="offset points", va="center",
            ha="right" if left else "left", fontsize=FONT_PT, color=look.colour,
            path_effects=[effects.withStroke(linewidth=3, foreground="white")],
        )  # fmt: skip
    axes.set_ylabel(label("share of samples\nno longer than this"))
    axes.set_xlabel(label(f"length of a sample ({NAMES[unit]}, log axis)"))
    make_room_at_left(figure, axes)
    samples = sum(map(len, by_size.values()))
    key = f"{plural(samples, 'sample')}, one line for each k, which reaches 50 % at its median"
    title_and_key(figure, title, [(key, QUIET)])
    return figure


def _describe(
    recording: Recording, variant: str, by_size: dict[int, Floats], unit: str
) -> tuple[str, str]:
    sign, samples = symbol(unit), sum(map(len, by_size.values()))
    least = min(values[0] for values in by_size.values())
    most = max(values[-1] for values in by_size.values())
    sizes = ", ".join(f"{k:,}" for k in by_size)
    kind = (
        f"Distribution of {recording.kernel} {variant} (ECDF): the share of {samples:,} samples "
        f"that are at most as long as a length in {NAMES[unit]}, from {rounded(least)} to "
        f"{rounded(most)} {sign} on a logarithmic axis. Each line is for one k, the number of "
        f"operations in a sample: {sizes}."
    )
    meaning = []
    chosen = list(by_size.items())
    for k, values in dict([chosen[0], chosen[-1]]).items():
        low, middle, high, far = np.percentile(values, [5, 50, 95, 99])
        meaning.append(
            f"At k = {k:,} half of the samples are no longer than {rounded(middle)} {sign}, 90 % "
            f"lie from {rounded(low)} to {rounded(high)} {sign}, and 1 % are longer than "
            f"{rounded(far)} {sign}."
        )
    return kind, " ".join(meaning)
