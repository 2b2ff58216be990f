"""What the kit says of a run by itself: each warning has a case that earns it and a near miss."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pytest

from labs import paths
from labs.analysis.line import fit_line
from labs.c_kernels import toolchain
from labs.plots import picture
from labs.recording.file import BadRecording, Recording, read
from labs.results import run_warnings
from labs.results.result import result_of
from labs.results.run_warnings import RunWarning
from support import simulate
from support.declarations import as_declared
from support.paths import FIXTURES, REPOSITORY
from support.simulate import Machine


def warnings_of(recording: Recording) -> dict[str, RunWarning]:
    found = run_warnings.of_run(recording, simulate.line_of(recording))
    assert len({warning.code for warning in found}) == len(found)
    return {warning.code: warning for warning in found}


def run_with(machine: Machine | None = None, /, **conditions: str) -> Recording:
    """A run whose conditions are changed; a name's `__` stands for a dot."""
    recording = simulate.run(machine or Machine(), 1)
    stated = {key.replace("__", "."): value for key, value in conditions.items()}
    return dataclasses.replace(
        recording, conditions=MappingProxyType({**recording.conditions, **stated})
    )


def with_each(recording: Recording, key: str, values: list[str]) -> Recording:
    """A run whose processes differ in one condition."""
    shared = {name: value for name, value in recording.conditions.items() if name != key}
    each = tuple(
        MappingProxyType({**process, key: values[number % len(values)]})
        for number, process in enumerate(recording.processes)
    )
    return dataclasses.replace(recording, conditions=MappingProxyType(shared), processes=each)


def test_a_good_run_has_no_warning() -> None:
    assert warnings_of(run_with()) == {}


def test_not_on_a_line_where_the_reading_does_not_wait() -> None:
    found = warnings_of(run_with(Machine(hidden=120)))
    assert "not-on-a-line" in found
    assert "disassembly" in found["not-on-a-line"].try_this


BUSY = [{"cpus.busy": "1.9", "cpus.online": "2"}, {"steal.share": "0.05"}]


@pytest.mark.parametrize("shared", BUSY)
def test_not_on_a_line_of_a_busy_machine_is_laid_to_the_machine(shared: dict[str, str]) -> None:
    recording = run_with(Machine(cost=20.0))
    # Programs that interrupt every long sample, and no short one.
    longer = recording.ticks + 5200 * (recording.batch == recording.batch.max())
    stated = MappingProxyType({**recording.conditions, **shared})
    busy = dataclasses.replace(recording, conditions=stated, ticks=longer)
    found = warnings_of(busy)["not-on-a-line"]
    assert "other programs used the CPU" in found.likely_cause and "again" in found.try_this


def test_touches_without_a_page_fault_need_no_line() -> None:
    recording = run_with(Machine(cost=20.0))
    longer = recording.ticks + 5200 * (recording.batch == recording.batch.max())
    for faults, quiet in (("0", True), ("4000", False)):
        counted = {"touched": "4000", "faults": faults, "later_faults": "0"}
        name = recording.variants[0]
        stated = {f"variant.{name}.{key}": value for key, value in counted.items()}
        conditions = MappingProxyType({**recording.conditions, **stated})
        bent = dataclasses.replace(recording, conditions=conditions, ticks=longer)
        assert warnings_of(bent)["not-on-a-line"].quiet is quiet


@pytest.mark.parametrize("shared", BUSY)
def test_samples_too_short_to_hide_an_interruption_are_not_laid_to_a_busy_machine(
    shared: dict[str, str],
) -> None:
    recording = run_with()
    # The longest samples take 0.2 µs, and no interruption is so short.
    longer = recording.ticks + 200 * (recording.batch == recording.batch.max())
    stated = MappingProxyType({**recording.conditions, **shared})
    busy = dataclasses.replace(recording, conditions=stated, ticks=longer)
    found = warnings_of(busy)["not-on-a-line"]
    assert "other programs" not in found.likely_cause
    assert "larger batch sizes" in found.try_this


@pytest.mark.parametrize("shared", BUSY)
def test_samples_shorter_than_their_work_are_not_laid_to_a_busy_machine(
    shared: dict[str, str],
) -> None:
    recording = run_with(Machine(hidden=120))
    stated = MappingProxyType({**recording.conditions, **shared})
    found = warnings_of(dataclasses.replace(recording, conditions=stated))["not-on-a-line"]
    assert "clock is read before the work" in found.likely_cause
    assert "other programs" not in found.likely_cause


def of_the_kit(recording: Recording, kernel: str = "system_call") -> Recording:
    """A run that states the hash of C of the kit; of another `kernel`, it is somebody's own."""
    c = (paths.kernels_c() / "system_call.c").read_text(encoding="utf-8")
    stated = {**recording.conditions, "source.sha256": toolchain.source_hash(c)}
    return dataclasses.replace(recording, kernel=kernel, conditions=MappingProxyType(stated))


