"""Which samples count: interruptions recognised and not mistaken, reach, and levels."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from labs.analysis import hits, outliers
from labs.analysis.cells import Cells, _percentiles, cells_of
from labs.analysis.estimate import CannotEstimate
from labs.analysis.interruptions import lengthened
from labs.recording.file import Recording, Samples
from testing import simulate
from testing.simulate import STEPS, VARIANT, Machine, line_of

#: Half of the longest intervals are hit, a tenth of the shortest.
BUSY = Machine(interrupted_every=600.0, interruption=7000.0)
TICKS_IN_NS = 2.6


def samples_of(recording: Recording) -> Samples:
    return recording.samples(VARIANT)


def everything(cells: Cells) -> np.ndarray:
    return np.ones(len(cells.ticks), dtype=np.bool_)


def found_in(recording: Recording) -> np.ndarray:
    cells = cells_of(samples_of(recording))
    even = outliers.at_one_level(cells)
    return lengthened(cells, even, everything(cells), TICKS_IN_NS, None).interrupted


# Interruptions


@pytest.mark.parametrize("step", STEPS)
def test_the_truth_is_found_between_the_interruptions(step: int) -> None:
    machine = simulate.with_step(BUSY, step)
    lines = [line_of(simulate.run(machine, seed)) for seed in range(40)]
    assert all(line.straight for line in lines)
    # Of 40 intervals at 95 %, 5 miss the truth once in 20 times, 7 once in 300.
    assert sum(line.cost.contains(machine.cost) for line in lines) >= 34
    assert sum(line.overhead.contains(machine.intercept) for line in lines) >= 34


# At a step of 108 ticks, these intervals are a step long, or two.
@pytest.mark.parametrize("step", [1, 8, 26])
def test_of_batch_sizes_that_were_nearly_always_hit_the_shorter_tell(step: int) -> None:
    # Nine in ten of the longest: their lower half is no cleaner than the upper.
    machine = simulate.with_step(replace(BUSY, interrupted_every=180.0), step)
    lines = [line_of(simulate.run(machine, seed)) for seed in range(40)]
    straight = [line for line in lines if line.straight]
    assert len(straight) >= 36
    # Processes that lost most of their long intervals must not be taken for slow ones.
    assert all(line.cost.value == pytest.approx(machine.cost, rel=0.05) for line in straight)
    assert sum(line.cost.contains(machine.cost) for line in straight) >= 32


@pytest.mark.parametrize("seed", [423, 1425])
def test_a_quartile_between_a_sample_that_was_hit_and_one_that_was_not_tells(seed: int) -> None:
    machine = simulate.with_step(replace(BUSY, interrupted_every=180.0), 8)
    line = line_of(simulate.run(machine, seed))
    assert line.straight and line.cost.value == pytest.approx(machine.cost, rel=0.05)


def test_without_them_set_aside_there_would_be_no_true_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    machine = replace(BUSY, interrupted_every=180.0)
    assert line_of(simulate.run(machine, 7)).cost.contains(machine.cost)
    monkeypatch.setattr(hits, "find", lambda *_: None)
    line = line_of(simulate.run(machine, 7))
    assert not line.straight or line.cost.value > 2 * machine.cost


def test_they_are_those_that_were_interrupted() -> None:
    quiet = samples_of(simulate.run(replace(BUSY, interruption=1e-9), 1))
    busy = simulate.run(BUSY, 1)
    hit = found_in(busy)
    assert np.array_equal(hit, samples_of(busy).ticks - quiet.ticks > 3500)
    assert 0.2 < hit.mean() < 0.4


@pytest.mark.parametrize(
    "machine",
    [
        Machine(),
        Machine(interrupted_every=6000.0, interruption=7000.0),
        Machine(slow=7000.0, slow_share=0.4),
        Machine(slow=8.0, slow_share=0.4),
        Machine(tail=0.3, tail_length=7000.0),
        Machine(drift=30.0, process_spread=20.0),
        Machine(speed_spread=0.1),
        Machine(neighbour=200.0, neighbour_stretches=((0.2, 0.5), (0.7, 0.8))),
    ],
    ids=[
        "quiet", "few interruptions", "two modes", "two modes close by", "tails at any length",
        "layout", "speeds", "a neighbour",
    ],
)  # fmt: skip
@pytest.mark.parametrize("step", STEPS)
def test_nothing_else_is_an_interruption(machine: Machine, step: int) -> None:
    assert not found_in(simulate.run(simulate.with_step(machine, step), 1)).any()


@pytest.mark.parametrize("share", [0.3, 0.6])
def test_a_mode_that_grows_with_the_work_is_no_interruption(share: float) -> None:
    run = simulate.run(Machine(), 1)
    slow = np.random.default_rng(1).random(len(run.ticks)) < share
    assert not found_in(replace(run, ticks=run.ticks + (slow * run.batch * 0.4).astype(int))).any()


def test_an_operation_that_takes_a_longer_way_now_and_then_is_not_interrupted() -> None:
    # A process made in 30 us, one in five of them in 55: the mean is 35.
    machine = Machine(cost=78_000.0, batches=(1, 2, 3), interrupted_every=390_000.0)
    assert not found_in(simulate.run(replace(machine, interruption=65_000.0), 1)).any()


def test_a_core_that_is_slower_in_some_processes_is_no_interruption() -> None:
    run = simulate.run(Machine(), 1)
    ticks = run.ticks + ((run.process % 3 == 0) * run.batch * 0.4).astype(np.int64)
    assert not found_in(replace(run, ticks=ticks)).any()


def test_long_intervals_that_come_in_a_row_are_no_interruptions() -> None:
    run = simulate.run(BUSY, 1)
    hit = found_in(run)
    # As many hits of each batch size, but one after the other.
    ticks = run.ticks.copy()
    for size in set(run.batch.tolist()):
        mine = np.flatnonzero(run.batch == size)
        ticks[mine] = np.concatenate([run.ticks[mine[hit[mine]]], run.ticks[mine[~hit[mine]]]])
    assert hit.any() and not found_in(replace(run, ticks=ticks)).any()


@pytest.mark.parametrize("count", [0, 1, 4, 10])
def test_a_handful_of_samples_is_no_evidence(count: int) -> None:
    samples = samples_of(simulate.run(replace(BUSY, samples=10), 1))
    cells = cells_of(samples.only(np.arange(len(samples)) < count))
    even = outliers.at_one_level(cells) if count else cells.ticks
    assert not lengthened(cells, even, everything(cells), TICKS_IN_NS, None).interrupted.any()


# Reach


def near_median(samples: Samples) -> np.ndarray:
    cells = cells_of(samples)
    return outliers.near_median(cells, cells.ticks, everything(cells))


def test_the_bulk_is_near_and_interrupts_are_far() -> None:
    samples = samples_of(simulate.run(Machine(samples=5000), 1))
    ticks = samples.ticks.copy()
    ticks[::20] += 9000
    chosen = near_median(replace(samples, ticks=ticks))
    assert not chosen[::20].any()
    assert np.delete(chosen, np.s_[::20]).mean() > 0.999


def test_what_is_near_moves_with_the_samples() -> None:
    samples = samples_of(simulate.run(Machine(samples=500, tail=0.05), 1))
    moved = replace(samples, ticks=samples.ticks + 1000)
    assert np.array_equal(near_median(samples), near_median(moved))


@pytest.mark.parametrize("share", [0.1, 0.25, 0.4])
def test_a_second_way_of_the_operation_stays_or_goes_in_all_batch_sizes(share: float) -> None:
    machine = Machine(slow=300.0, slow_share=share)
    lines = [line_of(simulate.run(machine, seed)) for seed in range(40)]
    assert sum(line.straight for line in lines) >= 38
    assert sum(line.cost.contains(machine.cost) for line in lines) >= 34


def test_the_next_step_of_a_coarse_counter_is_near() -> None:
    samples = samples_of(simulate.run(Machine(overhead=24.0, cost=0.234, noise=0.5), 1))
    coarse = replace(samples, ticks=samples.ticks // 10 * 10)
    assert near_median(coarse).all()
    # 39 ticks and half a tick for the phase, give or take half a tick: most read 30, the others 40.
    assert 0.05 < (coarse.ticks[coarse.batch == 64] == 40).mean() < 0.3


def test_a_counter_that_is_coarser_than_it_declares_is_seen_in_its_samples() -> None:
    samples = samples_of(simulate.run(Machine(step=26, declared_step=1), 1))
    assert samples.clock.coarseness == 1 and cells_of(samples).step == 26


# Levels


def test_processes_are_brought_to_one_level() -> None:
    machine = Machine(speed_spread=0.1, overhead=0, cost=9)
    samples = samples_of(simulate.run(machine, 1))
    cells = cells_of(samples)
    even = outliers.at_one_level(cells)

    def levels(ticks: np.ndarray) -> np.ndarray:
        longest = samples.batch == 512
        return np.array([np.median(ticks[longest & (samples.process == p)]) for p in range(10)])

    before, after = levels(cells.ticks), levels(even)
    assert before.std() > 0.05 * before.mean() and after.std() < 0.002 * after.mean()


def test_slow_processes_lose_no_more_samples_than_the_others() -> None:
    machine = replace(simulate.OPERATION, speed_spread=0.1)
    line = line_of(simulate.run(machine, 1))
    assert line.set_aside["far"].max() <= 5


def test_a_level_below_the_step_is_one() -> None:
    cells = cells_of(samples_of(simulate.run(Machine(step=108, process_spread=5), 1)))
    assert np.array_equal(outliers.at_one_level(cells), cells.ticks)


# Cells


def test_cells_have_each_sample_once() -> None:
    samples = samples_of(simulate.run(Machine(samples=500, batches=(0, 3, 10**8)), 1))
    cells = cells_of(samples)
    assert cells.batch.tolist() == [0, 3, 10**8]
    assert sorted(np.concatenate(cells.by_size).tolist()) == list(range(len(samples)))
    assert all(
        (samples.batch[p] == k).all() for k, p in zip(cells.batch, cells.by_size, strict=True)
    )
    total = cells.sums(cells.ticks, everything(cells))
    for row, process in enumerate(cells.processes):
        for column, size in enumerate(cells.batch):
            mine = (samples.process == process) & (samples.batch == size)
            assert total[row, column] == samples.ticks[mine].sum()


def test_percentiles_are_those_of_numpy() -> None:
    random = np.random.default_rng(1)
    for count in (1, 2, 3, 10, 101):
        values = random.normal(0, 1, count)
        expected = np.percentile(values, [5, 25, 50])
        assert _percentiles(values, [5, 25, 50]) == pytest.approx(expected)


def test_processes_of_which_nothing_is_left_give_no_figure() -> None:
    run = simulate.run(Machine(samples=200, processes=2), 1)
    spread_out = np.random.default_rng(1).integers(1, 2**40, len(run))
    with pytest.raises(CannotEstimate, match="too few"):
        line_of(replace(run, batch=np.arange(len(run)) + 1, ticks=spread_out))
