"""Intervals that were interrupted, on simulated machines: where they are many, and no others."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import simulate
from simulate import STEPS, VARIANT, Machine, line_of

from labs import estimate, interruptions, run_warnings
from labs.recording import Recording, Samples

#: Half of the longest intervals are hit, a tenth of the shortest.
BUSY = Machine(interrupted_every=600.0, interruption=7000.0)


def samples_of(recording: Recording) -> Samples:
    return recording.samples(VARIANT)


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
    machine = simulate.with_step(dataclasses.replace(BUSY, interrupted_every=180.0), step)
    lines = [line_of(simulate.run(machine, seed)) for seed in range(40)]
    assert all(line.straight for line in lines)
    assert sum(line.cost.contains(machine.cost) for line in lines) >= 34


def test_without_them_set_aside_there_would_be_no_true_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run = simulate.run(dataclasses.replace(BUSY, interrupted_every=300.0), 1)
    monkeypatch.setattr(interruptions, "find", lambda samples: np.zeros(len(samples), np.bool_))
    line = estimate.fit_line.__wrapped__(run, VARIANT)  # type: ignore[attr-defined]
    assert not line.straight or line.cost.value > 2 * BUSY.cost


def test_they_are_those_that_were_interrupted() -> None:
    quiet = samples_of(simulate.run(dataclasses.replace(BUSY, interruption=1e-9), 1))
    busy = samples_of(simulate.run(BUSY, 1))
    hit = interruptions.find(busy)
    assert np.array_equal(hit, busy.ticks - quiet.ticks > 3500)
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
def test_nothing_else_is_set_aside(machine: Machine, step: int) -> None:
    run = simulate.run(simulate.with_step(machine, step), 1)
    assert not interruptions.find(samples_of(run)).any()


@pytest.mark.parametrize("share", [0.3, 0.6])
def test_a_mode_that_grows_with_the_work_is_no_interruption(share: float) -> None:
    run = simulate.run(Machine(), 1)
    slow = np.random.default_rng(1).random(len(run.ticks)) < share
    ticks = run.ticks + (slow * run.batch * 0.4).astype(np.int64)
    assert not interruptions.find(samples_of(dataclasses.replace(run, ticks=ticks))).any()


def test_an_operation_that_takes_a_longer_way_now_and_then_is_not_interrupted() -> None:
    # A process made in 30 us, one in five of them in 90: the mean is 42.
    machine = Machine(cost=78_000.0, batches=(1, 2, 3), interrupted_every=390_000.0)
    run = simulate.run(dataclasses.replace(machine, interruption=156_000.0), 1)
    assert not interruptions.find(samples_of(run)).any()


def test_a_core_that_is_slower_in_some_processes_is_no_interruption() -> None:
    run = simulate.run(Machine(), 1)
    ticks = run.ticks + ((run.process % 3 == 0) * run.batch * 0.4).astype(np.int64)
    assert not interruptions.find(samples_of(dataclasses.replace(run, ticks=ticks))).any()


def test_what_was_set_aside_is_told() -> None:
    run = simulate.run(BUSY, 1)
    told = [str(each) for each in run_warnings.of_line(run, line_of(run))]
    assert any("% of the intervals were interrupted" in each for each in told)
    quiet = simulate.run(Machine(), 1)
    assert not any("interrupted" in str(e) for e in run_warnings.of_line(quiet, line_of(quiet)))


@pytest.mark.parametrize("count", [0, 1, 4, 10])
def test_a_handful_of_samples_is_no_evidence(count: int) -> None:
    run = simulate.run(dataclasses.replace(BUSY, samples=10), 1)
    few = samples_of(run).only(np.arange(len(run.ticks)) < count)
    assert not interruptions.find(few).any()
