"""Judge whether a machine is fit to measure, point by point, from facts alone.

The idea is that of isolate's `isolate-check-environment`: name each thing known to spoil timings,
and say what to do about it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from labs.machine.card import COARSE_STEP_NS, UNREADABLE, cpu_ranges, virtual_in_words
from labs.machine.description import Machine
from labs.machine.probes import Disk, Trials

Status = Literal["PASS", "CAUTION", "FAIL", "SKIPPED"]

LITTLE_DISK = 500 * 2**20  # bytes: a course's recordings and built C kernels need less
NO_DISK = 20 * 2**20
STEAL_LIMIT = 0.01
TAKEN_LIMIT = 0.05
# Of the samples at one batch size this many may be interrupted, and the rest still tells the cost.
HIT_LIMIT = 0.3
# The batch sizes of the C kernel system_call, and what one of its calls costs on many machines.
USUAL_SIZES = (64, 96, 128, 192)
USUAL_COST_US = 0.2
# Each of them is read without entering the OS kernel; the others cost a system call a reading.
QUICK_CLOCK_SOURCES = {
    "tsc",
    "kvm-clock",
    "hyperv_clocksource_tsc_page",
    "arch_sys_counter",
    "riscv_clocksource",
}


@dataclass(frozen=True)
class Point:
    """One point of the report. FAIL: measuring is impossible until the remedy is applied."""

    name: str
    status: Status
    seen: str
    remedy: str | None = None


def examine(machine: Machine, trials: Trials) -> list[Point]:
    """Every point, in the order in which to mend them. Pure: same facts, same points."""
    return [
        _compiler(trials),
        *_counter(trials),
        _cpus(machine),
        _pinning(machine, trials),
        _quota(machine),
        _hypervisor(machine),
        _governor(machine),
        _turbo(machine),
        _smt(machine),
        _seccomp(machine),
        _load(machine),
        _steal(machine, trials),
        _taken(trials),
        _clock_source(machine),
        _disk("disk here", trials.here, "Change to a folder of your own: cd ~"),
        _disk("disk, cache", trials.cache, "Set TICKLAB_CACHE to a folder of yours.", fatal=True),
    ]


def fit(points: list[Point]) -> bool:
    """Whether measuring is possible."""
    return not any(point.status == "FAIL" for point in points)


def verdict(points: list[Point]) -> str:
    """One sentence for all points."""
    failed = [point.name for point in points if point.status == "FAIL"]
    cautions = [point.name for point in points if point.status == "CAUTION"]
    if failed:
        return f"Not fit to measure: {', '.join(failed)}."
    if not cautions:
        return "Fit to measure."
    count = f"{len(cautions)} caution{'s' if len(cautions) > 1 else ''}"
    return f"Fit to measure; {count}: {', '.join(cautions)}."


def _compiler(trials: Trials) -> Point:
    if trials.compiler.problem is None:
        return Point("compiler", "PASS", f"{trials.compiler.seen}; compiles and runs")
    return Point(
        "compiler",
        "FAIL",
        trials.compiler.problem,
        "Install gcc with its C library: Debian, Ubuntu, WSL: sudo apt install gcc libc6-dev; "
        "Fedora: sudo dnf install gcc; macOS: xcode-select --install; "
        "without rights: pip install 'ticklab[zig]'",
    )


def _counter(trials: Trials) -> list[Point]:
    counter = trials.counter
    if counter is None:
        if trials.counter_problem is None:
            return [Point("counter", "SKIPPED", "needs a compiler and a cache folder first")]
        return [
            Point(
                "counter",
                "FAIL",
                trials.counter_problem,
                "Run it alone to see more: labs measure timer_overhead --variant fenced",
            )
        ]
    rate = f"{counter.frequency_hz / 1e6:.4g} MHz"
    seen = f"{counter.name}, {rate}, reading it costs {counter.overhead} ticks"
    if counter.core_cycle_ticks > 0:
        seen += f", one core cycle is {counter.core_cycle_ticks:.2f} ticks"
    step = counter.step_ns
    if step is None:
        return [
            Point("counter", "FAIL", f"{seen}: it stands still", "Restart the machine or guest.")
        ]
    coarse = step > COARSE_STEP_NS
    return [
        Point("counter", "PASS", seen),
        Point(
            "counter step",
            "CAUTION" if coarse else "PASS",
            f"{counter.step} tick{'s' if counter.step != 1 else ''}, {step:.3g} ns",
            "Measure many operations at once: several sizes with --batch." if coarse else None,
        ),
    ]


def _cpus(machine: Machine) -> Point:
    allowed, online = machine.cpus_allowed, machine.cpus_online
    if allowed is None:
        return Point("CPUs allowed", "SKIPPED", f"{UNREADABLE}; {online or '?'} online")
    seen = f"{cpu_ranges(allowed)} of {online or '?'} online"
    if len(allowed) > 1:
        return Point("CPUs allowed", "PASS", seen)
    remedy = "Two CPUs cannot be compared: leave these parts out and say so in the report."
    if online is not None and online > 1:
        remedy += " Or start without taskset, in a container with --cpuset-cpus of two or more."
    return Point("CPUs allowed", "CAUTION", seen, remedy)


def _pinning(machine: Machine, trials: Trials) -> Point:
    if trials.pinning is None:
        return Point("pinning", "SKIPPED", f"{machine.system} offers none to programs")
    if trials.pinning.problem is None:
        return Point("pinning", "PASS", trials.pinning.seen)
    return Point(
        "pinning",
        "CAUTION",
        trials.pinning.problem,
        "Measure without --cpu, take more samples, and mind the migrations that are reported. "
        "Switches are measured wherever the OS puts the tasks, which every result then says.",
    )


def _quota(machine: Machine) -> Point:
    quota = machine.cpu_quota
    if quota is None:
        return Point("CPU quota", "PASS", "no limit seen")
    seen = f"{quota:g} CPUs' worth of time"
    if machine.cpus_allowed is not None and quota >= len(machine.cpus_allowed):
        return Point("CPU quota", "PASS", seen)
    return Point(
        "CPU quota",
        "CAUTION",
        f"{seen}: what uses more is stopped in between",
        "Keep runs short (fewer --samples), or ask for a larger limit (docker run --cpus).",
    )


def _hypervisor(machine: Machine) -> Point:
    guest = f"in a container ({machine.container})" if machine.container else ""
    seen = "; ".join(
        part for part in (f"virtual machine: {virtual_in_words(machine)}", guest) if part
    )
    if machine.wsl == 1:
        return Point(
            "hypervisor", "CAUTION", seen, "Move to version 2: wsl --set-version <distribution> 2"
        )
    if machine.virtual:
        return Point(
            "hypervisor",
            "CAUTION",
            seen,
            "Name it with every figure, and compare figures of this machine only.",
        )
    return Point("hypervisor", "SKIPPED" if machine.virtual is None else "PASS", seen)


def _governor(machine: Machine) -> Point:
    if machine.governor is None:
        return Point("governor", "SKIPPED", UNREADABLE)
    if machine.governor == "performance":
        return Point("governor", "PASS", machine.governor)
    return Point(
        "governor",
        "CAUTION",
        f"{machine.governor}: the core's speed follows the load",
        "Warm up longer (--warmup), or hold the speed: sudo cpupower frequency-set -g performance",
    )


def _turbo(machine: Machine) -> Point:
    if machine.turbo is None:
        return Point("turbo", "SKIPPED", UNREADABLE)
    if not machine.turbo:
        return Point("turbo", "PASS", "off")
    return Point(
        "turbo",
        "CAUTION",
        "on: the core's speed follows heat and company",
        "Report it, or switch it off: echo 1 | sudo tee "
        "/sys/devices/system/cpu/intel_pstate/no_turbo (or: echo 0 | sudo tee "
        "/sys/devices/system/cpu/cpufreq/boost)",
    )


def _smt(machine: Machine) -> Point:
    if machine.smt is None:
        return Point("SMT", "SKIPPED", UNREADABLE)
    if not machine.smt:
        return Point("SMT", "PASS", "off")
    return Point(
        "SMT",
        "CAUTION",
        "on: two CPUs may be one core",
        "See which share a core: lscpu -e. Leave the neighbour idle, or choose two cores.",
    )


def _seccomp(machine: Machine) -> Point:
    if machine.seccomp is None:
        return Point("seccomp", "SKIPPED", UNREADABLE)
    if machine.seccomp == "off":
        return Point("seccomp", "PASS", "no filter")
    return Point(
        "seccomp",
        "CAUTION",
        f"{machine.seccomp}: each system call is looked at, and costs more",
        "Report it; in a container of your own: --security-opt seccomp=unconfined",
    )


def _load(machine: Machine) -> Point:
    if machine.load is None:
        return Point("load", "SKIPPED", UNREADABLE)
    cpus = machine.cpus_online or 1
    seen = f"{machine.load:.2f} tasks on {cpus} CPU{'s' if cpus > 1 else ''} in the last minute"
    if machine.load < max(0.5, cpus / 2):
        return Point("load", "PASS", seen)
    return Point(
        "load", "CAUTION", seen, "End what else runs (see top), or wait a minute and ask again."
    )


def _steal(machine: Machine, trials: Trials) -> Point:
    recent = trials.meanwhile.get("steal.share")
    if recent is None and machine.steal is None:
        return Point("steal", "SKIPPED", UNREADABLE)
    shares = [(float(recent), "just now")] if recent is not None else []
    if machine.steal is not None:
        shares.append((machine.steal, "since boot"))
    seen = ", ".join(f"{share:.1%} {when}" for share, when in shares)
    if max(share for share, _ in shares) <= STEAL_LIMIT:
        return Point("steal", "PASS", seen)
    return Point(
        "steal",
        "CAUTION",
        f"{seen}: other guests take this machine's CPU time",
        "Take more samples from more processes (--processes), or measure at a quieter hour.",
    )


def _taken(trials: Trials) -> Point:
    if trials.counter is None:
        return Point("interruptions", "SKIPPED", "needs the counter first")
    seen = f"others have this CPU for {trials.counter.taken:.1%} of the time"
    between_us = trials.counter.between_gaps_us
    if between_us is not None:
        seen += f", and come every {between_us:,.0f} µs on average"
    if trials.counter.taken <= TAKEN_LIMIT:
        return Point("interruptions", "PASS", seen)
    remedy = (
        "Ticklab times short intervals and sets aside what was interrupted. End what else runs, "
        "take more samples, or measure at a quieter hour."
    )
    if between_us is not None:
        remedy += _shorter_batches(between_us)
    return Point(
        "interruptions",
        "CAUTION",
        f"{seen}: a loop timed as a whole reads that much more",
        remedy,
    )


def _shorter_batches(between_us: float) -> str:
    """Which batch sizes to use where the usual ones make intervals that are hit too often."""
    longest_us = HIT_LIMIT * between_us
    if longest_us >= USUAL_SIZES[-1] * USUAL_COST_US:
        return ""
    largest = longest_us / USUAL_COST_US
    sizes = sorted({max(round(largest * size / USUAL_SIZES[-1]), 1) for size in USUAL_SIZES})
    told = (
        f" An interval of more than {longest_us:.2g} µs is interrupted in more than "
        f"{HIT_LIMIT:.0%} of cases, and those of the usual batch sizes can be longer."
    )
    if len(sizes) < len(USUAL_SIZES):
        return f"{told} No choice of batch sizes avoids that here."
    return (
        f"{told} Choose sizes whose largest, times the cost, stays below that: for system calls "
        f"of {USUAL_COST_US:g} µs --batch {','.join(map(str, sizes))}."
    )


def _clock_source(machine: Machine) -> Point:
    source = machine.clock_source
    if source is None:
        return Point("clock source", "SKIPPED", UNREADABLE)
    if source in QUICK_CLOCK_SOURCES:
        return Point("clock source", "PASS", source)
    return Point(
        "clock source",
        "CAUTION",
        f"{source}: clock_gettime may enter the OS kernel",
        "Time with the counter (variant fenced); see which sources there are: "
        "cat /sys/devices/system/clocksource/clocksource0/available_clocksource",
    )


def _disk(name: str, disk: Disk | None, elsewhere: str, fatal: bool = False) -> Point:
    if disk is None:
        return Point(name, "SKIPPED", "not tried")
    worst: Status = "FAIL" if fatal else "CAUTION"
    if disk.free is None:
        return Point(name, worst, f"nothing can be written: {disk.problem}", elsewhere)
    seen = f"{disk.free / 2**30:.1f} GiB free in {disk.folder}"
    if disk.free < NO_DISK:
        seen = f"{disk.free / 2**20:.1f} MiB free in {disk.folder}"
        return Point(name, worst, seen, f"Free some space. Or: {elsewhere}")
    if disk.free < LITTLE_DISK:
        return Point(name, "CAUTION", seen, f"Free some space. Or: {elsewhere}")
    return Point(name, "PASS", seen)
