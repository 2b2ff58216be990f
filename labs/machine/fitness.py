"""Whether a machine is fit to measure: one point for each fact or small trial.

A point has a status, what was seen, and what to do about it. The idea comes from
`isolate-check-environment`, a tool of isolate: name everything that is known to spoil timings, and
say what to do about it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from labs import paths
from labs.c_kernels import toolchain
from labs.machine import surroundings
from labs.machine.description import (
    COARSE_STEP_NS,
    UNREADABLE,
    Machine,
    cpu_ranges,
    virtualization_as_text,
)
from labs.units import plural

TIME_LIMIT_S = 10
#: The number of short runs, a few milliseconds each, that see how often others take the CPU.
COUNTER_RUNS = 8
# The affinity is read back from the OS, because a hub may accept the call and ignore it.
_PIN_EACH = """
import os, sys
for cpu in map(int, sys.argv[1:]):
    os.sched_setaffinity(0, {cpu})
    if os.sched_getaffinity(0) != {cpu}:
        sys.exit(f"CPU {cpu} was asked for and not obtained")
"""
_HELLO = '#include <stdio.h>\nint main(void) { puts("it runs"); return 0; }\n'


@dataclass(frozen=True)
class Outcome:
    """The outcome of a trial: `seen` says what it found, or `problem` says why it failed.

    `no_programs_in` is the folder whose programs the OS refused to start, if that is the reason;
    `remedy` says what to do, if the failure itself knows.
    """

    seen: str = ""
    problem: str | None = None
    remedy: str = ""
    no_programs_in: str = ""


@dataclass(frozen=True)
class Counter:
    """This machine's counter as a C kernel found it. A value that it did not report is 0."""

    name: str
    step: int  # ticks
    overhead: int  # ticks of an empty fenced sample
    frequency_hz: float
    core_cycle_ticks: float  # ticks per core cycle
    taken_by_others: float = 0.0  # share of the time in which others had the CPU
    gaps_per_s: float = 0.0  # interruptions by others per second

    @property
    def step_ns(self) -> float | None:
        """One step in nanoseconds; None if the counter reports no step or no frequency."""
        return self.step / self.frequency_hz * 1e9 if self.step and self.frequency_hz else None


@dataclass(frozen=True)
class Disk:
    """The free space of a folder in bytes, or why nothing can be written there."""

    folder: str
    free: int | None
    problem: str | None = None


@dataclass(frozen=True)
class Trials:
    """The outcomes of all trials. None means not tried, because an earlier trial failed.

    `meanwhile` holds the conditions of the machine while the trials ran.
    """

    compiler: Outcome
    counter: Counter | None = None
    counter_problem: str | None = None
    cache_without_programs: str = ""  # the cache folder, if the OS refused to start programs there
    pinning: Outcome | None = None
    here: Disk | None = None
    cache: Disk | None = None
    meanwhile: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))


def try_all(allowed: tuple[int, ...] | None) -> Trials:
    """Run all trials, which takes one to two seconds; never raises.

    `allowed` holds the numbers of the CPUs to pin to; None means that pinning is not tried.
    """
    before = surroundings.cpu_times()
    compiler = try_compiler()
    cache = try_cache()
    counter: Counter | None = None
    problem: str | None = None
    forbidding = ""
    if compiler.problem is None and cache.problem is None:
        try:
            counter = run_counter()
        except PermissionError:
            forbidding = cache.folder
            problem = paths.no_programs(forbidding)
        except toolchain.NoCompiler as error:
            compiler = Outcome(problem=error.why, remedy=error.remedy)
        except Exception as error:  # any error becomes a point of the report
            problem = _first_line(error)
    pinning, here = try_pinning(allowed) if allowed else None, _disk(Path())
    meanwhile = surroundings.load_conditions(before, surroundings.cpu_times())
    return Trials(compiler, counter, problem, forbidding, pinning, here, cache, meanwhile)


