"""What is called a switch is one, by the count of the OS; what is not is recognised."""

from __future__ import annotations

import re
import time
from dataclasses import replace

import pytest

from labs.messages import Refused
from labs.notebook.run import Run
from labs.recording import counts, declared
from labs.recording.declared import Placement
from labs.recording.file import Recording
from labs.results.result import Result, result_of
from labs.run import variants
from labs.run.measure import Plan, measure_now
from support.c_programs import CPUS, LINUX, TWO_CPUS

pytestmark = LINUX

#: None of the switches claimed may be missing; beside other tests, which time switches of their own
#: on the same CPU, the OS takes the CPU away meanwhile up to so often.
MISSING, MORE, PREEMPTIONS_PER_S, A_FEW = 0.02, 0.05, 2000, 4

#: Variants of which the OS decides anew each time whether they switch: see the tests below.
UNCERTAIN = {"yield", "condvar-inside", "bare-mutex", "pipe-unpinned"}
#: The C kernels whose variants may switch, each with its batches and its samples.
SWITCHING = {
    "process_switch": ((16, 32, 64), 60),
    "thread_switch": ((16, 32, 64), 60),
    "switch_footprint": ((2, 4), 6),
    "system_call": ((16, 32, 64), 60),
}
#: So many variants fit in one run.
AT_ONCE = 8
#: More memory than this takes long to fill.
MUCH_KB = 4096


def run(kernel: str, variant: str, samples: int = 600) -> Recording:
    batches = (4, 8) if kernel == "switch_footprint" else (16, 32, 64)
    return measure_now(
        Plan(kernel, (variant,), samples=samples, batches=batches, warmup=10, processes=2)
    )


def result_and_warnings(recording: Recording, variant: str) -> tuple[Result, set[str]]:
    result = result_of(recording, variant)
    return result, {warning.code for warning in result.warnings}


@pytest.mark.parametrize("kernel", SWITCHING)
def test_the_os_counts_the_switches_that_each_variant_claims(kernel: str) -> None:
    """Many variants in one run, each counted around its own samples."""
    names = [each.name for each in variants.of_kernel(kernel) if not each.missing]
    batches, samples = SWITCHING[kernel]
    # A ring that fills much memory takes a hundred times as long: a few of its rounds must do, and
    # no other ring's memory is there to be copied.
    large = [name for name in names if memory_kb(name) > MUCH_KB]
    few = Plan(kernel, samples=4, batches=batches[1:2], warmup=0, processes=1)
    many = replace(few, samples=samples, batches=batches, warmup=2)
    wrong: dict[str, str] = {}
    small = [name for name in names if name not in large]
    for plan, part, at_once in ((few, large, 1), (many, small, AT_ONCE)):
        for begin in range(0, len(part), at_once):
            some = tuple(part[begin : begin + at_once])
            recording = measure_now(replace(plan, variants=some))
            wrong |= {name: told for name in {*some} - UNCERTAIN if (told := off(recording, name))}
    assert wrong == {}


def memory_kb(variant: str) -> int:
    """What all tasks of a ring fill in each round."""
    ring = re.fullmatch(r"[a-z]+-(\d+)-(\d+)([km])", variant)
    return int(ring[1]) * int(ring[2]) * (1024 if ring[3] == "m" else 1) if ring else 0


