"""Lab 02's pitfalls where they are subtle: what looks like one, and is honest."""

from __future__ import annotations

import dataclasses
from types import MappingProxyType

import numpy as np
import pytest

from grader.figures import figure_named
from grader.figures.case import Case, make_case
from grader.judging.check import check
from grader.pitfalls.calls_and_loops import below_one_cycle, work_optimised_away
from grader.pitfalls.pages_and_caches import (
    first_sample_lost,
    page_fault_counted_along,
    page_still_missing,
)
from grader.pitfalls.pairs_of_readings import timer_not_subtracted as timer
from grader.pitfalls.samples_and_intervals import is_running_mean, series_of
from labs.course.figures import Figure
from labs.recording.file import Recording, read
from labs.results.result import result_of
from labs.run.measure import Plan, measure_now
from support.paths import FIXTURES

PITFALLS = FIXTURES / "pitfalls"
CALL = PITFALLS / "first-sample-lost" / "near" / "recordings" / "call.csv"
ONE_CALL = PITFALLS / "timer-not-subtracted" / "wrong" / "recordings" / "call.csv"
SEVERAL = PITFALLS / "timer-not-subtracted" / "near" / "recordings" / "call.csv"
OWN = PITFALLS / "page-still-missing" / "near" / "recordings"
CAUSES = PITFALLS / "page-fault-counted-along" / "near" / "recordings" / "causes.csv"


def case_of(recording: Recording, figure: str, value: float, unit: str = "ns") -> Case:
    spec = figure_named(figure)
    return make_case(spec, Figure(figure, value, unit, "recordings/run.csv"), recording)


