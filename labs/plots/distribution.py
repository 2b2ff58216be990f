"""Plots of how samples differ: the distribution of all, and the value of each process.

The distribution shows, for each length x, the share of samples that are at most x long.
"""

from __future__ import annotations

import math

import matplotlib.patheffects as effects
import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator

from labs.analysis.estimates import ByProcess, Floats
from labs.html import Table
from labs.plots import picture, style
from labs.plots.intervals import LOOKS
from labs.plots.picture import Picture
from labs.recording.file import Recording
from labs.results.modes import stack_effect
from labs.results.result import Result, sensible
from labs.units import NAMES, canonical, plural, rounded


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
        picture.samples_table(recording, variant, unit),
    )


def _figure(by_size: dict[int, Floats], unit: str, title: str) -> Figure:
    figure, axes = style.new_figure(3.7, left=0.14, right=0.97)
    floor, ceiling = style.log_axis(axes, "x", np.concatenate(list(by_size.values())), None)
    axes.set_xlim(floor * 0.9, ceiling)
    axes.set_ylim(0, 1.02)
    axes.yaxis.set_major_locator(FixedLocator([0, 0.25, 0.5, 0.75, 1]))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda share, _: f"{100 * share:.0f} %"))
    axes.axhline(0.5, color=style.FAINT, linewidth=0.8, zorder=0)
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
        left = across + style.CHARACTER * (len(words) + 1) / axes.get_position().width > 1
        axes.annotate(
            words, (x, height), (-6 if left else 6, 0), textcoords="offset points", va="center",
            ha="right" if left else "left", fontsize=style.FONT_PT, color=look.colour,
            path_effects=[effects.withStroke(linewidth=3, foreground="white")],
        )  # fmt: skip
    axes.set_ylabel("share of samples\nno longer than this")
    axes.set_xlabel(f"length of a sample ({NAMES[unit]}, log axis)")
    style.make_room_at_left(figure, axes)
    samples = sum(map(len, by_size.values()))
    key = f"{plural(samples, 'sample')}, one line for each k, which reaches 50 % at its median"
    style.title_and_key(figure, title, [(key, style.QUIET)])
    return figure


def _describe(
    recording: Recording, variant: str, by_size: dict[int, Floats], unit: str
) -> tuple[str, str]:
    sign, samples = style.symbol(unit), sum(map(len, by_size.values()))
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


def by_process_picture(result: Result) -> Picture:
    """The plot of each process's value with its own error, in the order in which they ran.

    Values are in the unit of `result`. Raises ValueError if there is no figure, if the figure is
    not made from values of single processes, or if the run has one process only.
    """
    if result.estimate is None:
        raise ValueError(result.no_figure)
    by = result.estimate.by_process
    if by is None:
        raise ValueError(f"{result.variant} has no figure for each single process")
    if len(result.recording.processes) < 2:
        raise ValueError("this run has one process only; measure again with 10")
    return picture.make_picture(
        _by_process_figure(result, by),
        *_describe_by_process(result, by),
        _by_process_table(result, by),
    )


def _by_process_figure(result: Result, by: ByProcess) -> Figure:
    estimate, unit = result.estimate, result.unit
    assert estimate is not None  # picture_of has checked this
    figure, axes = style.new_figure(3.4)
    numbers, effect = by.process + 1, stack_effect(result.recording, by)
    fast = np.zeros(len(numbers), dtype=np.bool_)
    if effect is not None:
        fast = ~np.isin(by.process, effect.slowed)
    bytes_ = "" if effect is None else effect.fast_bytes()
    axes.axhspan(estimate.low, estimate.high, color=style.BLUE, alpha=0.12, linewidth=0)
    axes.axhline(estimate.value, color=style.BLUE, linewidth=1.2)
    key = [
        (f"━ figure {sensible(estimate)[0]} {style.symbol(unit)}, band: 95 % interval", style.BLUE)
    ]
    for which, colour, marker, words in (
        (~fast, style.INK, "o", "● process, bar: 2 of its standard errors"),
        (fast, style.GREEN, "s", f"■ its stack begins at byte {bytes_} of a cache line"),
    ):
        if which.any():
            axes.errorbar(
                numbers[which], by.value[which], yerr=2 * by.error[which], color=colour,
                fmt=marker, markersize=style.POINT_PT, elinewidth=style.BAR_PT,
                capsize=style.CAP_PT,
            )  # fmt: skip
            key.append((words, colour))
    every = len(result.recording.processes)
    without = np.setdiff1d(np.arange(1, every + 1), numbers)
    for number in without.tolist():
        axes.axvline(number, color=style.FAINT, linewidth=1.0, linestyle=":", zorder=0)
    if len(without):
        key.append((f"┊ {len(without)} without enough samples", style.QUIET))
    axes.set_xlim(0.4, every + 0.6)
    axes.xaxis.set_major_locator(MaxNLocator(nbins=12, integer=True, min_n_ticks=1))
    axes.set_xlabel("process, in the order in which they ran")
    axes.yaxis.set_major_formatter(
        FuncFormatter(lambda value, _: style.axis_number(round(value, 9)))
    )
    axes.set_ylabel(f"{result.what}\n({NAMES[unit]})")
    style.make_room_at_left(figure, axes)
    style.title_and_key(
        figure, f"{result.recording.kernel} {result.variant}: the value of each process", key
    )
    return figure


def _describe_by_process(result: Result, by: ByProcess) -> tuple[str, str]:
    sign = style.symbol(result.unit)
    low, high = rounded(float(by.value.min()), 4), rounded(float(by.value.max()), 4)
    kind = (
        f"Dot plot of {result.recording.kernel} {result.variant}: the {result.what} that each of "
        f"{plural(len(by.value), 'process')} gives, in {NAMES[result.unit]}, from {low} to {high} "
        f"{sign}, in the order in which they ran. A line shows the figure, and a band shows its "
        "95 % interval."
    )
    spread = 100 * float(by.value.std(ddof=1)) / abs(float(by.value.mean()))
    own = 100 * float(np.median(by.error)) / abs(float(by.value.mean()))
    meaning = (
        f"The processes differ by {rounded(spread, 2)} % (standard deviation). The standard error "
        f"of a single process is {rounded(own, 2)} %."
    )
    said = [meaning]
    effect = stack_effect(result.recording, by)
    if effect is not None:
        factor, slow, fast = rounded(effect.factor), effect.slow_bytes(), effect.fast_bytes()
        said.append(
            "The place of the stack decides: if it begins at byte "
            f"{slow} of a cache line, the {result.what} is {factor} times that at byte {fast}."
        )
    without = len(result.recording.processes) - len(by.value)
    if without:
        said.append(f"{plural(without, 'process')} had too few undisturbed samples.")
    return kind, " ".join(said)


def _by_process_table(result: Result, by: ByProcess) -> Table:
    places = result.recording.condition("stack.place")
    places = places if len(places) == len(result.recording.processes) else ()
    rows = []
    for number, value, error in zip(
        by.process.tolist(), by.value.tolist(), by.error.tolist(), strict=True
    ):
        place = places[number] if places else ""
        rows.append((f"{number + 1}", rounded(value, 5), rounded(2 * error, 2), place))
    return Table(
        f"{result.recording.kernel} {result.variant}: {result.what} by process, in "
        f"{NAMES[result.unit]}",
        ("process", result.what, "2 standard errors", "place of the stack"),
        tuple(rows),
    ).without_empty()