def test_a_bent_line_of_the_kits_own_c_is_laid_to_no_c() -> None:
    for kernel, cost, told in (
        ("system_call", 20.0, "the C is the kit's, so something that this machine does not show"),
        ("system_call", 1.0, "the samples are so short that the end of their loop counts"),
        ("own_call", 20.0, "the clock is read before the work is done"),
    ):
        recording = run_with(Machine(cost=cost))
        longer = recording.ticks + int(260 * cost) * (recording.batch == recording.batch.max())
        bent = dataclasses.replace(of_the_kit(recording, kernel), ticks=longer)
        assert warnings_of(bent)["not-on-a-line"].likely_cause.startswith(told)


def first_unfenced(recording: Recording) -> RunWarning:
    """The first warning of the same recording if its readings have no fence."""
    stated = {key.replace("simulated", "unfenced"): v for key, v in recording.conditions.items()}
    stated["variant.unfenced.unfenced"] = "1"
    unfenced = dataclasses.replace(
        recording, variants=("unfenced",), conditions=MappingProxyType(stated)
    )
    return run_warnings.of_run(unfenced, fit_line(unfenced, "unfenced"))[0]


def test_not_on_a_line_advises_a_fence_only_to_those_without() -> None:
    first = first_unfenced(run_with(Machine(hidden=120)))
    assert (first.code, first.try_this) == ("not-on-a-line", "use a fenced variant")


def test_nearly_on_a_line_is_on_it() -> None:
    assert "not-on-a-line" not in warnings_of(run_with(Machine(hidden=1)))


def test_negative_where_the_work_gets_shorter() -> None:
    assert "negative" in warnings_of(run_with(Machine(overhead=500, cost=-0.5)))


def test_a_negative_overhead_is_laid_to_a_subtracted_number_only_where_a_student_wrote_one() -> (
    None
):
    below_zero = run_with(Machine(overhead=-20, batches=(64, 128, 256, 512)))
    found = warnings_of(below_zero)["negative"]
    assert "subtracts a number that is too large" in found.likely_cause
    found = warnings_of(of_the_kit(below_zero))["negative"]
    assert "read before the work is done" in found.likely_cause
    assert "subtract" not in f"{found}" and "fenced" not in found.try_this
    unfenced = first_unfenced(below_zero)
    assert (unfenced.code, unfenced.try_this) == ("negative", "use a fenced variant")
    shorter = warnings_of(run_with(Machine(overhead=500, cost=-0.5)))["negative"]
    assert "read before" not in shorter.likely_cause


def test_not_negative_where_it_could_be_nothing() -> None:
    assert "negative" not in warnings_of(run_with(Machine(overhead=500, cost=0)))


def test_a_shared_core_where_a_neighbour_was_there_for_long() -> None:
    visited = Machine(neighbour=11, neighbour_stretches=((0.15, 0.75),), samples=10_000, rounds=41)
    found = warnings_of(run_with(visited))["shared-core"]
    assert re.search(r"6\d %", found.symptom) and not found.quiet, "four of ten are left"


def test_a_shared_core_is_a_quiet_remark_where_enough_processes_had_it_to_themselves() -> None:
    shared = Machine(
        rounds=41, slower_processes=12, slower_by=0.3, processes=20, samples=20_000, noise=1
    )
    found = warnings_of(run_with(shared))["shared-core"]
    assert re.search(r"6\d %", found.symptom) and found.quiet
    wide = dataclasses.replace(shared, process_spread=40)
    found = warnings_of(run_with(wide))["shared-core"]
    assert not found.quiet, "what is left does not give a narrow interval"


def test_a_neighbour_of_a_moment_is_set_aside_and_told_with_the_samples_only() -> None:
    visit = ((0.03, 0.27),)
    visited = run_with(Machine(neighbour=11, neighbour_stretches=visit, samples=10_000, rounds=41))
    assert "shared-core" not in warnings_of(visited)
    result = result_of(visited)
    number = f"{result.set_aside['shared']:,} while the core was shared"
    assert f"set aside: {number}" in result.sentence()
    (row,) = picture.estimates_table((result,)).rows
    assert row[-1].startswith(number)
    quiet = picture.estimates_table((result_of(run_with()),))
    assert "set aside" not in quiet.header


# Time within a process


def beginning_slowly(share: float, more: float) -> Recording:
    """A run in which this share of each process comes first and costs so much more."""
    run = simulate.run(dataclasses.replace(simulate.OPERATION, samples=10_000), 1)
    first = run.sample < share * (run.sample.max() + 1)
    longer = np.round(run.ticks + first * run.batch * 9.0 * more).astype(np.int64)
    return as_declared(dataclasses.replace(run, ticks=longer), "procedure_call")


def test_a_slow_beginning_that_is_set_aside_is_told_with_when_it_was() -> None:
    found = warnings_of(beginning_slowly(0.3, 0.10))["interrupted"]
    assert not found.quiet and re.search(r"the first (2\d|30) % of each process", found.symptom)
    assert "slow beginning" in found.likely_cause and "--warmup" in found.try_this


def test_far_samples_all_over_the_run_are_no_slow_beginning() -> None:
    machine = Machine(interruption=7000.0, interrupted_every=800.0, samples=10_000)
    found = warnings_of(run_with(machine))["interrupted"]
    assert "all over the run" in found.symptom and "slow beginning" not in found.likely_cause


