"""From cold to warm: how long the first time takes in a fresh process, the second, and so on."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes

from labs.analysis.arrays import Floats
from labs.common.table import Table
from labs.common.units import NAMES, rounded
from labs.plots import picture
from labs.plots.picture import Picture
from labs.plots.series import LOOKS, Across, Point, Series, Upwards, beside, series_figure
from labs.plots.style import many, symbol
from labs.recording.declared import is_first_time
from labs.results.result import Result
from labs.views.gather import Runs, one_unit, refused, runs_of

#: Which times are drawn: all of the first few, then ever fewer.
_TIMES = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256)

#: By variant: a row a process, a column a time.
_Lengths = dict[str, Floats]


def cold_to_warm(*runs: Runs | None) -> Picture:
    """The length of the n-th sample of each process against n: variants whose first is cold.

    Every process is a small point; the median over processes has the mark, the middle half of them
    the bar. In the unit of the first run. Raises Refused where no variant begins cold.
    """
    chosen, unit = one_unit(given := runs_of(runs), given[0].unit)
    results = [r for run in chosen for r in run.results if is_first_time(r.recording, r.variant)]
    if not results:
        kernels = ", ".join(sorted({run.recording.kernel for run in chosen}))
        raise refused(
            f"none of these samples of {kernels} is the first of its process",
            'Measure cold: lab.measure("first_iteration", "call", processes=20).',
        )
    if len(results) > len(LOOKS):
        raise refused(f"{len(results)} variants are too many to be told apart")
    lengths = {result.variant: _lengths(result) for result in results}
    times = [n for n in _TIMES if n <= max(each.shape[1] for each in lengths.values())]
    if not times:
        raise refused("there is no sample in these runs")
    series = [
        Series(name, tuple(_point(each, n) for n in times if n <= each.shape[1]), look)
        for (name, each), look in zip(lengths.items(), LOOKS, strict=False)
    ]

    def processes(axes: Axes) -> None:
        for place, (each, drawn) in enumerate(zip(lengths.values(), series, strict=True)):
            shown = [n for n in times if n <= each.shape[1]]
            x = np.repeat(np.array(shown) * beside(place, len(series)), len(each))
            y = np.concatenate([each[:, n - 1] for n in shown])
            axes.plot(
                x[y > 0], y[y > 0], linestyle="none", marker=".", markersize=5,
                markeredgewidth=0, color=drawn.look.colour, alpha=0.45, zorder=0,
            )  # fmt: skip

    name = " and ".join(dict.fromkeys(result.recording.kernel for result in results))
    try:
        figure = series_figure(
            [("", series)],
            Across(
                "n-th time in its process (log axis; dots: each process, bars: half of them)",
                tuple(map(float, times)),
                tuple(map(str, times)),
                log=True,
            ),
            Upwards(
                f"length of the sample\n({NAMES[unit]}, log axis)",
                log=True,
                reach=[
                    float(value) for each in lengths.values() for value in (each.max(), each.min())
                ],
            ),
            f"{name}: from cold to warm",
            [(f"{each.look.sign} {each.name}, median", each.look.colour) for each in series],
            more=processes,
        )
    except ValueError:
        raise refused("there is nothing to draw", "The clock's step hides all of it.") from None
    words = _in_words(lengths, times, name, unit)
    return picture.drawn(figure, *words, _table(lengths, times, name, unit))


def _lengths(result: Result) -> Floats:
    """The samples of each process in the order taken; as many as the shortest process has."""
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


def _in_words(lengths: _Lengths, times: Sequence[int], name: str, unit: str) -> tuple[str, str]:
    sign = symbol(unit)
    kind = (
        f"Line plot of {name}: the length of a sample in {NAMES[unit]} on a logarithmic axis, "
        f"against which time in its process it is, 1 to {times[-1]}; for {' and '.join(lengths)}, "
        f"from {many(max(len(each) for each in lengths.values()), 'process')}."
    )
    meaning = []
    for variant, each in lengths.items():
        middle = np.median(each, axis=0)
        words = f"{variant}: {rounded(middle[0])} {sign} the first time"
        if len(middle) > 1:
            later = float(np.median(each[:, 1:]))
            words += f", {rounded(middle[1])} {sign} the second, {rounded(later)} {sign} later on"
        meaning.append(f"{words} (medians over processes).")
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
