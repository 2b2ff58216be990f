"""The output of `labs survey`: its figures in groups, for a terminal and as a web page."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from labs.analysis.estimates import Estimate
from labs.analysis.thresholds import WIDEST
from labs.course.published import Published
from labs.html import Table
from labs.html import page as whole_page
from labs.machine.description import Machine
from labs.plots.drawing import LEAST_NS, Drawing, Mark, overview_drawing
from labs.recording import counts
from labs.results import remarks
from labs.results.result import Result, sensible
from labs.survey import survey
from labs.survey.survey import Row
from labs.terminal import columns
from labs.units import NANOSECONDS, fixed, readable_unit, rounded, unit_symbol

COMMAND = "labs survey"
HEADER = ("", "ns", "95 % interval", "core cycles", "ticks")

#: From here on, numbers have no decimals.
LONG_NS = 1e5

_PAGE = Path(__file__).with_name("page.html.jinja")


@dataclass(frozen=True)
class Section:
    """One group of the page."""

    heading: str
    rows: tuple[Row, ...]

    @property
    def anchor(self) -> str:
        """The name of the section in links."""
        return self.heading.lower().replace(" ", "-")

    @property
    def figures(self) -> Table:
        """Each figure with its interval in ns, in core cycles, its evidence and published ones."""
        rows = (
            (name_of(row), *_cells(row.result), row.proof(), _ranges(row.published))
            for row in self.rows
        )
        header = (*HEADER, "evidence", "published, ns")
        return Table(f"{self.heading}: cost on this machine", header, tuple(rows)).without_empty()

    @property
    def marks(self) -> list[Mark]:
        """The figures of the group and the published ones, for the picture of all."""
        found = [
            Mark.of(name_of(row), row.result.estimate)
            for row in self.rows
            if row.result is not None and row.result.estimate is not None
        ]
        values = {in_ns(each) for row in self.rows for each in row.published}
        return [*found, *(Mark("published", value, "published") for value in sorted(values))]

    @property
    def uncertain(self) -> str:
        """A sentence on the figures that are not believable; '' if all are."""
        return uncertain(self.rows)

    @property
    def without_figure(self) -> list[str]:
        """For each row without a figure, the reason."""
        return without_figure(self.rows)


def name_of(row: Row) -> str:
    """The name of a row in its group."""
    level = survey.optimisation(" ".join(row.measurement.flags))
    return survey.name_of(row.measurement.kernel, row.variant, level)


def sections(rows: Sequence[Row]) -> Iterator[Section]:
    """The rows in their groups, in the order of the page."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(survey.group_of(row.measurement.kernel), []).append(row)
    for heading in survey.in_order(found):
        yield Section(heading, tuple(found[heading]))


def overview(rows: Sequence[Row]) -> Drawing | None:
    """All figures on one axis; None if there is none."""
    clocks = [row.result.clock for row in rows if row.result is not None]
    cycles = [1 / clock.convert(1, "ns", "cycles") for clock in clocks if clock.core_cycle_ticks]
    try:
        groups = [(each.heading, each.marks) for each in sections(rows)]
        return overview_drawing(groups, cycles[0] if cycles else None)
    except ValueError:
        return None


def _cells(result: Result | None) -> tuple[str, str, str, str]:
    """The figure in ns, its interval, and the same in core cycles and ticks."""
    if result is None or result.estimate is None:
        return "no figure", "", "", ""
    value, low, high = numbers(result.estimate)
    return value, f"{low} to {high}", _in_unit(result, "cycles"), _in_unit(result, "ticks")


def numbers(estimate: Estimate) -> tuple[str, str, str]:
    """Value and interval as text; of large numbers nobody needs decimals."""
    if max(abs(estimate.low), abs(estimate.high)) >= LONG_NS:
        value, low, high = (
            fixed(each, 0) for each in (estimate.value, estimate.low, estimate.high)
        )
        return value, low, high
    return sensible(estimate)


def _in_unit(result: Result, unit: str) -> str:
    """The value in another unit, or a dash if the length of that unit is unknown."""
    assert result.estimate is not None
    try:
        return rounded(result.clock.convert(result.estimate.value, result.unit, unit))
    except ValueError:
        return "-"


def in_ns(figure: Published) -> float:
    """A published figure, in ns or µs, in ns."""
    return figure.value * (1000 if figure.unit.startswith("us") else 1)


def _ranges(figures: Sequence[Published]) -> str:
    """The range of the printed values of each report in ns, with an asterisk if one is suspect."""
    by_report: dict[str, list[Published]] = {}
    for each in figures:
        by_report.setdefault(each.report, []).append(each)
    ranges = []
    for report, some in by_report.items():
        values = sorted(map(in_ns, some))
        mark = "*" if any(each.suspect for each in some) else ""
        low, high = rounded(values[0]), rounded(values[-1])
        span = low if low == high else f"{low} to {high}"
        ranges.append(f"{report} {span}{mark}")
    return "; ".join(ranges)


