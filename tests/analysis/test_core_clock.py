"""Core cycles: each process by the speed that the core had in it."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType

import numpy as np
import pytest

from labs.analysis import core_clock
from labs.recording.file import Recording
from labs.results.result import result_of
from labs.units import Clock
from testing import simulate
from testing.declarations import as_declared
from testing.simulate import VARIANT, Machine

LENGTHS = ("0.62", "0.636", "0.652", "0.62", "0.724", "0.636", "0.724", "0.62", "0.636", "0.62")


def at_speeds(lengths: tuple[str, ...]) -> Recording:
    """A procedure call of 1.5 core cycles in processes whose core had these cycles, in ticks."""
    machine = Machine(cost=1.5, overhead=50, noise=1, samples=10_000, processes=len(lengths))
    made = simulate.run(machine, 1)
    length = np.array([float(text) for text in lengths])
    ticks = np.round(made.ticks * length[made.process]).astype(np.int64)
    each = tuple(
        MappingProxyType({**stated, "core_cycle_ticks": text})
        for stated, text in zip(made.processes, lengths, strict=True)
    )
    common = {key: text for key, text in made.conditions.items() if key != "core_cycle_ticks"}
    slower = replace(made, ticks=ticks, processes=each, conditions=MappingProxyType(common))
    return as_declared(slower, "procedure_call")


def test_cycles_are_those_of_each_process() -> None:
    estimate = result_of(at_speeds(LENGTHS), VARIANT, "cycles").estimate
    assert estimate is not None
    assert estimate.value == pytest.approx(1.5, rel=0.003)
    assert estimate.half_width < 0.016, "runs differ by 1 %"


def test_a_time_is_as_the_core_was_and_no_process_is_set_aside_for_its_speed() -> None:
    estimate = result_of(at_speeds(LENGTHS), VARIANT, "ns").estimate
    assert estimate is not None and estimate.processes == 10
    lengths = np.array([float(text) for text in LENGTHS])
    assert estimate.value == pytest.approx(1.5 * lengths.mean() / 2.6, rel=0.003)
    spread = 2.262 * lengths.std(ddof=1) / 10**0.5  # Student's t of 9 degrees of freedom
    assert estimate.half_width == pytest.approx(1.5 * spread / 2.6, rel=0.03)


def test_an_overhead_in_core_cycles_does_not_depend_on_the_clock_speed() -> None:
    run = as_declared(at_speeds(LENGTHS), "timer_overhead")
    estimate = result_of(run, VARIANT, "cycles").estimate
    assert estimate is not None and estimate.unit == "cycles"
    assert estimate.value == pytest.approx(50, rel=0.01) and estimate.half_width < 0.03 * 50


def test_no_core_is_faster_than_any_core() -> None:
    impossible = ("0.2", "0.2", *["0.62"] * 8)  # 13 GHz
    assert core_clock.cycle_lengths(at_speeds(impossible)) == [0.62] * 10


def test_one_cycle_for_all_processes_changes_nothing() -> None:
    made = simulate.run(Machine(), 1)
    samples = made.samples(VARIANT)
    assert core_clock.at_one_speed(samples, made) is samples


def test_a_clock_that_changes_within_a_process_counts_with_its_mean() -> None:
    """In eight of ten processes a core cycle takes 6 % longer from somewhere before the middle."""
    begins = np.array([0.31, 0.405, 0.36, 0.29, 0.462, 1.0, 0.34, 0.39, 0.318, 1.0])
    made = at_speeds(tuple(f"{0.62 * (1 + 0.06 * (1 - begin)):.5f}" for begin in begins))
    each = len(made) // len(begins)
    longer = np.where(made.sample >= begins[made.process] * each, 1.06, 1.0)
    plain = at_speeds(("0.62",) * len(begins))
    made = replace(made, ticks=np.round(plain.ticks * longer).astype(np.int64))
    estimate = result_of(made, VARIANT, "cycles").estimate
    assert estimate is not None and estimate.by_process is not None
    value, low, high = estimate.by_process.estimate()
    assert value == pytest.approx(1.5, rel=0.002) and low <= 1.5 <= high and high - low < 0.02


@pytest.mark.parametrize("bad", ["nan", "0", "-1", "inf", "fast"])
def test_a_speed_that_is_not_known_of_every_process_is_not_used(bad: str) -> None:
    made = at_speeds(LENGTHS)
    last = MappingProxyType({**made.processes[-1], "core_cycle_ticks": bad})
    made = replace(made, processes=(*made.processes[:-1], last))
    assert core_clock.cycle_lengths(made) == []
    samples = made.samples(VARIANT)
    assert core_clock.at_one_speed(samples, made) is samples


def test_the_shortest_cycle_is_that_of_the_fastest_process_in_ticks_of_its_clock() -> None:
    made = at_speeds(LENGTHS)
    assert core_clock.shortest_cycle(made, made.clock(VARIANT)) == pytest.approx(0.62)
    # A clock that ticks half as often: its core cycle is half as many of its ticks.
    half = Clock(1.3e9, 1, (made.clock(VARIANT).core_cycle_ticks or 0) / 2)
    assert core_clock.shortest_cycle(made, half) == pytest.approx(0.31)
    assert core_clock.shortest_cycle(made, Clock(1e9, 1)) == 0.0


def test_the_json_has_core_cycles_beside_the_time() -> None:
    entry = result_of(at_speeds(LENGTHS), VARIANT, "ns").as_json()
    assert entry["core_cycles"]["value"] == pytest.approx(1.5, rel=0.003)
