"""On which machine a run was made, and what else went on in it meanwhile."""

from __future__ import annotations

import contextlib
import os
import time
from dataclasses import dataclass

import psutil

from labs.machine.description import can_pin, read_machine


@dataclass(frozen=True)
class CpuTimes:
    """A reading of the OS's account of CPU time, in seconds since boot, and of a steady clock."""

    busy: float
    stolen: float
    total: float
    at: float


def allowed_cpus() -> frozenset[int] | None:
    """The CPUs a task can be bound to; None where the system offers no pinning, or refuses it."""
    return frozenset(os.sched_getaffinity(0)) if can_pin() else None


def place_options() -> tuple[str, ...]:
    """What a C kernel is told where nothing can be pinned: to measure wherever the OS puts its
    tasks, and to say so. Without these words it refuses (kernels_c/placement.h)."""
    return ("--place", "anywhere") if allowed_cpus() is None else ()


def cpu_times() -> CpuTimes | None:
    """The account of all CPUs together; None where it cannot be read."""
    try:
        times = psutil.cpu_times()
    except (OSError, RuntimeError):
        return None
    idle = times.idle + getattr(times, "iowait", 0.0)
    stolen = getattr(times, "steal", 0.0)
    # guest time is contained in user time already
    total = times.user + times.system + idle + stolen
    total += sum(getattr(times, name, 0.0) for name in ("nice", "irq", "softirq"))
    return CpuTimes(total - idle - stolen, stolen, total, time.monotonic())


def during(before: CpuTimes | None, after: CpuTimes | None) -> dict[str, str]:
    """Conditions of a run between two readings: load, CPUs kept busy, share of time stolen.

    The OS accounts in steps of 10 ms: shares of a run shorter than ten of those are left out.
    """
    conditions = {}
    with contextlib.suppress(OSError):
        conditions["load.1min"] = f"{os.getloadavg()[0]:.2f}"
    conditions["cpus.online"] = str(os.cpu_count() or 1)
    if before is not None and after is not None and after.total - before.total >= 0.2:
        wall = after.at - before.at
        total = after.total - before.total
        conditions["cpus.busy"] = f"{max(after.busy - before.busy, 0.0) / wall:.2f}"
        conditions["steal.share"] = f"{max(after.stolen - before.stolen, 0.0) / total:.4f}"
    return conditions


def of_machine() -> dict[str, str]:
    """Conditions of a run that are facts of the machine; one that cannot be read is left out."""
    machine = read_machine()
    facts = {
        "machine.cpu": machine.cpu,
        "machine.virtual": machine.virtual,
        "machine.container": machine.container,
        "machine.governor": machine.governor,
        "machine.clock_source": machine.clock_source,
        "seccomp": machine.seccomp,
    }
    return {key: str(value) for key, value in facts.items() if value is not None}