def try_compiler() -> Outcome:
    """Compile a small program and run it. It is compiled anew: a cached one would prove nothing."""
    try:
        compiler = toolchain.find_compiler()
        with tempfile.TemporaryDirectory(prefix="ticklab-") as work:
            source, program = Path(work) / "hello.c", Path(work) / "hello"
            source.write_text(_HELLO)
            command = [*compiler.command, *toolchain.BASE_FLAGS, str(source), "-o", str(program)]
            built = _run(command)
            if built.returncode != 0:
                return Outcome(problem=f"{compiler.version} does not compile: {_error_line(built)}")
            try:
                ran = _run([str(program)])
            except PermissionError:
                there, remedy = tempfile.gettempdir(), "Set TMPDIR to a folder where programs may "
                remedy += "run: mkdir -p ~/tmp && export TMPDIR=~/tmp"
                return Outcome("", paths.no_programs(there), remedy, no_programs_in=there)
    except toolchain.NoCompiler as error:
        return Outcome(problem=error.why, remedy=error.remedy)
    except subprocess.TimeoutExpired:
        return Outcome(
            problem=f"{compiler.version} took more than {TIME_LIMIT_S} s for a small C program",
            remedy="Try again: a first build takes longest, and so does a busy machine.",
        )
    except Exception as error:  # no temporary folder, one that forbids programs, no processes left
        return Outcome(problem=f"a small C program was not built and run: {_first_line(error)}")
    if ran.returncode != 0 or ran.stdout.strip() != "it runs":
        return Outcome(
            problem=f"{compiler.version} compiles, but the program fails: {_error_line(ran)}"
        )
    return Outcome(f"{compiler.version} ({compiler.path})")


def run_counter() -> Counter:
    """The counter as the C kernel timer_overhead reports it.

    Raises any error of the build or of the run.
    """
    binary = toolchain.build(paths.kernels_c() / "timer_overhead.c")
    runs = [_conditions_of_short_run(binary) for _ in range(COUNTER_RUNS)]
    conditions = runs[0]
    return Counter(
        name=conditions.get("counter", "unknown"),
        step=int(conditions.get("counter.step", "0")),
        overhead=int(conditions.get("counter.overhead", "0")),
        frequency_hz=float(conditions.get("counter.frequency_hz", "0")),
        core_cycle_ticks=float(conditions.get("core_cycle_ticks", "0")),
        taken_by_others=_mean(runs, "cpu.taken"),
        gaps_per_s=_mean(runs, "cpu.gaps_per_s"),
    )


def _mean(runs: list[dict[str, str]], key: str) -> float:
    return sum(float(each.get(key, "0")) for each in runs) / len(runs)


def _conditions_of_short_run(binary: toolchain.Binary) -> dict[str, str]:
    """The conditions that a short run of `binary` prints."""
    ran = _run([str(binary.path), "--samples", "50"])
    if ran.returncode != 0:
        raise RuntimeError(f"timer_overhead ended with status {ran.returncode}: {_error_line(ran)}")
    return dict(
        line[2:].split(": ", 1)
        for line in ran.stdout.splitlines()
        if line.startswith("# ") and ": " in line
    )


def try_pinning(cpus: tuple[int, ...]) -> Outcome:
    """Pin a child process to each of the CPUs in turn, and read back where it was pinned."""
    try:
        ran = _run([sys.executable, "-I", "-S", "-c", _PIN_EACH, *map(str, cpus)])
    except Exception as error:  # no processes left, or the child hangs
        return Outcome(problem=_first_line(error))
    if ran.returncode != 0:
        return Outcome(problem=_error_line(ran))
    return Outcome("obtained on each CPU allowed")


def try_cache() -> Disk:
    """The free space of the folder for built C kernels."""
    try:
        return _disk(paths.cache())
    except paths.CacheNotWritable as error:
        return Disk("", None, str(error))


def _disk(folder: Path) -> Disk:
    shown = str(folder)
    try:
        shown = str(folder.resolve())  # fails where the current folder has been deleted
        with tempfile.TemporaryFile(dir=folder):
            pass
        return Disk(shown, shutil.disk_usage(folder).free)
    except OSError as error:
        return Disk(shown, None, f"{shown}: {error.strerror or error}")


def _run(command: list[str]) -> subprocess.CompletedProcess[str]:
    return paths.run(command, TIME_LIMIT_S, environment={**os.environ, "LC_ALL": "C"})


