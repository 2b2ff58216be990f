"""The published figures: all are there, as printed, each with what speaks against it."""

from __future__ import annotations

import itertools
import re

import pytest

from labs.course import published
from labs.messages import Refused
from labs.run import variants


def test_every_report_and_every_figure_is_there() -> None:
    everything = published.figures()
    assert len(everything) == 301
    assert {each.report for each in everything} == set("ABCDE")


def test_values_are_as_printed() -> None:
    table = published.figures("timer overhead", report="A", series="table")
    assert [each.value for each in table if each.unit == "cycles"] == [28.5, 40, 71.45, 26]
    assert {each.machine for each in table} == {
        "Intel Core i7-2600 3.40GHz",
        "AMD Opteron (QEMU guest)",
        "Intel Xeon E7310 1.60GHz",
        "Intel Core i7-4770K 3.50GHz",
    }


def test_a_variant_has_the_figures_of_its_quantity() -> None:
    for kernel, quantities in published._QUANTITIES.items():
        known = {listed.name for listed in variants.of_kernel(kernel)}
        assert set(quantities) <= known
        for variant, quantity in quantities.items():
            found = published.of_variant(kernel, variant, "-O0")
            assert found and all(each.quantity.startswith(quantity) for each in found)
    assert published.of_variant("system_call", "invalid", "-O2") == ()
    # The reports called procedures that were not optimised.
    assert published.of_variant("procedure_call", "args0", "-O2") == ()


def test_what_a_report_leaves_out_is_empty() -> None:
    (stated,) = published.figures("thread switch mutex", report="D")
    assert (stated.value, stated.unit, stated.iterations) == (3323, "ns", 10_000)
    assert published.figures("process switch", report="E")[0].iterations is None


def codes(report: str, quantity: str, series: str, unit: str) -> set[str]:
    return {
        suspicion.code
        for each in published.figures(quantity, report=report, series=series)
        if each.unit == unit
        for suspicion in each.suspicions
    }


def test_the_mistake_of_a_report_is_marked() -> None:
    for report, quantity, series, unit, code in (
        ("A", "timer overhead", "table", "cycles", "stale-constant"),
        ("A", "system call getpid", "table", "cycles", "library-call-not-system-call"),
        ("A", "system call setuid", "table", "cycles", "figure-not-from-recording"),
        ("A", "procedure call 3 args", "table", "cycles", "below-the-clock"),
        ("A", "process switch", "table", "cycles", "creation-counted-as-switch"),
        ("A", "thread switch", "table", "ns", "nominal-clock"),
        ("B", "system call gettimeofday", "run 1", "ns", "vdso-not-system-call"),
        ("B", "process switch", "run 1 first print", "ns/trial", "two-cpus-not-one"),
        ("C", "system call read", "stated", "us", "unit-slip"),
        ("C", "process switch", "stated", "cycles", "nominal-clock"),
        ("D", "procedure call", "stated", "ns", "clock-dearer-than-the-thing"),
        ("D", "process switch", "stated", "ns", "cpu-time-misses-the-other-side"),
        ("D", "thread switch", "stated", "ns", "lock-convoy"),
        ("E", "procedure call", "stated", "ns", "cold-samples-in-mean"),
        ("E", "process switch", "stated", "ns", "running-mean"),
    ):
        assert code in codes(report, quantity, series, unit)


def test_a_mark_touches_only_what_it_is_of() -> None:
    assert "figure-not-from-recording" not in {
        suspicion.code
        for each in published.figures("system call setuid", report="A")
        if "Opteron" not in each.machine
        for suspicion in each.suspicions
    }
    assert "unit-slip" not in codes("C", "system call read", "total", "s")
    assert "stale-constant" not in {
        suspicion.code
        for each in published.figures("timer overhead")
        if each.value != 28.5
        for suspicion in each.suspicions
    }


