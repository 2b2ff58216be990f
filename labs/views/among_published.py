"""The view of your figure next to published ones and to the figures of your class.

Published figures that are known to be wrong are marked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from labs.course import class_figures, published
from labs.course.class_figures import ALL_MACHINES, BadClassFigures, ClassFigure
from labs.course.published import Published
from labs.html import Table
from labs.messages import refused
from labs.plots import picture
from labs.plots.picture import Picture
from labs.plots.rows import Dot, Group, Row, rows_drawing
from labs.plots.scale import BLUE, GREEN, LOOKS, PURPLE, VERMILLION, Look, symbol
from labs.recording import declared
from labs.recording.run_conditions import kind_of
from labs.results.result import Result, sensible
from labs.units import NAMES, NANOSECONDS, converted, rounded
from labs.views.gather import Runs, in_one_unit, require_figure, runs_of, with_notes

if TYPE_CHECKING:
    from labs.notebook.run import Run


_FAIR = LOOKS[3]
_SUSPECT = Look(VERMILLION, "x", "×", "-")

#: With more rows than this, all machines of a report share a row.
_MOST_ROWS = 14


@with_notes
def among_published(
    run: Runs, quantity: str, report: str | None = None, *, variant: str | None = None
) -> Picture:
    """The run's figures, and below them what reports A to E print for `quantity`, one row each.

    Between them are the figures of the class, if its `class.csv` is next to the notebook.
    `quantity` is the beginning of a published quantity's name ("process switch"), and `report` is
    one of A to E (None: all). With `variant`, no other variant of the run is shown. A run in cycles
    or ticks is shown with published cycles, and a time with published times. Raises Refused if the
    run has no figure, or if nothing was published for this quantity in such a unit.
    """
    every_run = runs_of([run])
    chosen, unit = in_one_unit(every_run, every_run[0].unit)
    own = (
        [each.result(variant) for each in chosen]
        if variant
        else [r for each in chosen for r in _own(each)]
    )
    require_figure(own)
    figures = _settled(quantity, report, unit)
    others = of_class(own, unit)
    groups = [
        Group(
            "yours, on this machine",
            tuple(picture.row_of(f"{r.recording.kernel} {r.variant}", r, r.unit) for r in own),
        ),
        *others.groups,
        Group("published", tuple(_rows(figures, unit))),
    ]
    suspect = sum(bool(each.suspicions) for each in figures)
    key = [("● yours, with its 95 % interval", BLUE), *others.key]
    if suspect < len(figures):
        key.append(("◆ published", PURPLE))
    if suspect:
        key.append(("× published, but known to be wrong or of something else", VERMILLION))
    title = f"{quantity}: your figure and published figures"
    figure = rows_drawing(groups, unit, "cost as printed", title, key)
    kind, meaning = _describe(own, figures, quantity, unit)
    meaning = " ".join((meaning, *others.sentences))
    table = _table(own, figures, quantity, unit, others.table_rows)
    return picture.make_picture(figure, kind, meaning, table).with_remarks(own)


def _own(run: Run) -> list[Result]:
    """The results of the run without those variants that only serve as a baseline."""
    baselines = declared.baselines(run.recording)
    return [r for r in run.results if r.variant not in baselines] or list(run.results)


def _settled(quantity: str, report: str | None, unit: str) -> tuple[Published, ...]:
    try:
        found = published.settled(published.figures(quantity, report), in_time=unit in NANOSECONDS)
    except KeyError as error:
        raise refused(f"nothing was published for {quantity!r}", str(error.args[0])) from None
    if not found:
        other = "ns" if unit not in NANOSECONDS else "cycles"
        raise refused(
            f"{quantity!r} was published in another unit than {NAMES[unit]}",
            f'Show the run in another unit: run.in_unit("{other}").',
        )
    return found


def _value(each: Published, unit: str) -> float:
    """The printed number in `unit`. Cycles stay as they are: what a report calls so is a tick."""
    printed = each.unit.split("/")[0]
    return each.value * NANOSECONDS.get(printed, 1.0) / NANOSECONDS.get(unit, 1.0)


def _rows(figures: Sequence[Published], unit: str) -> list[Row]:
    """A row for each machine of each report; if there are too many, a row for each report."""
    several = len({each.quantity for each in figures}) > 1
    grouped: dict[tuple[str, str, str], list[Published]] = {}
    for each in figures:
        grouped.setdefault((each.report, each.quantity, each.machine), []).append(each)
    if several or len(grouped) > _MOST_ROWS:
        grouped = {}
        for each in figures:
            grouped.setdefault((each.report, each.quantity, ""), []).append(each)
    rows = []
    for (printed_in, what, machine), some in grouped.items():
        text = _span(sorted(_value(each, unit) for each in some))
        dots = tuple(
            Dot(_value(each, unit), _SUSPECT if each.suspicions else _FAIR) for each in some
        )
        colour = VERMILLION if any(each.suspicions for each in some) else PURPLE
        name = f"{printed_in}  {_short(machine) if machine else what}"
        rows.append(Row(name, dots, f"{text} {symbol(unit)}", colour))
    return rows


def _span(values: Sequence[float], digits: int = 3) -> str:
    """Ascending values as "smallest to largest", or as one number if these two read the same."""
    least, most = rounded(values[0], digits), rounded(values[-1], digits)
    return least if least == most else f"{least} to {most}"


def _short(machine: str) -> str:
    """A machine's name without the parts that most names share."""
    name = machine.split(" (")[0].replace("Intel ", "").replace("Core ", "")
    return name.split("GHz")[0].rsplit(" ", 1)[0] if "GHz" in name else name