def _error_line(ran: subprocess.CompletedProcess[str]) -> str:
    """The most useful line of the output: a compiler's first error, or else the last line."""
    lines = [line.strip() for line in (ran.stderr or ran.stdout).splitlines() if line.strip()]
    errors = [line for line in lines if "error:" in line]
    return (errors[:1] or lines[-1:] or [f"exit status {ran.returncode}, no message"])[0][:300]


def _first_line(error: Exception) -> str:
    """The first line of the error's message, or its type if there is no message."""
    lines = str(error).splitlines()
    return lines[0][:300] if lines else type(error).__name__


Status = Literal["PASS", "CAUTION", "FAIL", "SKIPPED"]


@dataclass(frozen=True)
class Point:
    """One point of the report.

    FAIL means that measuring is impossible until the remedy is applied, CAUTION that figures may be
    worse, and SKIPPED that the point cannot be checked here. `remedy` is for the user, who may have
    no administrator's rights; `administrator` is for whoever set up the machine, if that one can
    change something.
    """

    name: str
    status: Status
    seen: str
    remedy: str | None = None
    administrator: str | None = None


def examine(machine: Machine, trials: Trials) -> list[Point]:
    """All points, in the order in which a user should solve them.

    They depend on `machine` and `trials` only.
    """
    elsewhere = "Set TICKLAB_CACHE to a folder that you may write."
    return [
        check_compiler(trials),
        *check_counter(trials),
        check_cpus(machine),
        check_pinning(machine, trials),
        check_quota(machine),
        check_memory(machine),
        check_tasks(machine),
        check_hypervisor(machine),
        *check_core(machine),
        check_seccomp(machine),
        check_load(machine),
        check_steal(machine, trials),
        check_interruptions(trials),
        check_clock_source(machine),
        check_disk("disk here", trials.here, "Change to a folder of your own: cd ~"),
        check_disk("disk, cache", trials.cache, elsewhere, fatal=True),
    ]


def can_measure(points: list[Point]) -> bool:
    """Whether measuring is possible: no point has failed."""
    return not any(point.status == "FAIL" for point in points)


def verdict(points: list[Point]) -> str:
    """One sentence that sums up all points."""
    failed = [point.name for point in points if point.status == "FAIL"]
    cautions = [point.name for point in points if point.status == "CAUTION"]
    if failed:
        return f"Not fit to measure: {', '.join(failed)}."
    if not cautions:
        return "Fit to measure."
    return f"Fit to measure; {plural(len(cautions), 'caution')}: {', '.join(cautions)}."


# Points that follow from facts: CPUs, limits, clock speed, other users.

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
    every = f"{online or '?'} online"
    remedy = "Parts that compare two CPUs are impossible here: skip them and say so in the report."
    administrator = "Give the (virtual) machine two CPUs."
    if online is not None and online > 1:
        remedy += " If you used taskset, start without it."
        administrator = (
            "Give each student two CPUs: docker run --cpuset-cpus=0,1, AllowedCPUs=0,1 of systemd, "
            "or two whole CPUs and the CPU manager policy static in Kubernetes."
        )
    seen = f"{cpu_ranges(allowed or ())} of {every}"
    fine, unknown = len(allowed or ()) > 1, f"{UNREADABLE}; {every}"
    return _fact("CPUs allowed", allowed, fine, seen, "", remedy, administrator, unknown)


def check_quota(machine: Machine) -> Point:
    """Whether a quota limits the CPU time of this process."""
    quota, allowed = machine.cpu_quota, machine.cpus_allowed
    return _fact(
        "CPU quota",
        True,
        quota is None or (allowed is not None and quota >= len(allowed)),
        "no limit seen" if quota is None else f"the time of {plural(quota, 'CPU')}",
        ": the OS pauses a program that uses more",
        "Keep runs short: fewer --samples.",
        "Give CPUs instead of time: docker run --cpuset-cpus=0,1 and no --cpus. Or raise the quota "
        f"to the number of CPUs allowed, {len(allowed or (0,))}.",
    )