def stepping_by(recording: Recording, step: int) -> Recording:
    """The same samples by a counter that steps by so many ticks."""
    return dataclasses.replace(recording, ticks=recording.ticks // step * step)


def in_one_line(text: str | None) -> str:
    assert text is not None
    return " ".join(text.split())


# Running means

HONEST = sorted(
    path
    for path in FIXTURES.rglob("recordings/*.csv")
    if "running-mean/wrong" not in path.as_posix() and "unreadable" not in path.as_posix()
)


@pytest.mark.slow
def test_no_series_of_single_samples_is_taken_for_running_means() -> None:
    for step in (1, 26, 108):
        series = [
            each
            for path in HONEST
            for recording in [stepping_by(read(path), step)]
            for name in recording.variants
            for each in series_of(recording, name)[1]
        ]
        assert len(series) > 500, step
        assert [each[:8].tolist() for each in series if is_running_mean(each)] == [], step


def test_samples_that_settle_slowly_are_no_running_means() -> None:
    for later in ([90.0] * 30, [400.0, 200.0, 150.0, *[90.0] * 27]):
        assert not is_running_mean(np.array([1000.0, *later])), later


def test_running_means_are_found_however_much_the_samples_scatter() -> None:
    random = np.random.default_rng(7)
    for _ in range(50):
        samples = np.concatenate([[128_779.0], 4_000 + 1_500 * random.random(199)])
        means = np.floor(np.cumsum(samples) / np.arange(1, 201))
        assert is_running_mean(means)


# First samples


def test_a_cold_first_sample_is_there_by_a_coarse_counter_too() -> None:
    for step in (26, 108):
        recording = stepping_by(read(CALL), step)
        value = result_of(recording, "call").estimate
        assert value is not None
        assert (
            first_sample_lost.detect(case_of(recording, "first-iteration-call", value.value))
            is None
        )


def test_a_first_system_call_may_cost_no_more_than_later_ones() -> None:
    # Only of a call into a page that is not there it is certain what the first time must cost.
    recording = read(PITFALLS / "first-sample-lost" / "near" / "recordings" / "call.csv")
    flat = dataclasses.replace(recording, ticks=np.full_like(recording.ticks, 52))
    spec = dataclasses.replace(figure_named("first-iteration-call"), variants=("system-call",))
    figure = Figure(spec.id, 0.0, "ns", "recordings/run.csv")
    assert first_sample_lost.detect(make_case(spec, figure, flat)) is None
    found = first_sample_lost.detect(case_of(flat, "first-iteration-call", 0.0))
    assert "too few for a page fault" in in_one_line(found)


def test_where_no_page_can_be_taken_away_a_cheap_first_call_is_nobodys_fault() -> None:
    recording = read(CALL)
    flat = dataclasses.replace(recording, ticks=np.full_like(recording.ticks, 52))
    assert first_sample_lost.detect(case_of(flat, "first-iteration-call", 0.0)) is not None
    elsewhere = {**flat.conditions, "os": "Darwin 24.1.0 arm64"}
    there = dataclasses.replace(flat, conditions=MappingProxyType(elsewhere))
    assert first_sample_lost.detect(case_of(there, "first-iteration-call", 0.0)) is None
    alike = read(OWN / "own.csv")
    alike = dataclasses.replace(alike, ticks=np.full_like(alike.ticks, 52))
    assert page_still_missing.detect(case_of(alike, "first-call-own", 0.0)) is None


# Getting ready for a first call

READS = "(void)*code; /* (void (*)(void))code would be a call */"


def test_who_calls_the_code_has_lost_its_first_time() -> None:
    for body, calls in (
        (READS, False),
        ("volatile unsigned char one = (code[0]); (void)one;", False),
        ("if ((*code) != 0) {}", False),
        ("((void (*)(void))(uintptr_t)code)();", True),
        ("void (*call)(void) = (void (*)(void))code; call();", True),
        ("procedure *call = (procedure *)(uintptr_t)code; call();", True),
        ("(void)code; remote_procedure();", True),
    ):
        source = f"static void get_ready(const volatile unsigned char *code)\n{{\n    {body}\n}}\n"
        spec = figure_named("first-call-own")
        figure = Figure(spec.id, 40.0, "ns", "recordings/own.csv")
        found = first_sample_lost.detect(make_case(spec, figure, read(OWN / "own.csv"), source))
        assert (found is not None) == calls, (body, calls)


def test_what_an_emulator_adds_to_every_first_call_is_not_the_students() -> None:
    # It translates code at its first call, which takes far longer than the page fault.
    recording = read(OWN / "own.csv")
    ticks = recording.ticks.copy()
    for name in ("own", "unprepared"):
        mine = recording.variant_index == recording.variants.index(name)
        for process in range(len(recording.processes)):
            of_process = np.flatnonzero(mine & (recording.process == process))
            ticks[of_process[recording.sample[of_process].argmin()]] += 20_000
    slow = dataclasses.replace(recording, ticks=ticks)
    case = case_of(slow, "first-call-own", 0.0)
    own, other = (case.results[name].estimate for name in ("own", "unprepared"))
    assert own is not None and other is not None and own.value > 0.5 * other.value
    assert page_still_missing.detect(case) is None


# Page faults beside what is measured


def test_page_faults_are_no_surprise_where_they_are_measured_along() -> None:
    recording = read(CAUSES)
    assert (recording.total("task.main.minor_faults") or 0) > 1_000
    assert (
        page_fault_counted_along.detect(case_of(recording, "first-iteration-data-cache", 100.0))
        is None
    )


def test_where_page_faults_are_not_counted_nothing_is_said() -> None:
    recording = read(CAUSES)
    kept = {k: v for k, v in recording.conditions.items() if "faults" not in k}
    each = tuple(
        MappingProxyType({k: v for k, v in process.items() if "faults" not in k})
        for process in recording.processes
    )
    bare = dataclasses.replace(recording, conditions=MappingProxyType(kept), processes=each)
    assert (
        page_fault_counted_along.detect(case_of(bare, "first-iteration-data-cache", 100.0)) is None
    )


def test_loads_too_short_for_the_clock_are_not_said_to_be_left_out() -> None:
    # As an emulator shows them: a clock that moves once in a microsecond, and says it steps by 1.
    recording = read(CAUSES)
    random = np.random.default_rng(3)
    shown = random.random(len(recording.ticks)) < recording.batch / 600
    ticks = np.where(shown, 62 + random.integers(0, 2, len(shown)), 0)
    coarse = dataclasses.replace(recording, ticks=ticks)
    case = case_of(coarse, "first-iteration-data-cache", 0.0)
    assert work_optimised_away.detect(case) is None
    assert below_one_cycle.detect(case) is None


# The timer


def test_a_sample_handed_in_for_a_call_is_reported_with_the_cost_of_the_clock() -> None:
    for reduced in (np.mean, np.median):
        recording = read(ONE_CALL)
        samples = recording.samples("args0")
        assert callable(reduced), reduced
        value = float(reduced(samples.ticks)) / samples.clock.ticks_in("ns")
        found = in_one_line(timer.detect(case_of(recording, "call-args0", value)))
        assert "with one operation inside; about" in found, reduced
        assert "cycles of this are the clock's own cost" in found, reduced


def test_of_another_clock_it_is_not_known_what_it_takes() -> None:
    recording = read(ONE_CALL)
    other = {**recording.conditions, "clock.args0.name": "CLOCK_MONOTONIC"}
    by_other = dataclasses.replace(recording, conditions=MappingProxyType(other))
    samples = by_other.samples("args0")
    value = float(np.median(samples.ticks)) / samples.clock.ticks_in("ns")
    found = in_one_line(timer.detect(case_of(by_other, "call-args0", value)))
    assert found.endswith("part of this is the clock's own cost.")


def test_a_mean_divided_by_many_operations_still_holds_the_timer() -> None:
    recording = read(SEVERAL)
    samples = recording.samples("args0")
    chosen = samples.ticks[samples.batch == 64]
    value = float(np.median(chosen)) / 64 / samples.clock.ticks_in("cycles")
    found = in_one_line(timer.detect(case_of(recording, "call-args0", value, "cycles")))
    assert "divided by 64 operations" in found


def test_a_timer_that_hardly_matters_is_not_worth_a_word() -> None:
    recording = read(CAUSES)
    samples = recording.samples("page-fault")
    k = int(samples.batch.max())
    value = float(np.median(samples.ticks[samples.batch == k])) / k / samples.clock.ticks_in("ns")
    assert timer.detect(case_of(recording, "first-iteration-page-fault", value)) is None


# The exercise, live

CELL = """#include "own_first_call.h"

static void get_ready(const volatile unsigned char *code)
{
    %s
}
MEASURE_OWN_FIRST_CALL(get_ready)
"""


@pytest.mark.parametrize(
    ("body", "codes"),
    [
        ("(void)*code;", []),
        ("((void (*)(void))(uintptr_t)code)();", ["first-sample-lost"]),
    ],
)
def test_the_exercise_is_judged_by_how_one_got_ready(body: str, codes: list[str]) -> None:
    text = CELL % body
    plan = Plan("own_first_call", ("own", "unprepared"), samples=300, processes=15, source=text)
    recording = measure_now(plan)
    own, other = (result_of(recording, name).estimate for name in ("own", "unprepared"))
    assert own is not None and other is not None
    assert own.value < other.value
    spec = figure_named("first-call-own")
    figure = Figure(spec.id, own.value, "ns", "recordings/own.csv")
    verdict = check(spec, figure, recording, text)
    assert [finding.code for finding in verdict.findings] == codes
