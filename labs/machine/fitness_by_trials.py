"""Points about a machine that small trials decide: a build, the counter, pinning, free space."""

from __future__ import annotations

from labs.machine.card import COARSE_STEP_NS
from labs.machine.description import Machine
from labs.machine.point import Point, Status
from labs.machine.probes import Disk, Trials

LITTLE_DISK = 500 * 2**20  # bytes: a course's recordings and built C kernels need less
NO_DISK = 20 * 2**20
TAKEN_LIMIT = 0.05
# Of the samples at one batch size this many may be interrupted, and the rest still tells the cost.
HIT_LIMIT = 0.3
# The batch sizes of the C kernel system_call, and what one of its calls costs on many machines.
USUAL_SIZES = (64, 96, 128, 192)
USUAL_COST_US = 0.2


def of_compiler(trials: Trials) -> Point:
    """Whether a C program can be built and run."""
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


def of_counter(trials: Trials) -> list[Point]:
    """Which counter is read and what that costs; and, where it moves, its step."""
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


def of_pinning(machine: Machine, trials: Trials) -> Point:
    """Whether a task can be bound to a CPU."""
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


def of_taken(trials: Trials) -> Point:
    """How much of the time other programs have the CPU, as a loop that reads the counter saw it."""
    if trials.counter is None:
        return Point("interruptions", "SKIPPED", "needs the counter first")
    seen = f"others have this CPU for {trials.counter.taken:.1%} of the time"
    between_us = trials.counter.between_gaps_us
    if between_us is not None:
        seen += f", and come every {between_us:,.0f} µs on average"
    if trials.counter.taken <= TAKEN_LIMIT:
        return Point("interruptions", "PASS", seen)
    remedy = (
        "Ticklab takes short samples and sets aside those that were interrupted. End other "
        "programs, take more samples, or measure when the machine is quieter."
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
    """Which batch sizes to use where the usual ones make samples that are hit too often."""
    longest_us = HIT_LIMIT * between_us
    if longest_us >= USUAL_SIZES[-1] * USUAL_COST_US:
        return ""
    largest = longest_us / USUAL_COST_US
    sizes = sorted({max(round(largest * size / USUAL_SIZES[-1]), 1) for size in USUAL_SIZES})
    told = (
        f" A sample of more than {longest_us:.2g} µs is interrupted in more than "
        f"{HIT_LIMIT:.0%} of cases, and those of the usual batch sizes can be longer."
    )
    if len(sizes) < len(USUAL_SIZES):
        return f"{told} No choice of batch sizes avoids that here."
    return (
        f"{told} Choose sizes whose largest, times the cost, stays below that: for system calls "
        f"of {USUAL_COST_US:g} µs --batch {','.join(map(str, sizes))}."
    )


def of_disk(name: str, disk: Disk | None, elsewhere: str, fatal: bool = False) -> Point:
    """Whether a folder can be written to and has space; `elsewhere` says what to do if not."""
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