def check_tasks(machine: Machine) -> Point:
    """How many processes and threads a student may have: JupyterLab itself needs some."""
    limit = machine.task_limit
    return _fact(
        "processes",
        True,
        limit is None or limit >= ENOUGH_TASKS,
        "no limit seen" if limit is None else f"at most {limit:,} processes and threads",
        ", and JupyterLab with one notebook takes up to 70",
        "Open one notebook at a time. If a run cannot create a task, this limit is the reason.",
        f"Allow each student {ENOUGH_TASKS} of them: docker run --pids-limit={ENOUGH_TASKS}, "
        f"TasksMax= of systemd, or podPidsLimit of the kubelet. Look at ulimit -u too.",
    )


def check_hypervisor(machine: Machine) -> Point:
    """Whether this is a virtual machine or a container."""
    virtual = virtualization_as_text(machine)
    seen = f"virtual machine: {virtual}"
    if machine.container:
        seen += f"; in a container ({machine.container})"
    remedy = "State it with every figure, and compare only figures of this machine."
    if machine.wsl == 1:
        remedy = "Move to version 2: wsl --set-version <distribution> 2"
    if machine.wsl == 1 or machine.virtual:
        return Point("hypervisor", "CAUTION", seen, remedy)
    return Point("hypervisor", "SKIPPED" if machine.virtual is None else "PASS", seen)


def _fact(
    name: str,
    known: object,
    fine: bool,
    seen: str,
    worse: str,
    remedy: str,
    administrator: str,
    unknown: str = UNREADABLE,
) -> Point:
    """The point about a fact, SKIPPED if it is not known. A caution says what is `worse`."""
    if known is None:
        return Point(name, "SKIPPED", unknown)
    if fine:
        return Point(name, "PASS", seen)
    return Point(name, "CAUTION", f"{seen}{worse}", remedy, administrator)


def check_memory(machine: Machine) -> Point:
    """How much memory a student may use."""
    granted = [size for size in (machine.memory, machine.memory_limit) if size is not None]
    size = min(granted, default=0)
    by_limit = " by a limit" if size == machine.memory_limit else ""
    return _fact(
        "memory",
        size or None,
        size >= ENOUGH_MEMORY,
        f"{size / 2**30:.1f} GiB{by_limit}",
        ": JupyterLab and one notebook take about 0.3 GiB",
        "Open one notebook at a time: in the menu Kernel, shut down those that you do not need.",
        "Give each student 1 GiB: docker run --memory=1g, or the memory limit of your hub.",
    )


def check_core(machine: Machine) -> Iterator[Point]:
    """What changes the speed of a core: the OS, the other cores, and a second hardware thread."""
    yield _fact(
        "governor",
        machine.governor,
        machine.governor == "performance",
        f"{machine.governor}",
        ": the core's speed follows the load",
        "Warm up longer: --warmup. State it in your report.",
        "Fix the speed: sudo cpupower frequency-set -g performance",
    )
    yield _fact(
        "turbo",
        machine.turbo,
        not machine.turbo,
        "on" if machine.turbo else "off",
        ": the core's speed depends on temperature and on the other cores",
        "State this in your report.",
        "Switch it off: echo 1 | sudo tee /sys/devices/system/cpu/intel_pstate/no_turbo (or: "
        "echo 0 | sudo tee /sys/devices/system/cpu/cpufreq/boost)",
    )
    yield _fact(
        "SMT",
        machine.smt,
        not machine.smt,
        "on" if machine.smt else "off",
        ": two CPUs may share one core",
        "See which CPUs share a core: lscpu -e. Leave the other one idle, or choose two cores.",
        "Give both hardware threads of a core to the same student; lscpu -e shows them.",
    )


def check_seccomp(machine: Machine) -> Point:
    """Whether a seccomp filter checks each system call."""
    return _fact(
        "seccomp",
        machine.seccomp,
        machine.seccomp == "off",
        "no filter" if machine.seccomp == "off" else f"{machine.seccomp}",
        ": the OS kernel checks each system call, so it costs more",
        "State this in your report.",
        "Where you trust the users: docker run --security-opt seccomp=unconfined. Otherwise leave "
        "the filter: figures that state it are right.",
    )


def check_load(machine: Machine) -> Point:
    """How many tasks ran or waited for a CPU in the last minute."""
    load, cpus = machine.load or 0.0, machine.cpus_online or 1
    return _fact(
        "load",
        machine.load,
        load < max(0.5, cpus / 2),
        f"{load:.2f} tasks on {plural(cpus, 'CPU')} in the last minute",
        "",
        "End other programs (top lists them), or wait a minute and repeat.",
        "Let fewer students measure at the same time, or add CPUs.",
    )


