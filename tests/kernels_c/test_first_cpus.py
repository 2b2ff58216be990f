"""The CPU on which a process begins: what a C kernel does with the option, and what a run asks."""

from __future__ import annotations

import os
import re
import shutil
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import pytest

from labs.c_kernels.toolchain import Binary
from labs.machine import description, surroundings
from labs.run.c_process import Place, cpu_of, one_process, place_of, random_first_cpu
from labs.run.measure import Plan, measure_in_turns_now
from support.c_programs import Program
from support.programs import call

FEW = ("--samples", "12", "--warmup", "2")
ALLOWED = sorted(surroundings.allowed_cpus() or ())
two_cpus = pytest.mark.skipif(
    len(ALLOWED) < 2 or not description.cores_of_one_kind(),
    reason="one CPU, no pinning, or mixed cores",
)


def moves(program: Program, *words: str) -> list[str]:
    """The sets of CPUs to which the first task of the program is bound, one after the other."""
    traced = call("strace", "-e", "trace=sched_setaffinity", program, *words, *FEW, check=True)
    return re.findall(r"sched_setaffinity\(0, \d+, \[(.+?)\]\)", traced.stderr)


@two_cpus
@pytest.mark.skipif(shutil.which("strace") is None, reason="no strace")
def test_a_process_begins_where_it_is_asked_to_and_is_not_bound(
    program_of: Callable[[str], Program],
) -> None:
    """Where it is later is up to the OS, so only what is asked of the OS is looked at."""
    program, (here, there) = program_of("procedure_call"), map(str, ALLOWED[:2])
    unasked = moves(program)  # it tries to bind itself to the CPUs that it may use
    assert moves(program, "--begin-on", there) == [there, unasked[0], *unasked]
    wins = moves(program, "--cpu", here, "--begin-on", there)
    assert there not in wins and here in wins
    # What is cold only once is cold where the program was read into the caches.
    first = program_of("first_iteration")
    cold = ("--variant", "lazy-binding")
    assert moves(first, *cold, "--begin-on", there) == moves(first, *cold)


def test_a_cpu_that_may_not_be_used_is_refused(program_of: Callable[[str], Program]) -> None:
    if not ALLOWED:
        pytest.skip("no pinning here")
    other = max(os.sched_getaffinity(0)) + 1
    done = call(program_of("procedure_call"), "--begin-on", str(other))
    assert done.returncode == 2 and f"--begin-on {other}" in done.stderr


def test_processes_begin_on_the_cpus_in_turn_and_those_of_two_plans_alike(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: dict[str, list[int | None]] = {}

    async def at_place(binary: Binary, plan: Plan, samples: int, place: Place, *more: Any) -> Any:
        asked.setdefault(plan.kernel, []).append(place.cpu)
        return await one_process(binary, plan, samples, place, *more)

    monkeypatch.setattr("labs.run.c_process.one_process", at_place)
    plan = Plan("procedure_call", ("args5",), samples=80, processes=8, warmup=2)
    one, _ = measure_in_turns_now((plan, Plan("system_call", samples=80, processes=8)))
    begun = asked["procedure_call"]
    assert begun == asked["system_call"] and len(begun) == 8
    if len(ALLOWED) < 2 or not description.cores_of_one_kind():
        assert set(begun) == {None}
    else:
        start = ALLOWED.index(begun[0] if begun[0] is not None else -1)
        assert begun == [cpu_of(plan, number, start) for number in range(8)]
    assert "begin-on" not in one.conditions["command"]


def test_the_os_chooses_where_a_cpu_is_named_or_there_is_nothing_to_choose(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    free, pinned = Plan("procedure_call"), Plan("procedure_call", cpu=4)
    monkeypatch.setattr(description, "cores_of_one_kind", lambda: True)
    monkeypatch.setattr(surroundings, "allowed_cpus", lambda: frozenset({9, 4, 7}))
    assert [cpu_of(free, number, 1) for number in range(4)] == [7, 9, 4, 7]
    assert cpu_of(pinned, 0, 1) is None
    for few in (None, frozenset({4})):
        monkeypatch.setattr(surroundings, "allowed_cpus", lambda few=few: few)
        assert cpu_of(free, 0, 1) is None
    monkeypatch.setattr(surroundings, "allowed_cpus", lambda: frozenset({4, 7}))
    monkeypatch.setattr(description, "cores_of_one_kind", lambda: False)
    assert cpu_of(free, 0, 1) is None, "a large and a small core have no cost in common"


def test_runs_begin_on_different_cpus() -> None:
    assert len({random_first_cpu() % 2 for _ in range(64)}) == 2


def test_processes_with_one_place_in_a_cache_line_begin_on_several_cpus(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Otherwise a cost of that place could not be distinguished from a cost of that CPU."""
    monkeypatch.setattr(description, "cores_of_one_kind", lambda: True)
    for cpus in (2, 3, 4, 5, 6, 8, 10, 64):
        allowed = frozenset(range(cpus))
        monkeypatch.setattr(surroundings, "allowed_cpus", lambda allowed=allowed: allowed)
        of_place = defaultdict(set)
        for number in range(8):
            of_place[place_of(number, 0) % 64].add(cpu_of(Plan("procedure_call"), number, 0))
        assert len(of_place) == 4 and all(len(each) == 2 for each in of_place.values()), cpus