def test_transcription_marks_are_true() -> None:
    """The reason given is checked against the report's own runs."""
    for quantity in ("system call setuid", "process switch", "thread switch"):
        mine = [
            each
            for each in published.figures(quantity, report="A")
            if "Opteron" in each.machine and each.unit == "cycles"
        ]
        runs = [each.value for each in mine if each.series.startswith("run")]
        (table,) = [each.value for each in mine if each.series == "table"]
        mean = sum(runs) / len(runs)
        assert abs(mean / table - 1) > 0.004
        (text,) = [each.suspicions[0].reason for each in mine if each.series == "table"]
        assert f"{mean:.2f}" in text


def test_the_third_series_of_report_e_is_marked_by_what_its_values_are() -> None:
    series = [
        each
        for each in published.figures("process switch", report="E")
        if each.series.startswith("sample")
    ]
    marks = [{suspicion.code for suspicion in each.suspicions} for each in series]
    assert marks == [{"first-in-line"}, *[{"cold-samples-in-mean"}] * 6, *[{"running-mean"}] * 13]
    # The n-th mean times n is the total of n exchanges, in ns: of one series it cannot fall.
    totals = [number * each.value for number, each in enumerate(series, 1)]
    steps = [after - before for before, after in itertools.pairwise(totals)]
    assert min(steps[7:]) > -20, "a printed mean is off by 1 ns, 9 times it by 9"
    assert sum(step < -1_000 for step in steps[:7]) == 5
    # Why the others are marked: one cold exchange is divided by n.
    reason = series[1].suspect
    assert "120 to 129 µs" in reason and "56 for the second" in reason
    assert all(120e3 <= total <= 129e3 for total in [totals[0], *totals[2:7]])
    assert round(totals[1] / 1e3) == 56


def test_unknown_quantity_names_those_there_are() -> None:
    with pytest.raises(KeyError, match="timer overhead") as caught:
        published.figures("timer overheat")
    assert "system call getpid" in str(caught.value)


@pytest.mark.parametrize("report", "ABCDE")
def test_a_table_writes_each_reason_once_and_numbers_those_that_come_again(report: str) -> None:
    shown = [row[2] for row in published.table(report, reasons=True).rows]
    text = "\n".join(shown)
    for each in published.figures(report=report):
        for suspicion in each.suspicions:
            assert text.count(suspicion.reason) <= 1
    introduced = re.findall(r"reason (\d+): ", text)
    assert introduced == [str(number + 1) for number in range(len(introduced))]
    for number in introduced:  # it comes again, and later
        assert len(re.findall(rf"reason {number}\b", text)) > 1
        assert text.index(f"reason {number}: ") == text.index(f"reason {number}")
    assert set(re.findall(r"reason (\d+)", text)) == set(introduced)


def test_the_table_of_a_report_has_each_quantity_once_and_reasons_only_where_asked() -> None:
    plain, reasoned = published.table("D"), published.table("D", reasons=True)
    assert [row[0] for row in plain.rows] == [
        "procedure call 0 args",
        "system call getpid",
        "process switch pipe",
        "thread switch mutex",
    ]
    assert plain.rows[0] == ("procedure call 0 args", "300 ns")
    assert "system call itself" in reasoned.rows[0][2]
    assert len(published.table("A").rows) == len({row[0] for row in published.table("A").rows})


@pytest.mark.parametrize("unknown", ["F", "c", "", "AB"])
def test_a_letter_that_is_no_report_is_refused_with_the_letters(unknown: str) -> None:
    with pytest.raises(Refused, match="Write one letter in quotes: A, B, C, D or E") as caught:
        published.table(unknown)
    assert f"no report {unknown!r}" in str(caught.value)


def test_two_quantities_of_a_report_are_shown_side_by_side() -> None:
    rows = published.side_by_side("task creation fork", "task creation clone", "A").rows
    assert len(rows) == 4
    assert ("AMD Opteron (QEMU guest)", "18,000", "2193", "8.2 times") in rows
    ((_, thread, process, ratio),) = published.side_by_side(
        "thread switch", "process switch", "D"
    ).rows
    assert (thread, process, ratio) == ("3323", "1283", "2.6 times")
