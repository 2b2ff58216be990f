"""Two runs at different clock speeds: what disappears in core cycles is no effect of a change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest

from grader.cases.expected import conclusion
from grader.cases.spec import FigureSpec, Quantity
from grader.figures import LABS, figure_named
from labs.analysis.estimates import Estimate
from labs.recording.file import Recording, read
from labs.results.result import Result, result_of
from labs.results.results_compared import compared_at_one_clock, differences_compared
from testing.paths import FIXTURES

OWN = read(FIXTURES / "honest" / "11-own-question" / "recordings" / "own.csv")
PAIRS = [
    spec
    for specs in LABS.values()
    for spec in specs
    if spec.quantity is Quantity.CHOICE and spec.decide is not None and len(spec.operands) == 2
]


def again(
    ticks: float = 1.0, cycle: float = 1.0, stated: Mapping[str, str] | None = None
) -> Result:
    """The same run a second time: each sample lasted, and each core cycle was, so many times as
    long."""
    states = tuple(
        {**each, "core_cycle_ticks": f"{float(each['core_cycle_ticks']) * cycle}"}
        for each in OWN.processes
    )
    left = {key: value for key, value in OWN.conditions.items() if key != "samples.sha256"}
    longer = np.maximum(np.rint(OWN.ticks * ticks), 1).astype(OWN.ticks.dtype)
    longer[0] += 1  # no run gives the same samples twice
    conditions = {**left, **(stated or {})}
    return of(replace(OWN, ticks=longer, conditions=conditions, processes=states))


def of(recording: Recording) -> Result:
    return result_of(recording, "operation", "ns")


def concluded(tested: Result) -> float:
    (found,) = conclusion(figure_named("own-question-threat"), [tested, of(OWN)])
    return found.value


def test_a_difference_that_the_clock_explains_is_none() -> None:
    for factor, sign in ((0.9, "less"), (1.1, "more")):
        moved = again(factor, factor)
        found = compared_at_one_clock(moved, of(OWN), saved=("tested", "own"))
        assert not found.distinguishable and found.side == 0 and found.unit == "cycles", sign
        low, high = found.difference_interval
        assert low < 0 < high
        shown = repr(found)
        assert "are not distinguishable" in shown
        assert "This compares core cycles. In ns the difference is " in shown
        assert "GHz in the first run" in shown
        assert concluded(moved) == 3


@pytest.mark.parametrize(
    ("ticks", "cycle", "side"),
    [
        (1.3, 1.0, 1),  # the clock was the same
        (0.7, 1.0, -1),
        (1.4, 1.1, 1),  # the clock explains a part of it only
        (0.6, 0.9, -1),
    ],
)
def test_a_difference_beyond_the_clock_remains(ticks: float, cycle: float, side: int) -> None:
    moved = again(ticks, cycle)
    found = compared_at_one_clock(moved, of(OWN))
    assert found.side == side and found.distinguishable and found.unit == "ns"
    assert "core cycles" not in repr(found)
    assert concluded(moved) == (1 if side > 0 else 2)


def test_what_does_not_follow_the_clock_is_compared_in_time() -> None:
    """A wait for memory takes the same time at each clock speed, so in cycles it seems to move."""
    found = compared_at_one_clock(again(1.0, 1.1), of(OWN))
    assert not found.distinguishable and found.unit == "ns"
    assert "core cycles" not in repr(found)


def test_where_time_and_cycles_contradict_each_other_nothing_is_decided() -> None:
    moved = again(1.1, 1.4)
    found = compared_at_one_clock(moved, of(OWN))
    assert not found.distinguishable and "this may be the only cause" in repr(found)
    assert concluded(moved) == 3


def test_the_clock_of_another_machine_is_part_of_its_speed() -> None:
    elsewhere = again(0.9, 0.9, {"machine.cpu": "Another CPU"})
    found = compared_at_one_clock(elsewhere, of(OWN))
    assert found.side == -1 and found.unit == "ns"


def test_variants_of_one_run_met_the_same_clock() -> None:
    found = compared_at_one_clock(of(OWN), result_of(OWN, "other", "ns"))
    assert found.unit == "ns" and "GHz" not in repr(found)


def test_an_unknown_clock_speed_explains_nothing() -> None:
    moved = again(0.9, 0.9)
    processes = tuple(
        {key: value for key, value in each.items() if key != "core_cycle_ticks"}
        for each in moved.recording.processes
    )
    unknown = of(replace(moved.recording, processes=processes))
    assert compared_at_one_clock(unknown, of(OWN)).side == -1


def test_differences_of_runs_are_compared_in_the_unit_of_the_runs() -> None:
    by_clock = compared_at_one_clock(again(0.9, 0.9), of(OWN))
    by_cause = compared_at_one_clock(again(1.5), of(OWN))
    assert differences_compared(by_cause, by_clock).unit == "ns"


@pytest.mark.parametrize("spec", PAIRS, ids=[spec.id for spec in PAIRS])
def test_the_last_conclusion_of_two_figures_is_that_the_data_do_not_decide(
    spec: FigureSpec,
) -> None:
    wide = Estimate(1.0, -1e6, 1e6, "ns", "", 400, 5)
    assert spec.decide is not None and spec.decide((wide, wide)) == len(spec.choices)
