"""A machine that can bind no task to a CPU: everything is measured all the same, and says so.

There are two of them here: C kernels built with -DTICKLAB_NO_PINNING, which is how they are on a
system without the calls, and a filter that refuses the call, which is one in truth.
"""

from __future__ import annotations

import functools
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from support.c_programs import (
    CPUS,
    FOLDER,
    LINUX,
    TWO_CPUS,
    Program,
    compile_c,
    conditions_of,
    errors_of,
    listed_by,
    on_one_cpu,
    rows_of,
)
from support.paths import REPOSITORY
from support.programs import Done, call

FEW = ("--samples", "40", "--warmup", "2")
ANYWHERE = ("--place", "anywhere")
WITHOUT = (sys.executable, "-m", "bench.no_pinning")

#: Of each C kernel with two tasks, a variant whose tasks belong on one CPU.
ON_ONE_CPU = [
    ("process_switch", "pipe-pinned"),
    ("process_switch", "eventfd-pinned"),
    ("thread_switch", "condvar"),
    ("thread_switch", "bare-mutex"),
    ("switch_footprint", "processes-4-0"),
    ("switch_footprint", "threads-4-16k"),
]

ProgramOf = Callable[[str], Program]


def run(*command: str | Path, one_cpu: bool = False) -> Done:
    """Run a command in the repository, on one CPU if wished."""
    words, first = map(str, command), on_one_cpu if one_cpu else None
    return call(*words, cwd=REPOSITORY, timeout=120, preexec_fn=first)


@pytest.fixture(scope="module", params=["refused by a filter", "left out by a flag"])
def unbound(
    request: pytest.FixtureRequest,
    program_of: ProgramOf,
    tmp_path_factory: pytest.TempPathFactory,
) -> Callable[[str], tuple[str, ...]]:
    """The command of a C kernel that can bind no task to a CPU."""
    if request.param == "left out by a flag":
        folder = tmp_path_factory.mktemp("left-out")

        @functools.cache
        def built(kernel: str) -> tuple[str, ...]:
            source = FOLDER / f"{kernel}.c"
            return (str(compile_c(folder, "-O0", "-DTICKLAB_NO_PINNING", source=source)),)

        return built
    tried = run(*WITHOUT, "true")
    if tried.returncode != 0:
        pytest.skip(tried.stderr.strip())
    return lambda kernel: (*WITHOUT, str(program_of(kernel)))


def has_measured(done: Done) -> dict[str, str]:
    """The conditions of a run that went well."""
    assert done.returncode == 0, done.stderr
    assert errors_of(done) == []
    assert rows_of(done.stdout)
    return conditions_of(done.stdout)


# The C kernels


@LINUX
@TWO_CPUS
@pytest.mark.parametrize(("kernel", "variant"), ON_ONE_CPU)
def test_what_belongs_on_one_cpu_is_refused_unless_it_may_be_anywhere(
    unbound: Callable[[str], tuple[str, ...]], kernel: str, variant: str
) -> None:
    command = (*unbound(kernel), "--variant", variant, *FEW)
    refused = run(*command)
    assert (refused.returncode, refused.stdout) == (3, "")
    (error,) = errors_of(refused)
    assert error.startswith(f"{variant}: not on this machine: ") and "--place anywhere" in error
    stated = has_measured(run(*command, *ANYWHERE))
    assert stated["cpu.place"] == "anywhere"
    # It may be anywhere, and does not say that it was bound.
    assert len(stated[f"variant.{variant}.peers_may_use"]) > 1


@LINUX
def test_a_machine_that_cannot_is_told_from_a_c_kernel_that_was_built_so(
    unbound: Callable[[str], tuple[str, ...]],
) -> None:
    command = unbound("timer_overhead")
    said = has_measured(run(*command, *FEW))["cpu.pinning"]
    assert said.startswith("none: " if command[0] == sys.executable else "left out: ")