def test_a_cost_that_changes_within_a_process_is_told() -> None:
    for share, more, told in ((0.5, 0.03, True), (0.5, 0.01, False)):
        found = warnings_of(beginning_slowly(share, more))
        assert ("drift" in found) is told
        assert not told or "the first half of each process costs 3" in found["drift"].symptom


def test_a_longer_warm_up_comes_on_top_of_that_there_was() -> None:
    run = beginning_slowly(0.5, 0.03)
    for warmup, asked in ((0, 500), (400, 900), (1_850, 2_400)):
        stated = {**run.conditions, "samples": "1000", "warmup": str(warmup)}
        found = warnings_of(dataclasses.replace(run, conditions=MappingProxyType(stated)))
        assert f"--warmup {asked})" in found["drift"].try_this, warmup


def test_without_a_change_chance_hardly_ever_looks_like_one() -> None:
    machine = dataclasses.replace(simulate.OPERATION, speed_spread=0.03, noise=20)
    found = [
        "drift" in {each.code for each in run_warnings.of_run(run, simulate.line_of(run))}
        for run in (simulate.run(machine, seed) for seed in range(300))
    ]
    assert sum(found) <= 9


def of_operations(machine: Machine, **siblings: Machine) -> Recording:
    """A run of an operation on `machine`, and of others in the same processes."""
    parts = {"simulated": machine, **siblings}
    runs = [simulate.run(each, 5 + number) for number, each in enumerate(parts.values())]
    conditions = {
        key.replace("simulated", name): value
        for name, run in zip(parts, runs, strict=True)
        for key, value in run.conditions.items()
    }
    process, sample, batch, ticks = (
        np.concatenate([getattr(run, name) for run in runs])
        for name in ("process", "sample", "batch", "ticks")
    )
    index = np.repeat(np.arange(len(runs)), [len(run) for run in runs])
    made = dataclasses.replace(
        runs[0],
        conditions=MappingProxyType(conditions),
        variants=tuple(parts),
        variant_index=index,
        process=process,
        sample=sample,
        batch=batch,
        ticks=ticks,
    )
    return as_declared(made, "procedure_call")


SLOWER = tuple(0.2 * (number in (2, 5, 6, 8)) for number in range(10))


def test_processes_that_differ_are_a_remark_and_no_cause_is_named_without_evidence() -> None:
    run = of_operations(dataclasses.replace(simulate.OPERATION, slower=SLOWER))
    found = warnings_of(run)["processes-differ"]
    assert found.quiet and "4 of 10 processes took 1.2 times as long" in found.symptom
    assert "does not show which" in found.likely_cause
    # Honest about both: the interval holds what either group took.
    estimate = result_of(run, "simulated", "ticks").estimate
    assert estimate is not None and estimate.value == pytest.approx(9 * 1.08, rel=0.01)
    assert estimate.half_width > 0.5


def test_a_reading_seen_not_to_wait_explains_processes_that_differ() -> None:
    for additions, waits, early in (("64", "0", True), ("64", "1", False), ("0", "0", False)):
        seen = {"watched_additions": additions, "watched_end_waits": waits}
        found = of_operations(dataclasses.replace(simulate.OPERATION, slower=SLOWER))
        stated = {f"variant.{found.variants[0]}.{key}": value for key, value in seen.items()}
        conditions = MappingProxyType({**found.conditions, **stated})
        warning = warnings_of(dataclasses.replace(found, conditions=conditions))["processes-differ"]
        assert ("does not wait for the work" in warning.likely_cause) is early
        assert ("let the second reading wait" in warning.try_this) is early
        assert "from sample to sample" not in warning.likely_cause  # it changes with k
        assert early is False or not warning.quiet


def test_processes_may_differ_by_the_cpus_that_the_os_chose() -> None:
    for placement, tasks, cpu, by_the_os in (
        ("anywhere", "1", "none", True),
        ("anywhere", "1", "0", False),
        ("anywhere", "0", "none", False),
        ("one-cpu", "1", "none", False),
    ):
        slower = dataclasses.replace(simulate.OPERATION, slower=SLOWER)
        found = of_operations(slower, sibling=simulate.OPERATION)
        stated = {"estimand": "cost", "placement": placement, "other_tasks": tasks}
        conditions = {f"variant.{found.variants[0]}.{key}": value for key, value in stated.items()}
        asked = {**found.conditions, **conditions, "cpu.asked": cpu}
        warning = warnings_of(dataclasses.replace(found, conditions=MappingProxyType(asked)))
        cause = warning["processes-differ"].likely_cause
        assert ("the OS chose the CPUs" in cause) == by_the_os


