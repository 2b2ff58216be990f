"""The plot of the value of each process of a run."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from labs.analysis.estimates import ByProcess
from labs.html import Table
from labs.plots import picture, scale, style
from labs.plots.picture import Picture
from labs.results.modes import stack_effect
from labs.results.result import Result, sensible
from labs.units import NAMES, plural, rounded


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
    axes.axhspan(estimate.low, estimate.high, color=scale.BLUE, alpha=0.12, linewidth=0)
    axes.axhline(estimate.value, color=scale.BLUE, linewidth=1.2)
    key = [
        (f"━ figure {sensible(estimate)[0]} {scale.symbol(unit)}, band: 95 % interval", scale.BLUE)
    ]
    for which, colour, marker, words in (
        (~fast, scale.INK, "o", "● process, bar: 2 of its standard errors"),
        (fast, scale.GREEN, "s", f"■ its stack begins at byte {bytes_} of a cache line"),
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
        axes.axvline(number, color=scale.FAINT, linewidth=1.0, linestyle=":", zorder=0)
    if len(without):
        key.append((f"┊ {len(without)} without enough samples", scale.QUIET))
    axes.set_xlim(0.4, every + 0.6)
    axes.xaxis.set_major_locator(MaxNLocator(nbins=12, integer=True, min_n_ticks=1))
    axes.set_xlabel("process, in the order in which they ran")
    axes.yaxis.set_major_formatter(
        FuncFormatter(lambda value, _: scale.axis_number(round(value, 9)))
    )
    axes.set_ylabel(f"{result.what}\n({NAMES[unit]})")
    style.make_room_at_left(figure, axes)
    style.title_and_key(
        figure, f"{result.recording.kernel} {result.variant}: the value of each process", key
    )
    return figure


def _describe_by_process(result: Result, by: ByProcess) -> tuple[str, str]:
    sign = scale.symbol(result.unit)
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
