"""Pitfalls of timing procedure calls, at their edges: what no honest run may be accused of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from grader.figures import figure_named
from grader.figures.verdict import Outcome, Verdict
from grader.judging.check import check
from labs.c_kernels.toolchain import optimisation_level
from labs.recording.file import Recording
from labs.results.result import result_of
from support.submitted_figures import CYCLE_TICKS, Clocked, figure, recording

LOOP = 1.0


def calls(step: int = 2, ratio: float = 1.0, **cycles: float) -> dict[str, Clocked]:
    """Variants by what a turn of their loop takes in core cycles, seen by another counter."""
    return {
        name: Clocked(42.6 * ratio, each * CYCLE_TICKS * ratio, 2.6e9 * ratio, step)
        for name, each in cycles.items()
    }


def run(
    variants: dict[str, Clocked],
    *,
    kernel: str = "procedure_call",
    flags: str = "-O2",
    samples: int = 2000,
    noise: float = 1.5,
    more: Mapping[str, str] | None = None,
) -> Recording:
    baselines = {f"variant.{name}.baseline": "loop" for name in variants if name != "loop"}
    return recording(
        variants,
        kernel=kernel,
        samples=samples,
        noise=noise,
        extra={"flags": flags, **(baselines if "loop" in variants else {}), **(more or {})},
    )


def only(seen: Recording, rows: NDArray[np.bool_]) -> Recording:
    return replace(
        seen,
        variant_index=seen.variant_index[rows],
        process=seen.process[rows],
        sample=seen.sample[rows],
        batch=seen.batch[rows],
        ticks=seen.ticks[rows],
    )


def judged(figure_id: str, value: float, unit: str, of: Recording) -> Verdict:
    return check(figure_named(figure_id), figure(figure_id, value, unit), of)


def codes(verdict: Verdict) -> list[str]:
    return [finding.code for finding in verdict.findings]


def test_a_call_that_is_made_passes_whatever_the_counter() -> None:
    for cycles in (1.5, 3.0, 5.0, 25.0):
        for step in (1, 2, 26, 108):
            # One and a half: as a core would take that can follow two jumps in a cycle.
            seen = run(calls(step, args0=cycles, loop=LOOP))
            figure = result_of(seen, "args0", "cycles").estimate
            assert figure is not None, (step, cycles)
            # A 95 % interval misses the truth in one run of twenty; two of them in one of 10,000.
            assert abs(figure.value - (cycles - LOOP)) < figure.high - figure.low, (step, cycles)
            verdict = judged("call-args0", figure.value, "cycles", seen)
            assert verdict.outcome is Outcome.PASSED, verdict


def test_a_call_passes_on_a_counter_of_24_mhz() -> None:
    ratio = 24e6 / 2.6e9
    seen = run(
        calls(1, ratio, args0=4.0, loop=LOOP),
        noise=0.02,
        samples=20_000,
        more={"counter.frequency_hz": "24e6", "core_cycle_ticks": f"{CYCLE_TICKS * ratio}"},
    )
    assert codes(judged("call-args0", 3.0, "cycles", seen)) == []


def test_a_call_that_is_gone_is_told_whether_its_loop_is_left_or_not() -> None:
    for cycles in (LOOP, 0.0):
        seen = run(calls(args0=cycles, loop=LOOP))
        value = (cycles - LOOP) * CYCLE_TICKS / 2.6
        assert "work-optimised-away" in codes(judged("call-args0", value, "ns", seen)), cycles


def test_an_inlined_procedure_is_none_from_which_too_much_was_subtracted() -> None:
    for cycles in (LOOP, 0.95 * LOOP, 0.7 * LOOP, 0.5, 0.1):
        seen = run(calls(own=cycles, loop=LOOP), kernel="own_procedure")
        found = codes(judged("call-own", cycles - LOOP, "cycles", seen))
        assert "work-optimised-away" in found, cycles
        assert not {"below-one-cycle", "less-than-nothing"} & set(found), cycles


def test_a_reading_that_is_a_call_itself_is_no_second_call() -> None:
    for counter, watched, named in (
        ("tsc", 16, False),
        ("tsc", 18, True),
        ("clock_monotonic", 18, False),  # two of them are the second reading
        ("clock_monotonic", 2, True),
        ("clock_monotonic", 34, True),
    ):
        more = {
            "counter": counter,
            "variant.own.watched_operations": "16",
            "variant.own.watched_calls": str(watched),
        }
        seen = run(calls(own=4.0, loop=LOOP), kernel="own_procedure", more=more)
        assert ("not-one-call" in codes(judged("call-own", 3.0, "cycles", seen))) == named, counter


def test_what_is_inlined_on_purpose_may_cost_nothing() -> None:
    seen = run(calls(inlined=LOOP, args0=4.0, loop=LOOP))
    assert judged("call-inlined", 1, "choice", seen).outcome is Outcome.PASSED
    assert codes(judged("call-inlined", 3, "choice", seen)) == ["conclusion-against-table"]


def test_less_than_a_cycle_is_told_where_there_is_no_line_to_hold_it_against() -> None:
    seen = run(calls(args0=4.0, loop=LOOP))
    one_size = only(seen, seen.batch == 64)
    assert "below-one-cycle" in codes(judged("call-args0", 0.6, "cycles", one_size))
    assert "below-one-cycle" not in codes(judged("call-args0", 4.6, "cycles", one_size))


def test_further_arguments_may_cost_less_than_a_cycle_each() -> None:
    seen = run(calls(args12=7.0, args6=5.0, loop=LOOP), flags="-O0")
    assert judged("call-per-argument", 1 / 3, "cycles", seen).outcome is Outcome.PASSED


def test_a_trend_is_told_from_a_conclusion_against_the_table() -> None:
    alike = run(calls(args6=5.0, args5=5.0, loop=LOOP), flags="-O0")
    five_and_six = figure_named("call-five-and-six")
    for wrong in (1, 2):
        submitted = figure("call-five-and-six", wrong, "choice")
        told = check(five_and_six, submitted, alike, tell_answers=True)
        assert codes(told) == ["trend-inside-the-noise"]
        # Before the lab is handed in, this name would give the answer away.
        assert codes(check(five_and_six, submitted, alike)) == ["conclusion-against-table"]
    assert codes(judged("call-five-and-six", 3, "choice", alike)) == []
    apart = run(calls(args6=6.0, args5=5.0, loop=LOOP), flags="-O0")
    assert codes(judged("call-five-and-six", 1, "choice", apart)) == []
    for wrong in (2, 3):
        found = judged("call-five-and-six", wrong, "choice", apart)
        assert codes(found) == ["conclusion-against-table"]
        assert "The first minus the second is " in found.findings[0].evidence


def test_costs_of_one_run_may_be_told_apart_in_core_cycles() -> None:
    # In ns each figure spans the speeds of the last hour; both met the same ones.
    speeds = {"core_cycle_ticks.last_hour": f"{CYCLE_TICKS * 0.6} {CYCLE_TICKS * 1.4}"}
    seen = run(calls(args6=6.0, args5=5.0, loop=LOOP), flags="-O0", more=speeds)
    assert codes(judged("call-five-and-six", 1, "choice", seen)) == []
    assert codes(judged("call-five-and-six", 2, "choice", seen)) != []


def test_the_level_is_the_last_one_named() -> None:
    for flags, level in (
        ("-O2", "-O2"),
        ("", "-O0"),
        ("-g -pthread", "-O0"),
        ("-O", "-O1"),
        ("-O2 -g -O0", "-O0"),
        ("-march=native -Ofast", "-Ofast"),
        ("'", None),
    ):
        assert optimisation_level(flags) == level, (flags, level)


def test_a_recording_that_does_not_state_its_flags_is_not_accused() -> None:
    seen = recording(calls(args6=5.0, loop=LOOP), kernel="procedure_call")
    assert "optimisation-levels-mixed" not in codes(judged("call-args6", 5.0, "cycles", seen))
