"""Points of the report that follow from facts: CPUs, limits, clock speed, other users."""

from __future__ import annotations

from labs.common.units import plural
from labs.machine.card import UNREADABLE, cpu_ranges, virtualization_as_text
from labs.machine.description import Machine
from labs.machine.probes import Trials
from labs.machine.report_point import Point

STEAL_LIMIT = 0.01
# JupyterLab with one notebook, of lab 05 or 07, used 314 MB and 68 processes and threads at most.
ENOUGH_MEMORY = 2**30
ENOUGH_TASKS = 200
# These are read without entering the OS kernel; each reading of another one costs a system call.
QUICK_CLOCK_SOURCES = {
    "tsc",
    "kvm-clock",
    "hyperv_clocksource_tsc_page",
    "arch_sys_counter",
    "riscv_clocksource",
}


def check_cpus(machine: Machine) -> Point:
    """The CPUs that this process may use. Some variants need two."""
    allowed, online = machine.cpus_allowed, machine.cpus_online
    if allowed is None:
        return Point("CPUs allowed", "SKIPPED", f"{UNREADABLE}; {online or '?'} online")
    seen = f"{cpu_ranges(allowed)} of {online or '?'} online"
    if len(allowed) > 1:
        return Point("CPUs allowed", "PASS", seen)
    remedy = "Parts that compare two CPUs are impossible here: skip them and say so in the report."
    if online is None or online == 1:
        return Point(
            "CPUs allowed", "CAUTION", seen, remedy, "Give the (virtual) machine two CPUs."
        )
    return Point(
        "CPUs allowed",
        "CAUTION",
        seen,
        f"{remedy} If you used taskset, start without it.",
        "Give each student two CPUs: docker run --cpuset-cpus=0,1, AllowedCPUs=0,1 of systemd, or "
        "two whole CPUs and the CPU manager policy static in Kubernetes.",
    )


def check_quota(machine: Machine) -> Point:
    """Whether a quota limits the CPU time of this process."""
    quota = machine.cpu_quota
    if quota is None:
        return Point("CPU quota", "PASS", "no limit seen")
    seen = f"the time of {plural(quota, 'CPU')}"
    if machine.cpus_allowed is not None and quota >= len(machine.cpus_allowed):
        return Point("CPU quota", "PASS", seen)
    return Point(
        "CPU quota",
        "CAUTION",
        f"{seen}: the OS pauses a program that uses more",
        "Keep runs short: fewer --samples.",
        "Give CPUs instead of time: docker run --cpuset-cpus=0,1 and no --cpus. Or raise the quota "
        f"to the number of CPUs allowed, {len(machine.cpus_allowed or (0,))}.",
    )


def check_memory(machine: Machine) -> Point:
    """How much memory a student may use."""
    granted = [size for size in (machine.memory, machine.memory_limit) if size is not None]
    if not granted:
        return Point("memory", "SKIPPED", UNREADABLE)
    size = min(granted)
    limited = size == machine.memory_limit
    seen = f"{size / 2**30:.1f} GiB by a limit" if limited else f"{size / 2**30:.1f} GiB"
    if size >= ENOUGH_MEMORY:
        return Point("memory", "PASS", seen)
    return Point(
        "memory",
        "CAUTION",
        f"{seen}: JupyterLab and one notebook take about 0.3 GiB",
        "Open one notebook at a time: in the menu Kernel, shut down those that you do not need.",
        "Give each student 1 GiB: docker run --memory=1g, or the memory limit of your hub.",
    )


def check_tasks(machine: Machine) -> Point:
    """How many processes and threads a student may have: JupyterLab itself needs some."""
    limit = machine.task_limit
    if limit is None:
        return Point("processes", "PASS", "no limit seen")
    if limit >= ENOUGH_TASKS:
        return Point("processes", "PASS", f"at most {limit:,} processes and threads")
    return Point(
        "processes",
        "CAUTION",
        f"at most {limit:,} processes and threads, and JupyterLab with one notebook takes up to 70",
        "Open one notebook at a time. If a run cannot create a task, this limit is the reason.",
        f"Allow each student {ENOUGH_TASKS} of them: docker run --pids-limit={ENOUGH_TASKS}, "
        f"TasksMax= of systemd, or podPidsLimit of the kubelet. Look at ulimit -u too.",
    )


def check_hypervisor(machine: Machine) -> Point:
    """Whether this is a virtual machine or a container."""
    virtual = virtualization_as_text(machine)
    seen = f"virtual machine: {virtual}"
    if machine.container:
        seen = f"virtual machine: {virtual}; in a container ({machine.container})"
    if machine.wsl == 1:
        return Point(
            "hypervisor", "CAUTION", seen, "Move to version 2: wsl --set-version <distribution> 2"
        )
    if machine.virtual:
        return Point(
            "hypervisor",
            "CAUTION",
            seen,
            "State it with every figure, and compare only figures of this machine.",
        )
    return Point("hypervisor", "SKIPPED" if machine.virtual is None else "PASS", seen)