def _describe(
    own: Sequence[Result], figures: Sequence[Published], quantity: str, unit: str
) -> tuple[str, str]:
    reports = list(dict.fromkeys(each.report for each in figures))
    kind = (
        f"Dot plot of {quantity}, in {NAMES[unit]}: your figure with its 95 % interval, and below "
        f"it {len(figures):,} published figure{'s' if len(figures) > 1 else ''} of report"
        f"{'s' if len(reports) > 1 else ''} {', '.join(reports)}."
    )
    sign, meaning = symbol(unit), []
    values = sorted(_value(each, unit) for each in figures)
    span = _span(values)
    for result in own:
        estimate = result.estimate
        if estimate is None or estimate.value <= 0:
            continue
        above = sum(value > estimate.high for value in values)
        below = sum(value < estimate.low for value in values)
        name = f"{result.recording.kernel} {result.variant}"
        meaning.append(f"{name} costs {sensible(estimate)[0]} {sign} here.")
        meaning.append(
            f"The published {'figures are' if len(values) > 1 else 'figure is'} {span} {sign}: "
            f"{above} of {len(values)} above your interval and {below} below it."
        )
    if unit == "cycles" and any(each.timer == "rdtsc" for each in figures):
        meaning.append(
            "Your figure is in core cycles. What a report read with rdtsc is in ticks, even if the "
            "report calls them cycles: these are two units."
        )
    if all(each.statistic == "converted" for each in figures):
        meaning.append(
            "The published times were not read: the report converted its ticks into them. In "
            "ticks, your figure is next to what was read."
        )
    suspect = sum(bool(each.suspicions) for each in figures)
    if suspect:
        which = "The published figure"
        if len(figures) > 1:
            which = f"{suspect} of the {len(figures)} published figures"
        meaning.append(
            f"{which} {'is' if suspect == 1 else 'are'} known to be wrong, or of something else; "
            "the table says why. The machines also differ."
        )
    return kind, " ".join(meaning)


def _table(
    own: Sequence[Result],
    figures: Sequence[Published],
    quantity: str,
    unit: str,
    of_others: Sequence[tuple[str, str, str, str, str]],
) -> Table:
    rows = [
        (
            "yours",
            f"{result.recording.kernel} {result.variant}",
            "this one",
            sensible(result.estimate)[0] if result.estimate else "none",
            result.value_as_text() if result.estimate else result.no_figure,
        )
        for result in own
    ]
    rows += of_others
    alike = [list(some) for _, some in groupby(figures, key=_kind)]
    rows += [
        (
            some[0].report,
            some[0].quantity + (f" ({len(some)} figures)" if len(some) > 1 else ""),
            some[0].machine,
            _span(sorted(_value(each, unit) for each in some), 4),
            _why(some[0], earlier[0] if earlier else None),
        )
        for earlier, some in zip((None, *alike), alike, strict=False)
    ]
    return Table(
        f"{quantity}, in {NAMES[unit]}",
        ("report", "what", "machine", "cost as printed", "interval, or what speaks against it"),
        tuple(rows),
    )


