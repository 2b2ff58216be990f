"""The output of `labs survey`: its figures in groups, for a terminal and as a web page."""

from __future__ import annotations

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
from labs.plots.picture import Picture
from labs.results import remarks
from labs.results.result import Result, sensible
from labs.survey import survey
from labs.survey.survey import Row
from labs.terminal import columns
from labs.units import fixed, rounded

COMMAND = "labs survey"
HEADER = ("", "ns", "95 % interval", "core cycles", "ticks")

#: From here on, numbers have no decimals.
LONG_NS = 1e5

_PAGE = Path(__file__).with_name("page.html.jinja")


@dataclass(frozen=True)
class Section:
    """One group of the page: its rows, with their pictures."""

    heading: str
    rows: tuple[Row, ...]
    pictures: tuple[Picture, ...] = ()

    @property
    def anchor(self) -> str:
        """The name of the section in links."""
        return self.heading.lower().replace(" ", "-")

    @property
    def figures(self) -> Table:
        """Value and interval in ns, and the value in core cycles and ticks."""
        return Table(f"{self.heading}: cost on this machine", HEADER, _figures(self.rows))

    @property
    def evidence(self) -> Table:
        """The evidence for each figure, and what was published for the same quantity."""
        return Table(
            f"{self.heading}: evidence, and published figures",
            ("", "evidence", "published, ns"),
            tuple((name_of(row), row.proof(), _ranges(row.published)) for row in self.rows),
        ).without_empty()

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


def sections(rows: Sequence[Row], *, drawn: bool = True) -> Iterator[Section]:
    """The rows in their groups, in the order of the page; with their pictures if `drawn`."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(survey.group_of(row.measurement.kernel), []).append(row)
    for heading in survey.in_order(found):
        mine = tuple(found[heading])
        yield Section(heading, mine, tuple(survey.of_group(mine)) if drawn else ())


def _figures(rows: Sequence[Row]) -> tuple[tuple[str, ...], ...]:
    return tuple((name_of(row), *_cells(row.result)) for row in rows)


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


def _ranges(figures: Sequence[Published]) -> str:
    """The range of the printed values of each report in ns, with an asterisk if one is suspect."""
    by_report: dict[str, list[Published]] = {}
    for each in figures:
        by_report.setdefault(each.report, []).append(each)
    ranges = []
    for report, some in by_report.items():
        values = sorted(each.value * (1000 if each.unit.startswith("us") else 1) for each in some)
        mark = "*" if any(each.suspect for each in some) else ""
        low, high = rounded(values[0]), rounded(values[-1])
        span = low if low == high else f"{low} to {high}"
        ranges.append(f"{report} {span}{mark}")
    return "; ".join(ranges)


def text(rows: Sequence[Row], width: int | None = None) -> str:
    """The survey for a terminal of this width (default: the one that is there): one table for each
    group, and below it its evidence."""
    width = width or columns() or survey.COLUMNS
    lines: list[str] = []
    for section in sections(rows, drawn=False):
        heading = section.heading
        lines += [heading, *survey.columns(HEADER, _figures(section.rows), width)]
        for label, texts in (
            ("evidence", _evidence(section.rows)),
            ("published, ns", _published(section.rows)),
            ("", filter(None, (section.uncertain,))),
            ("no figure", [f"{why}." for why in section.without_figure]),
        ):
            for each in texts:
                lines += survey.wrapped(f"{label}: {each}" if label else each, width, 2)
        lines.append("")
    if known_wrong := reasons(rows):
        lines.append("* known to be wrong:")
        lines += [line for each in known_wrong for line in survey.wrapped(each, width, 2)]
    return "\n".join(lines).rstrip()


def _evidence(rows: Sequence[Row]) -> list[str]:
    """The evidence of all rows in short, with the names of those that have the same."""
    found: dict[str, list[str]] = {}
    known = [row.result for row in rows if row.result is not None]
    off = [remarks.off_the_line(each) for each in known if remarks.by_line(each)]
    for row in rows:
        proof = row.proof()
        if row.result is not None and remarks.by_line(row.result):
            proof = remarks.on_a_line(max(off))
        elif row.result is not None and remarks.switches_agree(row.result):
            proof = "the OS counted as many switches as claimed"
        if proof:
            found.setdefault(proof, []).append(name_of(row))
    return [f"{proof}{_whose(names, len(rows))}" for proof, names in found.items()]


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


def _whose(names: Sequence[str], of: int) -> str:
    """The names in brackets; '' if all of several have the same."""
    return "" if len(names) == of > 1 else f" ({', '.join(names)})"


def _published(rows: Sequence[Row]) -> list[str]:
    """The published figures of each row that has any."""
    texts = [f"{name_of(row)}: {_ranges(row.published)}" for row in rows if row.published]
    return [" | ".join(texts)] if texts else []


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
    """The whole survey as one self-contained HTML page, with the plots of each group first."""
    return whole_page(
        "What it costs on this machine",
        COMMAND,
        _PAGE,
        card=machine.card(),
        sections=list(sections(rows)),
        reasons=reasons(rows),
    )
