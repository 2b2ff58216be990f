"""The figures in five published student reports, A to E, as the reports print them.

Some figures are known to be wrong, or to measure something other than their name says. Such a
figure carries the reasons.

`data/mistakes-in-reports.csv` has a row for each mistake that the reports' own tables, listings and
published code show: which figures have it, its code, and the reason. A column with the name of a
column of the figures holds a regular expression for the whole text there; an empty one is for all.
Several mistakes may be those of one figure; the most serious comes first. If a number disagrees
with the report's own runs, the reason names both.

Report E calls its third series running means. Then n times the n-th value is the total of n
exchanges, which cannot fall. From the 8th value on, it grows by 2.3 µs a step (from the 8th to the
9th it stays the same to 10 ns). Before that it falls four times, and at the 8th value to a half.
"""

from __future__ import annotations

import csv
import functools
import re
import statistics
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from labs.html import Table
from labs.messages import refused
from labs.units import NANOSECONDS, rounded

_DATA = Path(__file__).parent / "data"


@dataclass(frozen=True)
class Suspicion:
    """One mistake in a published figure: its code, and the reason as a text."""

    code: str
    reason: str


@dataclass(frozen=True)
class Published:
    """One printed figure.

    `quantity` is what the report says it measures. `series` names a single run or sample, or is
    `table` or `stated` for the report's final figure. `value` and `unit` are as printed.
    `iterations` and `clock_mhz`, which converts cycles into time, are None if the report does not
    state them.
    """

    report: str
    machine: str
    quantity: str
    series: str
    value: float
    unit: str
    statistic: str
    timer: str
    iterations: int | None
    note: str
    clock_mhz: float | None = None

    @property
    def ns(self) -> float:
        """A figure printed in a unit of time, in ns."""
        return self.value * NANOSECONDS[self.unit.split("/")[0]]

    @functools.cached_property
    def suspicions(self) -> tuple[Suspicion, ...]:
        """The known mistakes, the most serious first."""
        return tuple(
            Suspicion(each["code"], each["reason"])
            for each in _rows("mistakes-in-reports.csv")
            if each["report"] == self.report
            and all(
                not each[key] or re.fullmatch(each[key], str(getattr(self, key))) for key in _KEYS
            )
        )

    @property
    def suspect(self) -> str:
        """Why not to believe the figure, in one line; empty if no mistake is known."""
        return "; ".join(each.reason for each in self.suspicions)


def figures(
    quantity: str | None = None, report: str | None = None, series: str | None = None
) -> tuple[Published, ...]:
    """The published figures, in the order of the reports.

    `quantity` is the beginning of a quantity's name (`timer overhead`, `system call`), `report` one
    of A to E, `series` as printed. Raises KeyError if no figure matches, naming the quantities.
    """
    found = tuple(
        each
        for each in _all()
        if (quantity is None or each.quantity.startswith(quantity))
        and (report is None or each.report == report)
        and (series is None or each.series == series)
    )
    if not found:
        known = ", ".join(dict.fromkeys(each.quantity for each in _all()))
        raise KeyError(
            f"no published figure of quantity {quantity!r}, report {report!r}, series {series!r}; "
            f"there is {known}, of reports A to E"
        )
    return found


def settled(some: Iterable[Published], *, in_time: bool = True) -> tuple[Published, ...]:
    """The final figures of each report in `some`: its tables and statements, else its runs.

    With `in_time`, only figures printed in a unit of time; otherwise only those in cycles.
    """
    units = ("ns", "us") if in_time else ("cycles",)
    found = [each for each in some if each.unit.split("/")[0] in units]
    has_settled = {each.report for each in found if each.series in ("table", "stated")}
    return tuple(
        each
        for each in found
        if each.series in ("table", "stated")
        or (each.report not in has_settled and each.series.startswith("run"))
    )


#: By C kernel and variant: the published quantity, or the beginning of its name.
_QUANTITIES = {
    "timer_overhead": dict.fromkeys(("fenced", "unfenced"), "timer overhead"),
    "system_call": {
        "getpid-libc": "system call getpid",
        "read0": "system call read",
        "setuid": "system call setuid",
        "gettimeofday-vdso": "system call gettimeofday",
    },
    "procedure_call": {f"args{n}": f"procedure call {n} args" for n in range(6)},
    "task_creation": {"fork": "task creation fork", "clone-vm": "task creation clone"},
    "process_switch": {"pipe-pinned": "process switch"},
    "thread_switch": {"condvar": "thread switch"},
}


def of_variant(kernel: str, variant: str, flags: str) -> tuple[Published, ...]:
    """The final figures of the reports for what `variant` measures, in a unit of time.

    The reports compiled their procedures without optimisation, so other `flags` give none of these.
    """
    quantity = _QUANTITIES.get(kernel, {}).get(variant)
    if quantity is None or (kernel == "procedure_call" and "-O0" not in flags.split()):
        return ()
    return settled(figures(quantity))


def quantities_in_time(report: str) -> tuple[str, ...]:
    """The quantities that a report prints in a unit of time. Raises KeyError, as `figures`."""
    return tuple(dict.fromkeys(each.quantity for each in settled(figures(report=report))))


def in_ns(quantity: str, report: str) -> float:
    """What a report prints in the end for `quantity`: the geometric mean over its machines, in ns.

    Raises KeyError if nothing is printed for it in a unit of time.
    """
    found = [each for each in figures(quantity, report) if each.quantity == quantity]
    values = [each.ns for each in settled(found)]
    if not values:
        raise KeyError(f"report {report} prints no time for {quantity!r}")
    return statistics.geometric_mean(values)


