"""Writes the report on a graded lab: the page, and the class's figures for its students."""

from __future__ import annotations

import datetime
import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from grader.class_grading import class_statistics
from grader.class_grading.class_roster import pseudonyms_of
from grader.class_grading.graded_class import GradedClass, course_in, read_class
from labs.course.class_figures import CLASS_FILE, ClassFigure, rows_of, write_class
from labs.files import remove_unfinished, write_atomically
from labs.html import Table, filled, page_style
from labs.plots import scale
from labs.plots.figure_svg import PLOT_WIDTH, Axis, Drawing, Paper, axis_over, draw_axis
from labs.units import rounded, unit_symbol

# Both files of a report.

PAGE = "report.html"


@dataclass(frozen=True)
class Written:
    """What was written; `data_set` is None if too few figures were accepted for one."""

    graded: GradedClass
    page: Path
    data_set: Path | None


def write_report(course: Path, lab: str, to: Path | None = None, *, names: bool = False) -> Written:
    """Reads the graded submissions of `lab` and writes their report into the folder `to`.

    By default that is `report/LAB` in the course folder. A page with `names` is for its owner only.
    Raises NoReport, BadPseudonyms and files.CannotWrite.
    """
    found = course_in(course)
    graded = read_class(found, lab)
    root = Path(found.root)
    folder = course / "report" / lab if to is None else to
    pseudonyms = None if names else pseudonyms_of(root, graded.students)
    rows = class_figures(graded)
    data_set = folder / CLASS_FILE
    for path in (data_set, folder / PAGE):
        remove_unfinished(path)
    if rows:
        write_class(data_set, rows)
    else:
        data_set.unlink(missing_ok=True)  # one of an earlier report would be taken for today's
    page = page_of(graded, pseudonyms, data_set.name if rows else "")
    write_atomically(folder / PAGE, page.encode("utf-8"), private=names)
    return Written(graded, folder / PAGE, data_set if rows else None)


# The figures of a class for its students: sums over all of them, and no name.


def class_figures(graded: GradedClass) -> tuple[ClassFigure, ...]:
    """The rows of the data set: by figure and machine, where FEWEST_RUNS gave an accepted number.

    A run counts once, also if several students handed it in: else four copies of one run would be
    published as the figures of five students.
    """
    specs = class_statistics.specs_of(graded.lab)
    return tuple(
        row
        for spread in class_statistics.spreads_of_class(graded)
        for row in rows_of(
            spread.figure,
            specs[spread.figure].shown_run if spread.figure in specs else ("", "", ""),
            spread.unit,
            {kind.machine: kind.of_runs for kind in spread.kinds},
        )
    )


# The plot of a figure's spread: one strip for each kind of machine.
#
# Accepted numbers are bars that point up, and the others are bars that point down, so that colour
# is not needed to distinguish them. The axis covers the accepted numbers; what lies outside is
# counted.

_MARGIN, _LINE, _BAR, _GAP = 12, 18, 22, 8
_BINS = 80
#: The share of accepted numbers that may lie outside the axis, at either end.
_OUTSIDE = 0.01


def strips_drawing(spread: class_statistics.Spread) -> Drawing | None:
    """The plot; None if there is no number to show."""
    axis = _axis(spread)
    if axis is None:
        return None
    paper, y = Paper(PLOT_WIDTH, 0), 0.0
    for kind in spread.kinds:
        _draw_strip(paper, axis, kind, y)
        y += _LINE + 2 * _BAR + _GAP
    draw_axis(paper, axis, y, unit_symbol(spread.unit))
    paper.height = y + 44
    return Drawing(
        paper.svg(), spread.unit, _title(spread, axis), table_of(spread), PLOT_WIDTH
    )  # fmt: skip


def table_of(spread: class_statistics.Spread) -> Table:
    """How many numbers were accepted on each kind of machine, and their middle."""
    middle = f"median (middle half), {unit_symbol(spread.unit)}"
    rows = []
    for each in spread.kinds:
        median, half, whole = each.summary
        counts = f"{len(each.accepted):,}", f"{len(each.others):,}"
        rows.append((each.machine, *counts, f"{median} ({half})" if median else "", whole))
    header = ("machine", "accepted", "not accepted", middle, "all accepted")
    return Table(f"{spread.figure} by kind of machine", header, tuple(rows))


