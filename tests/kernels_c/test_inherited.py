"""What a C kernel inherits from the program that starts it, as its run states it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from labs.results import remarks
from labs.results.result import result_of
from labs.run.c_process import gather, parse_run
from support.c_programs import LINUX, Program, conditions_of
from support.programs import Done, call

pytestmark = LINUX

FEW = ("--samples", "12", "--warmup", "2")

ProgramOf = Callable[[str], Program]


def started(program: Program, prepare: Callable[[], object], *options: str) -> Done:
    """A run whose process does `prepare` first. Skips where it may not."""
    try:
        return call(program, *FEW, *options, check=True, preexec_fn=prepare)
    except subprocess.SubprocessError as error:
        pytest.skip(f"the OS refuses it here: {error}")


def remarks_on(done: Done) -> remarks.Remarks:
    recording = gather({}, [parse_run(done.stdout.encode(), "run")], "run")
    return remarks.of_results([result_of(recording)])


@pytest.mark.parametrize("policy", ["SCHED_OTHER", "SCHED_BATCH", "SCHED_IDLE", "SCHED_FIFO"])
@pytest.mark.parametrize(
    "options",
    [
        ("timer_overhead",),
        ("process_switch", "--variant", "pipe-pinned"),  # changes the policy of its own tasks
    ],
)
def test_the_policy_is_the_one_that_the_process_was_started_with(
    program_of: ProgramOf, policy: str, options: tuple[str, ...]
) -> None:
    number = getattr(os, policy)
    parameter = os.sched_param(os.sched_get_priority_min(number))

    def prepare() -> None:
        os.sched_setscheduler(0, number, parameter)

    done = started(program_of(options[0]), prepare, *options[1:])
    assert conditions_of(done.stdout)["scheduling.policy"] == policy
    said = remarks_on(done)
    unusual, switches = policy != "SCHED_OTHER", "process_switch" in options
    assert (f"scheduled as {policy}" in said.conditions) == unusual
    warned = [each for each in said.warnings if f"this run was scheduled as {policy}" in each]
    assert len(warned) == (unusual and switches)


def test_the_nice_value_is_stated(program_of: ProgramOf) -> None:
    now = os.getpriority(os.PRIO_PROCESS, 0)
    program = program_of("timer_overhead")
    for more in (0, 3):
        done = started(program, lambda more=more: os.nice(more))  # type: ignore[misc]
        nice = min(now + more, 19)
        assert conditions_of(done.stdout)["scheduling.nice"] == str(nice)
        assert (f"nice value {nice}" in remarks_on(done).conditions) == (nice != 0)


def test_libraries_before_the_c_library_are_named_without_their_folders(
    program_of: ProgramOf, tmp_path: Path
) -> None:
    library = tmp_path / "libnothing-ü.so"
    subprocess.run(
        ["gcc", "-shared", "-x", "c", "-", "-o", str(library)], input="", text=True, check=True
    )
    paths = f" {library}:{tmp_path}/nobody/{library.name} "
    done = call(program_of("timer_overhead"), *FEW, env={**os.environ, "LD_PRELOAD": paths})
    stated = conditions_of(done.stdout)
    assert stated["preloaded.ld_preload"] == "libnothing-??.so libnothing-??.so"
    assert not any("nobody" in value for value in stated.values())
    assert any("unset LD_PRELOAD, and measure again" in each for each in remarks_on(done).warnings)


def test_an_empty_list_of_libraries_is_not_mentioned(program_of: ProgramOf) -> None:
    for paths in ("", " ", ":", "/"):
        done = call(program_of("timer_overhead"), *FEW, env={**os.environ, "LD_PRELOAD": paths})
        assert (
            not {"preloaded.ld_preload", "preloaded.ld_audit"} & conditions_of(done.stdout).keys()
        )


def test_a_long_list_of_libraries_is_cut(program_of: ProgramOf) -> None:
    paths = ":".join(f"/nowhere/lib{number}.so" for number in range(300))
    stated = conditions_of(
        call(program_of("timer_overhead"), *FEW, env={**os.environ, "LD_PRELOAD": paths}).stdout
    )
    assert stated["preloaded.ld_preload"].startswith("lib0.so lib1.so")
    assert len(stated["preloaded.ld_preload"]) <= 400