def check_steal(machine: Machine, trials: Trials) -> Point:
    """How much CPU time other virtual machines take, while the trials ran and since boot."""
    recent = trials.meanwhile.get("steal.share")
    shares = {"just now": None if recent is None else float(recent), "since boot": machine.steal}
    known = {when: share for when, share in shares.items() if share is not None}
    return _fact(
        "steal",
        known or None,
        max(known.values(), default=0.0) <= STEAL_LIMIT,
        ", ".join(f"{share:.1%} {when}" for when, share in known.items()),
        ": other virtual machines take CPU time from this one",
        "Take more samples from more processes, or measure at a quieter hour.",
        "Give the virtual machine CPUs that it does not share, or move it to another host.",
    )


def check_clock_source(machine: Machine) -> Point:
    """Whether clock_gettime can be read without entering the OS kernel."""
    return _fact(
        "clock source",
        machine.clock_source,
        machine.clock_source in QUICK_CLOCK_SOURCES,
        f"{machine.clock_source}",
        ": clock_gettime may enter the OS kernel",
        "Time with the counter: variant fenced.",
        "Look for one that needs no system call, such as tsc: "
        "cat /sys/devices/system/clocksource/clocksource0/available_clocksource",
    )


# Points that follow from small trials: compiler, counter, pinning, free space.

LITTLE_DISK = 500 * 2**20  # bytes: a course's recordings and built C kernels need less
NO_DISK = 20 * 2**20
TAKEN_LIMIT = 0.05
# If at most this share of a batch size's samples is interrupted, the others still show the cost.
HIT_LIMIT = 0.3
# The batch sizes of the C kernel system_call, and the cost of one of its calls on many machines.
USUAL_SIZES = (32, 64, 128, 256)
USUAL_COST_US = 0.2
#: A compiler that does not build or run a program often lacks the headers of the C library.
WHOLE_COMPILER = (
    "Install gcc with its C library: Debian, Ubuntu, WSL2: sudo apt install gcc libc6-dev; "
    "Fedora: sudo dnf install gcc; macOS: xcode-select --install; "
    "without administrator's rights: pip install 'ticklab[zig]'"
)


def check_compiler(trials: Trials) -> Point:
    """Whether a C program can be built and run."""
    if trials.compiler.problem is None:
        return Point("compiler", "PASS", f"{trials.compiler.seen}; compiles and runs")
    administrator = (
        "Install gcc and the headers of the C library where the students' programs run, which may "
        "be the image of a container: apt-get install gcc libc6-dev"
    )
    if trials.compiler.no_programs_in:
        administrator = f"Mount {trials.compiler.no_programs_in} without the option noexec."
    remedy = trials.compiler.remedy or WHOLE_COMPILER
    return Point("compiler", "FAIL", trials.compiler.problem, remedy, administrator)


def check_counter(trials: Trials) -> Iterator[Point]:
    """The counter and the cost of reading it; if it moves, also a point on its step."""
    counter, problem, folder = trials.counter, trials.counter_problem, trials.cache_without_programs
    if counter is None and problem is None:
        yield Point("counter", "SKIPPED", "needs a working compiler and cache folder")
    elif counter is None:
        remedy = "This command shows more: labs measure timer_overhead --variant fenced"
        administrator = None
        if folder:
            remedy = "Set TICKLAB_CACHE to a folder where programs may run."
            administrator = (
                f"Mount {folder} without the option noexec, or set TICKLAB_CACHE for all students "
                "to a folder where programs may run."
            )
        yield Point("counter", "FAIL", f"{problem}", remedy, administrator)
    else:
        seen = f"{counter.name}, {counter.frequency_hz / 1e6:.4g} MHz"
        seen += f"; reading it costs {counter.overhead} ticks"
        if counter.core_cycle_ticks > 0:
            seen += f"; one core cycle is {counter.core_cycle_ticks:.2f} ticks"
        if (step := counter.step_ns) is None:
            yield Point(
                "counter",
                "FAIL",
                f"{seen}: the counter does not move",
                "Use another machine, or restart this one if it is yours.",
                "Restart the (virtual) machine. If that does not help, students need another one.",
            )
            return
        yield Point("counter", "PASS", seen)
        shown = f"{plural(counter.step, 'tick')}, {step:.3g} ns"
        if step <= COARSE_STEP_NS:
            yield Point("counter step", "PASS", shown)
        else:
            remedy = "Put many operations into a sample: choose several large batch sizes."
            yield Point("counter step", "CAUTION", shown, remedy)


