"""One value a process: mean, groups, difference and ratio, where the answer is known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from labs.analysis import compare, processes
from labs.analysis.estimate import Estimate
from labs.analysis.processes import PERHAPS, SURE, ByProcess, two_groups
from labs.analysis.student import student_t
from labs.recording.file import Recording
from testing import simulate
from testing.simulate import OPERATION, line_of

RUN = object()
RUNS = 400


def of(values: Sequence[float], error: float = 0.01, run: object = RUN) -> ByProcess:
    value = np.array(values, dtype=np.float64)
    everyone = np.ones(len(value), dtype=np.bool_)
    return ByProcess(run, np.arange(len(value)), value, np.full(len(value), error), everyone)


# The mean


def test_equal_errors_give_the_mean_and_the_interval_of_student() -> None:
    values = [10.0, 11.0, 12.0, 13.0, 14.0]
    mean, low, high = of(values).estimate()
    half = student_t(4) * np.std(values, ddof=1) / 5**0.5
    assert (mean, low, high) == pytest.approx((12, 12 - half, 12 + half))


def test_a_process_with_few_samples_counts_less_where_processes_do_not_differ() -> None:
    five = replace(of([10, 10, 10, 10, 20]), error=np.array([1.0, 1.0, 1.0, 1.0, 10.0]))
    assert five.estimate()[0] == pytest.approx((40 + 0.2) / 4.01)
    # Where layout makes them differ, each process is one layout.
    layout = replace(of([10, 14, 18, 22, 26]), error=np.array([0.1, 0.1, 0.1, 0.1, 0.5]))
    assert layout.estimate()[0] == pytest.approx(18, abs=0.05)


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


def test_the_interval_reaches_down_to_what_a_whole_core_may_take() -> None:
    value, low, high = replace(of([10.0, 10.1, 9.9]), floor=0.5).estimate()
    assert (value, low) == pytest.approx((10, 5)) and high < 10.5


def test_all_is_multiplied_by_a_factor() -> None:
    values = replace(of([10.0, 11.0, 12.0, 19.0]), extra=0.3, floor=0.4, sure=1.0)
    assert values.times(3).estimate() == pytest.approx([3 * x for x in values.estimate()])


# Groups

KNOWN_GROUPS = {
    "two of ten": ([200, 200, 230, 201, 200, 236, 200, 199, 200, 200], {2, 5}),
    "six of ten": ([230, 231, 200, 235, 199, 240, 200, 233, 201, 237], {0, 1, 3, 5, 7, 9}),
    "one of five": ([200, 201, 200, 199, 221], {4}),
    "two of six": ([200, 201, 222, 200, 199, 221], {2, 5}),
    "groups that each spread": (
        [200, 202, 198, 201, 199, 200, 222, 219, 224, 220],
        {6, 7, 8, 9},
    ),
}


@pytest.mark.parametrize("case", KNOWN_GROUPS)
def test_slowed_processes_are_told_from_the_others(case: str) -> None:
    values, slow = KNOWN_GROUPS[case]
    kept, sure = two_groups(np.array(values, dtype=np.float64), np.full(len(values), 0.3))
    assert sure >= SURE
    assert set(np.flatnonzero(~kept).tolist()) == slow


@pytest.mark.parametrize(
    ("case", "values"),
    [
        ("all alike", [200.0] * 10),
        ("evenly spread", [200, 202, 204, 199, 206, 203, 201, 205, 200, 204]),
        ("less than 1 % apart", [200] * 5 + [201.5] * 5),
        ("two processes", [200, 300]),
        ("nothing measured", [0.0] * 10),
        ("less than nothing", [-5.0, 200, 200, 200, 300]),
        ("none at all", []),
    ],
)
def test_these_are_no_groups(case: str, values: list[float]) -> None:
    kept, sure = two_groups(np.array(values, dtype=np.float64), np.full(len(values), 0.3))
    assert sure < PERHAPS, case
    if sure == 0:
        assert kept.all()


def test_noise_alone_makes_no_groups() -> None:
    random = np.random.default_rng(1)
    sure = [
        two_groups(random.normal(200, 10, 10), np.full(10, 10.0))[1] >= SURE for _ in range(RUNS)
    ]
    assert sum(sure) <= 0.02 * RUNS


def test_layout_alone_seldom_makes_groups() -> None:
    random = np.random.default_rng(1)
    sure = [two_groups(random.normal(200, 6, 10), np.full(10, 0.1))[1] >= SURE for _ in range(RUNS)]
    assert sum(sure) <= 0.04 * RUNS


def test_one_process_that_is_cheaper_is_the_one_that_differs() -> None:
    values = np.array([180.0] + [200.0, 201.0, 199.0] * 3)
    kept, sure = two_groups(values, np.full(10, 0.3))
    assert sure >= SURE and np.flatnonzero(~kept).tolist() == [0]


def test_the_order_of_the_processes_does_not_matter() -> None:
    values = np.array(KNOWN_GROUPS["six of ten"][0], dtype=np.float64)
    order = np.random.default_rng(1).permutation(10)
    kept, sure = two_groups(values, np.full(10, 0.3))
    mixed, as_sure = two_groups(values[order], np.full(10, 0.3))
    assert np.array_equal(mixed, kept[order]) and as_sure == sure


def one_cut_at_a_time(value: np.ndarray, cut: int) -> tuple[float, float]:
    lower, upper = value[:cut], value[cut:]
    return float(lower.var() * len(lower)), float(upper.var() * len(upper))


def test_sums_on_both_sides_are_those_of_each_cut() -> None:
    value = np.sort(np.random.default_rng(1).normal(200, 3, 30))
    lower, upper, lower_within, upper_within = processes._on_both_sides(value)
    for place in range(29):
        assert lower[place] == pytest.approx(value[: place + 1].mean())
        assert upper[place] == pytest.approx(value[place + 1 :].mean())
        expected = one_cut_at_a_time(value, place + 1)
        assert (lower_within[place], upper_within[place]) == pytest.approx(expected, abs=1e-9)


def test_thousands_of_values_are_judged_at_once() -> None:
    # Stretches of a long run; one after the other, 100,000 cuts would take minutes.
    values = np.random.default_rng(1).normal(50, 0.1, 100_000)
    values[:40_000] += 11
    kept, sure = two_groups(values, np.full(len(values), 0.1))
    assert sure >= SURE and (~kept).sum() == 40_000 and not kept[:40_000].any()


# Where it is not sure


def test_an_unsure_interval_spans_both_readings() -> None:
    values = of([100, 101, 99, 100, 100, 101, 99, 110, 111, 109])
    values = replace(values, chosen=values.value < 105)
    everyone = replace(values, sure=0.0).estimate()
    group = replace(values, sure=SURE).estimate()
    between = [replace(values, sure=PERHAPS + x).estimate() for x in (0.0, 0.3, 0.6)]
    assert group[0] == pytest.approx(100) and everyone[0] == pytest.approx(103)
    for _, low, high in between:
        assert (low, high) == pytest.approx((min(everyone[1], group[1]), everyone[2]))
    assert everyone[0] == between[0][0] > between[1][0] > between[2][0] >= group[0]


@pytest.mark.parametrize("step", [1, 26, 108])
def test_slowed_processes_move_no_cost(step: int) -> None:
    machine = replace(OPERATION, slower_processes=4, step=step)
    lines = [line_of(as_a_call(simulate.run(machine, seed))) for seed in range(40)]
    assert sum(line.cost.contains(9.0) for line in lines) >= 34
    assert np.mean([line.cost.value for line in lines]) == pytest.approx(9, rel=0.003)
    assert all(line.share_set_aside("process") == pytest.approx(0.4, abs=0.02) for line in lines)


def test_layout_is_kept() -> None:
    machine = replace(OPERATION, speed_spread=0.03)
    lines = [line_of(as_a_call(simulate.run(machine, seed))) for seed in range(40)]
    assert sum(line.cost.processes == 10 for line in lines) >= 38
    assert sum(line.cost.contains(9.0) for line in lines) >= 34


def as_a_call(recording: Recording) -> Recording:
    return replace(recording, kernel="procedure_call")


def test_what_moves_one_variant_alone_is_its_layout_and_not_a_neighbour() -> None:
    # In three processes one variant is slower by 10 %, its sibling is not.
    slow, sibling = (simulate.run(replace(OPERATION, slower_processes=n), 7 + n) for n in (3, 0))
    alone = line_of(as_a_call(slow))
    assert alone.cost.processes == 7
    process, sample, batch, ticks = (
        np.concatenate([getattr(slow, name), getattr(sibling, name)])
        for name in ("process", "sample", "batch", "ticks")
    )
    both = replace(
        as_a_call(slow),
        variants=(*slow.variants, "sibling"),
        conditions={
            **slow.conditions,
            **{k.replace(simulate.VARIANT, "sibling"): v for k, v in slow.conditions.items()},
        },
        variant_index=np.repeat([0, 1], len(slow)),
        process=process,
        sample=sample,
        batch=batch,
        ticks=ticks,
    )
    together = line_of(both)
    assert together.cost.processes == 10 and together.share_set_aside("process") == 0
    assert together.cost.contains(9.0 * 1.03)


# Differences and ratios


def test_a_difference_is_that_of_each_process() -> None:
    one, other = of([110, 121, 130, 139, 150]), of([10, 20, 30, 40, 50])
    left = processes.difference(one, other, 2)
    assert left is not None
    assert left.value.tolist() == [90, 81, 70, 59, 50]
    moves_alike = processes.difference(one, other)
    assert moves_alike is not None
    value, low, high = moves_alike.estimate()
    assert value == pytest.approx(100) and high - low < 3


def test_only_processes_that_both_have_are_compared() -> None:
    one, other = of([110, 120, 130, 140]), of([999, 20, 30, 40, 50])
    other = replace(other, process=np.array([9, 1, 2, 3, 4]))
    left = processes.difference(one, other)
    assert left is not None and left.process.tolist() == [1, 2, 3]
    assert left.value.tolist() == [100, 100, 100]


@pytest.mark.parametrize(
    "other", [of([1, 2, 3], run=object()), replace(of([1, 2, 3]), process=np.array([7, 8, 9]))]
)
def test_without_common_processes_there_is_nothing_to_compare(other: ByProcess) -> None:
    assert processes.difference(of([1, 2, 3]), other) is None
    assert processes.ratio(of([1, 2, 3]), other) is None


def test_a_disturbed_process_is_left_out_of_both() -> None:
    one = replace(of([100, 100, 100, 150]), sure=SURE + 1)
    one = replace(one, chosen=np.array([True, True, True, False]))
    left = processes.difference(one, of([10, 10, 10, 15]))
    assert left is not None and left.estimate()[0] == pytest.approx(90)


def test_a_ratio_does_not_see_what_moves_both_alike() -> None:
    random = np.random.default_rng(1)
    speed = 1 + random.normal(0, 0.1, 10)
    found = processes.ratio(of((60 * speed).tolist()), of((20 * speed).tolist()))
    assert found is not None
    assert found == pytest.approx((3, 3, 3), rel=1e-6)


def test_intervals_of_a_ratio_hold_the_truth() -> None:
    random, held = np.random.default_rng(1), 0
    for _ in range(RUNS):
        speed = 1 + random.normal(0, 0.03, 10)
        one, other = (x * speed + random.normal(0, 1, 10) for x in (60, 20))
        found = processes.ratio(of(one.tolist(), 1), of(other.tolist(), 1))
        assert found is not None
        held += found[1] <= 3 <= found[2]
    assert 0.915 <= held / RUNS <= 0.98


def test_a_ratio_to_nothing_is_none() -> None:
    assert processes.ratio(of([1, 2, 3]), of([-1, 0, 1])) is None


def test_ratios_of_two_runs_add_their_errors() -> None:
    one, other = (Estimate(x, 0.9 * x, 1.1 * x, "ns", "", 9, 3) for x in (60.0, 20.0))
    value, low, high = compare.ratio(one, other)
    assert value == pytest.approx(3)
    assert high - value == pytest.approx(3 * 0.1 * 2**0.5) and value - low == high - value
    with pytest.raises(ZeroDivisionError):
        compare.ratio(one, one.times(0))