def off(recording: Recording, variant: str) -> str:
    """What a variant declares, and what the OS counted of it; '' if they agree."""
    stated = declared.of_variant(recording, variant)
    peers = recording.condition(f"variant.{variant}.peers")
    if peers and peers != (str(stated.other_tasks),):
        return f"declares {stated.other_tasks} other tasks, and has {peers}"
    seen = {recording.condition(f"variant.{variant}.{key}") for key in ("cpus", "peers_cpus")}
    if peers and stated.placement is Placement.ONE_CPU and len(seen) != 1:
        return f"declares one CPU, and ran on {seen}"
    if not counts.has_own_count(recording, variant):
        claim = recording.number(f"variant.{variant}.switches")
        return f"claims {claim:g} an operation, which nobody counts" if claim else ""
    claimed, counted = counts.switches(recording, variant)
    assert claimed is not None and counted is not None
    ticks = recording.ticks[recording.rows_of(variant)].sum()
    seconds = ticks / recording.clock(variant).frequency_hz
    # A process beside the timed one is counted from its start to its end, which are switches too,
    # and more of them where other programs want this CPU.
    others = stated.other_tasks * len(recording.processes)
    lives = 4 * others
    most = MORE * claimed + lives + A_FEW
    # A task that begins late may find its first message waiting, and needs no switch for it: in 8
    # of 360 runs of rings, as many switches were missing as there were other tasks, or fewer.
    least = MISSING * claimed + others + A_FEW
    # Where the tasks go to sleep, a switch that the OS forced is no handover: a busy machine forces
    # many on 32 processes that fill 4 MB each. A task that yields is forced by its own wish. Once,
    # 645 were counted of 429, and 428 tasks had gone to sleep: one late task had not needed to.
    asleep = recording.total(f"variant.{variant}.voluntary_switches") or 0
    sleeps = asleep >= claimed - least
    handed = min(counted, asleep) if sleeps else counted
    # A ring that fills much memory takes so long that the OS could force as many as it claims.
    if not (sleeps and memory_kb(variant)):
        most += PREEMPTIONS_PER_S * seconds
    agree = counted - claimed >= -least and handed - claimed <= most
    return "" if agree else f"{claimed=}, {counted=}, {asleep=}"


def test_a_convoy_is_recognised_although_it_claims_to_switch() -> None:
    recording = run("thread_switch", "bare-mutex")
    claimed, counted = counts.switches(recording)
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
    claimed, counted = counts.switches(recording, "condvar")
    assert claimed and counted and counted >= 0.98 * claimed
    claimed, counted = counts.switches(recording, "bare-mutex")
    assert claimed and counted is not None and counted < 0.9 * claimed
    for variant in ("condvar", "bare-mutex"):
        assert recording.condition(f"variant.{variant}.peers") == ("1",)
        assert recording.condition(f"variant.{variant}.peers_may_use") == (str(CPUS[0]),)
    seen = counts.switches_of(recording, "condvar")
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
    claimed, counted = counts.switches(recording, "pipe-pinned")
    whole = counts.switches(recording)
    assert claimed and counted and whole[1]
    assert whole[1] > 1.3 * claimed, "the OS counted both"
    assert counted < 1.1 * claimed


@pytest.mark.parametrize("variant", ["yield", "condvar-inside"])
def test_what_switches_on_some_systems_only_is_either_proved_or_warned_of(variant: str) -> None:
    # sched_yield need not switch; a signal under the mutex takes further switches where the C
    # library lets the waiter run before the mutex is given back.
    recording = run("thread_switch", variant)
    claimed, counted = counts.switches(recording)
    assert claimed and counted is not None
    is_proved = abs(counted - claimed) <= 0.02 * claimed
    is_warned_of = "switches-unaccounted" in result_and_warnings(recording, variant)[1]
    assert is_proved != is_warned_of


@TWO_CPUS
def test_two_cpus_claim_no_switch_and_are_another_quantity() -> None:
    for kernel, variant in (
        ("process_switch", "pipe-two-cpus"),
        ("thread_switch", "condvar-two-cpus"),
        ("thread_switch", "futex-two-cpus"),
    ):
        recording = run(kernel, variant, samples=100)
        assert counts.switches(recording)[0] == 0, variant
        assert recording.number(f"variant.{variant}.switches") == 0, variant


@TWO_CPUS
@pytest.mark.parametrize(
    ("kernel", "variant"),
    [
        ("process_switch", "pipe-pinned"),
        ("thread_switch", "condvar"),
        ("switch_footprint", "processes-8-16k"),
    ],
)
def test_switches_are_counted_on_whatever_cpu_is_asked_for(kernel: str, variant: str) -> None:
    begin = time.monotonic()
    recording = measure_now(
        Plan(kernel, (variant,), samples=100, batches=(16, 32), cpu=CPUS[-1], processes=1)
    )
    most = PREEMPTIONS_PER_S * (time.monotonic() - begin)
    claimed, counted = counts.switches(recording)
    assert claimed and counted is not None
    more = counted - claimed
    assert -MISSING * claimed - 20 <= more <= MORE * claimed + 20 + most, f"{claimed=}, {counted=}"
