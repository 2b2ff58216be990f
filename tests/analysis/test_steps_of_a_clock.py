"""Which samples count as steady: what is not rare, or a step of the clock, is not set aside."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from labs.analysis import cells, selection
from labs.analysis.line import fit_line
from labs.recording.file import Integers
from labs.results.result import result_of
from testing.submitted_figures import Clocked, recording

CYCLE = 0.25


def test_a_coarse_step_stays_one_at_one_speed_of_the_core() -> None:
    # A counter that moves by 10 ticks, and declares one.
    run = recording({"a": Clocked(20.0, CYCLE, step=10)}, kernel="system_call", noise=0.3)
    lengths = [f"{CYCLE * (1 + 0.003 * number)}" for number in range(10)]
    conditions = {**run.conditions, "clock.a.step": "1"}
    del conditions["core_cycle_ticks"]
    processes = tuple({"core_cycle_ticks": length} for length in lengths)
    run = dataclasses.replace(run, conditions=conditions, processes=processes)
    assert fit_line(run, "a", one_speed=True).share_set_aside("far") < 0.02
    found = result_of(run, "a", "cycles").estimate
    assert found is not None
    true = np.mean([CYCLE / float(length) for length in lengths])
    assert found.low < true < found.high


def in_microseconds(seed: int) -> tuple[Integers, Integers]:
    """What a clock of 62.5 MHz reads that an emulator moves once in a microsecond."""
    random = np.random.default_rng(seed)
    batch = np.repeat([64, 128, 256], 100)
    start = random.uniform(0, 1e3, len(batch))
    microseconds = np.floor(start + 0.9 + 0.0173 * batch) - np.floor(start)
    begin = np.floor(start)
    ticks = np.floor((begin + microseconds) * 62.5) - np.floor(begin * 62.5)
    return ticks.astype(np.int64), batch


@pytest.mark.parametrize("seed", range(5))
def test_the_steps_of_an_emulators_clock_are_seen(seed: int) -> None:
    ticks, batch = in_microseconds(seed)
    assert cells._step_between(ticks, batch) == pytest.approx(62.5, rel=0.02)


@pytest.mark.parametrize("seed", range(5))
def test_a_smooth_clock_has_no_long_steps(seed: int) -> None:
    random = np.random.default_rng(seed)
    batch = np.repeat([64, 128, 256], 100)
    ticks = (40 + 3.3 * batch + random.exponential(4.0, len(batch))).astype(np.int64)
    assert cells._step_between(ticks, batch) == 0.0
    # Two ways of the operation, 25 ticks apart, are no steps either.
    two = ticks + 25 * (random.random(len(batch)) < 0.4)
    assert cells._step_between(two, batch) == 0.0


def test_what_nearly_half_of_the_samples_do_is_not_rare() -> None:
    run = recording({"a": Clocked(60.0, 20.0)}, kernel="system_call", noise=4.0)
    random = np.random.default_rng(3)
    second = (run.batch == 64) & (random.random(len(run.batch)) < 0.485)
    run = dataclasses.replace(run, ticks=run.ticks + 400 * second)
    table = cells.cells_of(run.samples("a"))
    kept = selection.near_median(table, table.ticks, np.ones(len(table.ticks), dtype=np.bool_))
    assert kept[table.batch[table.column] == 64].mean() > 0.95
