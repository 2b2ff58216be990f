"""Pitfalls of timers: what is told apart from what, and what an honest recording never shows."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from grader.evidence.c_calls import subtracted_constant
from grader.figures import figure_named
from grader.judging import flags, lab_folder
from grader.judging.check import check
from labs import paths
from labs.recording.file import Recording
from labs.results.result import naive_value, result_of
from support.submitted_figures import (
    CYCLE_TICKS,
    FENCED,
    MONOTONIC,
    Clocked,
    figure,
    recording,
)

FENCED_ID, MONOTONIC_ID = "timer-overhead-fenced", "timer-overhead-monotonic"
OF_THE_COUNTER = {"counter": "tsc", "clock.fenced.name": "tsc", "counter.overhead": "42"}


def found(
    figure_id: str, value: float, unit: str, run: Recording, source: str | None = None
) -> list[str]:
    verdict = check(figure_named(figure_id), figure(figure_id, value, unit), run, source)
    return [finding.code for finding in verdict.findings]


def run_of(
    clocked: Clocked = FENCED, name: str = "fenced", extra: Mapping[str, str] | None = None
) -> Recording:
    conditions = {**OF_THE_COUNTER, "os": "Linux 6.1", **(extra or {})}
    return recording({name: clocked}, extra=conditions)


def overhead(run: Recording, unit: str = "ns") -> float:
    estimate = result_of(run, unit=unit).estimate
    assert estimate is not None
    return estimate.value


def test_which_clock_was_mistaken_for_which() -> None:
    for unit, factor, code in (
        ("ns", 2.6 / 3.1, "nominal-clock"),  # ticks / the clock in the processor's name
        ("ns", CYCLE_TICKS, "nominal-clock"),  # ticks / the core's own clock
        ("ns", 1 / CYCLE_TICKS, "cycles-for-ticks"),  # core cycles / the counter's frequency
        ("ns", 2.6, "ticks-for-nanoseconds"),
        ("ns", 2.6 / CYCLE_TICKS, "cycles-for-nanoseconds"),
        ("cycles", CYCLE_TICKS / 2.6, "cycles-for-nanoseconds"),
        ("ns", 1.05 * 2.6 / CYCLE_TICKS, "figure-not-from-recording"),
        ("cycles", 1.05 * CYCLE_TICKS / 2.6, "figure-not-from-recording"),
        ("ticks", 1 / CYCLE_TICKS, "cycles-for-ticks"),
        ("cycles", CYCLE_TICKS, "cycles-for-ticks"),
        ("cycles", 3.1 * CYCLE_TICKS / 2.6, "nominal-clock"),  # ns * the clock in the name
    ):
        run = run_of(extra={"machine.cpu": "Intel(R) Core(TM) i7 CPU @ 3.10GHz"})
        assert found(FENCED_ID, overhead(run, unit) * factor, unit, run) == [code], (unit, factor)


def test_the_clock_in_the_name_is_no_mistake_where_it_is_the_counters() -> None:
    run = run_of(extra={"machine.cpu": "Intel(R) Xeon(R) CPU @ 2.60GHz"})
    assert found(FENCED_ID, overhead(run, "ticks") / 2.6, "ns", run) == []


def test_where_the_core_runs_at_twice_the_counter_a_half_is_called_a_half() -> None:
    run = run_of(extra={"core_cycle_ticks": "0.5"})
    assert found(FENCED_ID, overhead(run) / 2, "ns", run) == ["half-or-double"]


def test_a_clock_stated_in_the_c_must_be_the_one_measured() -> None:
    for stated, codes in (
        (2.6e9, []),
        (2.6e9 * 1.001, []),
        (3.1e9, ["nominal-clock"]),
        (1e9, ["ticks-for-nanoseconds"]),
    ):
        run = run_of(replace(FENCED, frequency_hz=stated))
        assert found(FENCED_ID, overhead(run), "ns", run) == codes
    # Another clock than the counter may well run at another frequency.
    run = run_of(MONOTONIC, "monotonic", extra={"clock.monotonic.name": "CLOCK_MONOTONIC"})
    assert found(MONOTONIC_ID, overhead(run), "ns", run) == []


def test_a_thousand_core_cycles_for_an_addition_are_a_slip_of_the_unit() -> None:
    # Nanoseconds, said to be microseconds: by that clock everything takes a thousand times as long.
    run = run_of(replace(MONOTONIC, frequency_hz=1e6), "monotonic")
    assert found(MONOTONIC_ID, overhead(run), "ns", run) == ["unit-slip"]


def test_an_overhead_of_nothing() -> None:
    run = run_of()
    assert found(FENCED_ID, 0, "us", run) == ["overhead-rounded-to-zero"]
    # In whole nanoseconds it is not 0, so this 0 comes from elsewhere.
    assert "overhead-rounded-to-zero" not in found(FENCED_ID, 0, "ns", run)
    assert found(FENCED_ID, round(overhead(run) / 1000, 3), "us", run) == []
    rounded = run_of(Clocked(0, 0, frequency_hz=1e6, step=1000), "monotonic")
    assert found(MONOTONIC_ID, 0, "ns", rounded) == ["overhead-rounded-to-zero"]
    # Zeros of a clock of fine units come from elsewhere, as where too much was subtracted.
    subtracted = run_of(Clocked(0, 0, frequency_hz=2.4e9, step=256), "monotonic")
    assert "overhead-rounded-to-zero" not in found(MONOTONIC_ID, 0, "ns", subtracted)


def test_a_step_is_no_lost_digit_where_the_clock_itself_steps_so() -> None:
    for step in (1, 2, 16, 64, 128):
        run = run_of(replace(FENCED, step=step))
        assert found(FENCED_ID, overhead(run), "ns", run) == [], step


def test_steps_that_the_clock_does_not_have_were_made_by_the_program() -> None:
    run = run_of(replace(MONOTONIC, step=128), "monotonic", extra={"clock.monotonic.step": "1"})
    assert found(MONOTONIC_ID, overhead(run), "ns", run) == ["timestamps-in-double"]
    run = run_of(replace(MONOTONIC, step=1000), "monotonic", extra={"clock.monotonic.step": "1000"})
    assert found(MONOTONIC_ID, overhead(run), "ns", run) == ["digits-lost"]
    honest = run_of(replace(MONOTONIC, step=1000), "monotonic", extra={"os": "Darwin 23"})
    assert found(MONOTONIC_ID, overhead(honest), "ns", honest) == []


def test_an_overhead_far_below_the_fenced_pair_of_the_run_lacks_a_constant() -> None:
    for clocked, codes in (
        (FENCED, []),
        (replace(FENCED, overhead=20), []),
        (replace(FENCED, overhead=4), ["stale-constant"]),
    ):
        run = run_of(clocked)
        assert found(FENCED_ID, overhead(run), "ns", run) == codes
    run = run_of()
    assert found(FENCED_ID, 28.5, "cycles", run) == ["stale-constant"]


def test_the_c_tells_why_a_pair_costs_too_little() -> None:
    for returns, code in (
        ("end - begin", "clock-read-too-early"),
        ("end - begin - 28", "stale-constant"),
    ):
        source = (
            "uint64_t begin = counter_unfenced(); ADDITIONS(link, k); "
            f"uint64_t end = counter_unfenced(); return {returns};"
        )
        run = run_of(replace(FENCED, overhead=4))
        assert found(FENCED_ID, overhead(run), "ns", run, source) == [code], (returns, code)


def test_the_constant_that_stands_in_the_c() -> None:
    for c, constant in (
        ("#define PAIR 28.5\nb = rdtsc(); e = rdtsc();\nreturn e - b - PAIR;", "PAIR = 28.5"),
        ("b = now(); e = now(); d = e - b; sum += d - 40;", "40"),
        ("b = now(); e = now(); return (double)(e - b) - (28.5);", "28.5"),
        ("uint64_t own = 0; b = now(); e = now(); return e - b - own;", None),
        ("b = now(); e = now(); return e - b - 1;", None),
        ("b = now(); e = now(); return e - b; /* - 28 */", None),
        ("room = size - used - 16;", None),
    ):
        assert subtracted_constant(c) == constant, (c, constant)


def test_no_released_c_kernel_subtracts_a_constant() -> None:
    for path in paths.kernels_c().glob("*.[ch]"):
        assert subtracted_constant(path.read_text(encoding="utf-8")) is None, path.name


def test_cpuid_is_told_by_the_c_or_where_nothing_else_costs_so_much() -> None:
    dear = run_of(replace(FENCED, overhead=9000))
    value = overhead(dear)
    assert found(FENCED_ID, value, "ns", dear, 'asm("cpuid")') == ["serializing-cpuid"]
    assert found(FENCED_ID, value, "ns", dear, "/* no cpuid */") == []
    assert found(FENCED_ID, value, "ns", dear) == []
    guest = run_of(replace(FENCED, overhead=9000), extra={"machine.virtual": "True"})
    assert found(FENCED_ID, overhead(guest), "ns", guest) == ["serializing-cpuid"]
    # Before the first reading it costs the sample nothing.
    cheap = run_of()
    assert found(FENCED_ID, overhead(cheap), "ns", cheap, 'asm("cpuid")') == []


def test_an_addition_that_a_coarse_counter_knows_only_roughly() -> None:
    for step, seed in ((1000, 13), (2808, 13), (2808, 14), (108, 1)):
        run = recording(
            {"own": replace(FENCED, step=step)}, kernel="own_pair", samples=200, seed=seed
        )
        value = naive_value(result_of(run, unit="cycles"))
        assert "clock-read-too-early" not in found("timer-own-addition", value, "cycles", run), step


def test_a_figure_on_a_recording_of_something_else_is_told_and_ends_nothing(tmp_path: Path) -> None:
    (tmp_path / "recordings").mkdir()
    recording({"monotonic": MONOTONIC}).write(tmp_path / "recordings" / "run.csv")
    entry = {"value": 15, "unit": "ns", "recording": "recordings/run.csv"}
    (tmp_path / "figures.json").write_text(json.dumps({FENCED_ID: entry}))
    first, *_ = lab_folder.check_folder(tmp_path, "01-timer-overhead")
    assert [finding.code for finding in first.findings] == ["other-recording"]


def test_where_the_flags_fail_all_is_graded_none_the_less(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("a fault of ours")

    monkeypatch.setattr(flags, "flags_by_figure", broken)
    assert lab_folder.check_folder(tmp_path, "01-timer-overhead")


def test_one_step_of_the_clock_is_no_half_of_the_mean() -> None:
    run = run_of(replace(FENCED, overhead=51.6, step=26))
    half, step = overhead(run) / 2, 26 / 2.6
    assert abs(half - step) < 0.015 * half  # so near that each was taken for the other
    assert found(FENCED_ID, step, "ns", run) == ["one-sample-taken"]
    assert found(FENCED_ID, round(half, 3), "ns", run) == ["half-or-double"]


def test_a_percentile_is_no_ratio_of_frequencies() -> None:
    run = run_of(replace(FENCED, overhead=40.0), name="fenced")
    long = recording({"fenced": FENCED}, noise=30.0, samples=4000, extra=OF_THE_COUNTER)
    empty = long.samples("fenced").ticks[long.samples("fenced").batch == 0]
    for percent in (75, 90, 95, 99):
        value = float(np.percentile(empty, percent)) / 2.6
        codes = found(FENCED_ID, value, "ns", long)
        assert codes in ([], ["one-sample-taken"], ["one-of-two-slips"]), percent
    # A factor near that of the counter is none.
    for factor in (2.5, 2.69, 2.7):
        assert found(FENCED_ID, overhead(run) * factor, "ns", run) == ["figure-not-from-recording"]


def test_own_samples_longer_than_the_work_were_not_read_too_early() -> None:
    for clocked, code in (
        (FENCED, None),
        (replace(FENCED, cost=5 * CYCLE_TICKS), "more-between-the-readings"),
        (replace(FENCED, cost=CYCLE_TICKS / 10), "clock-read-too-early"),
        (replace(FENCED, straight=False), "clock-read-too-early"),
    ):
        run = recording({"own": clocked}, kernel="own_pair", extra=OF_THE_COUNTER)
        codes = found("timer-own-addition", 1.0, "cycles", run)
        about = {"more-between-the-readings", "clock-read-too-early", "not-on-a-line"}
        assert set(codes) & about == ({code} if code else set()), (clocked, code)