def test_pinned_tasks_are_not_said_to_have_had_two_cpus() -> None:
    """A ring that its C kernel pins to one CPU was laid to two tasks on two CPUs."""
    for placement, two_cpus in (("anywhere", True), ("one-cpu", False)):
        slower = tuple(4 * share for share in SLOWER)
        found = of_operations(dataclasses.replace(simulate.OPERATION, slower=slower, rounds=3))
        stated = {"estimand": "cost", "placement": placement, "other_tasks": "7"}
        conditions = {f"variant.{found.variants[0]}.{key}": value for key, value in stated.items()}
        asked = {**found.conditions, **conditions, "cpu.asked": "none"}
        warning = warnings_of(dataclasses.replace(found, conditions=MappingProxyType(asked)))
        cause = warning["processes-differ"].likely_cause
        assert ("the OS chose the CPUs of the tasks" in cause) == two_cpus


def test_alike_processes_do_not_differ() -> None:
    assert "processes-differ" not in warnings_of(of_operations(simulate.OPERATION))


def test_below_one_cycle_where_work_was_deleted() -> None:
    found = warnings_of(run_with(Machine(cost=0.3)))
    assert "0.43 core cycles" in found["below-one-cycle"].symptom


def test_what_is_below_one_cycle_is_the_slope_also_where_the_figure_is_an_overhead() -> None:
    # The figure is the pair of readings, 57 core cycles; an addition is what is too short.
    found = warnings_of(run_with(Machine(overhead=40, cost=0.3)))["below-one-cycle"]
    assert found.symptom == "each operation adds 0.43 core cycles to a sample"
    nothing = warnings_of(run_with(Machine(overhead=40, cost=-1e-4)))["below-one-cycle"]
    assert nothing.symptom == "each operation adds 0.00 core cycles to a sample"


def test_an_operation_that_adds_nothing_to_its_baseline_is_reported_however_narrow() -> None:
    costly = dataclasses.replace(simulate.BASELINE, cost=2.56)
    found = simulate.with_baseline(costly, simulate.BASELINE, 1, kernel="own_question")
    result = result_of(found, "operation")
    assert result.estimate is not None and result.estimate.low > 0
    (warning,) = (each for each in result.warnings if not each.quiet)
    assert warning.symptom == "next to its baseline, each operation adds 0.08 core cycles"
    assert "let each input depend on the last result" in warning.try_this


def test_a_little_less_than_the_baseline_is_an_operation_that_the_core_hides() -> None:
    for cost, hidden in ((2.4, True), (1.5, False)):
        costly = dataclasses.replace(simulate.BASELINE, cost=cost)
        found = simulate.with_baseline(costly, simulate.BASELINE, 1, kernel="own_question")
        (warning,) = (
            each for each in result_of(found, "operation").warnings if each.code == "negative"
        )
        assert ("let each input depend on the last result" in warning.try_this) == hidden
        assert ("look in the C at what is subtracted" in warning.try_this) != hidden


def test_one_cycle_is_not_below_it() -> None:
    assert "below-one-cycle" not in warnings_of(run_with(Machine(cost=0.7)))


def test_one_cycle_at_a_higher_clock_speed_is_not_below_it() -> None:
    # The core ran at 4.1 GHz while the samples were taken, and at 3.6 when it was calibrated.
    recording = with_each(
        run_with(Machine(cost=0.634)), "core_cycle_ticks", ["0.722", "0.722", "0.634"]
    )
    assert "below-one-cycle" not in warnings_of(recording)


def test_wide_interval_where_the_step_is_coarse() -> None:
    found = warnings_of(run_with(Machine(step=72)))
    assert "step of 72 ticks" in found["wide-interval"].likely_cause
    assert re.fullmatch(r"--samples \d+000", found["wide-interval"].try_this)


def test_no_run_is_advised_that_its_time_limit_ends() -> None:
    """A run of 27 s was advised to take 40 times the samples within 120 s."""
    for limit, samples in (("120", True), ("0.000001", False)):
        found = warnings_of(run_with(Machine(step=72), time_limit_s=limit))["wide-interval"]
        assert found.try_this.startswith("--samples " if samples else "--within 5 --at-most 60")


def test_a_fine_step_is_not_the_cause_of_a_wide_interval() -> None:
    found = warnings_of(run_with(Machine(process_spread=5, samples=60_000)))
    cause = found["wide-interval"].likely_cause
    assert cause == "the processes of this run differ, or it has too few samples"


def test_wide_interval_advises_processes_where_these_differ() -> None:
    found = warnings_of(run_with(Machine(process_spread=5, samples=60_000)))
    assert re.fullmatch(r"--processes [2-9]0", found["wide-interval"].try_this)


def test_what_was_set_aside_counts_when_a_longer_run_is_advised() -> None:
    """A run of 10 processes, of which 3 were kept, was advised to take 10."""
    machine = Machine(process_spread=3, slower_processes=6, slower_by=0.5, samples=20_000, rounds=3)
    recording = run_with(machine)
    assert (used := simulate.line_of(recording).cost.processes) < 5
    text = result_of(recording, None, "ticks").samples_as_text()
    assert f"{used} of 10 processes (too few left of {10 - used}; set aside: " in text
    advised = re.fullmatch(r"--processes (\d+)", warnings_of(recording)["wide-interval"].try_this)
    assert advised and int(advised[1]) > machine.processes


