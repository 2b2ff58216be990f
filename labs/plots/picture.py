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

from labs.analysis.estimate import Estimate
from labs.common import warned
from labs.common.html import filled
from labs.common.table import Table
from labs.common.units import NAMES, rounded, with_unit
from labs.languages.words import words
from labs.plots import estimates_plot, image, line_plot, samples_plot, tables, taken
from labs.plots.known_number import Mark
from labs.plots.style import CSS_PIXELS_PER_INCH, symbol
from labs.recording.file import Recording
from labs.results import compared, extremes, remarks
from labs.results.result import Result

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
        """The whole text description, in English."""
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
        said = " ".join(words(each) for each in (self.note, self.kind, self.meaning) if each)
        lines = [f"{said}\n\n{self.table.as_text()}"]
        return "\n".join([*lines, *warned.as_lines(self.warnings)])


def of_samples(
    recording: Recording, variant: str, unit: str = "ns", prediction: Mark | None = None
) -> Picture:
    """Every sample of `variant` in the order taken. Raises what `samples_figure` raises."""
    kind, meaning = taken.describe_samples(recording, variant, unit, prediction)
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
    number_1 = f"{len(results):,}"
    kind = (
        f"Dot plot of {first.recording.kernel}: the {first.what} of 1 variant with its 95 % "
        f"interval, in {NAMES[first.unit]} on a logarithmic axis."
        if len(results) == 1
        else f"Dot plot of {first.recording.kernel}: the {first.what} of {number_1} variants with "
        f"95 % intervals, in {NAMES[first.unit]} on a logarithmic axis."
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
        variant, estimate = known[0]
        meaning.append(f"The figure of {variant} is {rounded(estimate.value)} {sign}.")
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
    (first, cheap), near = extremes.lowest(known)
    (last, dear), nearby = extremes.highest(known)
    least, most = (f"{rounded(each.value)} {sign}" for each in (cheap, dear))
    if len(known) == 2 and near:
        return compared.of_estimates(
            (f"{first} ({least})", cheap), (f"{last} ({most})", dear)
        ).sentence()
    said = [f"The cheapest is {first} with {least}."]
    if near:
        said = [extremes.doubt("the cheapest", least, first, near)]
    if nearby:
        said.append(extremes.doubt("the most expensive", most, last, nearby))
    else:
        said.append(f"The most expensive is {last} with {most}.")
    return " ".join(said)
