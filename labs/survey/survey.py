"""Measure everything on this machine once; group, name and draw what was measured.

Each measurement has a plan and the published figures of the same quantity. `carry_out` runs the
measurements one after the other and yields the results. No measurement stops the others: if this
machine cannot run one, its row says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from labs.c_kernels.toolchain import CompileError
from labs.course import published
from labs.course.published import Published
from labs.html import in_columns
from labs.recording.file import BadRecording, Recording
from labs.results import remarks
from labs.results.result import Result, result_of
from labs.run.c_process import RunFailed
from labs.run.declared_options import DEFAULT_WARMUP
from labs.run.measure import Plan, Progress, measure_now
from labs.terminal import lines_of

ProgressCallback = Callable[[float], None]


@dataclass(frozen=True)
class Measurement:
    """One run of the survey: variants of one C kernel, interleaved.

    `samples` are the samples per variant in a quick and in a full survey; with 0, a quick survey
    leaves the measurement out. `warmup` is per process and variant.
    """

    kernel: str
    variants: tuple[str, ...]
    samples: tuple[int, int]
    flags: tuple[str, ...] = ("-O2",)
    batches: tuple[int, ...] = ()
    processes: tuple[int, int] = (6, 12)
    warmup: int = DEFAULT_WARMUP

    @property
    def file_name(self) -> str:
        """The name of its recording, without the suffix; no two measurements share one."""
        level = "" if self.flags == ("-O2",) else "".join(self.flags)
        return f"{self.kernel}{level}-{'-'.join(self.variants)}"[:80]

    def plan(self, quick: bool) -> Plan:
        """The plan of this measurement."""
        which = 0 if quick else 1
        return Plan(
            kernel=self.kernel,
            variants=self.variants,
            samples=self.samples[which],
            batches=self.batches,
            processes=self.processes[which],
            warmup=self.warmup,
            flags=self.flags,
        )


@dataclass(frozen=True, eq=False)
class Row:
    """One variant: its result, or the reason why there is none, and the published figures."""

    measurement: Measurement
    variant: str
    result: Result | None
    why_not: str
    published: tuple[Published, ...]

    def proof(self) -> str:
        """The evidence that the measured event happened, in a few words."""
        return "" if self.result is None else remarks.evidence_of(self.result)


def _fork_with(size: str, samples: tuple[int, int]) -> Measurement:
    """fork by a parent with this much memory; it has its own run, so that it slows no other."""
    return Measurement("task_creation", (f"fork-wait-{size}",), samples, processes=(5, 5), warmup=4)


def _ring_of(tasks: int, samples: tuple[int, int]) -> Measurement:
    """A switch among `tasks` tasks, for several sizes of their working sets."""
    return Measurement(
        "switch_footprint",
        tuple(
            f"{kind}-{tasks}-{size}"
            for kind in ("processes", "threads")
            for size in ("0", "16k", "64k", "256k", "1m")
        ),
        samples,
        processes=(5, 10),
        warmup=8,
    )


MEASUREMENTS: tuple[Measurement, ...] = (
    Measurement(
        "timer_overhead",
        ("fenced", "unfenced", "monotonic", "process-cpu", "gettimeofday"),
        (3_000, 20_000),
    ),
    Measurement("first_iteration", ("call",), (300, 1_200), processes=(12, 30)),
    Measurement("first_iteration", ("system-call",), (300, 1_200), processes=(12, 30)),
    Measurement("first_iteration", ("lazy-binding",), (300, 1_200), processes=(12, 30)),
    Measurement(
        "first_iteration",
        ("page-fault", "data-cache", "instruction-cache", "branch-predictor"),
        (600, 4_000),
    ),
    Measurement(
        "system_call",
        (
            "getppid",
            "getpid",
            "getpid-libc",
            "read0",
            "setuid",
            "gettimeofday-vdso",
            "gettimeofday-trap",
            "invalid",
        ),
        (800, 6_000),
    ),
    Measurement(
        "procedure_call", tuple(f"args{n}" for n in range(13)), (600, 5_000), flags=("-O0",)
    ),
    Measurement(
        "procedure_call",
        (*(f"args{n}" for n in range(13)), "indirect", "plt", "inlined"),
        (600, 5_000),
    ),
    Measurement("task_creation", ("fork", "clone-vm", "pthread"), (60, 600)),
    Measurement(
        "task_creation",
        ("fork-wait", "vfork-wait", "posix-spawn-wait", "clone-vm-wait", "pthread-wait"),
        (60, 600),
    ),
    _fork_with("1mb", (100, 400)),
    _fork_with("16mb", (60, 300)),
    _fork_with("64mb", (40, 200)),
    Measurement("process_switch", ("pipe-pinned",), (400, 4_000)),
    Measurement("process_switch", ("eventfd-pinned",), (300, 2_000)),
    Measurement("process_switch", ("pipe-carried-back",), (300, 2_000)),
    Measurement("process_switch", ("pipe-two-cpus",), (120, 1_200), batches=(4, 8, 16)),
    Measurement("thread_switch", ("condvar",), (400, 4_000)),
    Measurement("thread_switch", ("futex",), (300, 2_000)),
    Measurement("thread_switch", ("pipe",), (300, 2_000)),
    Measurement("thread_switch", ("bare-mutex",), (300, 2_000)),
    Measurement("thread_switch", ("condvar-two-cpus",), (120, 1_200), batches=(4, 8, 16)),
    _ring_of(2, (100, 2_000)),
    _ring_of(8, (60, 1_200)),
    _ring_of(32, (0, 240)),
    Measurement(
        "memory_ladder",
        (
            *(f"random-{size}" for size in ("16k", "256k", "1m", "4m", "64m")),
            "random-4096-4m",
            "ordered-64m",
        ),
        (100, 400),
        processes=(5, 10),
    ),
    # What some machines do not offer has a run of its own, so that it stops no other variant.
    Measurement("memory_ladder", ("huge-64m",), (100, 400), processes=(5, 10)),
    Measurement("page_fault", ("anonymous", "zero-page"), (400, 4_000)),
    Measurement("page_fault", ("copy-on-write",), (300, 2_000)),
    Measurement("page_fault", ("file",), (300, 3_000)),
    Measurement("page_fault", ("populate", "prefaulted"), (400, 4_000)),
)


def carry_out(
    quick: bool, progress: ProgressCallback | None = None
) -> Iterator[tuple[Measurement, Recording | None, list[Row]]]:
    """Run every measurement in turn; yield its recording (None if it failed) and its rows.

    Calls `progress` with the completed share of the survey, 0 to 1. Raises toolchain.NoCompiler,
    because without a compiler nothing can be measured.
    """
    chosen = [each for each in MEASUREMENTS if each.samples[0 if quick else 1]]
    for number, measurement in enumerate(chosen):

        def report(at: Progress, number: int = number) -> None:
            if progress is not None:
                progress((number + at.done / max(at.total, 1)) / len(chosen))

        recording, why_not = None, ""
        try:
            recording = measure_now(measurement.plan(quick), report)
        except (RunFailed, BadRecording, CompileError, FileNotFoundError) as error:
            why_not = str(error)
        rows = [_row(measurement, name, recording, why_not) for name in measurement.variants]
        yield measurement, recording, rows
        if progress is not None:
            progress((number + 1) / len(chosen))


def _row(measurement: Measurement, variant: str, recording: Recording | None, why_not: str) -> Row:
    to_compare = published.of_variant(measurement.kernel, variant, " ".join(measurement.flags))
    if recording is None:
        return Row(measurement, variant, None, why_not, to_compare)
    result = result_of(recording, variant)
    return Row(measurement, variant, result, result.no_figure, to_compare)


# The groups are in the order of the page.

#: The heading of each group, and its C kernels.
GROUPS = (
    ("Timers", ("timer_overhead",)),
    ("First calls", ("first_iteration",)),
    ("Calls", ("procedure_call",)),
    ("System calls", ("system_call",)),
    ("Task creation", ("task_creation",)),
    ("Switches", ("process_switch", "thread_switch")),
    ("Switches and memory", ("switch_footprint",)),
    ("Memory", ("memory_ladder",)),
    ("Page faults", ("page_fault",)),
)

#: No line of text is longer, and no table where the output is no terminal.
COLUMNS = 80


def group_of(kernel: str) -> str:
    """The heading of the group of a C kernel; one that no group lists has a group of its own."""
    return next((heading for heading, kernels in GROUPS if kernel in kernels), kernel)


def in_order(headings: Iterable[str]) -> list[str]:
    """The headings, each once, in the order of the page."""
    known = [heading for heading, _ in GROUPS]
    found = list(dict.fromkeys(headings))
    return sorted(found, key=lambda each: known.index(each) if each in known else len(known))


def name_of(kernel: str, variant: str, level: str) -> str:
    """The name of an operation in its group: the variant, and what distinguishes it from others."""
    name = f"{variant} -O0" if level == "-O0" else variant
    kind = kernel.removesuffix("_switch")
    return f"{kind} {name}" if kernel in ("process_switch", "thread_switch") else name


def columns(
    header: tuple[str, ...],
    rows: Sequence[tuple[str, ...]],
    width: int = COLUMNS,
    first_out: Sequence[int] = (),
) -> list[str]:
    """A table for a terminal: the first column at the left, numbers
    at the right.

    If it is too wide, its words are broken. If that is not enough, columns are left out: those of
    `first_out` in this order, or else the last ones, because the first ones matter most.
    """
    kept = list(range(len(header)))
    for left_out in (None, *(first_out or reversed(kept[2:]))):
        kept = [column for column in kept if column != left_out]
        cells = [[line[column] for column in kept] for line in (header, *rows)]
        lines = in_columns(cells, range(1, len(kept)), width)
        if max(map(len, lines)) <= width:
            break
    return lines


def wrapped(line: str, width: int, indent: int = 0) -> list[str]:
    """A sentence as lines for a terminal: none is longer than COLUMNS, or than its `width`."""
    return lines_of(" " * indent + line, min(width, COLUMNS), further=indent)
