"""Conditions of a run: its machine, the load during the run, and a tracer that follows it.

A new fact of the machine is a key in `machine_conditions`. `labs/results/remarks.py` shows it: in
`_inherited` where it is unusual, in `_FACTS` always, in `_CONDITIONS` where a comparison depends on
it. `tests/analysis/test_inherited_conditions.py` reads it from files as the OS has them, and asks
for its words and for a near miss. One that the machine card and `labs doctor` show too is a field
in `description.py`. A kind of fact that docs/instructors/privacy.md does not list is added there.

Other conditions come from elsewhere: C prints them as `# key: value` (kernels_c/conditions.h),
`labs/run/c_process.py` states the plan, `labs/recording/run_conditions.py` computes from all these.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

import psutil

from labs import paths
from labs.files import text_of
from labs.machine import description
from labs.machine.description import can_pin, read_machine


@dataclass(frozen=True)
class CpuTimes:
    """The CPU time that the OS has counted since boot, in seconds, and when it was read.

    `at` is a reading of a monotonic clock, in seconds. `throttled` is how long a CPU quota has
    stopped the tasks of this control group, in seconds.
    """

    busy: float
    stolen: float
    total: float
    at: float
    throttled: float = 0.0


def allowed_cpus() -> frozenset[int] | None:
    """The CPUs to which a task can be bound; None if the system offers no pinning or refuses it."""
    return frozenset(os.sched_getaffinity(0)) if can_pin() else None


def place_options() -> tuple[str, ...]:
    """Options for a C kernel on a machine that cannot pin; empty if it can.

    With them, the C kernel measures where the OS puts its tasks, and states this. Without them, it
    refuses (kernels_c/placement.h).
    """
    return ("--place", "anywhere") if allowed_cpus() is None else ()


def cpu_times() -> CpuTimes | None:
    """The CPU times of all CPUs together; None if they cannot be read."""
    try:
        times = psutil.cpu_times()
    except (OSError, RuntimeError):
        return None
    idle = times.idle + getattr(times, "iowait", 0.0)
    stolen = getattr(times, "steal", 0.0)
    # user time includes guest time
    total = times.user + times.system + idle + stolen
    total += sum(getattr(times, name, 0.0) for name in ("nice", "irq", "softirq"))
    throttled = description.throttled_s(Path("/proc"), Path("/sys"))
    return CpuTimes(total - idle - stolen, stolen, total, time.monotonic(), throttled)


def load_conditions(before: CpuTimes | None, after: CpuTimes | None) -> dict[str, str]:
    """Conditions of a run between two readings: load, busy CPUs, and the share of stolen time; also
    for how long a CPU quota stopped programs, if it did.

    The OS counts in steps of 10 ms. The shares are left out if all CPUs together have counted less
    than 0.2 s.
    """
    conditions = {}
    with contextlib.suppress(OSError):
        conditions["load.1min"] = f"{os.getloadavg()[0]:.2f}"
    conditions["cpus.online"] = str(os.cpu_count() or 1)
    if before is not None and after is not None and after.throttled > before.throttled:
        conditions["cpu.throttled_s"] = f"{after.throttled - before.throttled:.2f}"
    if before is not None and after is not None and after.total - before.total >= 0.2:
        wall = after.at - before.at
        total = after.total - before.total
        conditions["cpus.busy"] = f"{max(after.busy - before.busy, 0.0) / wall:.2f}"
        conditions["steal.share"] = f"{max(after.stolen - before.stolen, 0.0) / total:.4f}"
    return conditions


def machine_conditions(
    proc: Path = Path("/proc"), sys: Path = Path("/sys"), root: Path = Path("/")
) -> dict[str, str]:
    """Conditions of a run that are facts about the machine; unknown facts are left out.

    They include the tracer that follows the programs started from here, if there is one. `proc`,
    `sys` and `root` are the folders in which the OS shows the facts. Tests use others.
    """
    machine = read_machine(proc, sys, root)
    facts = {
        "machine.cpu": machine.cpu,
        "machine.virtual": machine.virtual,
        "machine.container": machine.container,
        "machine.governor": machine.governor,
        "machine.clock_source": machine.clock_source,
        "seccomp": machine.seccomp,
        "cpu.quota": None if machine.cpu_quota is None else f"{machine.cpu_quota:g}",
        "tracer": name_of_tracer(proc),
    }
    return {key: str(value) for key, value in facts.items() if value is not None}


# A tracer, such as strace.
#
# It stops a program at each system call and lets it go on again, which takes a hundred times as
# long as a cheap call.

#: Tracing is only asked for if Python itself is traced, because it takes another process.
_STATUS = "self/status"
TRACER_TIME_LIMIT_S = 20.0


def name_of_tracer(proc: Path = Path("/proc")) -> str | None:
    """The name of the program that traces the processes started from here; None if none does.

    A debugger may trace Python and leave its children alone, so we ask a child.
    """
    tracer = _tracer_in(text_of(proc / _STATUS) or "")
    if not tracer or not _tracer_in(_status_of_a_child(proc)):
        return None
    return text_of(proc / str(tracer) / "comm") or f"process {tracer}"


def _status_of_a_child(proc: Path) -> str:
    try:
        return paths.run(["cat", str((proc / _STATUS).absolute())], TRACER_TIME_LIMIT_S).stdout
    except (OSError, subprocess.TimeoutExpired):
        return ""


def _tracer_in(status: str) -> int:
    """The process id of the tracer; 0 if there is none or if it is not stated."""
    for line in status.splitlines():
        key, _, value = line.partition(":")
        if key == "TracerPid" and value.strip().isdecimal():
            return int(value)
    return 0
