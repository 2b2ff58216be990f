"""One value a process: mean, difference and ratio, where the answer is known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from labs.analysis import estimates
from labs.analysis.estimates import ByProcess, Estimate, student_t

RUN = object()
RUNS = 400
WITH_ONE_FAR = [1.0, 1.1, 0.9, 1.2, 1.0, 0.8, 1.1, 1.0, 0.9, 20.0]


def of(values: Sequence[float], error: float = 0.01, run: object = RUN) -> ByProcess:
    value = np.array(values, dtype=np.float64)
    return ByProcess(run, np.arange(len(value)), value, np.full(len(value), error))


# The mean


def test_equal_errors_give_the_mean_and_the_interval_of_student() -> None:
    values = [10.0, 11.0, 12.0, 13.0, 14.0]
    mean, low, high = of(values).estimate()
    half = student_t(4) * np.std(values, ddof=1) / 5**0.5
    assert (mean, low, high) == pytest.approx((12, 12 - half, 12 + half))


@pytest.mark.parametrize("count", [2, 3, 5, 10, 40])
@pytest.mark.parametrize("between", [0.0, 3.0])
def test_intervals_hold_the_truth_whatever_the_number(count: int, between: float) -> None:
    random = np.random.default_rng(count)
    held = 0
    for _ in range(RUNS):
        error = random.choice([1.0, 2.0], count)
        value = 100 + random.normal(0, between, count) + random.normal(0, error)
        _, low, high = replace(of(value.tolist()), error=error).estimate()
        held += low <= 100 <= high
    assert 0.915 <= held / RUNS <= 0.98


def test_misfit_of_the_line_widens_the_interval() -> None:
    values = of([10.0, 11.0, 12.0])
    mean, low, _ = values.estimate()
    wider = replace(values, extra=3.0).estimate()
    assert wider[0] == mean
    assert mean - wider[1] == pytest.approx(np.hypot(mean - low, 6.0))


@pytest.mark.parametrize("sign", [1, -1])
def test_what_all_processes_say_is_never_chance(sign: int) -> None:
    """One process far from the others widens Student's interval beyond nothing."""
    nothing = of([0.0] * len(WITH_ONE_FAR))
    larger = estimates.difference_by_process(of([sign * x for x in WITH_ONE_FAR]), nothing)
    assert larger is not None
    low, high = sorted(sign * end for end in larger.estimate()[1:])
    assert low == pytest.approx(min(WITH_ONE_FAR)) and high < max(WITH_ONE_FAR)
    few = estimates.difference_by_process(of([sign * x for x in WITH_ONE_FAR[-5:]]), nothing)
    assert few is not None
    assert min(sign * end for end in few.estimate()[1:]) < 0, "of five, chance alone may do it"


def test_interval_of_one_side_holds_the_truth() -> None:
    random = np.random.default_rng(1)
    held = [
        low <= 0 <= high
        for low, high in (of(random.normal(0, 1, 10).tolist()).estimate()[1:] for _ in range(RUNS))
    ]
    assert 0.92 <= np.mean(held) <= 0.98


def test_all_is_multiplied_by_a_factor() -> None:
    values = replace(of([10.0, 11.0, 12.0, 19.0]), extra=0.3)
    assert values.times(3).estimate() == pytest.approx([3 * x for x in values.estimate()])


# Differences and ratios


def test_a_difference_is_that_of_each_process() -> None:
    one, other = of([110, 121, 130, 139, 150]), of([10, 20, 30, 40, 50])
    left = estimates.difference_by_process(one, other, 2)
    assert left is not None
    assert left.value.tolist() == [90, 81, 70, 59, 50]
    moves_alike = estimates.difference_by_process(one, other)
    assert moves_alike is not None
    value, low, high = moves_alike.estimate()
    assert value == pytest.approx(100) and high - low < 3


def test_only_processes_that_both_have_are_compared() -> None:
    one, other = of([110, 120, 130, 140]), of([999, 20, 30, 40, 50])
    other = replace(other, process=np.array([9, 1, 2, 3, 4]))
    left = estimates.difference_by_process(one, other)
    assert left is not None and left.process.tolist() == [1, 2, 3]
    assert left.value.tolist() == [100, 100, 100]


@pytest.mark.parametrize(
    "other", [of([1, 2, 3], run=object()), replace(of([1, 2, 3]), process=np.array([7, 8, 9]))]
)
def test_without_common_processes_there_is_nothing_to_compare(other: ByProcess) -> None:
    assert estimates.difference_by_process(of([1, 2, 3]), other) is None
    assert estimates.ratio_by_process(of([1, 2, 3]), other) is None


def test_a_ratio_does_not_see_what_moves_both_alike() -> None:
    random = np.random.default_rng(1)
    speed = 1 + random.normal(0, 0.1, 10)
    found = estimates.ratio_by_process(of((60 * speed).tolist()), of((20 * speed).tolist()))
    assert found is not None
    assert found == pytest.approx((3, 3, 3), rel=1e-6)


def test_intervals_of_a_ratio_hold_the_truth() -> None:
    random, held = np.random.default_rng(1), 0
    for _ in range(RUNS):
        speed = 1 + random.normal(0, 0.03, 10)
        one, other = (x * speed + random.normal(0, 1, 10) for x in (60, 20))
        found = estimates.ratio_by_process(of(one.tolist(), 1), of(other.tolist(), 1))
        assert found is not None
        held += found[1] <= 3 <= found[2]
    assert 0.915 <= held / RUNS <= 0.98


def test_a_ratio_to_nothing_is_none() -> None:
    assert estimates.ratio_by_process(of([1, 2, 3]), of([-1, 0, 1])) is None


def test_ratios_of_two_runs_add_their_errors() -> None:
    one, other = (Estimate(x, 0.9 * x, 1.1 * x, "ns", "", 9, 3) for x in (60.0, 20.0))
    value, low, high = estimates.ratio(one, other)
    assert value == pytest.approx(3)
    assert high - value == pytest.approx(3 * 0.1 * 2**0.5) and value - low == high - value
    with pytest.raises(ZeroDivisionError):
        estimates.ratio(one, one.times(0))