@LINUX
def test_where_it_can_pin_it_says_nothing_of_it(program_of: ProgramOf) -> None:
    stated = has_measured(run(program_of("process_switch"), *FEW))
    assert not {"cpu.pinning", "cpu.place"} & set(stated)
    assert stated["variant.pipe-pinned.peers_may_use"] == str(CPUS[0])


@LINUX
@TWO_CPUS
@pytest.mark.parametrize("options", [(), ANYWHERE])
def test_two_cpus_are_never_had_for_the_asking(
    unbound: Callable[[str], tuple[str, ...]], options: tuple[str, ...]
) -> None:
    done = run(*unbound("process_switch"), "--variant", "pipe-two-cpus", *FEW, *options)
    assert done.returncode == 3
    # What nobody places needs no pinning.
    has_measured(run(*unbound("process_switch"), "--variant", "pipe-unpinned", *FEW, *options))


@LINUX
@pytest.mark.parametrize(("kernel", "variant"), ON_ONE_CPU)
def test_a_single_cpu_needs_no_pinning(
    unbound: Callable[[str], tuple[str, ...]], kernel: str, variant: str
) -> None:
    stated = has_measured(run(*unbound(kernel), "--variant", variant, *FEW, one_cpu=True))
    assert stated["cpu.allowed"] == stated[f"variant.{variant}.peers_may_use"] == str(CPUS[0])


@LINUX
def test_list_says_what_may_be_anywhere(unbound: Callable[[str], tuple[str, ...]]) -> None:
    command = unbound("process_switch")
    if len(CPUS) > 1:
        assert "--place anywhere" in listed_by(command)["pipe-pinned"][1]
    assert listed_by((*command, *ANYWHERE))["pipe-pinned"][1] == ""


@pytest.mark.parametrize(
    ("options", "word"),
    [
        (("--place", "here"), "anywhere"),
        (("--place", "anywhere", "--cpu", "0"), "--cpu"),
        (("--place", "anywhere", "--peer-cpu", "0"), "--peer-cpu"),
    ],
)
def test_a_place_that_is_none(program_of: ProgramOf, options: tuple[str, ...], word: str) -> None:
    done = run(program_of("process_switch"), *FEW, *options)
    assert (done.returncode, done.stdout) == (2, "")
    assert word in done.stderr and len(errors_of(done)) == 1


# What is asked of the machine, and what is measured on it, from a notebook


SESSION = """
import json, sys
from labs.machine import surroundings
from labs.run import variants
from labs.machine.description import read_machine
from labs.notebook.session import start

lab = start("06-process-and-thread-switch")
run = lab.measure("thread_switch", "condvar", samples=200, processes=2)
print(json.dumps({
    "allowed": surroundings.allowed_cpus() is not None,
    "pinning": lab.machine.pinning,
    "two_cpus": lab.machine.two_cpus,
    "cannot_show": " ".join(lab.machine.cannot_show()),
    "missing": [each.name for each in variants.of_kernel("process_switch") if each.missing],
    "conditions": dict(run.recording.conditions),
    "warnings": [warning.code for warning in run.result().warnings],
}))
"""


@LINUX
@TWO_CPUS
@pytest.mark.parametrize("can", [True, False])
def test_a_lab_goes_on_without_pinning_and_says_what_it_measures(tmp_path: Path, can: bool) -> None:
    without = () if can else WITHOUT
    tried = run(*without, "true")
    if tried.returncode != 0:
        pytest.skip(tried.stderr.strip())
    ours = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    words = (*without, sys.executable, "-c", SESSION)
    done = call(*words, cwd=tmp_path, env=ours, timeout=120)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout.splitlines()[-1])
    assert said["allowed"] is said["pinning"] is said["two_cpus"] is can
    assert ("Nothing can be pinned here" in said["cannot_show"]) != can
    assert ("Note: nothing can be pinned here: the OS refuses" in done.stdout) != can
    assert ("pipe-two-cpus" in said["missing"]) != can and "pipe-pinned" not in said["missing"]
    assert ("cpu.pinning" in said["conditions"]) != can
    assert ("not-bound" in said["warnings"]) != can
