"""What the first time costs more: from processes of which only the first sample is cold."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pytest

from grader.lab_pages import MOST_WARMUP, ShortSession
from labs.analysis.confidence import CannotEstimate
from labs.analysis.net_cost import first_time
from labs.analysis.thresholds import FEWEST_FIRST_TIMES
from labs.notebook.session import Session
from labs.recording.declared import is_first_time
from labs.recording.file import Recording
from labs.results.result import result_of
from labs.run.declared_options import DEFAULT_WARMUP
from labs.run.plan import Plan
from labs.run.variants import has_first_time
from support import simulate
from support.declarations import as_declared
from support.paths import REPOSITORY
from support.simulate import VARIANT, Machine

MORE, WARM = 5000.0, 150.0


def cold_once(
    seed: int = 1,
    *,
    processes: int = 20,
    samples: int = 10,
    step: int = 1,
    spread: float = 0.1,
    cold: bool = True,
) -> Recording:
    """Processes whose first sample takes MORE, give or take a share `spread` of it."""
    random = np.random.default_rng(seed)
    process = np.repeat(np.arange(processes), samples)
    sample = np.tile(np.arange(samples), processes)
    length = WARM + random.normal(0, 3, processes * samples)
    first = sample == 0
    if cold:
        # As often above as below: the median over all processes there could be is MORE.
        length[first] += MORE * (1 + spread * random.standard_t(3, processes))
    ticks = np.floor((np.maximum(length, 0) + random.uniform(0, step, len(length))) / step) * step
    machine = Machine(processes=processes, step=step)
    made = simulate.recording(machine, process, sample, np.ones_like(process), ticks)
    stated = {**made.conditions, f"variant.{VARIANT}.first": "1"}
    return as_declared(
        dataclasses.replace(made, conditions=MappingProxyType(stated)), "first_iteration"
    )


def shuffled(recording: Recording) -> Recording:
    order = np.random.default_rng(3).permutation(len(recording))
    names = ("variant_index", "process", "sample", "batch", "ticks")
    return dataclasses.replace(
        recording, **{name: getattr(recording, name)[order] for name in names}
    )


def test_it_is_the_first_sample_less_the_median_of_the_later_ones() -> None:
    found = first_time(cold_once(spread=0), VARIANT)
    assert found.value == pytest.approx(MORE, abs=10)
    assert found.low <= found.value <= found.high
    assert (found.unit, found.processes, found.n) == ("ticks", 20, 200)


def test_its_interval_holds_the_truth_as_often_as_it_says() -> None:
    for step in (1, 8, 26, 108):
        held = sum(
            first_time(cold_once(seed, step=step), VARIANT).contains(MORE) for seed in range(400)
        )
        # The median of 20 takes one of few values, and its interval is never narrower than it says.
        assert 0.92 <= held / 400 <= 0.985, step


def test_more_processes_give_a_narrower_interval() -> None:
    few, many = (
        np.mean([first_time(cold_once(s, processes=n), VARIANT).half_width for s in range(20)])
        for n in (10, 80)
    )
    assert many < few / 1.8


def test_a_process_that_was_interrupted_moves_little() -> None:
    recording = cold_once(spread=0.05)
    ticks = recording.ticks.copy()
    ticks[0] += 10_000_000
    disturbed = dataclasses.replace(recording, ticks=ticks)
    quiet = first_time(recording, VARIANT)
    assert first_time(disturbed, VARIANT).value == pytest.approx(quiet.value, rel=0.05)


def test_where_nothing_was_cold_the_interval_holds_nothing_more() -> None:
    assert first_time(cold_once(cold=False), VARIANT).contains(0, slack=1)


def test_the_order_of_the_rows_does_not_matter() -> None:
    recording = cold_once()
    assert first_time(shuffled(recording), VARIANT) == first_time(recording, VARIANT)


@pytest.mark.parametrize("processes", range(1, FEWEST_FIRST_TIMES))
def test_too_few_processes_give_no_figure(processes: int) -> None:
    there = "1 process is" if processes == 1 else f"{processes} processes are"
    with pytest.raises(CannotEstimate, match=f"{there} too few, raise --processes to 5 or more"):
        first_time(cold_once(processes=processes), VARIANT)
    result = result_of(cold_once(processes=processes), VARIANT)
    assert result.estimate is None and "too few" in result.no_figure


def test_as_many_as_needed_are_enough() -> None:
    assert first_time(cold_once(processes=FEWEST_FIRST_TIMES), VARIANT).processes == 5


def test_a_process_with_one_sample_has_nothing_to_be_compared_with() -> None:
    with pytest.raises(CannotEstimate, match="0 processes are too few"):
        first_time(cold_once(samples=1), VARIANT)


def test_only_what_the_c_kernel_calls_so_is_about_the_first_time() -> None:
    assert is_first_time(cold_once(), VARIANT)
    assert not is_first_time(cold_once(), "another")
    assert not is_first_time(simulate.run(Machine(samples=100), 1), VARIANT)


def test_the_result_says_that_it_is_of_the_first_time() -> None:
    result = result_of(cold_once(), VARIANT, "ns")
    assert result.line is None and result.net is None
    assert result.estimate is not None
    assert result.estimate.value == pytest.approx(MORE / 2.6, rel=0.1)
    assert "extra cost of the first time" in result.sentence()
    assert "line" not in result.as_json()


IN_A_CELL = """#include "own_first_call.h"
static void get_ready(const volatile unsigned char *code) { (void)*code; }
MEASURE_OWN_FIRST_CALL(get_ready)
"""
OTHERS = """#include "own_procedure.h"
/* the first call is not what counts here: .estimand = ESTIMAND_FIRST_TIME */
static __attribute__((noinline)) long successor(long x) { return x + 1; }
MEASURE_OWN_PROCEDURE(successor)
"""
NO_C = '#include "own_first_call.h"\nMEASURE_OWN_FIRST_CALL(get_ready\n'
LISTS_NOTHING = "int main(void) { return 0; }\n"
#: A third of the compiler's time: what a C kernel lists is the same at each level.
PLAIN = ("-O0",)


@pytest.mark.parametrize(
    ("plan", "asked"),
    [
        (Plan("first_iteration", ("call",)), True),
        (Plan("kernels_c/broken/called_before.c"), True),
        (Plan("mine", source=IN_A_CELL, flags=PLAIN), True),
        (Plan("system_call"), False),
        (Plan("mine", source=OTHERS, flags=PLAIN), False),
        (Plan("first_of_all", source=OTHERS, flags=PLAIN), False),
        (Plan("mine", source=NO_C), False),
        (Plan("mine", source=LISTS_NOTHING), False),
        (Plan("no_such_first_thing"), False),
    ],
)
def test_whether_a_first_time_is_asked_for_is_what_the_c_kernel_lists(
    plan: Plan, asked: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(REPOSITORY)
    assert has_first_time(plan) == asked
    carried_out: list[Plan] = []

    def kept(_: Session, plans: Sequence[Plan], *more: object) -> list[None]:
        carried_out.extend(plans)
        return [None for _ in plans]

    monkeypatch.setattr(Session, "carry_out_in_turns", kept)
    ShortSession("01-timer-overhead", tmp_path).carry_out(plan)
    assert carried_out[0].warmup == (DEFAULT_WARMUP if asked else MOST_WARMUP)
