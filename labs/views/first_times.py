"""Views of first calls: from cold to warm, the causes of their cost, and page faults."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from matplotlib.axes import Axes

from labs.analysis.confidence import Floats
from labs.html import Table
from labs.messages import refused
from labs.notebook.broken_pair import Pair
from labs.notebook.run import Run
from labs.plots import picture
from labs.plots.intervals import Point, Series, XAxis, YAxis, series_figure
from labs.plots.picture import Picture
from labs.plots.scale import LOOKS, QUIET, symbol
from labs.recording.counts import page_faults_of
from labs.recording.declared import is_first_time
from labs.results.result import Result
from labs.units import NAMES, plural, rounded
from labs.views import gather

#: The numbers of the samples that are drawn, counted from 1 in each process.
_TIMES = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256)

#: Lengths of samples by variant: a row for each process, and a column for each sample.
_Lengths = dict[str, Floats]


@gather.with_notes
def cold_to_warm(*runs: gather.Runs | None) -> Picture:
    """The length of the n-th sample of each process against n, for variants whose first is cold.

    A small point is one process, a marker is the median over processes, and a bar holds the middle
    half of them. The unit is that of the first run. Raises Refused if no variant begins cold, if
    there are too many variants for one plot, or if there is nothing to draw.
    """
    every_run = gather.runs_of(runs)
    chosen, unit = gather.in_one_unit(every_run, every_run[0].unit)
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
    places, numbers = tuple(map(float, times)), tuple(map(str, times))
    reach = [float(end) for each in lengths.values() for end in (each.max(), each.min())]
    try:
        figure = series_figure(
            [("", series)],
            XAxis("n-th sample in its process (log axis)", places, numbers, log=True),
            YAxis(f"length of the sample\n({NAMES[unit]}, log axis)", log=True, reach=reach),
            f"{name}: from cold to warm",
            [(f"{each.look.sign} {each.name}, median", each.look.colour) for each in series]
            + [("small dots: processes, bars: the middle half of them", QUIET)],
            more=partial(_draw_processes, lengths=lengths, series=series, times=times),
        )
    except ValueError:
        raise refused(
            "there is nothing to draw", "All samples are shorter than the step of the clock."
        ) from None
    words = *_describe(lengths, times, name, unit), _table(lengths, times, name, unit)
    return picture.make_picture(figure, *words).with_remarks(results)


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
        told = f"{variant} takes {rounded(middle[0])} {sign} the first time"
        if len(middle) > 1:
            again, later = (
                f"{rounded(float(value))} {sign}" for value in (middle[1], np.median(each[:, 1:]))
            )
            told += f", {again} the second, and {later} later on"
        meaning.append(f"Medians over processes: {told}.")
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


_COUNT = "task.main.minor_faults"

#: A count for each operation that is no farther from the expected one agrees with it.
_ONE_FAULT_WITHIN = 0.1


@dataclass(frozen=True)
class _Row:
    """The page faults of one run or variant: how many for how many operations, None if unknown.

    `agrees` says whether they are as many as expected.
    """

    name: str
    operations: int
    faults: int | None
    agrees: bool = False

    @property
    def each(self) -> str:
        """Page faults for each operation, as text; '' if there is no such number."""
        if self.faults is None or not self.operations:
            return ""
        found = self.faults / self.operations
        return "below 0.01" if 0 < found < 0.005 else f"{found:.2f}"

    def cells(self) -> tuple[str, str, str, str]:
        """The row as text."""
        faults = "not counted by this OS" if self.faults is None else f"{self.faults:,}"
        return self.name, f"{self.operations:,}", faults, self.each


@gather.with_warnings_of_counts
def page_faults(runs: gather.Runs | Pair, expected: float) -> Table:
    """The page faults that the OS counted, next to the operations and to what is `expected`.

    Takes runs, or a broken run and its repaired twin. The operations are all that ran, with those
    of baselines. A C kernel that counts for each variant by itself has a row for each variant.
    The sentence is about the first row. Raises Refused if there is no run.
    """
    if isinstance(runs, Pair):
        rows = [
            _of_variant("broken", runs.broken, runs.broken.variant, expected),
            _of_variant("repaired", runs.repaired, runs.repaired.variant, expected),
        ]
    else:
        rows = [row for run in gather.runs_of([runs]) for row in _rows_of(run, expected)]
    read_only = not isinstance(runs, Pair) and any(map(_only_read, gather.runs_of([runs])))
    return Table(
        _caption(rows[0], f"{expected:g}") + (_SECOND_FAULT if read_only else ""),
        ("run", "operations", "page faults", "for each operation"),
        tuple(row.cells() for row in rows),
    )


#: The variant of own_page_fault.h that times what a student's C does to bring the pages.
_BRING = "bring"
_SECOND_FAULT = (
    ". Your C only read its pages: the write after it makes a second page fault, which must also "
    "replace the shared page of zeros, so it can cost more than a first write"
)


def _only_read(run: Run) -> bool:
    """Whether a student's C brought pages for reads alone, as far as the OS says so."""
    seen = page_faults_of(run.recording, _BRING)
    return seen is not None and seen.there is not None and seen.only_read


def _caption(row: _Row, wanted: str) -> str:
    """What is said of the first row, of which the student expected `wanted` page faults."""
    about = ", about as many" if row.agrees else ""
    return (
        f"Page faults that the OS counted; for the {row.name} run you expected {wanted} for each "
        f"operation{f', and the OS counted {row.each}{about}' if row.each else ''}"
    )


def _rows_of(run: Run, expected: float) -> list[_Row]:
    """A row for the first variant of the run, and for each other one that is counted by itself."""
    others = [result.variant for result in run.results[1:]]
    own = [name for name in others if page_faults_of(run.recording, name) is not None]
    return [_of_variant(name, run, name, expected) for name in (run.variant, *own)]


def _of_variant(name: str, run: Run, variant: str, expected: float) -> _Row:
    """The row `name`: the counts of the variant if it has any, else those of the whole run."""
    seen = page_faults_of(run.recording, variant)
    if seen is not None:
        return _Row(name, seen.touched, seen.faults, seen.is_each(expected))
    operations, faults = int(run.recording.batch.sum()), run.recording.total(_COUNT)
    near = bool(
        faults is not None
        and operations
        and abs(faults / operations - expected) <= _ONE_FAULT_WITHIN
    )
    return _Row(name, operations, faults, near)