def check_pinning(machine: Machine, trials: Trials) -> Point:
    """Whether a task can be bound to a CPU."""
    tried = trials.pinning or Outcome()
    return _fact(
        "pinning",
        trials.pinning,
        tried.problem is None,
        tried.problem or tried.seen,
        "",
        "Measure without --cpu, take more samples, and note the migrations that runs report. In "
        "measurements of switches the OS then chooses the CPUs, and every result states this.",
        "Allow the system call sched_setaffinity in the filter (seccomp) of the container.",
        f"{machine.system} offers no pinning",
    )


def check_interruptions(trials: Trials) -> Point:
    """For which share of the time others have the CPU, seen by a loop that reads the counter."""
    counter = trials.counter
    taken, per_s = (counter.taken_by_others, counter.gaps_per_s) if counter else (0.0, 0.0)
    seen = f"other programs had this CPU for {taken:.1%} of the time"
    if per_s > 0:
        seen += f", and took it every {1e6 / per_s:,.0f} µs on average"
    remedy = (
        "You can measure: Ticklab takes short samples and sets aside those that were interrupted. "
        "It is better to end other programs first (top lists them)."
    )
    if per_s > 0:
        remedy = " ".join([remedy, *_shorter_batches(1e6 / per_s)])
    return _fact(
        "interruptions",
        counter,
        taken <= TAKEN_LIMIT,
        seen,
        ": a run takes longer, and some of its samples are interrupted",
        remedy,
        "Let fewer students measure at the same time, or give each of them CPUs of their own.",
        "needs a working counter",
    )


def _shorter_batches(between_us: float) -> list[str]:
    """Advice on smaller batch sizes; none if samples of the usual sizes are not hit too often.

    `between_us` is the mean time between two interruptions, in microseconds.
    """
    longest_us = HIT_LIMIT * between_us
    if longest_us >= USUAL_SIZES[-1] * USUAL_COST_US:
        return []
    largest = longest_us / USUAL_COST_US
    sizes = sorted({max(round(largest * size / USUAL_SIZES[-1]), 1) for size in USUAL_SIZES})
    advice = (
        f"More than {HIT_LIMIT:.0%} of the samples are interrupted if they last longer than "
        f"{longest_us:.2g} µs."
    )
    if len(sizes) < len(USUAL_SIZES):
        return [advice, "No choice of batch sizes avoids that here."]
    return [
        advice,
        "A sample lasts its batch size times the cost of one operation: for system calls of "
        f"{USUAL_COST_US:g} µs take the batch sizes {', '.join(map(str, sizes))}.",
    ]


def check_disk(name: str, disk: Disk | None, elsewhere: str, fatal: bool = False) -> Point:
    """Whether a folder is writable and has free space; `elsewhere` says what to do if not.

    With `fatal`, a folder that is not writable or full makes measuring impossible.
    """
    if disk is None:
        return Point(name, "SKIPPED", "not tried")
    worst: Status = "FAIL" if fatal else "CAUTION"
    administrator = (
        f"Give each student a home folder that may be written, with {LITTLE_DISK >> 20} MB of free "
        "space. TICKLAB_CACHE may name another folder for what the kit builds."
    )
    if disk.free is None:
        seen = f"nothing can be written: {disk.problem}"
        return Point(name, worst, seen, elsewhere, administrator)
    seen = f"{disk.free / 2**30:.1f} GiB free in {disk.folder}"
    if disk.free < NO_DISK:
        seen = f"{disk.free / 2**20:.1f} MiB free in {disk.folder}"
        return Point(name, worst, seen, f"Free some space. Or: {elsewhere}", administrator)
    if disk.free < LITTLE_DISK:
        return Point(name, "CAUTION", seen, f"Free some space. Or: {elsewhere}", administrator)
    return Point(name, "PASS", seen)
