"""Which samples count as steady, and that all batch sizes are held to one measure."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import simulate
from simulate import VARIANT, Machine, line_of

from labs.estimate import CannotEstimate
from labs.fence import fence, fences, steady
from labs.recording import Samples

#: A quarter of the intervals takes a way that is longer: more at one batch size, fewer at the next.
A_QUARTER = Machine(slow=300.0, slow_share=0.25)

#: Switches: few operations, each of microseconds, and a hypervisor that takes 5 µs every 50 µs.
SWITCHES = Machine(
    overhead=60,
    cost=4900,
    noise=60,
    batches=(2, 4, 6, 8),
    samples=2000,
    interrupted_every=130_000,
    interruption=13_000,
)


def samples_of(machine: Machine, seed: int) -> Samples:
    return simulate.run(machine, seed).samples(VARIANT)


def each_by_itself(samples: Samples) -> dict[int, tuple[float, float]]:
    """The fences, were no batch size to look at the others."""
    return {
        size: fence(samples.ticks[samples.batch == size], samples.clock.coarseness)
        for size in np.unique(samples.batch).tolist()
    }


def test_the_fence_keeps_the_bulk_and_drops_interrupts() -> None:
    low, high = fence(np.array([50] * 90 + [52] * 9 + [9000]), 2)
    assert low < 50 and 52 < high < 100


def test_the_fence_moves_with_the_samples() -> None:
    ticks = np.random.default_rng(1).integers(40, 60, 200)
    low, high = fence(ticks, 1)
    assert fence(ticks + 1000, 1) == (low + 1000, high + 1000)


def test_all_fences_move_with_the_samples() -> None:
    samples = samples_of(A_QUARTER, 1)
    moved = dataclasses.replace(samples, ticks=samples.ticks + 1000)
    assert fences(moved) == {
        size: (low + 1000, high + 1000) for size, (low, high) in fences(samples).items()
    }


def test_steady_is_by_batch_size() -> None:
    samples = samples_of(Machine(samples=500, tail=0.05), 1)
    chosen = steady(samples)
    assert 0.9 < chosen.mean() < 0.99
    for size, (low, high) in fences(samples).items():
        mine = samples.ticks[chosen & (samples.batch == size)]
        assert low <= mine.min() <= mine.max() <= high


# At a step of 108 ticks, these intervals vary by a step.
@pytest.mark.parametrize("step", [1, 8, 26])
def test_a_fence_reaches_no_farther_than_another_allows(step: int) -> None:
    samples = samples_of(simulate.with_step(SWITCHES, step), 1)
    reach = {size: (high - low) / 2 for size, (low, high) in fences(samples).items()}
    for shorter, longer in zip(SWITCHES.batches, SWITCHES.batches[1:], strict=False):
        most = reach[shorter] * (longer / shorter) ** 0.5
        assert reach[shorter] <= reach[longer] <= most + 1e-6


def test_most_samples_of_a_batch_size_stay() -> None:
    samples = samples_of(Machine(), 1)
    # Every second of the longest intervals takes another way, and no other interval does: their
    # median lies in between, where there are none.
    ticks = samples.ticks.copy()
    ticks[np.flatnonzero(samples.batch == 512)[::2]] += 5000
    assert steady(dataclasses.replace(samples, ticks=ticks)).mean() > 0.95


@pytest.mark.parametrize("machine", [A_QUARTER, SWITCHES], ids=["a quarter", "switches"])
def test_what_a_quarter_of_the_intervals_met_bends_no_line(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = [simulate.run(machine, seed) for seed in range(40)]
    lines = [line_of(run) for run in runs]
    assert sum(line.straight for line in lines) >= 39
    assert sum(line.cost.contains(machine.cost) for line in lines) >= 34
    # The quartiles of each batch size by itself: of some there is no line.
    monkeypatch.setattr("labs.fence.fences", each_by_itself)
    assert sum(straight_again(machine, seed) for seed in range(40)) < 30


def test_the_next_step_of_a_coarse_clock_is_left_out_nowhere() -> None:
    # A clock that says that it steps by 1, and steps by 10: of most sizes the quartiles agree.
    samples = simulate.run(Machine(overhead=21.5, cost=0.234), 1).samples(VARIANT)
    coarse = dataclasses.replace(samples, ticks=samples.ticks // 10 * 10 + samples.ticks % 2)
    assert fences(coarse) == each_by_itself(coarse)


def straight_again(machine: Machine, seed: int) -> bool:
    try:
        return line_of(simulate.run(machine, seed)).straight
    except CannotEstimate:
        return False
