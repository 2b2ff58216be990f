"""The facts about a machine, as plain values."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Facts:
    """One machine as this process sees it. None: a fact that cannot be read or does not exist."""

    architecture: str  # as uname gives it: x86_64, aarch64, riscv64, arm64
    system: str  # Linux, Darwin
    os_kernel: str  # its release
    cpu: str | None = None
    cpus_online: int | None = None
    cpus_allowed: tuple[int, ...] | None = None  # numbers of the CPUs this process may use
    pinning: bool | None = None  # whether a task can be bound to one of them
    memory: int | None = None  # bytes
    virtual: bool | None = None
    hypervisor: str | None = None  # its name, if it gives one
    container: str | None = None
    wsl: int | None = None  # 1 or 2
    governor: str | None = None
    turbo: bool | None = None
    smt: bool | None = None
    clock_source: str | None = None
    seccomp: str | None = None  # off, strict, filter
    load: float | None = None  # tasks that ran or waited for a CPU, mean of the last minute
    steal: float | None = None  # share of all CPU time since boot, 0 to 1
    cpu_quota: float | None = None  # the CPU time this process may use, in CPUs
    memory_limit: int | None = None  # bytes that this process and those beside it may use
    task_limit: int | None = None  # processes and threads that there may be
    counter_step_ns: float | None = None  # not read from the OS; the code that measures it sets it

    @property
    def two_cpus(self) -> bool:
        """Whether two tasks can each be bound to a CPU of their own."""
        return self.pinning is not False and len(self.cpus_allowed or ()) > 1
