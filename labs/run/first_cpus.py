"""Let the processes of a run begin on the CPUs in turn.

A cost can depend on the CPU, also among equal cores: the OS kernel keeps data of its own for each.
On one machine with two CPUs, four of six system calls took 1.5 to 3.2 % longer on one of them, and
the other two differed by less than 1 % (`labs measure system_call --unit cycles`, with `--cpu 0`
and `--cpu 1`). If no CPU is asked for, the OS tends to keep the processes of a run on one CPU, and
those of the next run on another. Then two runs differ by more than the spread within either shows.
So the run chooses where its processes begin, and the OS may move them from there.

Four processes in a row go through the places of a stack in a cache line (stack_places.py). If the
number of CPUs is even, the next four begin one CPU further on. Otherwise a place would belong to
one CPU, and nobody could say which of the two a cost depends on.
"""

from __future__ import annotations

import random

from labs.machine import cores, surroundings
from labs.run.plan import Plan

_IN_A_CACHE_LINE = 4


def random_start() -> int:
    """A random number for a run: which CPU its first process begins on."""
    return random.SystemRandom().randrange(1 << 16)


def cpu_of(plan: Plan, process: int, start: int) -> int | None:
    """The CPU on which process number `process` begins, in a run that began with `start`.

    None if the OS shall choose: the plan names a CPU, there is one only, no task can be bound to
    one, or the cores are of several kinds. A large and a small core have no cost in common.
    """
    allowed = surroundings.allowed_cpus()
    if plan.cpu is not None or allowed is None or len(allowed) < 2 or not cores.of_one_kind():
        return None
    further = process // _IN_A_CACHE_LINE if len(allowed) % 2 == 0 else 0
    return sorted(allowed)[(start + process + further) % len(allowed)]