def test_not_to_be_believed_where_the_interval_is_wider_than_the_value_allows() -> None:
    found = warnings_of(run_with(Machine(process_spread=30, samples=60_000)))
    assert "wide-interval" not in found
    assert "the limit is ±15 %" in found["not-believable"].symptom
    assert found["not-believable"].try_this.startswith("measure again, or longer: --")


def test_next_to_nothing_is_not_said_to_lack_samples() -> None:
    """A correct zero of an inlined procedure was laid to too few samples."""
    recording = as_declared(simulate.run(Machine(), 1), "procedure_call")
    line = simulate.line_of(recording)
    cycle = line.clock.core_cycle_ticks
    assert cycle is not None
    for ends, nothing, small in ((0.9, True, True), (1.1, False, True), (3.1, False, False)):
        figure = dataclasses.replace(
            line.cost, value=0.01 * cycle, low=-ends * cycle, high=0.5 * cycle
        )
        found = {each.code: each for each in run_warnings.of_run(recording, line, figure)}
        warning = found["not-believable"]
        assert ("the compiler left the operation out" in warning.likely_cause) == small
        assert ("so do not hand it in" in warning.symptom) != nothing
        # C of one's own can hide its input; what is there may need more samples.
        assert ("hide its input from the compiler" in warning.try_this) == small
        # A call that is inlined is not brought back by hiding its input.
        assert ("forbid the compiler to inline it" in warning.try_this) == small
        assert ("longer: --" in warning.try_this) != nothing


def test_samples_that_are_mostly_overhead_need_larger_batches() -> None:
    for overhead, too_short in ((10_000.0, True), (50.0, False)):
        recording = run_with(Machine(overhead=overhead, process_spread=300, cost=3.0))
        recording = as_declared(recording, "procedure_call")
        line = simulate.line_of(recording)
        wide = dataclasses.replace(line.cost, low=0.1 * line.cost.value)
        found = {each.code: each for each in run_warnings.of_run(recording, line, wide)}
        warning = found["not-believable"]
        assert ("larger batch sizes (--batch)" in warning.try_this) == too_short
        assert ("less time than the overhead" in warning.likely_cause) == too_short


def test_a_narrow_interval_is_not_wide() -> None:
    assert "wide-interval" not in warnings_of(run_with(Machine(step=26)))


def test_wide_interval_is_of_the_figure_and_not_of_the_other_parameter() -> None:
    coarse = run_with(Machine(step=72))
    assert "wide-interval" in warnings_of(coarse)
    other = as_declared(coarse, "system_call")
    assert "wide-interval" not in warnings_of(other)


def test_affinity_not_obtained_where_it_ended_elsewhere() -> None:
    assert "affinity-not-obtained" in warnings_of(run_with(cpu__asked="1", cpu__after="0"))


def test_affinity_was_not_asked_for() -> None:
    assert warnings_of(run_with(cpu__asked="none", cpu__after="0")) == {}


def test_migrations_where_it_moved() -> None:
    moved = run_with(cpu__asked="none", task__main__migrations="1")
    moved = with_each(moved, "task.main.migrations", ["1", "0"])
    symptom = warnings_of(moved)["migrations"].symptom
    assert symptom == "the task moved between CPUs 5 times during the run"


def test_a_single_migration_is_told_as_one() -> None:
    once = ["1", *["0"] * 9]
    moved = with_each(run_with(cpu__asked="none"), "task.main.migrations", once)
    assert "moved between CPUs once during" in warnings_of(moved)["migrations"].symptom


NO_PINNING = "none: this system offers no pinning"


def test_where_nothing_can_be_pinned_nobody_is_advised_to_pin() -> None:
    moved = run_with(cpu__asked="none", task__main__migrations="4", cpu__pinning=NO_PINNING)
    warning = warnings_of(moved)["migrations"]
    assert "this system offers no pinning" in warning.likely_cause
    assert "--cpu" not in warning.try_this


def switching_run(counted: str, **conditions: str) -> Recording:
    claims = {"claimed_switches": "1000", "counted_switches": counted, "switches": "2"}
    named = {f"variant__simulated__{key}": value for key, value in claims.items()}
    return run_with(cpu__asked="none", **named, **conditions)


def test_where_nothing_can_be_pinned_a_switch_is_called_a_hand_over() -> None:
    for counted, codes in (
        ("1000", {"not-bound"}),
        # With a CPU each, tasks meet at a lock, or find that it is their turn.
        ("1300", {"not-bound"}),
        ("700", {"not-bound"}),
        # Fewer than that, and there was hardly a hand-over, wherever they were.
        ("20", {"not-bound", "switches-unaccounted"}),
    ):
        assert set(warnings_of(switching_run(counted, cpu__pinning=NO_PINNING))) == codes


def test_where_tasks_can_be_pinned_or_have_one_cpu_a_switch_is_one() -> None:
    for conditions in ({}, {"cpus__online": "1"}, {"cpu__allowed": "3"}):
        without = {"cpu__pinning": NO_PINNING} if conditions else {}
        assert warnings_of(switching_run("1000", **conditions, **without)) == {}
        assert set(warnings_of(switching_run("1300", **conditions, **without))) == {
            "switches-unaccounted"
        }