def samples(quantity: str, report: str) -> tuple[float, ...]:
    """The single samples that a report prints for `quantity`, in ns, in the order printed.

    Raises KeyError if it prints none.
    """
    found = [each for each in figures(quantity, report) if each.series.startswith("sample")]
    if not found:
        raise KeyError(f"report {report} prints no single samples for {quantity!r}")
    return tuple(each.ns for each in found)


def spread_of_machines() -> float:
    """By what factor machines alone differ: the timer overhead on report A's four machines.

    This is the largest of the four, in ns, divided by the smallest, to two digits. It times the
    same few instructions everywhere, and nothing is subtracted from it.
    """
    values = [each.value for each in figures("timer overhead", "A", "table") if each.unit == "ns"]
    return float(f"{max(values) / min(values):.2g}")


def as_printed(quantity: str, report: str, unit: str) -> Table:
    """Every final figure of a report for `quantity`, in `unit` as printed, as one table.

    It has a row for each machine, or for each run where the report prints no final figure, and a
    column for each quantity whose name begins so. Raises KeyError, as `figures`, and also if
    nothing is printed in `unit`.
    """
    every = [each for each in figures(quantity, report) if each.unit.split("/")[0] == unit]
    chosen = [each for each in every if each.series in _SETTLED] or every
    if not chosen:
        raise KeyError(f"report {report} prints {quantity} in another unit than {unit}")
    columns = list(dict.fromkeys(each.quantity for each in chosen))
    rows: dict[str, dict[str, str]] = {}
    for each in chosen:
        name = each.machine if each.series in _SETTLED else each.series
        rows.setdefault(name, {})[each.quantity] = f"{each.value:g}"
    return Table(
        f"Report {report} prints, in {unit}",
        ("", *(each.removeprefix(quantity).strip() or each for each in columns)),
        tuple((name, *(row.get(each, "") for each in columns)) for name, row in rows.items()),
    )


#: The series of a report's final figures; if there are none, the table shows all its figures.
_SETTLED = ("table", "stated")


def table(report: str, *, reasons: bool = False) -> Table:
    """The figures that a report prints, one row for each quantity, over all its machines.

    With `reasons`, the table adds what speaks against them. A reason against several quantities is
    written once, with a number, and later rows give the number. Raises Refused for an unknown
    report: a student chooses the letter.
    """
    letters = tuple(dict.fromkeys(each.report for each in _all()))
    if report not in letters:
        choose = f"Write one letter in quotes: {', '.join(letters[:-1])} or {letters[-1]}."
        raise refused(f"there is no report {report!r}", choose)
    found: dict[str, list[Published]] = {}
    for each in figures(report=report):
        found.setdefault(each.quantity, []).append(each)
    rows, against = [], []
    for quantity, every in found.items():
        settled = [each for each in every if each.series in _SETTLED] or every
        units = dict.fromkeys(each.unit for each in settled)
        printed = "; ".join(_span([e.value for e in settled if e.unit == u], u) for u in units)
        rows.append((quantity, printed))
        against.append(tuple(dict.fromkeys(s.reason for e in settled for s in e.suspicions)))
    header: tuple[str, ...] = ("what was measured", "as printed")
    if not reasons:
        return Table(f"Report {report}", header, tuple(rows))
    reasoned = tuple((*row, why) for row, why in zip(rows, _each_once(against), strict=True))
    return Table(f"Report {report}", (*header, "what speaks against the figure"), reasoned)


def _each_once(against: Sequence[tuple[str, ...]]) -> list[str]:
    """The reasons of each row as text; one that several rows have is numbered where it is first."""
    count = Counter(reason for row in against for reason in row)
    numbers: dict[str, int] = {}
    rows = []
    for row in against:
        words = []
        for reason in row:
            if reason in numbers:
                words.append(f"reason {numbers[reason]}")
            elif count[reason] > 1:
                numbers[reason] = len(numbers) + 1
                words.append(f"reason {numbers[reason]}: {reason}")
            else:
                words.append(reason)
        rows.append("; ".join(words))
    return rows


def side_by_side(quantity: str, other: str, report: str) -> Table:
    """What `report` prints in the end for two quantities, in ns, one row for each of its machines.

    The last column is the first divided by the second. A quantity is the beginning of its name.
    Raises KeyError if a machine has no time for one of the two.
    """
    first, second = ({e.machine: e for e in settled(figures(q, report))} for q in (quantity, other))
    rows = []
    for machine, one in first.items():
        values = [each.value * NANOSECONDS[each.unit] for each in (one, second[machine])]
        ratio = rounded(values[0] / values[1], 2)
        rows.append((machine, *(rounded(value, 4) for value in values), f"{ratio} times"))
    header = ("machine", f"{quantity}, ns", f"{other}, ns", "first / second")
    return Table(f"Report {report}, as printed", header, tuple(rows))


def _span(values: list[float], unit: str) -> str:
    """The smallest and the largest value, to three digits."""
    ends = dict.fromkeys(rounded(value) for value in (min(values), max(values)))
    return f"{' to '.join(ends)} {unit}"


#: The columns by which a row of `mistakes-in-reports.csv` chooses figures of its report.
_KEYS = ("machine", "quantity", "series", "value", "unit", "statistic")


@functools.cache
def _rows(name: str) -> tuple[dict[str, str], ...]:
    with (_DATA / name).open(encoding="utf-8", newline="") as file:
        return tuple(csv.DictReader(file))


@functools.cache
def _all() -> tuple[Published, ...]:
    return tuple(map(_published, _rows("published-figures.csv")))


def _published(row: dict[str, str]) -> Published:
    numbers: dict[str, Any] = {
        "value": float(row["value"]),
        "iterations": int(row["iterations"]) if row["iterations"] else None,
        "clock_mhz": float(row["clock_mhz"]) if row["clock_mhz"] else None,
    }
    return Published(**{**row, **numbers})
