"""What is called a switch is one, by the count of the OS; what is not is recognised."""

from __future__ import annotations

import os
import time

import pytest

from labs.messages import Refused
from labs.notebook.run import Run
from labs.recording import proof
from labs.recording.file import Recording
from labs.results.result import Result, result_of
from labs.run.c_process import RunFailed
from labs.run.measure import Plan, measure_now
from testing.c_programs import CPUS, LINUX, TWO_CPUS

pytestmark = LINUX

SWITCHES = [
    ("process_switch", "pipe-pinned"),
    ("process_switch", "pipe-in-turn"),
    ("process_switch", "pipe-carried-back"),
    ("process_switch", "eventfd-pinned"),
    ("process_switch", "socketpair-pinned"),
    ("thread_switch", "condvar"),
    ("thread_switch", "futex"),
    ("thread_switch", "pipe"),
    ("switch_footprint", "processes-2-0"),
    ("switch_footprint", "threads-2-0"),
    ("switch_footprint", "processes-8-16k"),
    ("switch_footprint", "threads-8-16k"),
    ("switch_footprint", "processes-64-0"),
    ("switch_footprint", "threads-4-64k"),
]
#: None of the switches claimed may be missing; beside other tests, which time switches of their own
#: on the same CPU, the OS takes the CPU away meanwhile up to so often.
MISSING, MORE, PREEMPTIONS_PER_S = 0.02, 0.05, 2000

NO_SWITCHES = [
    ("process_switch", "self-pipe"),
    ("process_switch", "self-eventfd"),
    ("process_switch", "self-socketpair"),
    ("thread_switch", "condvar-alone"),
    ("thread_switch", "futex-alone"),
    ("thread_switch", "pipe-alone"),
    ("switch_footprint", "alone-0"),
    ("system_call", "getppid"),
]
SEPARATE = [
    ("process_switch", "pipe-two-cpus"),
    ("thread_switch", "condvar-two-cpus"),
    ("thread_switch", "futex-two-cpus"),
]


def run(kernel: str, variant: str, samples: int = 600) -> Recording:
    batches = (4, 8) if kernel == "switch_footprint" else (16, 32, 64)
    return measure_now(
        Plan(kernel, (variant,), samples=samples, batches=batches, warmup=10, processes=2)
    )


def result_and_warnings(recording: Recording, variant: str) -> tuple[Result, set[str]]:
    result = result_of(recording, variant)
    return result, {warning.code for warning in result.warnings}


@pytest.mark.parametrize(("kernel", "variant"), SWITCHES)
def test_the_os_counts_the_switches_that_are_claimed(kernel: str, variant: str) -> None:
    begin = time.monotonic()
    recording = run(kernel, variant)
    most = PREEMPTIONS_PER_S * (time.monotonic() - begin)
    claimed, counted = proof.switches(recording, variant)
    assert claimed and counted is not None
    assert claimed > 5_000
    more = counted - claimed
    assert -MISSING * claimed <= more <= MORE * claimed + most, f"{claimed=}, {counted=}"
    result, codes = result_and_warnings(recording, variant)
    assert ("switches-unaccounted" in codes) == (abs(more) > proof.TOLERANCE * claimed)
    assert result.as_json()["switches"] == {"claimed": claimed, "counted": counted}


@pytest.mark.parametrize(("kernel", "variant"), NO_SWITCHES)
def test_what_is_done_alone_claims_no_switch(kernel: str, variant: str) -> None:
    recording = run(kernel, variant, samples=200)
    assert proof.switches(recording)[0] == 0
    assert "switches-unaccounted" not in result_and_warnings(recording, variant)[1]


def test_a_convoy_is_recognised_although_it_claims_to_switch() -> None:
    recording = run("thread_switch", "bare-mutex")
    claimed, counted = proof.switches(recording)
    assert claimed and counted is not None
    assert counted < 0.9 * claimed
    warnings = {
        warning.code: warning
        for warning in result_and_warnings(recording, "bare-mutex")[0].warnings
    }
    assert f"{claimed:,} switches are claimed" in warnings["switches-unaccounted"].symptom
    assert "handoff" in warnings["switches-unaccounted"].likely_cause


