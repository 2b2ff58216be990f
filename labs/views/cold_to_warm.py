"""The view from cold to warm: how long the first sample of a fresh process takes, and the next."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
from matplotlib.axes import Axes

from labs.analysis.arrays import Floats
from labs.common.table import Table
from labs.common.units import NAMES, plural, rounded
from labs.plots import picture
from labs.plots.picture import Picture
from labs.plots.series import LOOKS, Point, Series, XAxis, YAxis, series_figure
from labs.plots.style import QUIET, symbol
from labs.recording.declared import is_first_time
from labs.results.result import Result
from labs.views.gather import Runs, in_one_unit, refused, runs_of, with_notes

#: The numbers of the samples that are drawn, counted from 1 in each process.
_TIMES = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256)

#: Lengths of samples by variant: a row for each process, and a column for each sample.
_Lengths = dict[str, Floats]


@with_notes
def cold_to_warm(*runs: Runs | None) -> Picture:
    """The length of the n-th sample of each process against n, for variants whose first is cold.

    A small point is one process, a marker is the median over processes, and a bar holds the middle
    half of them. The unit is that of the first run. Raises Refused if no variant begins cold, if
    there are too many variants for one plot, or if there is nothing to draw.
    """
    every_run = runs_of(runs)
    chosen, unit = in_one_unit(every_run, every_run[0].unit)
    results = [r for run in chosen for r in run.results if is_first_time(r.recording, r.variant)]
    if not results:
        kernels = ", ".join(sorted({run.recording.kernel for run in chosen}))
        raise refused(
            "views.cold_to_warm shows variants whose first sample is cold; this run of "
            f"{kernels} has none",
            'Measure one: lab.measure("first_iteration", "call", processes=20).',
        )
    if len(results) > len(LOOKS):
        raise refused(f"one plot can show at most {len(LOOKS)} variants, not {len(results)}")
    lengths = {result.variant: _lengths(result) for result in results}
    times = [n for n in _TIMES if n <= max(each.shape[1] for each in lengths.values())]
    if not times:
        raise refused("there is no sample in these runs")
    series = [
        Series(name, tuple(_point(each, n) for n in times if n <= each.shape[1]), look)
        for (name, each), look in zip(lengths.items(), LOOKS, strict=False)
    ]

    name = " and ".join(dict.fromkeys(result.recording.kernel for result in results))
    try:
        figure = series_figure(
            [("", series)],
            XAxis(
                "n-th sample in its process (log axis)",
                tuple(map(float, times)),
                tuple(map(str, times)),
                log=True,
            ),
            YAxis(
                f"length of the sample\n({NAMES[unit]}, log axis)",
                log=True,
                reach=[
                    float(value) for each in lengths.values() for value in (each.max(), each.min())
                ],
            ),
            f"{name}: from cold to warm",
            [(f"{each.look.sign} {each.name}, median", each.look.colour) for each in series]
            + [("small dots: processes, bars: the middle half of them", QUIET)],
            more=partial(_draw_processes, lengths=lengths, series=series, times=times),
        )
    except ValueError:
        raise refused(
            "there is nothing to draw", "All samples are shorter than the step of the clock."
        ) from None
    words = _describe(lengths, times, name, unit)
    drawn = picture.make_picture(figure, *words, _table(lengths, times, name, unit))
    return drawn.with_remarks(results)


def _draw_processes(
    axes: Axes, lengths: _Lengths, series: Sequence[Series], times: Sequence[int]
) -> None:
    """Draw a small point for each sample of `times` in each process."""
    for each, drawn in zip(lengths.values(), series, strict=True):
        shown = [n for n in times if n <= each.shape[1]]
        x = np.repeat(np.array(shown), len(each))
        y = np.concatenate([each[:, n - 1] for n in shown])
        axes.plot(
            x[y > 0], y[y > 0], linestyle="none", marker=".", markersize=5,
            markeredgewidth=0, color=drawn.look.colour, alpha=0.45, zorder=0,
        )  # fmt: skip


def _lengths(result: Result) -> Floats:
    """The samples of each process in the order taken, shape (processes, samples).

    Each process gives as many as the process with the fewest has. The unit is that of `result`.
    """
    samples = result.recording.samples(result.variant)
    rows = []
    for process in np.unique(samples.process):
        mine = samples.process == process
        rows.append(samples.ticks[mine][np.argsort(samples.sample[mine])])
    shortest = min((len(row) for row in rows), default=0)
    table = np.array([row[:shortest] for row in rows], dtype=np.float64)
    return table.reshape(len(rows), shortest) / result.clock.ticks_in(result.unit)


def _point(lengths: Floats, n: int) -> Point:
    low, middle, high = np.percentile(lengths[:, n - 1], [25, 50, 75]).tolist()
    return Point(float(n), middle, low, high)


def _describe(lengths: _Lengths, times: Sequence[int], name: str, unit: str) -> tuple[str, str]:
    sign = symbol(unit)
    kind = (
        f"Line plot of {name}: the length of a sample in {NAMES[unit]} on a logarithmic axis, "
        f"against its number in its process, 1 to {times[-1]}; for {' and '.join(lengths)}, "
        f"from {plural(max(len(each) for each in lengths.values()), 'process')}."
    )
    meaning = []
    for variant, each in lengths.items():
        middle = np.median(each, axis=0)
        once = f"{rounded(middle[0])} {sign}"
        if len(middle) == 1:
            meaning.append(f"Medians over processes: {variant} takes {once} the first time.")
            continue
        again, later = (
            f"{rounded(float(value))} {sign}" for value in (middle[1], np.median(each[:, 1:]))
        )
        meaning.append(
            f"Medians over processes: {variant} takes {once} the first time, {again} the second, "
            f"and {later} later on."
        )
    return kind, " ".join(meaning)


def _table(lengths: _Lengths, times: Sequence[int], name: str, unit: str) -> Table:
    rows = []
    for variant, each in lengths.items():
        for n in times:
            if n > each.shape[1]:
                continue
            shown = _point(each, n)
            numbers = (rounded(value) for value in (shown.value, shown.low, shown.high))
            rows.append((str(n), variant, *numbers, f"{len(each)}"))
    return Table(
        f"{name}: length of the sample in {NAMES[unit]}",
        ("n-th time", "variant", "median", "lower quartile", "upper quartile", "processes"),
        tuple(rows),
    )
