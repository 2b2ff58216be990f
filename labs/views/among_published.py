"""One's own figure among the published ones, of which those known to be wrong are marked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from labs.common.table import Table
from labs.common.units import NAMES, NANOSECONDS, rounded
from labs.course import published
from labs.course.published import Published
from labs.plots import picture
from labs.plots.picture import Picture
from labs.plots.rows import Dot, Group, Row, rows_figure
from labs.plots.series import LOOKS, Look
from labs.plots.style import BLUE, PURPLE, VERMILLION, many, symbol
from labs.results.result import Result, sensible
from labs.views.gather import Runs, has_figure, one_unit, refused, runs_of

if TYPE_CHECKING:
    from labs.notebook.run import Run

_OWN, _FAIR = LOOKS[0], LOOKS[3]
_SUSPECT = Look(VERMILLION, "x", "×", "-")

#: With more rows than this, the machines of a report share one.
_MOST_ROWS = 14


def among_published(run: Runs, quantity: str, report: str | None = None) -> Picture:
    """The run's figures above what reports A to E print for `quantity`, one row each.

    `quantity` is the beginning of a published quantity's name ("process switch"), `report` one of A
    to E. A figure in cycles stands beside a run in cycles or ticks, a time beside a time. Raises
    Refused where the run has no figure, or nothing of that kind was published.
    """
    chosen, unit = one_unit(given := runs_of([run]), given[0].unit)
    own = [r for each in chosen for r in _own(each)]
    has_figure(own)
    figures = _settled(quantity, report, unit)
    groups = [
        Group("yours, on this machine", tuple(_own_row(result) for result in own)),
        Group("published", tuple(_rows(figures, unit))),
    ]
    suspect = sum(bool(each.suspicions) for each in figures)
    key = [("● yours, with its 95 % interval", BLUE)]
    if suspect < len(figures):
        key.append(("◆ published", PURPLE))
    if suspect:
        key.append(("× published, and known to be wrong or of something else", VERMILLION))
    title = f"{quantity}: yours and what was published"
    figure = rows_figure(groups, unit, "cost as printed", title, key)
    words = _in_words(own, figures, quantity, unit)
    return picture.drawn(figure, *words, _table(own, figures, quantity, unit))


def _own(run: Run) -> list[Result]:
    """The results that a student would call theirs: what only serves as a baseline is not."""
    recording = run.recording
    baselines = {
        stated
        for name in recording.variants
        for stated in recording.condition(f"variant.{name}.baseline")
    }
    return [r for r in run.results if r.variant not in baselines] or list(run.results)


def _settled(quantity: str, report: str | None, unit: str) -> tuple[Published, ...]:
    try:
        found = published.settled(published.figures(quantity, report), in_time=unit in NANOSECONDS)
    except KeyError as error:
        raise refused(f"nothing was published of {quantity!r}", str(error.args[0])) from None
    if not found:
        other = "ns" if unit not in NANOSECONDS else "cycles"
        raise refused(
            f"{quantity!r} was published in another unit than {NAMES[unit]}",
            f'Show the run in another one: run.in_unit("{other}").',
        )
    return found


def _value(each: Published, unit: str) -> float:
    """The printed number in `unit`; of cycles as they are, for what a report calls so is a tick."""
    printed = each.unit.split("/")[0]
    return each.value * NANOSECONDS.get(printed, 1.0) / NANOSECONDS.get(unit, 1.0)


def _own_row(result: Result) -> Row:
    estimate, name = result.estimate, f"{result.recording.kernel} {result.variant}"
    if estimate is None or estimate.value <= 0:
        return Row(name, (), "no figure" if estimate is None else "not above zero", VERMILLION)
    told = f"{sensible(estimate)[0]} ± {rounded(estimate.half_width, 2)} {symbol(result.unit)}"
    return Row(name, (Dot(estimate.value, _OWN, estimate.low, estimate.high),), told)


def _rows(figures: Sequence[Published], unit: str) -> list[Row]:
    """A row for each machine of each report; where there are too many, for each report."""
    several = len({each.quantity for each in figures}) > 1
    grouped: dict[tuple[str, str, str], list[Published]] = {}
    for each in figures:
        grouped.setdefault((each.report, each.quantity, each.machine), []).append(each)
    names = {key: f"{key[0]}  {_short(key[2])}" for key in grouped}
    if several or len(grouped) > _MOST_ROWS:
        by_report: dict[tuple[str, str, str], list[Published]] = {}
        for each in figures:
            by_report.setdefault((each.report, each.quantity, ""), []).append(each)
        grouped = by_report
        names = {key: f"{key[0]}  {key[1]}" for key in grouped}
    rows = []
    for key, some in grouped.items():
        told = _span(sorted(_value(each, unit) for each in some))
        dots = tuple(
            Dot(_value(each, unit), _SUSPECT if each.suspicions else _FAIR) for each in some
        )
        wrong = any(each.suspicions for each in some)
        rows.append(
            Row(names[key], dots, f"{told} {symbol(unit)}", VERMILLION if wrong else PURPLE)
        )
    return rows


def _span(values: Sequence[float]) -> str:
    """The least and the greatest of ascending values, or the one that they are."""
    least, most = rounded(values[0]), rounded(values[-1])
    return least if least == most else f"{least} to {most}"


def _short(machine: str) -> str:
    """A machine's name without what is the same for most."""
    name = machine.split(" (")[0].replace("Intel ", "").replace("Core ", "")
    return name.split("GHz")[0].rsplit(" ", 1)[0] if "GHz" in name else name


def _in_words(
    own: Sequence[Result], figures: Sequence[Published], quantity: str, unit: str
) -> tuple[str, str]:
    reports = list(dict.fromkeys(each.report for each in figures))
    kind = (
        f"Dot plot of {quantity}, in {NAMES[unit]}: yours with 95 % interval above "
        f"{many(len(figures), 'published figure')} of report{'s' if len(reports) > 1 else ''} "
        f"{', '.join(reports)}."
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
        meaning.append(
            f"{result.recording.kernel} {result.variant} costs {sensible(estimate)[0]} {sign} "
            f"here; published {'are' if len(values) > 1 else 'is'} {span} {sign}, {above} of "
            f"{len(values)} above your interval and {below} below."
        )
    suspect = sum(bool(each.suspicions) for each in figures)
    if suspect:
        meaning.append(
            f"Of the published figures, {suspect} of {len(figures)} are known to be wrong or to be "
            "of something else; the table says why. The machines differ as well."
        )
    return kind, " ".join(meaning)


def _table(own: Sequence[Result], figures: Sequence[Published], quantity: str, unit: str) -> Table:
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
    rows += [
        (
            each.report,
            each.quantity,
            each.machine,
            rounded(_value(each, unit), 4),
            each.suspect or "nothing known against it",
        )
        for each in figures
    ]
    return Table(
        f"{quantity}, in {NAMES[unit]}",
        ("report", "what", "machine", "cost as printed", "interval, or what speaks against it"),
        tuple(rows),
    )