def test_each_variant_of_a_run_has_its_own_count_and_place() -> None:
    recording = measure_now(
        Plan("thread_switch", ("condvar", "bare-mutex"), samples=200, processes=2)
    )
    claimed, counted = proof.switches(recording, "condvar")
    assert claimed and counted and counted >= 0.98 * claimed
    claimed, counted = proof.switches(recording, "bare-mutex")
    assert claimed and counted is not None and counted < 0.9 * claimed
    for variant in ("condvar", "bare-mutex"):
        assert recording.condition(f"variant.{variant}.peers") == ("1",)
        assert recording.condition(f"variant.{variant}.peers_may_use") == (str(CPUS[0]),)
    seen = proof.of_variant(recording, "condvar")
    assert seen is not None and seen.edges == 200 + 2 * 100, "its intervals, warm-up included"
    warnings = {warning.code: warning for warning in result_of(recording, "bare-mutex").warnings}
    assert "for bare-mutex" in warnings["switches-unaccounted"].symptom
    assert "bare-mutex" not in str(result_of(recording, "condvar").warnings)


def test_a_notebook_reads_the_count_off_a_run() -> None:
    seen = Run.of(run("thread_switch", "condvar", samples=100), ("condvar",)).switches
    assert seen.each == pytest.approx(2, rel=0.1)
    assert str(seen).startswith(f"{seen.claimed:,} switches claimed, {seen.counted:,} counted")
    with pytest.raises(Refused, match="no switches to count"):
        Run.of(run("thread_switch", "condvar-alone", samples=100)).switches  # noqa: B018


@TWO_CPUS
def test_a_wake_up_across_cpus_does_not_spoil_the_count_of_a_switch() -> None:
    recording = measure_now(
        Plan("process_switch", ("pipe-pinned", "pipe-two-cpus"), samples=100, processes=2)
    )
    claimed, counted = proof.switches(recording, "pipe-pinned")
    whole = proof.switches(recording)
    assert claimed and counted and whole[1]
    assert whole[1] > 1.3 * claimed, "the OS counted both"
    assert counted < 1.1 * claimed


@pytest.mark.parametrize("variant", ["yield", "condvar-inside"])
def test_what_switches_on_some_systems_only_is_either_proved_or_warned_of(variant: str) -> None:
    # sched_yield need not switch; a signal under the mutex takes further switches where the C
    # library lets the waiter run before the mutex is given back.
    recording = run("thread_switch", variant)
    claimed, counted = proof.switches(recording)
    assert claimed and counted is not None
    is_proved = abs(counted - claimed) <= 0.02 * claimed
    is_warned_of = "switches-unaccounted" in result_and_warnings(recording, variant)[1]
    assert is_proved != is_warned_of


@TWO_CPUS
@pytest.mark.parametrize(("kernel", "variant"), SEPARATE)
def test_two_cpus_claim_no_switch_and_are_another_quantity(kernel: str, variant: str) -> None:
    recording = run(kernel, variant, samples=100)
    assert proof.switches(recording)[0] == 0
    assert recording.number(f"variant.{variant}.switches") == 0


@TWO_CPUS
@pytest.mark.parametrize(("kernel", "variant"), SWITCHES)
def test_switches_are_counted_on_whatever_cpu_is_asked_for(kernel: str, variant: str) -> None:
    if variant == "pipe-in-turn":
        pytest.skip("takes each CPU in turn, whatever is asked for")
    begin = time.monotonic()
    recording = measure_now(
        Plan(kernel, (variant,), samples=100, batches=(16, 32), cpu=CPUS[-1], processes=1)
    )
    most = PREEMPTIONS_PER_S * (time.monotonic() - begin)
    claimed, counted = proof.switches(recording)
    assert claimed and counted is not None
    more = counted - claimed
    assert -MISSING * claimed - 20 <= more <= MORE * claimed + 20 + most, f"{claimed=}, {counted=}"


@pytest.mark.parametrize(("kernel", "variant"), SEPARATE)
def test_on_one_cpu_two_are_said_to_be_missing(kernel: str, variant: str) -> None:
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {CPUS[0]})
    try:
        with pytest.raises(RunFailed, match="one CPU only") as failed:
            run(kernel, variant, samples=20)
    finally:
        os.sched_setaffinity(0, before)
    assert failed.value.impossible_here
