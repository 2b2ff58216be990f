"""The estimate against simulated machines whose answer is known."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labs.analysis.estimates import CannotEstimate, Estimate, student_t
from labs.analysis.line import fit_line
from labs.analysis.thresholds import PARTS
from labs.recording.file import Recording
from labs.units import Clock
from testing import simulate
from testing.simulate import DISTURBANCES, STEPS, Machine, line_of
from testing.submitted_figures import CYCLE_TICKS, Clocked, recording

RUNS = 250


# The stated interval


@pytest.mark.slow
@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("case", ["drift", "heavy tails", "two modes", "processes differ"])
def test_intervals_hold_the_truth_as_often_as_they_say(case: str, step: int) -> None:
    machine = simulate.with_step(DISTURBANCES[case], step)
    overhead, cost, straight = simulate.coverage(machine, RUNS, first_seed=1000)
    # Of 250 runs at 95 %, 99.8 % of all sets lie within 90.4 and 99.2 %.
    assert 0.904 <= overhead <= 0.992
    assert 0.904 <= cost <= 0.992
    assert straight >= 0.99


@pytest.mark.parametrize("processes", [1, 2, 4, 5, 20])
def test_intervals_hold_the_truth_whatever_the_number_of_processes(processes: int) -> None:
    overhead, cost, _ = simulate.coverage(Machine(processes=processes), RUNS)
    assert overhead >= 0.904 and cost >= 0.904


def test_the_truth_is_met_on_average_below_the_step() -> None:
    # 108 ticks a step, 50 ticks of overhead: no sample ever shows it, the mean does.
    lines = [line_of(simulate.run(simulate.with_step(Machine(), 108), n)) for n in range(60)]
    values = np.array([line.overhead.value for line in lines])
    assert values.mean() == pytest.approx(50, abs=4 * values.std() / math.sqrt(len(values)))
    assert abs(values.mean() - 50) < 2


@pytest.mark.filterwarnings("error")
def test_a_coarse_clock_in_microseconds_still_has_a_line() -> None:
    # gettimeofday: the whole interval is shorter than a tick of the clock.
    machine = Machine(overhead=0.03, cost=0.0005, noise=0.002, samples=20_000, frequency_hz=1e6)
    line = line_of(simulate.run(machine, 3))
    assert line.straight
    assert line.overhead.contains(0.03) and line.cost.contains(0.0005)


# Where the model does not hold


@pytest.mark.parametrize("step", STEPS)
def test_work_that_the_reading_does_not_wait_for_is_no_line(step: int) -> None:
    # The reading overlaps with the first 120 ticks of the work, as unfenced readings do.
    machine = dataclasses.replace(simulate.with_step(Machine(), step), hidden=120, samples=10_000)
    assert not line_of(simulate.run(machine, 1)).straight


@pytest.mark.parametrize("step", STEPS)
def test_an_honest_line_is_called_one(step: int) -> None:
    machine = dataclasses.replace(simulate.with_step(Machine(), step), samples=10_000)
    assert all(line_of(simulate.run(machine, seed)).straight for seed in range(30))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"batches": (64,)}, "two batch sizes above 0"),
        ({"batches": (0, 64)}, "two batch sizes above 0"),
        ({"batches": (0,)}, "two batch sizes above 0"),
        ({"samples": 10}, "too few"),
        ({"samples": 1, "processes": 1}, "two batch sizes"),
    ],
)
def test_too_little_is_refused_with_what_to_do(change: dict[str, object], message: str) -> None:
    machine = dataclasses.replace(Machine(), **change)  # type: ignore[arg-type]
    with pytest.raises(CannotEstimate, match=message):
        line_of(simulate.run(machine, 1))


def test_an_unknown_variant_is_a_key_error() -> None:
    with pytest.raises(KeyError, match="simulated"):
        fit_line(simulate.run(Machine(samples=100), 1), "sundial")


def test_constant_samples_have_an_interval_of_no_width() -> None:
    line = line_of(simulate.run(Machine(overhead=50, cost=1, noise=0), 1))
    assert line.overhead.value == pytest.approx(50)
    assert line.overhead.half_width < 0.2 and line.straight


def test_two_batch_sizes_are_a_line_by_themselves() -> None:
    line = line_of(simulate.run(Machine(batches=(64, 512)), 1))
    assert line.straight and line.empty is None
    assert line.overhead.contains(50, slack=0.5)


# What the estimate must not depend on


def changed(recording: Recording, ticks: np.ndarray) -> Recording:
    return dataclasses.replace(recording, ticks=ticks)


@settings(max_examples=20)
@given(st.integers(0, 10**6), st.integers(1, 50))
def test_a_constant_more_shifts_the_overhead_alone(more: int, seed: int) -> None:
    recording = simulate.run(Machine(samples=500), seed)
    one, other = line_of(recording), line_of(changed(recording, recording.ticks + more))
    # The weights know the size of the points, a little.
    assert other.cost.value == pytest.approx(one.cost.value, abs=one.cost.half_width / 2)
    assert other.overhead.value - more == pytest.approx(
        one.overhead.value, abs=one.overhead.half_width / 2
    )


@settings(max_examples=20)
@given(st.integers(2, 1000), st.integers(1, 50))
def test_a_finer_unit_multiplies_everything(times: int, seed: int) -> None:
    recording = simulate.run(Machine(samples=500), seed)
    one, other = line_of(recording), line_of(changed(recording, recording.ticks * times))
    for name in ("overhead", "cost"):
        before: Estimate = getattr(one, name)
        after: Estimate = getattr(other, name)
        assert after.value == pytest.approx(before.value * times, rel=1e-3)
        assert after.half_width == pytest.approx(before.half_width * times, rel=0.02)


def test_the_same_recording_gives_the_same_interval() -> None:
    one, other = (line_of(simulate.run(Machine(), 5)) for _ in range(2))
    assert one.overhead == other.overhead and one.cost == other.cost


def test_the_order_of_the_rows_does_not_matter() -> None:
    recording = simulate.run(Machine(), 5)
    order = np.random.default_rng(1).permutation(len(recording))
    mixed = dataclasses.replace(
        recording,
        **{name: getattr(recording, name)[order] for name in ("process", "sample", "batch")},
        ticks=recording.ticks[order],
    )
    assert line_of(mixed).overhead.value == pytest.approx(line_of(recording).overhead.value)


def test_interrupts_move_nothing() -> None:
    quiet = line_of(simulate.run(Machine(), 4))
    disturbed = line_of(simulate.run(Machine(tail=0.05, tail_length=100_000), 4))
    assert disturbed.overhead.value == pytest.approx(
        quiet.overhead.value, abs=3 * quiet.overhead.half_width
    )


def test_units_are_converted_with_their_interval() -> None:
    clock = Clock(2e9, 1, 0.5)
    estimate = Estimate(40, 38, 44, "ticks", "m", 10, 2).into("ns", clock)
    assert (estimate.value, estimate.low, estimate.high, estimate.unit) == (20, 19, 22, "ns")
    assert estimate.into("cycles", clock).value == 80
    assert estimate.half_width == 1.5
    assert estimate.contains(22) and not estimate.contains(22.1)
    assert estimate.contains(22.1, slack=0.2)


# The parts


@pytest.mark.parametrize("processes", [1, 2, 4, 10])
def test_the_interval_comes_from_processes_or_of_one_process_from_its_parts(processes: int) -> None:
    line = line_of(simulate.run(Machine(processes=processes, samples=2000), 1))
    assert line.cost.by_process is not None
    assert line.cost.processes == processes
    assert len(line.cost.by_process.value) == (PARTS if processes == 1 else processes)


def test_samples_are_counted_once_whatever_they_were_left_out_for() -> None:
    machine = Machine(tail=0.05, interrupted_every=600.0, interruption=7000.0)
    recording = simulate.run(machine, 1)
    line = line_of(recording)
    aside = sum(int(counts.sum()) for counts in line.set_aside.values())
    assert line.cost.n + aside == len(recording)
    assert line.share_set_aside("far") > 0.2 and line.share_set_aside("shared") == 0


def test_student_t_agrees_with_tables_beyond_its_own() -> None:
    assert student_t(40) == pytest.approx(2.0211, abs=2e-4)
    assert student_t(100) == pytest.approx(1.9840, abs=2e-4)
    assert student_t(9) == 2.262


@pytest.mark.parametrize("grain", [1, 10, 40])
def test_a_clock_in_ns_that_is_made_from_a_coarse_counter_gives_its_line(grain: int) -> None:
    # It reads 20, 30 and now and then 21: by its step of 1 a 30 would be taken for an interrupt.
    coarse = Clocked(16.0, CYCLE_TICKS / 2.6, frequency_hz=1e9, step=grain)
    conditions = {"clock.monotonic.step": "1", "counter.step": f"{round(2.6 * grain)}"}
    for seed in range(5):
        run = recording(
            {"monotonic": coarse}, extra=conditions, samples=8_000, noise=0.2, seed=seed
        )
        line = fit_line(run, "monotonic")
        assert line.straight
        # Noise lies on one side of each length: 0.16 ticks in the mean.
        assert abs(line.overhead.value - coarse.overhead - 0.16) < 1.0