def test_samples_longer_than_a_time_slice_are_named_where_a_task_keeps_the_cpu() -> None:
    for longest_ms in (2, 12):
        for counted, named in (("20", True), ("0", False), ("1000", False)):
            recording = switching_run(counted)
            size = longest_ms * 1e-3 * float(recording.conditions["counter.frequency_hz"])
            bent = recording.batch == recording.batch.max()
            long = dataclasses.replace(recording, ticks=np.where(bent, size, recording.ticks))
            cause = warnings_of(long)["not-on-a-line"].likely_cause
            assert ("more than a time slice" in cause) == (named and longest_ms == 12)


def of_pair(**conditions: str) -> dict[str, dict[str, RunWarning]]:
    """Warnings of two interleaved variants by name; a name's `__` stands for a dot."""
    recording = simulate.with_baseline(
        simulate.OPERATION, simulate.BASELINE, 1, kernel="process_switch",
        more={"cpu.asked": "none", **{key.replace("__", "."): v for key, v in conditions.items()}},
    )  # fmt: skip
    return {
        name: {warning.code: warning for warning in result_of(recording, name).warnings}
        for name in recording.variants
    }


def test_migrations_are_those_of_the_named_variant_where_its_cpus_are_told() -> None:
    for cpus, theirs, moved in (
        ("1", "1", None),
        ("0-1", "0-1", "operation was seen on CPU 0 and 1"),
        ("0-1", "1", None),  # taken from CPU to CPU together with its peer
        ("0-1", "", "operation was seen on CPU 0 and 1"),
    ):
        # The other one of the run is not pinned and moves all the time.
        placement = {"cpus": cpus, "peers_cpus": theirs, "peers_may_use": theirs}
        found = of_pair(
            task__main__migrations="24",
            **{f"variant__operation__{key}": value for key, value in placement.items() if value},
        )
        warning = found["operation"].get("migrations")
        assert (warning and warning.symptom) == moved
        whole = "the task moved between CPUs 240 times during the run (all variants together)"
        assert found["alone"]["migrations"].symptom == whole, cpus


def test_moves_of_all_variants_are_not_those_of_one_that_is_pinned_to_two_cpus() -> None:
    for placement, why_unbound, told in (
        ("two-cpus", "", False),
        ("two-cpus", "none: denied", True),
        ("anywhere", "", True),
    ):
        declared = {"variant.operation.estimand": "cost", "variant.operation.placement": placement}
        unbound = {"cpu.pinning": why_unbound, "cpus.online": "2"} if why_unbound else {}
        moves = {"task.main.migrations": "24"}
        found = of_pair(**declared, **unbound, **moves)
        assert ("migrations" in found["operation"]) == told
        assert "migrations" in found["alone"], placement


def test_affinity_is_that_of_the_named_variant_where_its_cpus_are_told() -> None:
    for cpus, is_reported in (("0", False), ("1", True), ("0-1", True)):
        # The run ends on another CPU than asked for: its last interval was of the other variant.
        found = of_pair(cpu__asked="0", cpu__after="1", variant__operation__cpus=cpus)
        symptom = "the task was pinned to CPU 0, but operation was seen on CPU 1"
        assert [w.symptom for c, w in found["operation"].items() if "affinity" in c] == [
            symptom
        ] * is_reported
        assert "affinity-not-obtained" in found["alone"], cpus


def test_switches_are_those_of_the_named_variant_where_they_were_counted() -> None:
    claims = {f"variant__{name}__switches": "2" for name in ("operation", "alone")}
    own = {f"variant__{name}__claimed_switches": "20000" for name in ("operation", "alone")}
    found = of_pair(
        **claims,
        **own,
        variant__operation__counted_switches="20010",
        variant__alone__counted_switches="71",
    )
    assert "switches-unaccounted" not in found["operation"]
    assert found["alone"]["switches-unaccounted"].symptom == (
        "200,000 switches are claimed for alone, and the OS counted 710"
    )


def test_switches_beyond_the_claim_are_laid_to_other_programs_where_they_took_the_cpu() -> None:
    for asleep, counted, taken in (
        ("1001", "1300", True),
        ("1300", "1300", False),  # its own tasks went to sleep more often
        ("1001", "900000", False),  # other programs do not want the CPU so often
        ("", "1300", False),  # the kinds were not counted
    ):
        kinds = {"variant__simulated__voluntary_switches": asleep} if asleep else {}
        recording = switching_run(counted, **kinds)
        of_1_s = recording.ticks * recording.clock("simulated").frequency_hz / recording.ticks.sum()
        # Its ten processes count alike.
        found = warnings_of(dataclasses.replace(recording, ticks=(10 * of_1_s).astype(np.int64)))
        cause = found["switches-unaccounted"].likely_cause
        assert (f"{10 * int(counted) - 10_000:,} times the OS took the CPU" in cause) == taken
        assert ("before it has its turn" in cause) != taken


