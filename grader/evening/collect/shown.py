"""What `grader collect` prints: within 80 columns, and nobody who was not collected is left out."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence

from grader.evening.collect.decide import Did
from grader.evening.collect.run import Line, Report
from labs.common.table import in_columns

WIDTH = 80
_MOST_NAMES = 200
_DRY = {
    Did.NEW: "would be collected",
    Did.NEWER: "would replace",
    Did.EARLIER: "would be earlier",
    Did.SAME: "was collected",
    Did.BACK: "would be collected",
}


def as_text(report: Report) -> str:
    """The report of a run."""
    lines = [*_wrapped(f"{report.source}: {report.layout}, lab {report.lab}"), ""]
    if report.dry:
        lines = [*lines, "Dry run: nothing is written.", "", *_each(report.lines), ""]
    lines += _counts(report)
    remarks = [
        f"{line.student}: {remark}"
        for line in report.lines
        if line.did is not Did.SAME
        for remark in line.remarks
    ]
    refused = [f"{each.name}: {each.why}" for each in report.not_collected]
    for title, texts in (("Not collected:", refused), ("Please look at:", remarks)):
        if texts:
            lines += ["", title, *(row for text in texts for row in _wrapped(text, "  "))]
    late = [line.student for line in report.lines if line.late]
    for title, students in (("Late", late), ("Nothing from", report.absent)):
        if students:
            lines += ["", *_wrapped(f"{title}: {_names(students)}")]
    return "\n".join(lines)


def _names(students: Sequence[str]) -> str:
    """The first students, and how many more there are."""
    names, more = ", ".join(students[:_MOST_NAMES]), len(students) - _MOST_NAMES
    return names + (f", and {more}" if more > 0 else "")


def _counts(report: Report) -> list[str]:
    """The numbers of students by what became of them."""
    did = [line.did for line in report.lines]
    numbers = [
        ("students collected", did.count(Did.NEW)),
        ("newer submission replaces an earlier one", did.count(Did.NEWER)),
        ("older submission kept as an earlier one", did.count(Did.EARLIER)),
        ("nothing new since the last collect", did.count(Did.SAME)),
        ("late", sum(bool(line.late) for line in report.lines)),
        ("earlier submissions kept", sum(line.earlier for line in report.lines)),
        ("files of other labs, passed over", report.of_other_labs),
        ("in the roster, and nothing handed in", len(report.absent)),
        ("NOT collected", len(report.not_collected) + report.refused),
    ]
    rows = [(what, f"{number:,}") for what, number in numbers if number]
    return in_columns(rows, {1}) if rows else ["no submission found"]


def _each(lines: Iterable[Line]) -> list[str]:
    """One row for each student."""
    rows = [("student", "", "handed in (UTC)", "late", "files")]
    rows += [
        (
            _short(line.student, 24),
            _DRY[line.did],
            (line.when or "").replace("T", " ")[:19],
            "late" if line.late else "",
            "" if line.files is None else f"{line.files:,}",
        )
        for line in lines
    ]
    return in_columns(rows, {4})


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 3]}..."


def _wrapped(text: str, indent: str = "") -> list[str]:
    """The text in lines of at most 80 columns; long words are broken, and new lines are kept."""
    first, *more = text.split("\n")
    rows = textwrap.wrap(
        first,
        WIDTH,
        initial_indent=indent,
        subsequent_indent=f"{indent}    ",
        break_on_hyphens=False,
    ) or [""]
    return rows + [row for each in more for row in _wrapped(each, f"{indent}    ")]
