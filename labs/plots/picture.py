"""Plots of samples, of the line and of figures: each an image, a description and a table.

The description says what kind of plot it is, what its axes and their ranges are, and what the plot
shows.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from labs.analysis.confidence import Estimate, Floats
from labs.html import Table, filled, image_address
from labs.plots import scale, style, taken
from labs.plots.figure_svg import PLOT_WIDTH, line_drawing
from labs.plots.rows import Dot, Group, Row, rows_drawing
from labs.plots.scale import LOOKS
from labs.plots.taken import (
    Taken,
    axis_names,
    batch_names,
    key_of,
    medians_of,
    operations_marked,
    taken_of,
)
from labs.recording.file import Integers, Recording, distinct
from labs.results import remarks, results_compared
from labs.results.remarks import Remarks
from labs.results.result import Result, sensible, with_ends
from labs.units import NAMES, canonical, rounded, with_unit

_PICTURE = Path(__file__).with_name("picture.html.jinja")
_NONE = Remarks(())


@dataclass(frozen=True)
class Picture:
    """A drawn plot.

    `image` is a PNG or SVG, `width` its width on the page in CSS pixels. `kind` says what kind of
    plot it is, with its axes and ranges; `meaning` says what the plot shows. `note` is what a
    reader must know first, if there is anything. `remarks` are those on what is drawn.
    """

    image: bytes
    width: int
    kind: str
    meaning: str
    table: Table
    note: str = ""
    remarks: Remarks = _NONE

    @property
    def warnings(self) -> tuple[str, ...]:
        """The warnings of what is drawn, as those of a table."""
        return self.remarks.warnings

    def with_remarks(self, results: Sequence[Result]) -> Picture:
        """The same picture with the warnings of the `results` that it shows.

        Of their conditions only a shared core is told: it makes all values of the picture larger.
        """
        warnings = remarks.of_results(results).warnings
        return replace(self, remarks=Remarks(warnings, remarks.shared(results)))

    def narrowed(self) -> Picture:
        """The same picture with a table that fits a narrow page."""
        return replace(self, table=narrowed(self.table))

    @property
    def description(self) -> str:
        """The whole text description."""
        return " ".join(filter(None, (self.note, self.kind, self.meaning)))

    def as_html(self) -> str:
        """An HTML figure: the image with its alternative text, a caption and a folded table.

        The warnings are not in it: a panel shows them with the result.
        """
        if self.image.startswith(b"<svg"):
            address = image_address(self.image.decode())
        else:
            address = f"data:image/png;base64,{base64.b64encode(self.image).decode()}"
        words = {"note": self.note, "kind": self.kind, "meaning": self.meaning}
        table = self.table.as_html()
        return filled(_PICTURE, width=self.width, address=address, table=table, **words)

    def _repr_html_(self) -> str:
        # A cell that ends in a plot shows no result, which would have the warnings.
        return self.as_html() + self.remarks.as_html()

    def __repr__(self) -> str:
        lines = [f"{self.description}\n\n{self.table.as_text()}"]
        return "\n".join([*lines, *self.remarks.as_lines()])


def of_samples(
    recording: Recording, variant: str, unit: str = "ns", prediction: style.Mark | None = None
) -> Picture:
    """Every sample of `variant` in the order taken. Raises what `samples_figure` raises."""
    kind, meaning = taken.describe_samples(recording, variant, unit, prediction)
    figure = samples_figure(recording, variant, unit, prediction)
    return make_picture(figure, kind, meaning, samples_table(recording, variant, unit))


def of_line(result: Result) -> Picture:
    """The line of `result` with its residuals. Raises ValueError if there is no line."""
    return make_picture(line_drawing(result), *describe_line(result), line_table(result))


def of_estimates(
    results: Sequence[Result], predictions: Mapping[str, style.Mark] | None = None
) -> Picture:
    """Figures side by side with their intervals, and with the `predictions` of their variants.

    Raises ValueError if there is no result.
    """
    figure = _estimates_drawing(results, predictions)
    return make_picture(figure, *describe_estimates(results, predictions), estimates_table(results))


def make_picture(figure: Figure | str, kind: str, meaning: str, table: Table) -> Picture:
    """The picture of a drawn figure, or of SVG as wide as rows, with its description and table."""
    if isinstance(figure, str):
        return Picture(figure.encode(), PLOT_WIDTH, kind, meaning, table)
    width = round(figure.get_figwidth() * style.CSS_PIXELS_PER_INCH)
    return Picture(style.png(figure), width, kind, meaning, table)


def describe_line(result: Result) -> tuple[str, str]:
    """Kind and meaning of the plot of the line. Raises ValueError if there is no line."""
    line = result.line
    if line is None:
        raise ValueError(f"no line to describe: {result.no_figure}")
    per_unit, sign = result.clock.ticks_in(result.unit), scale.symbol(result.unit)
    mean = line.location / per_unit
    off = np.abs(line.residual / line.location)
    kind = (
        f"Line plot of {result.recording.kernel} {result.variant}: the mean sample in "
        f"{NAMES[result.unit]} against k, the operations in it, from k = "
        f"{line.batch.min():,.0f} to {line.batch.max():,.0f} and from {rounded(mean.min())} to "
        f"{rounded(mean.max())} {sign}. A second plot below it shows how far each point is off the "
        "line."
    )
    overhead, cost = line.overhead.value / per_unit, line.cost.value / per_unit
    if line.straight:
        meaning = (
            f"The points lie on a line that begins at {with_unit(rounded(overhead), sign)} and "
            f"rises by {with_unit(rounded(cost), sign)} for each operation. No point is more than "
            f"{rounded(100 * float(off.max()), 2)} % off the line."
        )
    else:
        worst, share = line.worst_point()  # the same number as in the warning of the run
        meaning = (
            f"The points do not lie on a line: at k = {line.batch[worst]:,.0f} the mean is "
            f"{rounded(100 * abs(share), 2)} % off the line, so there is no figure."
        )
    asked = distinct(result.recording.samples(result.variant).batch)
    left_out = [f"{size:,}" for size in asked if size > 0 and size not in line.batch]
    if left_out:
        meaning += f" No point at k = {' and '.join(left_out)}: too few of those samples were left."
    return kind, meaning


def describe_estimates(
    results: Sequence[Result], predictions: Mapping[str, style.Mark] | None = None
) -> tuple[str, str]:
    """Kind and meaning of the plot of figures side by side, in the unit of the first result."""
    first = results[0]
    many = f"{len(results):,} variants with 95 % intervals"
    kind = (
        f"Dot plot of {_kernels(results)}: the {first.what} of "
        f"{many if len(results) > 1 else '1 variant with its 95 % interval'}, in "
        f"{NAMES[first.unit]} on a logarithmic axis."
    )
    named = list(zip(names_of(results), results, strict=True))
    known = [
        (name, result.estimate.into(first.unit, result.clock))
        for name, result in named
        if result.estimate is not None and result.estimate.value > 0
    ]
    sign, meaning = scale.symbol(first.unit), []
    if len(known) > 1:
        meaning.append(_cheapest_and_dearest(known, sign))
    elif known:
        variant, estimate = known[0]
        meaning.append(f"The figure of {variant} is {rounded(estimate.value)} {sign}.")
    below = [name for name, r in named if r.estimate is not None and r.estimate.value <= 0]
    if below:  # no operation costs less than nothing
        meaning.append(f"Not above zero, so compared with no other: {', '.join(below)}.")
    meaning += without_figure([name for name, result in named if result.estimate is None])
    for result in results:
        mark = (predictions or {}).get(result.variant)
        if mark is not None:
            predicted = rounded(mark.into(first.unit, result.clock))
            meaning.append(f"{mark.of(result.variant)}: {predicted} {sign}.")
    return kind, " ".join(meaning)


def without_figure(names: Sequence[str]) -> list[str]:
    """A sentence on the results of these names, if there are any."""
    return [f"Without a figure: {', '.join(names)}."] if names else []


def _cheapest_and_dearest(known: Sequence[tuple[str, Estimate]], sign: str) -> str:
    """Which variant is the cheapest and which the most expensive, if the differences show it."""
    (first, cheap), near = results_compared.extreme(known, -1)
    (last, dear), nearby = results_compared.extreme(known, 1)
    least, most = (f"{rounded(each.value)} {sign}" for each in (cheap, dear))
    if len(known) == 2 and near:
        return results_compared.of_estimates(
            (f"{first} ({least})", cheap), (f"{last} ({most})", dear)
        ).sentence()
    said = [f"The cheapest is {first} with {least}."]
    if near:
        said = [results_compared.doubt("the cheapest", least, first, near)]
    if nearby:
        said.append(results_compared.doubt("the most expensive", most, last, nearby))
    else:
        said.append(f"The most expensive is {last} with {most}.")
    return " ".join(said)


# The data of a plot as a table.

#: The headers of the two ends of an interval.
_ENDS = ("from", "to (95 %)")
#: Those of the quartiles, and the one of a narrow table.
_QUARTILES_HEADER = ("lower quartile", "median", "upper quartile")
_MEDIAN_HEADER = "median (quartiles)"


def samples_table(recording: Recording, variant: str, unit: str = "ns") -> Table:
    """The quartiles of the samples at each batch size, and of the warm-up, in `unit`."""
    steady, warm = recording.samples(variant), recording.samples(variant, warmup=True)
    per_unit = steady.clock.ticks_in(unit)
    rows = [
        _distribution(f"k = {k:,}", steady.ticks[steady.batch == k] / per_unit)
        for k in np.unique(steady.batch).tolist()
    ]
    if len(warm):
        rows.append(_distribution("warm-up", warm.ticks / per_unit))
    return Table(
        f"Samples of {recording.kernel} {variant}, in {NAMES[canonical(unit)]}",
        ("batch", "samples", "lowest", *_QUARTILES_HEADER, "highest"),
        tuple(rows),
    )


def _distribution(name: str, values: Floats) -> tuple[str, ...]:
    quantiles = np.percentile(values, [0, 25, 50, 75, 100]).tolist()
    return (name, f"{len(values):,}", *(rounded(value) for value in quantiles))


def line_table(result: Result) -> Table:
    """Mean, its uncertainty and its residual at each batch size, in the unit of `result`.

    Raises ValueError if there is no line.
    """
    line = result.line
    if line is None:
        raise ValueError(f"no line to tabulate: {result.no_figure}")
    per_unit = result.clock.ticks_in(result.unit)
    rows = [
        (
            f"k = {k:,.0f}",
            rounded(mean / per_unit, 4),
            rounded(2 * error / per_unit, 2),
            rounded(off / per_unit, 2),
        )
        for k, mean, error, off in zip(
            line.batch, line.location, line.uncertainty, line.residual, strict=True
        )
    ]
    sign = scale.symbol(result.unit)
    return Table(
        f"The line of {result.recording.kernel} {result.variant}, in {NAMES[result.unit]}",
        ("batch", "mean sample", "2 standard errors", f"off the line ({sign})"),
        tuple(rows),
    )


def names_of(results: Sequence[Result]) -> list[str]:
    """The variant of each result, of several C kernels with their names; if several runs have the
    same one, with the number of the run."""
    several = len({result.recording.kernel for result in results}) > 1
    return numbered([f"{each.recording.kernel} " * several + each.variant for each in results])


def numbered(names: Sequence[str]) -> list[str]:
    """The names, each that occurs several times with the number of its run."""
    return [
        f"{name}, run {names[: n + 1].count(name)}" if names.count(name) > 1 else name
        for n, name in enumerate(names)
    ]


def _kernels(results: Sequence[Result]) -> str:
    return " and ".join(dict.fromkeys(result.recording.kernel for result in results))


def estimates_table(results: Sequence[Result]) -> Table:
    """The figure of each variant with its interval, or the reason why it has none."""
    first = results[0]
    rows = []
    for name, result in zip(names_of(results), results, strict=True):
        if result.estimate is None:
            rows.append((name, "none", "", "", f"{result.n:,}", "", result.no_figure))
        else:
            numbers = sensible(result.estimate.into(first.unit, result.clock))
            rows.append((name, *numbers, result.n_as_text(), result.aside_as_text(), ""))
    return Table(
        f"{_kernels(results)}: {first.what} in {NAMES[first.unit]}",
        ("variant", first.what, "from", "to (95 %)", "samples", "set aside", "why not"),
        tuple(rows),
    ).without_empty()


def narrowed(table: Table) -> Table:
    """The same table for a phone: a value and the ends of its interval share one column, and so do
    a median and its quartiles."""
    columns: list[tuple[str, tuple[int, ...]]] = []  # a head, and where its parts stand in a row
    n = 0
    while n < len(table.header):
        if table.header[n + 1 : n + 3] == _ENDS:
            columns.append((f"{table.header[n]} (95 %)", (n, n + 1, n + 2)))
        elif table.header[n : n + 3] == _QUARTILES_HEADER:
            columns.append((_MEDIAN_HEADER, (n + 1, n, n + 2)))
        else:
            columns.append((table.header[n], (n,)))
        n += len(columns[-1][1])
    rows = tuple(
        tuple(_with_ends([row[place] for place in places]) for _, places in columns)
        for row in table.rows
    )
    return Table(table.caption, tuple(head for head, _ in columns), rows, table.warnings)


def _with_ends(parts: list[str]) -> str:
    """A cell, or one with its two ends in brackets; a value may have none."""
    return f"{parts[0]} ({parts[1]} to {parts[2]})" if any(parts[1:2]) else parts[0]


def _estimates_drawing(
    results: Sequence[Result], predictions: Mapping[str, style.Mark] | None
) -> str:
    """The figures of several results with their 95 % intervals, one row each, on a log axis.

    All values are in the unit of the first result. `predictions` are by variant, and each is drawn
    in the row of its variant. A result keeps its row if it has no figure or a
    negative one, and the row says so. Raises ValueError if `results` is empty.
    """
    if not results:
        raise ValueError("nothing to compare")
    unit = results[0].unit
    known = predictions or {}
    each = tuple(
        row_of(name, result, unit, known.get(result.variant))
        for name, result in zip(names_of(results), results, strict=True)
    )
    key = [("● figure, bar: its 95 % interval", scale.BLUE)]
    drawn = [known[result.variant] for result in results if result.variant in known]
    texts = [mark.key_text() if len(drawn) == 1 else f"╌ {mark.name}" for mark in drawn]
    key += [(text, scale.GREEN) for text in dict.fromkeys(texts)]
    what, title = results[0].what, f"{_kernels(results)}: {results[0].what} of each variant"
    return rows_drawing([Group("", each)], unit, what, title, key, log=True)


def row_of(name: str, result: Result, unit: str, prediction: style.Mark | None = None) -> Row:
    """The row of a result, or why it has no figure that a logarithmic axis can show."""
    level = prediction.into(unit, result.clock) if prediction is not None else None
    estimate = result.estimate.into(unit, result.clock) if result.estimate is not None else None
    if estimate is None or estimate.value <= 0:
        why = "no figure" if estimate is None else "not above zero"
        return Row(name, (), why, scale.VERMILLION, level)
    dot = Dot(estimate.value, LOOKS[0], estimate.low, estimate.high)
    return Row(name, (dot,), with_ends(estimate, scale.symbol(unit)), level=level)


def samples_figure(
    recording: Recording, variant: str, unit: str = "ns", prediction: style.Mark | None = None
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

    figure, axes = style.new_figure(3.7, right=0.86, bottom=0.75 / 3.7)
    floor, ceiling = style.log_axis(axes, lengths, predicted)
    shown = np.maximum(lengths, floor)
    axes.set_ylim(floor * 0.75, ceiling)
    axes.set_xlim(-0.012 * len(shown), 1.012 * len(shown))
    _draw_points(axes, taken, shown)
    key = key_of(taken)
    if prediction is not None and predicted is not None:
        axes.axhline(max(predicted, floor), color=scale.GREEN, linewidth=1.5, dashes=(6, 3))
        key.append((prediction.key_text(k), scale.GREEN))
    _name_batches(figure, axes, taken.batch[taken.later], shown[taken.later])
    below, beside = axis_names(taken, unit)
    axes.set_xlabel(below)
    axes.set_ylabel(beside)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    style.make_room(figure, axes)
    style.numbers_apart(axes)
    style.title_and_key(figure, f"{recording.kernel} {variant}: every sample", key)
    return figure


def _draw_points(axes: Axes, taken: Taken, shown: Floats) -> None:
    """Draw a point for each sample at the height `shown`, and a line between two processes."""
    order = np.arange(len(shown))
    between = np.flatnonzero(np.diff(taken.process)) + 0.5
    # One object for all lines: matplotlib takes milliseconds and 20 kB for each.
    down = axes.get_xaxis_transform()
    axes.vlines(between, 0, 1, transform=down, color=scale.FAINT, linewidth=0.6, zorder=0)
    # With fewer samples there is room for larger points.
    steady_size = float(np.clip(2.3 * (8_000 / max(len(order), 1)) ** 0.25, 2.3, 3.4))
    for chosen, colour, alpha, marker, size in (
        (taken.later, scale.BLUE, 0.55, "o", steady_size),
        (~taken.later, scale.VERMILLION, 0.75, "^", 3.6 if taken.warm.any() else 5.5),
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
    line = 1.03 * style.FONT_PT / 72 / (figure.get_figheight() * axes.get_position().height)
    for height, named in batch_names(heights, line):
        axes.text(
            1.01, height, named, transform=axes.transAxes, va="center", fontsize=style.FONT_PT,
            color=scale.INK,
        )  # fmt: skip
