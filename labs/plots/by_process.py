"""The processes of a run one by one: what each gave, and which were set aside."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from labs.analysis.processes import SURE, ByProcess
from labs.common.table import Table
from labs.common.units import NAMES, rounded
from labs.plots import picture
from labs.plots.picture import Picture
from labs.plots.style import BLUE, FAINT, INK, QUIET, VERMILLION, head, many, new_figure, symbol
from labs.plots.style import room_at_left as make_room
from labs.results.result import Result, sensible


def of_result(result: Result) -> Picture:
    """The figure of each process with its own error, against the number of the process.

    Raises ValueError where the figure is not made from values of single processes.
    """
    if result.estimate is None:
        raise ValueError(result.no_figure)
    by = result.estimate.by_process
    if by is None:
        raise ValueError(f"{result.variant} has no figure for each single process")
    if len(result.recording.processes) < 2:
        raise ValueError("this run has one process only; measure with more (--processes 10)")
    return picture.drawn(_figure(result, by), *_in_words(result, by), _table(result, by))


def _aside(by: ByProcess) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Which processes are no part of the figure, because they differ; shape (processes,)."""
    aside: np.ndarray[tuple[int], np.dtype[np.bool_]] = ~by.chosen & (by.sure >= SURE)
    return aside


def _figure(result: Result, by: ByProcess) -> Figure:
    estimate, unit = result.estimate, result.unit
    assert estimate is not None  # of_result has looked
    figure, axes = new_figure(3.4)
    aside, numbers = _aside(by), by.process + 1
    axes.axhspan(estimate.low, estimate.high, color=BLUE, alpha=0.12, linewidth=0)
    axes.axhline(estimate.value, color=BLUE, linewidth=1.2)
    key = [(f"━ figure {sensible(estimate)[0]} {symbol(unit)}, band: 95 % interval", BLUE)]
    for which, colour, marker, words in (
        (~aside, INK, "o", "● process, bar: 2 standard errors of its own"),
        (aside, VERMILLION, "^", "▲ set aside"),
    ):
        if which.any():
            axes.errorbar(
                numbers[which], by.value[which], yerr=2 * by.error[which], color=colour,
                fmt=marker, markersize=5, elinewidth=1.0, capsize=2,
            )  # fmt: skip
            key.append((words, colour))
    every = len(result.recording.processes)
    without = np.setdiff1d(np.arange(1, every + 1), numbers)
    for number in without.tolist():
        axes.axvline(number, color=FAINT, linewidth=1.0, linestyle=":", zorder=0)
    if len(without):
        key.append((f"┊ {len(without)} without enough samples", QUIET))
    axes.set_xlim(0.4, every + 0.6)
    axes.xaxis.set_major_locator(MaxNLocator(nbins=12, integer=True, min_n_ticks=1))
    axes.set_xlabel("process, in the order run")
    axes.set_ylabel(f"{result.what}\n({NAMES[unit]})")
    make_room(figure, axes)
    head(figure, f"{result.recording.kernel} {result.variant}: each process by itself", key)
    return figure


def _in_words(result: Result, by: ByProcess) -> tuple[str, str]:
    sign, aside = symbol(result.unit), _aside(by)
    low, high = rounded(float(by.value.min()), 4), rounded(float(by.value.max()), 4)
    kind = (
        f"Dot plot of {result.recording.kernel} {result.variant}: the {result.what} that each of "
        f"{many(len(by.value), 'process')} gave, in {NAMES[result.unit]}, {low} to {high} {sign}, "
        "against the order in which they ran; the figure as a line, its 95 % interval as a band."
    )
    spread = 100 * float(by.value.std(ddof=1)) / abs(float(by.value.mean()))
    own = 100 * float(np.median(by.error)) / abs(float(by.value.mean()))
    meaning = (
        f"The processes differ by {rounded(spread, 2)} % (standard deviation); what a single one "
        f"does not know by itself is {rounded(own, 2)} %."
    )
    if aside.any():
        meaning += f" {many(int(aside.sum()), 'process')} set aside: a group of its own."
    without = len(result.recording.processes) - len(by.value)
    if without:
        meaning += f" {many(without, 'process')} had too few samples that count."
    return kind, meaning


def _table(result: Result, by: ByProcess) -> Table:
    places = result.recording.condition("stack.place")
    places = places if len(places) == len(result.recording.processes) else ()
    rows = []
    for number, value, error, aside in zip(
        by.process.tolist(), by.value.tolist(), by.error.tolist(), _aside(by).tolist(), strict=True
    ):
        place = places[number] if places else ""
        words = "set aside" if aside else ""
        rows.append((f"{number + 1}", rounded(value, 5), rounded(2 * error, 2), place, words))
    return Table(
        f"{result.recording.kernel} {result.variant}: {result.what} by process, in "
        f"{NAMES[result.unit]}",
        ("process", result.what, "2 standard errors", "place of the stack", "remark"),
        tuple(rows),
    ).without_empty()
