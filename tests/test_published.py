"""The published figures: all of them are there, as printed, and lab 01's carry a reason."""

from __future__ import annotations

import pytest

from labs import published


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


def test_what_a_report_leaves_out_is_empty() -> None:
    (stated,) = published.figures("thread switch mutex", report="D")
    assert (stated.value, stated.unit, stated.iterations) == (3323, "ns", 10_000)
    assert published.figures("process switch", report="E")[0].iterations is None


def test_every_figure_of_the_timer_says_what_speaks_against_it() -> None:
    for each in published.figures("timer overhead"):
        assert each.suspect
    (constant,) = (each for each in published.figures("timer overhead") if each.value == 28.5)
    assert "subtracted as a constant" in constant.suspect


def test_other_quantities_are_not_judged_yet() -> None:
    assert not any(each.suspect for each in published.figures("procedure call"))


def test_unknown_quantity_names_those_there_are() -> None:
    with pytest.raises(KeyError, match="timer overhead") as caught:
        published.figures("timer overheat")
    assert "system call getpid" in str(caught.value)
