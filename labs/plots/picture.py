"""A plot as a reader gets it: the image, its text description, and its data as a table.

The description says what kind of plot it is, what its axes and their ranges are, and what the plot
shows.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from labs.analysis.estimate import Estimate
from labs.common import warned
from labs.common.html import filled
from labs.common.table import Table
from labs.common.units import NAMES, canonical, rounded, with_unit
from labs.plots import estimates_plot, image, line_plot, samples_plot, tables
from labs.plots.known_number import Mark
from labs.plots.style import CSS_PIXELS_PER_INCH, plural, symbol
from labs.plots.taken import is_cold
from labs.recording.file import Recording
from labs.results import compared, extremes, remarks
from labs.results.result import Result

#: A sample is called long if it exceeds the median of its batch size by this factor.
LONG = 10

_PICTURE = Path(__file__).with_name("picture.html.jinja")


@dataclass(frozen=True)
class Picture:
    """A drawn plot.

    `image` is a PNG, `width` its width on the page in CSS pixels. `kind` says what kind of plot it
    is, with its axes and ranges; `meaning` says what the plot shows. `note` is what a
    reader must know first, if there is anything. `warnings` are those of what is drawn.
    """

    image: bytes
    width: int
    kind: str
    meaning: str
    table: Table
    note: str = ""
    warnings: tuple[str, ...] = ()

    def with_remarks(self, results: Sequence[Result]) -> Picture:
        """The same picture with the warnings of the `results` that it shows."""
        return replace(self, warnings=remarks.of_results(results).warnings)

    def narrowed(self) -> Picture:
        """The same picture with a table that fits a narrow page."""
        return replace(self, table=tables.narrowed(self.table))

    @property
    def description(self) -> str:
        """The whole text description."""
        return " ".join(filter(None, (self.note, self.kind, self.meaning)))

    def as_html(self) -> str:
        """An HTML figure: the image with its alternative text, a caption and a folded table.

        The warnings are not in it: a panel shows them with the result.
        """
        return filled(
            _PICTURE,
            note=self.note,
            kind=self.kind,
            meaning=self.meaning,
            width=self.width,
            data=base64.b64encode(self.image).decode(),
            table=self.table.as_html(),
        )

    def _repr_html_(self) -> str:
        # A cell that ends in a plot shows no result, which would have the warnings.
        return self.as_html() + warned.as_html(self.warnings)

    def __repr__(self) -> str:
        lines = [f"{self.description}\n\n{self.table.as_text()}"]
        return "\n".join([*lines, *warned.as_lines(self.warnings)])


def of_samples(
    recording: Recording, variant: str, unit: str = "ns", prediction: Mark | None = None
) -> Picture:
    """Every sample of `variant` in the order taken. Raises what `samples_figure` raises."""
    kind, meaning = describe_samples(recording, variant, unit, prediction)
    figure = samples_plot.samples_figure(recording, variant, unit, prediction)
    return make_picture(figure, kind, meaning, tables.samples_table(recording, variant, unit))


def of_line(result: Result) -> Picture:
    """The line of `result` with its residuals. Raises ValueError if there is no line."""
    return make_picture(
        line_plot.line_figure(result), *describe_line(result), tables.line_table(result)
    )


def of_estimates(
    results: Sequence[Result], predictions: Mapping[str, Mark] | None = None
) -> Picture:
    """Figures side by side with their intervals, and with the `predictions` of their variants.

    Raises ValueError if there is no result.
    """
    figure = estimates_plot.estimates_figure(results, predictions)
    return make_picture(
        figure, *describe_estimates(results, predictions), tables.estimates_table(results)
    )


def make_picture(figure: Figure, kind: str, meaning: str, table: Table) -> Picture:
    """The picture of a drawn figure, with its description and table."""
    width = round(figure.get_figwidth() * CSS_PIXELS_PER_INCH)
    return Picture(image.png(figure), width, kind, meaning, table)


def _of_cold(lengths: NDArray[np.float64], sign: str) -> str:
    """What the cold samples are, which have these lengths."""
    if len(lengths) == 1:
        return f"1 sample is cold, the first of its process: {rounded(lengths[0])} {sign}."
    return (
        f"{len(lengths):,} samples are cold, each the first of its process: "
        f"{rounded(lengths.min())} to {rounded(lengths.max())} {sign}."
    )


def describe_samples(
    recording: Recording, variant: str, unit: str = "ns", prediction: Mark | None = None
) -> tuple[str, str]:
    """Kind and meaning of the plot of every sample of `variant`, with values in `unit`."""
    name, sign = NAMES[canonical(unit)], symbol(unit)
    steady, warm = recording.samples(variant), recording.samples(variant, warmup=True)
    per_unit = steady.clock.ticks_in(unit)
    lengths = steady.ticks / per_unit
    cold = is_cold(recording, variant, steady.process, steady.sample)
    kind = (
        f"Scatter plot of {recording.kernel} {variant}: the length of "
        f"{plural(len(steady), 'sample')}"
        f"{f' and {len(warm):,} of warm-up' if len(warm) else ''}, in {name} on a logarithmic "
        f"axis, in the order taken in {plural(len(recording.processes), 'process')}."
    )
    if not len(steady):
        return kind, "There is no sample after the warm-up."
    kind += f" Samples from {rounded(lengths.min())} to {rounded(lengths.max())} {sign}."
    parts, medians, long, same_ends = [], [], 0, False
    sizes = np.unique(steady.batch).tolist()
    for k in sizes:
        mine = lengths[(steady.batch == k) & ~cold]
        if not len(mine):
            continue
        low, middle, high = np.percentile(mine, [25, 50, 75])
        long += int((mine > LONG * max(middle, steady.clock.step / per_unit)).sum())
        if k in (sizes[0], sizes[-1]):
            same_ends |= rounded(low) == rounded(high)
            parts.append(f"from {rounded(low)} to {rounded(high)} {sign} at k = {k:,}")
            medians.append(f"{rounded(middle)} {sign} at k = {k:,}")
    which, noun = f"{'later ' * bool(cold.any())}samples", f"operation{'s' * (sizes != [1])}"
    middle_half = f"The median of the {which} is" if same_ends else f"Half of the {which} lie"
    meaning = [f"{middle_half} {' and '.join(medians if same_ends else parts)} {noun}."]
    if cold.any():
        meaning = [_of_cold(lengths[cold], sign), *(meaning if parts else [])]
    if long:
        meaning.append(
            f"{plural(long, 'sample')} ({rounded(100 * long / len(steady), 2)} %) "
            f"{'are' if long > 1 else 'is'} longer than {LONG} times the median (often interrupts)."
        )
    if len(warm):
        longest = rounded(warm.ticks.max() / per_unit)
        meaning.append(f"The longest warm-up sample took {longest} {sign}.")
    if prediction is not None:
        predicted = prediction.into(unit, steady.clock)
        middle = float(np.median(lengths[cold if cold.any() else steady.batch == sizes[0]]))
        # Two numbers that read the same are called the same.
        alike = rounded(predicted) == rounded(middle)
        side = "at" if alike else "above" if predicted > middle else "below"
        where = "of the cold samples" if cold.any() else f"at k = {sizes[0]:,}"
        meaning.append(
            f"{prediction.name[0].upper()}{prediction.name[1:]}, {rounded(predicted)} {sign}, lies "
            f"{side} the median {where}, {rounded(middle)} {sign}."
        )
    return kind, " ".join(meaning)


def describe_line(result: Result) -> tuple[str, str]:
    """Kind and meaning of the plot of the line. Raises ValueError if there is no line."""
    line = result.line
    if line is None:
        raise ValueError(f"no line to describe: {result.no_figure}")
    per_unit, sign = result.clock.ticks_in(result.unit), symbol(result.unit)
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
    return kind, meaning


def describe_estimates(
    results: Sequence[Result], predictions: Mapping[str, Mark] | None = None
) -> tuple[str, str]:
    """Kind and meaning of the plot of figures side by side, in the unit of the first result."""
    first = results[0]
    kind = (
        f"Dot plot of {first.recording.kernel}: the {first.what} of "
        f"{plural(len(results), 'variant')} with 95 % intervals, in {NAMES[first.unit]} on a "
        "logarithmic axis."
    )
    named = list(zip(tables.names_of(results), results, strict=True))
    known = [
        (name, result.estimate.into(first.unit, result.clock))
        for name, result in named
        if result.estimate is not None and result.estimate.value > 0
    ]
    sign, meaning = symbol(first.unit), []
    if len(known) > 1:
        meaning.append(_cheapest_and_dearest(known, sign))
    elif known:
        meaning.append(f"{known[0][0]} has {rounded(known[0][1].value)} {sign}.")
    below = [name for name, r in named if r.estimate is not None and r.estimate.value <= 0]
    if below:  # no operation costs less than nothing
        meaning.append(f"Not above zero, so compared with no other: {', '.join(below)}.")
    without = [name for name, result in named if result.estimate is None]
    if without:
        meaning.append(f"Without a figure: {', '.join(without)}.")
    for result in results:
        mark = (predictions or {}).get(result.variant)
        if mark is not None:
            predicted = rounded(mark.into(first.unit, result.clock))
            meaning.append(f"{mark.of(result.variant)}: {predicted} {sign}.")
    return kind, " ".join(meaning)


def _cheapest_and_dearest(known: Sequence[tuple[str, Estimate]], sign: str) -> str:
    """Which variant is the cheapest and which the most expensive, if the differences show it."""
    (low, cheap), near = extremes.lowest(known)
    (high, dear), nearby = extremes.highest(known)
    least, most = (f"{rounded(each.value)} {sign}" for each in (cheap, dear))
    if len(known) == 2 and near:
        return compared.of_estimates(
            (f"{low} ({least})", cheap), (f"{high} ({most})", dear)
        ).sentence()
    said = [f"The cheapest is {low} with {least}."]
    if near:
        said = [extremes.doubt("the cheapest", least, low, near)]
    if nearby:
        said.append(extremes.doubt("the most expensive", most, high, nearby))
    else:
        said.append(f"The most expensive is {high} with {most}.")
    return " ".join(said)