def check_governor(machine: Machine) -> Point:
    """Whether the OS changes the clock speed of the core with the load."""
    if machine.governor is None:
        return Point("governor", "SKIPPED", UNREADABLE)
    if machine.governor == "performance":
        return Point("governor", "PASS", machine.governor)
    return Point(
        "governor",
        "CAUTION",
        f"{machine.governor}: the core's speed follows the load",
        "Warm up longer: --warmup. State it in your report.",
        "Fix the speed: sudo cpupower frequency-set -g performance",
    )


def check_turbo(machine: Machine) -> Point:
    """Whether turbo is on: then the clock speed depends on temperature and on the other cores."""
    if machine.turbo is None:
        return Point("turbo", "SKIPPED", UNREADABLE)
    if not machine.turbo:
        return Point("turbo", "PASS", "off")
    return Point(
        "turbo",
        "CAUTION",
        "on: the core's speed depends on temperature and on the other cores",
        "State this in your report.",
        "Switch it off: echo 1 | sudo tee /sys/devices/system/cpu/intel_pstate/no_turbo (or: "
        "echo 0 | sudo tee /sys/devices/system/cpu/cpufreq/boost)",
    )


def check_smt(machine: Machine) -> Point:
    """Whether two CPUs may be hardware threads of the same core."""
    if machine.smt is None:
        return Point("SMT", "SKIPPED", UNREADABLE)
    if not machine.smt:
        return Point("SMT", "PASS", "off")
    return Point(
        "SMT",
        "CAUTION",
        "on: two CPUs may share one core",
        "See which CPUs share a core: lscpu -e. Leave the other one idle, or choose two cores.",
        "Give both hardware threads of a core to the same student; lscpu -e shows them.",
    )


def check_seccomp(machine: Machine) -> Point:
    """Whether a seccomp filter checks each system call."""
    if machine.seccomp is None:
        return Point("seccomp", "SKIPPED", UNREADABLE)
    if machine.seccomp == "off":
        return Point("seccomp", "PASS", "no filter")
    return Point(
        "seccomp",
        "CAUTION",
        f"{machine.seccomp}: the OS kernel checks each system call, so it costs more",
        "State this in your report.",
        "Where you trust the users: docker run --security-opt seccomp=unconfined. Otherwise leave "
        "the filter: figures that state it are right.",
    )


def check_load(machine: Machine) -> Point:
    """How many tasks ran or waited for a CPU in the last minute."""
    if machine.load is None:
        return Point("load", "SKIPPED", UNREADABLE)
    cpus = machine.cpus_online or 1
    seen = f"{machine.load:.2f} tasks on {cpus} CPU{'s' if cpus > 1 else ''} in the last minute"
    if machine.load < max(0.5, cpus / 2):
        return Point("load", "PASS", seen)
    return Point(
        "load",
        "CAUTION",
        seen,
        "End other programs (top lists them), or wait a minute and repeat.",
        "Let fewer students measure at the same time, or add CPUs.",
    )


def check_steal(machine: Machine, trials: Trials) -> Point:
    """How much CPU time other virtual machines take, since boot and while the trials ran."""
    recent = trials.meanwhile.get("steal.share")
    if recent is None and machine.steal is None:
        return Point("steal", "SKIPPED", UNREADABLE)
    now, since_boot = float(recent or 0), machine.steal or 0.0
    said = [f"{now:.1%} just now"] if recent is not None else []
    said += [f"{since_boot:.1%} since boot"] if machine.steal is not None else []
    seen = ", ".join(said)
    if max(now, since_boot) <= STEAL_LIMIT:
        return Point("steal", "PASS", seen)
    return Point(
        "steal",
        "CAUTION",
        f"{seen}: other virtual machines take CPU time from this one",
        "Take more samples from more processes, or measure at a quieter hour.",
        "Give the virtual machine CPUs that it does not share, or move it to another host.",
    )


def check_clock_source(machine: Machine) -> Point:
    """Whether clock_gettime can be read without entering the OS kernel."""
    source = machine.clock_source
    if source is None:
        return Point("clock source", "SKIPPED", UNREADABLE)
    if source in QUICK_CLOCK_SOURCES:
        return Point("clock source", "PASS", source)
    return Point(
        "clock source",
        "CAUTION",
        f"{source}: clock_gettime may enter the OS kernel",
        "Time with the counter: variant fenced.",
        "Look for one that needs no system call, such as tsc: "
        "cat /sys/devices/system/clocksource/clocksource0/available_clocksource",
    )