def test_tasks_that_share_one_cpu_are_not_advised_to_share_it() -> None:
    for theirs, on_one_cpu in (("0", True), ("0-1", False), ("1", False)):
        found = of_pair(
            variant__operation__switches="2",
            variant__operation__claimed_switches="20000",
            variant__operation__counted_switches="71",
            variant__operation__cpus="0",
            variant__operation__peers_cpus=theirs,
            variant__operation__peers_may_use=theirs,
        )["operation"]["switches-unaccounted"]
        assert ("one CPU" in found.try_this) != on_one_cpu
        assert ("own CPU" in found.likely_cause) != on_one_cpu


def of_turns(unwoken: str, astray: str) -> dict[str, RunWarning]:
    """Warnings about a thread that waits for its turn; the fitted cost is negative."""
    return warnings_of(
        run_with(
            Machine(overhead=500, cost=-0.5),
            variant__simulated__turns_tried="1",
            variant__simulated__turns_unwoken=unwoken,
            variant__simulated__turns_astray=astray,
        )
    )


def test_a_thread_that_went_on_unwoken_explains_a_negative_cost() -> None:
    found = of_turns("1", "1")
    assert "went on without being woken" in found["not-woken"].symptom
    assert not {"negative", "looked-once"} & set(found)
    assert "negative" in of_turns("0", "0")


def test_a_thread_that_looks_at_its_turn_once_is_asked_why() -> None:
    assert "why while, and not if?" in of_turns("0", "1")["looked-once"].symptom
    assert not {"not-woken", "looked-once"} & set(of_turns("0", "0"))


def test_no_migrations_where_it_stayed() -> None:
    assert "migrations" not in warnings_of(run_with(cpu__asked="none"))


def test_clock_speed_where_it_changed() -> None:
    found = warnings_of(with_each(run_with(), "core_cycle_ticks", ["0.634", "0.722"]))
    assert "from 3.6 to 4.1 GHz" in found["clock-speed"].symptom


def test_core_cycles_are_no_advice_for_an_operation_that_waits_for_memory() -> None:
    changed = with_each(run_with(), "core_cycle_ticks", ["0.634", "0.722"])
    for memory in ("0", "1"):
        warning = warnings_of(of_memory(changed, memory))["clock-speed"]
        assert ("core cycles" in str(warning.try_this)) == (memory == "0")
        assert ("waits for memory" in warning.likely_cause) == warning.quiet == (memory == "1")


def test_a_wide_interval_of_two_groups_of_processes_is_not_laid_to_other_programs() -> None:
    """Each process may have drawn another cycle: what others did meanwhile explains no groups."""
    shares = (0.0, 1.0) * 5
    for machine, cause in (
        (Machine(cost=20.0, slower=shares), "fall into two groups"),
        (Machine(cost=20.0, slower=tuple(each / 10 for each in range(10))), "used memory during"),
    ):
        busy = {"cpus.busy": "1.9", "cpus.online": "2"}
        found = warnings_of(of_memory(run_with(machine), "1", **busy))
        (wide,) = (each for code, each in found.items() if code in WIDTHS)
        assert cause in wide.likely_cause, wide


def test_a_bent_line_on_a_busy_machine_is_laid_to_the_caches_where_memory_is_used() -> None:
    for memory, cause in (("0", "interrupt long samples"), ("1", "a cache")):
        recording = of_memory(run_with(), memory, **{"cpus.busy": "1.9", "cpus.online": "2"})
        longest = recording.batch == recording.batch.max()
        bent = np.where(longest, 20 * recording.ticks, recording.ticks)
        found = warnings_of(dataclasses.replace(recording, ticks=bent))
        assert cause in found["not-on-a-line"].likely_cause


WIDTHS = ("wide-interval", "not-believable")


def of_memory(run: Recording, memory: str, **stated: str) -> Recording:
    """The same run, as if its operation used memory, or none."""
    own = {
        f"variant.{run.variants[0]}.{k}": v for k, v in (("estimand", "cost"), ("memory", memory))
    }
    conditions = {**run.conditions, **own, **stated}
    return dataclasses.replace(run, conditions=MappingProxyType(conditions))


def test_clock_speed_within_two_percent_is_steady() -> None:
    assert "clock-speed" not in warnings_of(
        with_each(run_with(), "core_cycle_ticks", ["0.7", "0.713"])
    )


def test_one_process_where_there_is_one() -> None:
    assert "one-process" in warnings_of(run_with(Machine(processes=1)))


def test_one_sample_is_not_laid_to_the_number_of_processes() -> None:
    run = run_with(Machine(processes=1, samples=1))
    found = {each.code: each for each in run_warnings.of_recording(run, run.variants[0])}
    assert "only one sample" in found["one-process"].symptom
    assert found["one-process"].try_this == "--samples 10000 and --processes 10"
    assert found["few-samples"].symptom.startswith("only 1 sample over")


def test_two_processes_are_not_one() -> None:
    assert "one-process" not in warnings_of(run_with(Machine(processes=2)))


