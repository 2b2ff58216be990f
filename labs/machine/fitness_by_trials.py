"""Points of the report that follow from small trials: compiler, counter, pinning, free space."""

from __future__ import annotations

from labs.machine.card import COARSE_STEP_NS
from labs.machine.description import Machine
from labs.machine.probes import Disk, Trials
from labs.machine.report_point import Point, Status

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
    if trials.compiler.no_programs_in:
        return Point(
            "compiler",
            "FAIL",
            trials.compiler.problem,
            "Set TMPDIR to a folder where programs may run: mkdir -p ~/tmp && export TMPDIR=~/tmp",
            f"Mount {trials.compiler.no_programs_in} without the option noexec.",
        )
    return Point(
        "compiler",
        "FAIL",
        trials.compiler.problem,
        trials.compiler.remedy or WHOLE_COMPILER,
        "Install gcc and the headers of the C library where the students' programs run, which may "
        "be the image of a container: apt-get install gcc libc6-dev",
    )


def check_counter(trials: Trials) -> list[Point]:
    """The counter and the cost of reading it; if it moves, also a point on its step."""
    counter = trials.counter
    if counter is None:
        if trials.counter_problem is None:
            return [Point("counter", "SKIPPED", "needs a working compiler and cache folder")]
        if trials.cache_without_programs:
            return [
                Point(
                    "counter",
                    "FAIL",
                    trials.counter_problem,
                    "Set TICKLAB_CACHE to a folder where programs may run.",
                    f"Mount {trials.cache_without_programs} without the option noexec, or set "
                    "TICKLAB_CACHE for all students to a folder where programs may run.",
                )
            ]
        return [
            Point(
                "counter",
                "FAIL",
                trials.counter_problem,
                "This command shows more: labs measure timer_overhead --variant fenced",
            )
        ]
    named = f"{counter.name}, {counter.frequency_hz / 1e6:.4g} MHz"
    cost, cycle = counter.overhead, counter.core_cycle_ticks
    seen = f"{named}, reading it costs {cost} ticks"
    if cycle > 0:
        seen = f"{named}, reading it costs {cost} ticks, one core cycle is {cycle:.2f} ticks"
    step = counter.step_ns
    if step is None:
        return [
            Point(
                "counter",
                "FAIL",
                f"{seen}: the counter does not move",
                "Use another machine, or restart this one if it is yours.",
                "Restart the (virtual) machine. If that does not help, students need another one.",
            )
        ]
    coarse = step > COARSE_STEP_NS
    return [
        Point("counter", "PASS", seen),
        Point(
            "counter step",
            "CAUTION" if coarse else "PASS",
            f"{counter.step} tick{'s' if counter.step != 1 else ''}, {step:.3g} ns",
            "Put many operations into a sample: several large sizes with --batch."
            if coarse
            else None,
        ),
    ]


def check_pinning(machine: Machine, trials: Trials) -> Point:
    """Whether a task can be bound to a CPU."""
    if trials.pinning is None:
        return Point("pinning", "SKIPPED", f"{machine.system} offers no pinning")
    if trials.pinning.problem is None:
        return Point("pinning", "PASS", trials.pinning.seen)
    return Point(
        "pinning",
        "CAUTION",
        trials.pinning.problem,
        "Measure without --cpu, take more samples, and note the migrations that runs report. In "
        "measurements of switches the OS then chooses the CPUs, and every result states this.",
        "Allow the system call sched_setaffinity in the filter (seccomp) of the container.",
    )


def check_interruptions(trials: Trials) -> Point:
    """For which share of the time others have the CPU, seen by a loop that reads the counter."""
    if trials.counter is None:
        return Point("interruptions", "SKIPPED", "needs a working counter")
    share, between_us = f"{trials.counter.taken_by_others:.1%}", trials.counter.between_gaps_us
    seen = f"others have this CPU for {share} of the time"
    if between_us is not None:
        seen = (
            f"others have this CPU for {share} of the time, and interrupt every "
            f"{between_us:,.0f} µs on average"
        )
    if trials.counter.taken_by_others <= TAKEN_LIMIT:
        return Point("interruptions", "PASS", seen)
    remedy = (
        "Ticklab takes short samples and sets aside those that were interrupted. End other "
        "programs, take more samples, or measure when the machine is quieter."
    )
    if between_us is not None:
        remedy = " ".join([remedy, *_shorter_batches(between_us)])
    return Point(
        "interruptions",
        "CAUTION",
        f"{seen}: a loop that is timed as a whole takes that much longer",
        remedy,
        "Let fewer students measure at the same time, or give each of them CPUs of their own.",
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
        f"A sample of more than {longest_us:.2g} µs is interrupted in more than {HIT_LIMIT:.0%} of "
        "cases. The usual batch sizes can make longer ones."
    )
    if len(sizes) < len(USUAL_SIZES):
        return [advice, "No choice of batch sizes avoids that here."]
    return [
        advice,
        "Choose smaller batch sizes: the largest size times the cost must stay below this limit.",
        f"For system calls of {USUAL_COST_US:g} µs use --batch {','.join(map(str, sizes))}.",
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