def _kind(each: Published) -> tuple[str, str, str, str]:
    """Figures that follow each other and have this in common share a row of the table."""
    return each.report, each.quantity, each.machine, each.suspect


def _why(each: Published, earlier: Published | None) -> str:
    """What speaks against a figure; a report's reasons for several machines are written once."""
    if earlier is not None and each.suspect and each.suspect == earlier.suspect:
        return "the same as in the row above"
    # Each reason by itself: a table looks up only whole cells.
    return "; ".join(one.reason for one in each.suspicions) or "nothing known against it"


# The class's figures are in `class.csv` next to the notebook, which is the current folder; see
# `labs.course.class_figures`.

KEY = ("■ your class: median, and the middle half as a bar", GREEN)
_LOOK = LOOKS[2]


@dataclass(frozen=True)
class OfClass:
    """The class's figures that are the same as the student's, in the unit of the view.

    `trouble` is a sentence if the file cannot be read.
    """

    figures: tuple[ClassFigure, ...] = ()
    unit: str = "ns"
    trouble: str = ""

    @property
    def groups(self) -> tuple[Group, ...]:
        """The rows for the plot; no group without figures."""
        rows = tuple(
            Row(
                f"{each.variant}, all machines"
                if each.machine == ALL_MACHINES
                else f"{each.variant}, machines like yours: {each.machine}",
                (Dot(each.median, _LOOK, each.quarter, each.three_quarters),),
                f"{rounded(each.median)} ({each.middle_half}) {symbol(self.unit)}",
                GREEN,
            )
            for each in self.figures
        )
        return (Group("your class", rows),) if rows else ()

    @property
    def key(self) -> list[tuple[str, str]]:
        """The entry of the plot's key."""
        return [KEY] if self.figures else []

    @property
    def sentences(self) -> list[str]:
        """What the plot shows of the class."""
        sign = symbol(self.unit)
        found = [
            f"In your class, the median of {each.count:,} accepted figures of {each.kernel} "
            f"{each.variant} is {rounded(each.median)} {sign}, and half of them lie from "
            f"{each.middle_half} {sign} ({_of(each)})."
            for each in self.figures
        ]
        return [*found, self.trouble] if self.trouble else found

    @property
    def table_rows(self) -> list[tuple[str, str, str, str, str]]:
        """The rows for the table of the view."""
        return [
            (
                "your class",
                f"{each.kernel} {each.variant} ({each.count:,} figures)",
                _of(each),
                rounded(each.median, 4),
                f"middle half: {each.middle_half}",
            )
            for each in self.figures
        ]


def of_class(own: Sequence[Result], unit: str) -> OfClass:
    """The class's figures for the variants of `own`: on all machines, and on those of its kind."""
    try:
        known = class_figures.read_class(Path(class_figures.CLASS_FILE))
    except FileNotFoundError:
        return OfClass()
    except BadClassFigures as error:
        return OfClass(trouble=f"The figures of your class cannot be read: {error}.")
    found = [
        same
        for result in own
        for row in known
        if _is_of(row, result) and (same := _in_unit(row, unit)) is not None
    ]
    return OfClass(tuple(found), unit)


def _is_of(row: ClassFigure, result: Result) -> bool:
    recording = result.recording
    flags = " ".join(recording.condition("flags")).split()
    return (
        (row.kernel, row.variant) == (recording.kernel, result.variant)
        and (not row.flags or row.flags in flags)
        and row.machine in (ALL_MACHINES, kind_of(recording.conditions))
    )


def _in_unit(row: ClassFigure, unit: str) -> ClassFigure | None:
    """The row in `unit`; None if its own unit has no fixed relation to it."""
    factor = converted(1.0, row.unit, unit)
    if factor is None:
        return None
    values = {name: getattr(row, name) * factor for name in ("quarter", "median", "three_quarters")}
    return replace(row, unit=unit, **values)


def _of(row: ClassFigure) -> str:
    return "all machines" if row.machine == ALL_MACHINES else f"machines like yours: {row.machine}"