def _title(spread: class_statistics.Spread, axis: Axis) -> str:
    sign = unit_symbol(spread.unit)
    medians = [
        f"{e.machine}: median {e.summary[0]} {sign}." * bool(e.accepted) for e in spread.kinds
    ]
    ends = f"{' to '.join(map(rounded, axis.ends))} {sign}"
    return (
        f"{spread.figure}, by kind of machine, from {ends}. Bars up: accepted numbers. Bars down: "
        f"numbers that were not accepted. {' '.join(filter(None, medians))}"
    )


def _axis(spread: class_statistics.Spread) -> Axis | None:
    """The axis over nearly all accepted numbers, or over all numbers if none was accepted."""
    every = [value for kind in spread.kinds for value in (*kind.accepted, *kind.others)]
    values = np.array(spread.accepted or every)
    if not len(values):
        return None
    # Of few numbers, all are on the axis.
    off = _OUTSIDE if len(values) >= 1 / _OUTSIDE else 0.0
    ends = np.quantile(values, (off, 1 - off)).tolist()
    axis = axis_over(ends, whole=False)._replace(left=2 * _MARGIN, right=PLOT_WIDTH - 2 * _MARGIN)
    return axis if math.isfinite(axis.high - axis.low) else None


def _draw_strip(paper: Paper, axis: Axis, kind: class_statistics.OfKind, y: float) -> None:
    low, high = axis.ends
    places = [
        [axis.at(value) for value in values if low <= value <= high]
        for values in (kind.accepted, kind.others)
    ]
    counts = [np.histogram(each, _BINS, (axis.left, axis.right))[0] for each in places]
    most = max(1, *(int(each.max()) for each in counts))
    base, every = y + _LINE + _BAR, len(kind.accepted) + len(kind.others)
    outside = every - sum(map(len, places))
    text = f"{every:,} handed in" + f", {outside:,} outside" * bool(outside)
    if kind.accepted:
        text = f"median {kind.summary[0]}; {text}"
    paper.text(_MARGIN, y + 13, kind.machine, size=12)
    paper.text(paper.width - _MARGIN, y + 13, text, scale.QUIET, anchor="end", size=12)
    wide = (axis.right - axis.left) / _BINS
    for each, colour, up in zip(counts, (scale.BLUE, scale.VERMILLION), (-1, 1), strict=True):
        bars = "".join(
            f"M{axis.left + n * wide:.1f} {base:g}v{up * _BAR * each[n] / most:.1f}"
            f"h{wide - 0.6:.1f}V{base:g}z"
            for n in np.flatnonzero(each).tolist()
        )
        paper.path(bars, colour)
    paper.line(axis.left, base, axis.right, base, scale.QUIET)
    if kind.accepted and low <= (middle := float(np.median(kind.accepted))) <= high:
        x = axis.at(middle)
        paper.line(x, base - _BAR - 2, x, base + 4, scale.INK, 2)


# The page of a report: one HTML file without a script, which loads nothing.

_PAGE = Path(__file__).with_name("class_report.html.jinja")
#: Text is never loaded from anywhere, not even by a mistake of ours.
_POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"


def page_of(
    graded: GradedClass,
    pseudonyms: dict[str, str] | None,
    data_set: str = "",
    when: datetime.datetime | None = None,
) -> str:
    """The report on a class; names are shown if there are no `pseudonyms`.

    `data_set` is the name of the file with the class's figures, if one was written.
    """
    findings = class_statistics.findings_of_class(graded)
    when = when or datetime.datetime.now().astimezone()
    return filled(
        _PAGE,
        policy=_POLICY,
        style=page_style(),
        graded=graded,
        when=f"{when:%Y-%m-%d %H:%M}",
        outcomes=class_statistics.outcomes_of_class(graded),
        figures=[
            (e, strips_drawing(e), table_of(e)) for e in class_statistics.spreads_of_class(graded)
        ],
        conclusions=class_statistics.conclusions_of_class(graded),
        findings=findings,
        most_often=class_statistics.most_often(findings),
        guesses=class_statistics.guesses_of_class(graded),
        look=class_statistics.to_look_at(graded, pseudonyms),
        named=pseudonyms is None,
        data_set=data_set,
    )