def test_few_samples_where_there_are_under_20_a_batch_size() -> None:
    found = warnings_of(run_with(Machine(samples=90)))
    assert found["few-samples"].try_this == "--samples 1000"


def test_the_samples_to_try_are_those_of_each_variant() -> None:
    """As the option `samples` counts them."""
    each = Machine(samples=70, batches=(16, 32, 64, 128))
    both = simulate.with_baseline(each, each, 1)
    (few,) = [
        found
        for found in run_warnings.of_recording(both, "operation")
        if found.code == "few-samples"
    ]
    assert few.symptom == "only 140 samples over 2 variants with 4 batch sizes each"
    assert few.try_this == "--samples 800"


def test_20_samples_a_batch_size_are_enough() -> None:
    assert "few-samples" not in warnings_of(run_with(Machine(samples=100)))


def test_steal_where_the_hypervisor_took_time() -> None:
    assert "3 %" in warnings_of(run_with(steal__share="0.03"))["steal"].symptom


def test_little_or_unknown_steal_is_none() -> None:
    for share in ("0.02", "0", "unknown", "nan"):
        assert "steal" not in warnings_of(run_with(steal__share=share))


def test_busy_machine_where_all_cpus_were_busy() -> None:
    assert "busy-machine" in warnings_of(run_with(cpus__busy="1.95", cpus__online="2"))


def test_the_run_itself_does_not_make_the_machine_busy() -> None:
    assert "busy-machine" not in warnings_of(run_with(cpus__busy="1.1", cpus__online="1"))


def test_a_warning_tells_symptom_cause_and_remedy() -> None:
    for warning in warnings_of(run_with(Machine(step=108, samples=140, processes=1))).values():
        assert str(warning).endswith(f"Try: {warning.try_this}.")
        assert "{" not in str(warning) and "  " not in str(warning)


def counted(**counts: int) -> Recording:
    """A run that states what a student's function counted in each process, as its last samples."""
    recording = run_with(Machine(process_spread=30, samples=60_000))
    stated = {f"variant.simulated.{name}": f"{count}" for name, count in counts.items()}
    return dataclasses.replace(
        recording, conditions=MappingProxyType({**recording.conditions, **stated})
    )


def test_a_baseline_in_which_the_operation_happens_is_the_cause() -> None:
    found = warnings_of(counted(tried=7, counted_idle=0, counted_of_baseline=7))
    many = 7 * len(run_with(Machine()).processes)
    said = found["baseline-does-it-too"]
    assert said.symptom == f"in {many} baselines, your function counted {many} operations"
    assert found["not-believable"].likely_cause == said.likely_cause
    assert found["not-believable"].try_this == said.try_this


def test_a_count_where_nothing_was_done_is_reported() -> None:
    found = warnings_of(counted(tried=7, counted_idle=3, counted_of_baseline=0))
    assert "where nothing was done" in found["counts-nothing"].symptom
    assert "the processes of this run differ" in found["not-believable"].likely_cause


def test_a_count_that_sees_the_operation_only_earns_no_warning() -> None:
    for recording in (
        counted(tried=7, counted_idle=0, counted_of_baseline=0),
        run_with(Machine(process_spread=30, samples=60_000)),
    ):
        found = warnings_of(recording)
        assert not {"baseline-does-it-too", "counts-nothing"} & {*found}
        assert "the processes of this run differ" in found["not-believable"].likely_cause


@pytest.mark.slow
def test_a_warning_is_a_line_of_at_most_20_words() -> None:
    """What else it says unfolds below that line."""
    told: dict[str, str] = {}
    for path in FIXTURES.rglob("*.csv"):
        try:
            recording = read(path)
        except (BadRecording, OSError):
            continue
        for name in recording.variants:
            for each in result_of(recording, name, "ns").warnings:
                if not each.quiet:
                    told[each.symptom] = each.code
    assert len(set(told.values())) > 15
    assert {text: code for text, code in told.items() if len(text.split()) > 20} == {}


# What a run inherited


def test_what_a_run_inherited_is_told_by_its_code() -> None:
    """When it is told at all is asked in test_inherited_conditions.py."""
    for code, key, value, words in (
        ("scheduled", "scheduling.policy", "SCHED_FIFO", "scheduled as SCHED_FIFO"),
        ("preloaded", "preloaded.ld_preload", "libfast.so", "LD_PRELOAD: libfast.so"),
        ("clock-off", "clocks.off", "CLOCK_MONOTONIC 2.0", "CLOCK_MONOTONIC of the C library is 2"),
        ("clock-off", "clocks.off", "counter 0.5", "the counter is 0.5 times as fast as the proc"),
    ):
        assert code not in warnings_of(run_with())
        assert words in warnings_of(run_with(**{key: value}))[code].symptom


def test_each_warning_has_a_case() -> None:
    made = set(re.findall(r'RunWarning\(\s*"([a-z-]+)"', Path(run_warnings.__file__).read_text()))
    assert len(made) > 20
    tests = [path.read_text(encoding="utf-8") for path in (REPOSITORY / "tests").rglob("test_*.py")]
    assert {code for code in made if not any(f'"{code}"' in text for text in tests)} == set()
