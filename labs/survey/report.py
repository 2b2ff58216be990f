"""What `labs survey` prints and writes: the table that the reports should have had, and a page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from labs.common.html import filled
from labs.common.table import Table
from labs.common.units import rounded
from labs.course.published import Published
from labs.machine.description import Machine
from labs.results.result import Result, sensible
from labs.survey import plots
from labs.survey.survey import Row

HEADER = ("", "ticks", "core cycles", "ns", "95 % interval, ns", "proof", "published, ns")

_PAGE = Path(__file__).with_name("page.html.jinja")


def table(rows: Sequence[Row]) -> Table:
    """One row a variant, in ticks, core cycles and ns, with interval, proof and published figures.

    A published figure that is known to be wrong is marked with an asterisk.
    """
    return Table("On this machine, and as published", HEADER, tuple(_cells(row) for row in rows))


def _cells(row: Row) -> tuple[str, ...]:
    name = f"{row.measurement.kernel} {row.variant}"
    if "-O0" in row.measurement.flags:
        name += " (-O0)"
    result = row.result
    if result is None or result.estimate is None:
        return (name, "", "", "no figure", "", "", _told(row.published))
    value, low, high = sensible(result.estimate)
    return (
        name,
        _in_unit(result, "ticks"),
        _in_unit(result, "cycles"),
        value,
        f"{low} to {high}",
        row.proof(),
        _told(row.published),
    )


def _in_unit(result: Result, unit: str) -> str:
    """The value in another unit; a dash where its length is not known here."""
    assert result.estimate is not None
    try:
        return rounded(result.clock.convert(result.estimate.value, result.unit, unit))
    except ValueError:
        return "-"


def _told(figures: Sequence[Published]) -> str:
    """By report the range of what was printed, in ns, with an asterisk where it is suspect."""
    by_report: dict[str, list[Published]] = {}
    for each in figures:
        by_report.setdefault(each.report, []).append(each)
    told = []
    for report, some in by_report.items():
        values = sorted(each.value * (1000 if each.unit.startswith("us") else 1) for each in some)
        mark = "*" if any(each.suspect for each in some) else ""
        span = rounded(values[0])
        if rounded(values[-1]) != span:
            span += f" to {rounded(values[-1])}"
        told.append(f"{report} {span}{mark}")
    return "; ".join(told)


def text(rows: Sequence[Row]) -> str:
    """The table for a terminal: names and words to the left, numbers to the right."""
    lines = [HEADER, *(_cells(row) for row in rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(HEADER))]
    to_the_left = (0, 5, 6)
    told = [
        "  ".join(
            cell.ljust(width) if i in to_the_left else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    ]
    told.insert(1, "-" * max(map(len, told)))
    return "\n".join(told)


def without_figure(rows: Sequence[Row]) -> list[str]:
    """Of each row without a figure, why."""
    return [f"{row.variant}: {row.why_not}" for row in rows if row.why_not]


def reasons(rows: Sequence[Row]) -> list[str]:
    """Why the published figures with an asterisk are not to be believed, each reason once."""
    found: dict[str, None] = {}
    for row in rows:
        for each in row.published:
            if each.suspicions:
                found[f"{each.report}, {each.quantity}: {each.suspicions[0].reason}"] = None
    return list(found)


def page(rows: Sequence[Row], machine: Machine) -> str:
    """The whole survey as one HTML page that needs nothing else: machine, table, plots, reasons."""
    return filled(
        _PAGE,
        card=machine.card(),
        table=table(rows).as_html(),
        without_figure=without_figure(rows),
        reasons=reasons(rows),
        plots=plots.of_survey(rows),
    )