def text(rows: Sequence[Row], width: int | None = None) -> str:
    """The survey for a terminal of this width (default: the one that is there).

    A line a figure, with its place up to the largest one. Evidence that agrees
    is not printed: the page and the JSON have it.
    """
    width = min(width or columns() or survey.COLUMNS, survey.COLUMNS)
    values = [row.result.estimate.value for row in rows if row.result and row.result.estimate]
    highest = max(values, default=10.0)
    longest = max((len(name_of(row)) for row in rows), default=0)
    lines: list[str] = []
    for section in sections(rows):
        lines += [section.heading, *(_line(row, longest, highest, width) for row in section.rows)]
        told = [section.uncertain, *(f"no figure: {why}." for why in section.without_figure)]
        told += [f"{name_of(row)}: {row.proof()}" for row in section.rows if _disagrees(row)]
        for each in filter(None, told):
            lines += survey.wrapped(each, width, 2)
    return "\n".join(lines)


#: The room for a value with its unit, and for half of its interval, in characters.
_VALUE, _HALF = 10, 7


def _line(row: Row, longest: int, highest: float, width: int) -> str:
    """Name, value, half of the interval, and a bar on a logarithmic axis to `highest`."""
    name = f"  {name_of(row):{longest}}"
    if row.result is None or row.result.estimate is None:
        return f"{name}{'no figure':>{_VALUE + 2}}"
    estimate = row.result.estimate
    unit = readable_unit(estimate.value)
    shown = f"{rounded(estimate.value / NANOSECONDS[unit])} {unit_symbol(unit)}"
    half = f"± {100 * estimate.half_width / abs(estimate.value):.0f} %" if estimate.value else ""
    room = width - len(name) - _VALUE - _HALF - 6
    place = max(estimate.value, LEAST_NS) / LEAST_NS
    share = math.log(place) / math.log(max(highest / LEAST_NS, 2.0))
    bar = "━" * max(round(share * room), 0) + "●" if room > 4 else ""
    return f"{name}  {shown:>{_VALUE}}  {half:>{_HALF}} {bar}".rstrip()


def _disagrees(row: Row) -> bool:
    """Whether the OS counted other switches than this row claims."""
    if row.result is None or counts.switches_of(row.result.recording, row.variant) is None:
        return False
    return not remarks.switches_agree(row.result)


def uncertain(rows: Sequence[Row]) -> str:
    """A sentence on the rows whose interval is too wide to believe the figure; '' if none is."""
    listed = ", ".join(
        name_of(row)
        for row in rows
        if row.result and row.result.estimate and not row.result.estimate.is_believable()
    )
    most = f"{100 * WIDEST:.0f}"
    said = f"Half of the interval's width is more than {most} % of the value: {listed}."
    return said if listed else ""


def without_figure(rows: Sequence[Row]) -> list[str]:
    """For each row without a figure, the reason; a reason of several rows is given once."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        if row.why_not:
            reason = row.why_not.removeprefix(f"{row.variant}: ")
            found.setdefault(reason.rstrip("."), []).append(row)
    return [
        f"{', '.join(map(name_of, mine))}: {_reason(why)}{_alone(mine[0]) if ' --' in why else ''}"
        for why, mine in found.items()
    ]


def _reason(why: str) -> str:
    """A reason without its full stop."""
    return f"{why}.".removesuffix(".")


def _alone(row: Row) -> str:
    """A survey has no options of a run: the command that has those which a reason names."""
    command = f"`labs measure {row.measurement.kernel} --variant {row.variant}`"
    return f" (of {command})"


def reasons(rows: Sequence[Row]) -> list[str]:
    """Why the published figures with an asterisk are wrong, each reason once."""
    found: dict[str, None] = {}
    for row in rows:
        for each in row.published:
            if each.suspicions:
                quantity, reason = each.quantity, each.suspicions[0].reason
                found[f"{each.report}, {quantity}: {reason}"] = None
    return list(found)


#: What the JSON states of each published figure.
_STATED = ("report", "machine", "value", "unit", "suspect")


def as_json(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """The rows as `labs measure --json` prints them, with the published figures added."""
    return [
        {
            **_result_as_json(row),
            "proof": row.proof(),
            "flags": list(row.measurement.flags),
            "published": [{key: getattr(each, key) for key in _STATED} for each in row.published],
        }
        for row in rows
    ]


def _result_as_json(row: Row) -> dict[str, Any]:
    if row.result is not None:
        return row.result.as_json()
    kernel = row.measurement.kernel
    return {"kernel": kernel, "variant": row.variant, "value": None, "method": row.why_not}


def page(rows: Sequence[Row], machine: Machine) -> str:
    """The whole survey as one self-contained HTML page, with all figures on one axis first."""
    return whole_page(
        "What it costs on this machine",
        COMMAND,
        _PAGE,
        card=machine.card(),
        overview=overview(rows),
        sections=list(sections(rows)),
        reasons=reasons(rows),
    )
