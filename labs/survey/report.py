"""The output of `labs survey`: a table of all figures, and a web page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from labs.common.html import filled
from labs.common.table import Table, in_columns
from labs.common.units import rounded
from labs.course.published import Published
from labs.machine.description import Machine
from labs.results.result import Result, sensible
from labs.survey import plots
from labs.survey.survey import Row

HEADER = ("", "ticks", "core cycles", "ns", "95 % interval, ns", "proof", "published, ns")

_PAGE = Path(__file__).with_name("page.html.jinja")


def table(rows: Sequence[Row]) -> Table:
    """One row for each variant: ticks, core cycles, ns, interval, proof and published figures.

    An asterisk marks a published figure that is known to be wrong.
    """
    return Table("On this machine, and as published", HEADER, tuple(_cells(row) for row in rows))


def _cells(row: Row) -> tuple[str, ...]:
    name = f"{row.measurement.kernel} {row.variant}"
    if "-O0" in row.measurement.flags:
        name += " (-O0)"
    result = row.result
    if result is None or result.estimate is None:
        return (name, "", "", "no figure", "", "", _ranges(row.published))
    value, low, high = sensible(result.estimate)
    return (
        name,
        _in_unit(result, "ticks"),
        _in_unit(result, "cycles"),
        value,
        f"{low} to {high}",
        row.proof(),
        _ranges(row.published),
    )


def _in_unit(result: Result, unit: str) -> str:
    """The value in another unit, or a dash if the length of that unit is unknown."""
    assert result.estimate is not None
    try:
        return rounded(result.clock.convert(result.estimate.value, result.unit, unit))
    except ValueError:
        return "-"


def _ranges(figures: Sequence[Published]) -> str:
    """The range of the printed values of each report in ns, with an asterisk if one is suspect."""
    by_report: dict[str, list[Published]] = {}
    for each in figures:
        by_report.setdefault(each.report, []).append(each)
    ranges = []
    for report, some in by_report.items():
        values = sorted(each.value * (1000 if each.unit.startswith("us") else 1) for each in some)
        mark = "*" if any(each.suspect for each in some) else ""
        span = rounded(values[0])
        if rounded(values[-1]) != span:
            span += f" to {rounded(values[-1])}"
        ranges.append(f"{report} {span}{mark}")
    return "; ".join(ranges)


def text(rows: Sequence[Row]) -> str:
    """The table for a terminal: text is aligned left, numbers right."""
    printed = in_columns([HEADER, *(_cells(row) for row in rows)], to_the_right=(1, 2, 3, 4))
    printed.insert(1, "-" * max(map(len, printed)))
    return "\n".join(printed)


def without_figure(rows: Sequence[Row]) -> list[str]:
    """For each row without a figure, the reason."""
    return [f"{row.variant}: {row.why_not}" for row in rows if row.why_not]


def reasons(rows: Sequence[Row]) -> list[str]:
    """Why the published figures with an asterisk are wrong, each reason once."""
    found: dict[str, None] = {}
    for row in rows:
        for each in row.published:
            if each.suspicions:
                found[f"{each.report}, {each.quantity}: {each.suspicions[0].reason}"] = None
    return list(found)


def page(rows: Sequence[Row], machine: Machine) -> str:
    """The whole survey as one self-contained HTML page: machine, table, reasons, plots."""
    return filled(
        _PAGE,
        card=machine.card(),
        table=table(rows).as_html(),
        without_figure=without_figure(rows),
        reasons=reasons(rows),
        plots=plots.of_survey(rows),
    )
