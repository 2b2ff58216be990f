"""What `python -m bench repeat` makes of its runs: which pairs agree, and when it does not hold."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from bench.figures import repeat
from bench.figures.repeat import Seen
from labs.analysis.confidence import Estimate
from labs.c_kernels import catalogue
from labs.results.result import Result, result_of
from support import simulate
from support.declarations import as_declared
from support.simulate import OPERATION


def of_values(values: list[float], half: float, unit: str) -> list[Estimate]:
    return [Estimate(x, x - half, x + half, unit, "", 100, 10) for x in values]


def seen(ns: list[float], cycles: list[float], half: float = 1.0, blamed: int = 0) -> Seen:
    found = Seen(of_values(ns, half, "ns"), of_values(cycles, half, "cycles"))
    found.runs, found.blamed = len(ns) or 6, blamed
    return found


def even(state: str, count: int) -> dict[tuple[str, str], Seen]:
    return {(f"b{number}", state): seen(EVEN, EVEN) for number in range(count)}


#: Six runs of which one is odd: 5 of 15 pairs contradict each other.
ODD, EVEN = [100.0] * 5 + [110.0], [100.0] * 6
CASES = {
    "all agree": ({("a", "quiet"): seen(EVEN, EVEN)}, True),
    "another clock speed is no contradiction": ({("a", "quiet"): seen(ODD, EVEN)}, True),
    "core cycles contradict": ({("a", "quiet"): seen(EVEN, ODD)}, False),
    "both units contradict": ({("a", "quiet"): seen(ODD, ODD)}, False),
    "first times have no cycles": ({("a", "quiet"): seen(ODD, [])}, False),
    "intervals in which everything agrees": ({("a", "quiet"): seen(ODD, ODD, half=20.0)}, False),
    "one wide interval among many": (
        {
            ("a", "quiet"): seen(ODD, ODD, half=20.0),
            ("b", "quiet"): seen(EVEN, EVEN),
            ("c", "quiet"): seen(EVEN, EVEN),
        },
        True,
    ),
    "no figure at all": ({("a", "quiet"): seen([], [])}, False),
    "a neighbour is blamed": ({("a", "quiet"): seen(EVEN, EVEN, blamed=1)}, False),
    "one state does not hold": (
        {("a", "quiet"): seen(EVEN, EVEN), ("a", "busy"): seen(ODD, ODD)},
        False,
    ),
    "one odd run among many": ({("a", "quiet"): seen(ODD, ODD), **even("quiet", 5)}, True),
    "enough for a busy machine": ({("a", "busy"): seen(ODD, ODD), **even("busy", 3)}, True),
    "too little for a quiet one": ({("a", "quiet"): seen(ODD, ODD), **even("quiet", 3)}, False),
}


@pytest.mark.parametrize("case", CASES)
def test_it_holds_if_most_pairs_agree_in_each_state_within_narrow_intervals(
    case: str, capsys: pytest.CaptureFixture[str]
) -> None:
    found, holds = CASES[case]
    assert repeat._judged(found) is holds
    assert ("DOES NOT HOLD" in capsys.readouterr().out) is not holds


def test_a_run_on_a_shared_core_is_an_upper_limit(capsys: pytest.CaptureFixture[str]) -> None:
    found = seen(ODD, ODD)
    for estimates in (found.in_ns, found.in_cycles):
        estimates[-1] = replace(estimates[-1], at_most=True)
    assert repeat._judged({("a", "quiet"): found})


#: Values with few and with many samples, and with batches half as long; whether it holds.
SETTINGS: dict[str, tuple[list[float], list[float], list[float], bool]] = {
    "all agree": ([100.0], [100.0], [100.0], True),
    "few samples contradict many": ([110.0], [100.0], [100.0], False),
    "half as long contradicts": ([100.0], [100.0], [110.0], False),
    "half as long lies on no line": ([100.0], [100.0], [math.nan], True),
    "few samples on no line contradict nothing": ([100.0, math.nan], [100.0], [100.0], True),
    "there is nothing to compare": ([math.nan], [100.0], [100.0], False),
    "no batches could be halved": ([100.0], [100.0], [], False),
}


def result(value: float) -> Result:
    """A result with this value, or one whose samples lie on no line."""
    run = as_declared(simulate.run(OPERATION, 1), "procedure_call")
    found = result_of(run)
    assert found.line is not None
    if math.isnan(value):
        return replace(found, estimate=None, line=replace(found.line, straight=False))
    return replace(found, estimate=of_values([value], 1.0, "ns")[0])


@pytest.mark.parametrize("case", SETTINGS)
def test_figures_must_not_depend_on_samples_and_batches(
    case: str, capsys: pytest.CaptureFixture[str]
) -> None:
    *values, holds = SETTINGS[case]
    found = repeat.AtSettings(*([result(x) for x in each] for each in values))
    assert repeat._settings_judged({"a": found}) is holds
    assert ("DOES NOT HOLD" in capsys.readouterr().out) is not holds


def test_the_settings_are_tried_on_twenty_variants_that_exist() -> None:
    named = [(kernel, name) for kernel, names in repeat.OF_SETTINGS.items() for name in names]
    assert len(set(named)) == 20
    assert set(repeat.OF_SETTINGS) == set(repeat.KERNELS)
    assert [each for each in named if each[1] not in catalogue.of_name(each[0]).variants] == []
