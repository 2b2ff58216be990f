"""Run a C kernel in fresh processes and gather what they print into one recording.

Free of widgets: a plan goes in, a recording comes out. `measure` is asynchronous, tells its
progress, and can be cancelled: the whole process group ends. `measure_now` does the same and waits.
`measure_in_turns` carries out several plans whose processes take turns.
"""

from __future__ import annotations

import asyncio
import contextlib
import datetime
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import labs
from labs import core_speed, core_width, paths, stack_places, surroundings, toolchain
from labs.c_process import output_of
from labs.recording import MOST_ROWS, Recording
from labs.run_output import ProcessRun, gather, parse_run

#: Bounds within which a run makes sense on a laptop in class.
MOST_SAMPLES = 100_000
MOST_PROCESSES = 100
MOST_WARMUP = 10_000
#: What a run of fewer processes saw of the core is not remembered.
PROCESSES_TO_TRUST = 5
#: What C kernels do by themselves, see harness.h.
DEFAULT_WARMUP = 100
DEFAULT_TIME_LIMIT_S = 120.0

ProgressCallback = Callable[["Progress"], None]


class BadPlan(ValueError):
    """A plan that cannot be carried out: which option, and what it may be."""


@dataclass(frozen=True)
class Progress:
    """How far a run has come: intervals taken, of how many, over all processes."""

    done: int
    total: int


@dataclass(frozen=True)
class Plan:
    """What to measure.

    `kernel` is the name of a released C kernel or the path of a `.c` file, `variants` what of it
    (empty: its first). `samples` is the number of intervals per variant in all, spread evenly over
    `processes` and `batches` (empty: the C kernel's own); in each process `warmup` intervals per
    variant come before them. The processes start evenly over `spread_s` seconds, so that the run
    meets more than one state of the machine (clock speed, neighbours). `cpu` and `peer_cpu` pin
    (None: not pinned). `time_limit_s` bounds the whole run.
    """

    kernel: str
    variants: tuple[str, ...] = ()
    samples: int = 10_000
    batches: tuple[int, ...] = ()
    warmup: int = DEFAULT_WARMUP
    cpu: int | None = None
    peer_cpu: int | None = None
    processes: int = 10
    flags: tuple[str, ...] = toolchain.DEFAULT_FLAGS
    time_limit_s: float = DEFAULT_TIME_LIMIT_S
    source: str | None = field(default=None, repr=False)
    shown_as: str | None = field(default=None, repr=False)
    first_line: int = 1
    spread_s: float = 0.0

    @property
    def kernel_name(self) -> str:
        """The C kernel's name: of a file, without folder and ending."""
        return Path(self.kernel).stem

    def check(self) -> None:
        """Raise BadPlan where the plan cannot be carried out on this machine."""
        _within("samples", self.samples, 1, MOST_SAMPLES)
        _within("processes", self.processes, 1, MOST_PROCESSES)
        _within("warmup", self.warmup, 0, MOST_WARMUP)
        for size in self.batches:
            _within("batch", size, 0, 10**9)
        if not 0 < self.time_limit_s <= 3600:
            raise BadPlan(f"time limit {self.time_limit_s} s: choose from 0 to 3600 s")
        if not 0 <= self.spread_s < self.time_limit_s:
            raise BadPlan(
                f"spread {self.spread_s} s: choose from 0 to the time limit ({self.time_limit_s} s)"
            )
        allowed = surroundings.allowed_cpus()
        for name, cpu in (("cpu", self.cpu), ("peer-cpu", self.peer_cpu)):
            if cpu is None:
                continue
            if isinstance(cpu, bool) or not isinstance(cpu, int):
                raise BadPlan(f"{name} {cpu}: choose the number of a CPU")
            if allowed is None:
                raise BadPlan(f"{name} {cpu}: this system offers no pinning; leave it out")
            if cpu not in allowed:
                raise BadPlan(
                    f"{name} {cpu}: this process may use CPU {_in_words(allowed)}; choose one of "
                    "those, or leave pinning out"
                )
        rows = len(self.variants or "1") * (self.samples + self.warmup * self.processes)
        if rows > MOST_ROWS:
            raise BadPlan(
                f"{rows} rows (samples and warm-up of all variants) are more than a recording "
                f"holds ({MOST_ROWS}); take fewer samples, variants or processes"
            )

    def shares(self) -> list[int]:
        """The number of samples each process takes; a process without any is left out."""
        each, rest = divmod(self.samples, self.processes)
        return [n for n in (each + (i < rest) for i in range(self.processes)) if n > 0]

    def command_line(self) -> str:
        """The `labs measure` command that does the same."""
        # A recording is handed in: where the kit lies on somebody's machine is their business.
        kernel = self.kernel
        if Path(kernel).is_relative_to(paths.kernels_c()):
            kernel = f"kernels_c/{Path(kernel).relative_to(paths.kernels_c()).as_posix()}"
        words = ["labs", "measure", kernel]
        if self.variants:
            words += ["--variant", ",".join(self.variants)]
        words += ["--samples", str(self.samples), "--warmup", str(self.warmup)]
        if self.batches:
            words += ["--batch", ",".join(map(str, self.batches))]
        if self.cpu is not None:
            words += ["--cpu", str(self.cpu)]
        if self.peer_cpu is not None:
            words += ["--peer-cpu", str(self.peer_cpu)]
        words += ["--spread", f"{self.spread_s:g}"]
        words += ["--processes", str(self.processes), "--flags=" + " ".join(self.flags)]
        return " ".join(words)


def _within(name: str, value: int, least: int, most: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise BadPlan(f"{name} {value}: choose a whole number from {least:,} to {most:,}")


def _in_words(cpus: frozenset[int]) -> str:
    return ", ".join(map(str, sorted(cpus)))


async def measure(plan: Plan, progress: ProgressCallback | None = None) -> Recording:
    """Carry out `plan`; cancelling the task ends every process of the run.

    `progress` is called now and then, from the event loop. Raises BadPlan, RunFailed, and what
    building raises (toolchain.NoCompiler, toolchain.CompileError).
    """
    return (await measure_in_turns((plan,), progress))[0]


async def measure_in_turns(
    plans: Sequence[Plan], progress: ProgressCallback | None = None
) -> tuple[Recording, ...]:
    """Carry out several plans at once, one recording each; as `measure`.

    Their processes take turns (A B, B A, A B, ...), so that what the machine does meets them alike:
    for figures that are to be compared. They may take the sum of their time limits.
    """
    for plan in plans:
        plan.check()
    binaries = [await asyncio.to_thread(_build, plan) for plan in plans]
    turns = _turns([plan.shares() for plan in plans])
    total = sum(_intervals(plans[which], share) for which, _, share in turns)
    loop = asyncio.get_running_loop()
    begin = loop.time()
    deadline = begin + sum(plan.time_limit_s for plan in plans)
    before = surroundings.cpu_times()
    runs: list[list[ProcessRun]] = [[] for _ in plans]
    start = stack_places.random_start()
    done = 0
    for which, when, share in turns:
        plan = plans[which]
        await asyncio.sleep(max(begin + plan.spread_s * when - loop.time(), 0))
        mine = _intervals(plan, share)
        told = _telling(progress, done, mine, total)
        place = stack_places.place_of(len(runs[which]), start)
        runs[which].append(await _one_process(binaries[which], plan, share, place, deadline, told))
        done += mine
        if progress is not None:
            progress(Progress(done, total))
    meanwhile = surroundings.during(before, surroundings.cpu_times())
    recordings = []
    for plan, binary, mine_of_it in zip(plans, binaries, runs, strict=True):
        others = [each.command_line() for each in plans if each is not plan]
        beside = {"in_turns_with": "; ".join(others)} if others else {}
        recordings.append(_recording(plan, binary, mine_of_it, {**beside, **meanwhile}))
    return tuple(recordings)


def _turns(shares: Sequence[Sequence[int]]) -> list[tuple[int, float, int]]:
    """Who takes a turn, in this order: the number of the plan, when it is due at the earliest (as a
    share of the time that the plan is spread over), and its samples."""
    rounds = [
        [(which, n / len(mine), mine[n]) for which, mine in enumerate(shares) if n < len(mine)]
        for n in range(max(map(len, shares), default=0))
    ]
    return [turn for n, row in enumerate(rounds) for turn in (row if n % 2 == 0 else row[::-1])]


def _intervals(plan: Plan, share: int) -> int:
    """How many intervals a process takes that has so many samples of each variant."""
    return (share + plan.warmup) * max(len(plan.variants), 1)


def _recording(
    plan: Plan, binary: toolchain.Binary, runs: list[ProcessRun], meanwhile: Mapping[str, str]
) -> Recording:
    conditions = {
        "created": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "ticklab": labs.__version__,
        "command": plan.command_line(),
        "source.sha256": binary.source_sha256,
        "flags": " ".join(binary.flags),
        "compiler": binary.compiler,
        "time_limit_s": f"{plan.time_limit_s:g}",
        **surroundings.of_machine(),
        **meanwhile,
    }
    recording = gather(conditions, runs, plan.kernel_name)
    # What a cell or a broken C kernel says of the core may be as wrong as the rest of it, and a
    # single process may be: several are not.
    own = plan.source is not None or plan.kernel.endswith(".c")
    trusted = not own and len(runs) >= PROCESSES_TO_TRUST
    of_core = _of_core(recording, trusted)
    return replace(recording, conditions={**recording.conditions, **of_core})


def _of_core(recording: Recording, trusted: bool) -> dict[str, str]:
    """What earlier runs on this machine saw of its cores; `trusted` runs are remembered for it."""
    stated = {}
    length = recording.number("core_cycle_ticks")
    if length is not None and length > 0:
        counter = " ".join(recording.condition("counter"))
        seen = core_speed.seen_lately(length, counter, remember=trusted)
        stated["core_cycle_ticks.last_hour"] = "{:.5f} {:.5f}".format(*seen)
    width = core_width.best(recording, remember=trusted)
    if width is not None:
        stated["core_width.best"] = f"{width:.2f}"
    return stated


def measure_now(plan: Plan, progress: ProgressCallback | None = None) -> Recording:
    """Carry out `plan` and wait for it; usable in a notebook cell, where a loop already runs.

    An interrupt (Ctrl-C, the stop button) ends the run's processes before it is raised.
    """
    return measure_in_turns_now((plan,), progress)[0]


def measure_in_turns_now(
    plans: Sequence[Plan], progress: ProgressCallback | None = None
) -> tuple[Recording, ...]:
    """As `measure_now`, for several plans whose processes take turns."""
    outcome: list[tuple[Recording, ...] | BaseException] = []
    loop = asyncio.new_event_loop()
    task = loop.create_task(measure_in_turns(plans, progress))

    def work() -> None:
        asyncio.set_event_loop(loop)
        try:
            outcome.append(loop.run_until_complete(task))
        except BaseException as error:
            outcome.append(error)
        finally:
            loop.close()

    # A thread with a loop of its own: a Jupyter kernel runs cells inside a loop.
    thread = threading.Thread(target=work, name="measure", daemon=True)
    thread.start()
    try:
        thread.join()
    except BaseException:
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(task.cancel)
        thread.join()
        raise
    result = outcome[0]
    if isinstance(result, BaseException):
        raise result
    return result


def _telling(
    progress: ProgressCallback | None, before: int, mine: int, total: int
) -> Callable[[int, int], None]:
    """What hears a process say how far it has come; of all intervals, `mine` are its own.

    It counts the intervals of the baselines too, which were not asked for: so its share counts.
    """

    def told(done: int, of: int) -> None:
        if progress is not None:
            progress(Progress(before + mine * min(done, of) // max(of, 1), total))

    return told


def _build(plan: Plan) -> toolchain.Binary:
    if plan.source is not None:
        return toolchain.build_text(
            plan.source,
            plan.kernel_name,
            plan.flags,
            shown_as=plan.shown_as,
            first_line=plan.first_line,
        )
    return toolchain.build(toolchain.c_kernel_source(plan.kernel), plan.flags)


async def _one_process(
    binary: toolchain.Binary,
    plan: Plan,
    samples: int,
    place: int,
    deadline: float,
    told: Callable[[int, int], None],
) -> ProcessRun:
    """Run `binary` once for so many samples per variant, its stack at `place`, and read what it
    printed."""
    command = [str(binary.path), "--samples", str(samples)]
    if plan.warmup != DEFAULT_WARMUP:
        # Unasked the C kernel does what is right for it: none where the cold sample is the point.
        command += ["--warmup", str(plan.warmup)]
    command += ["--stack-place", str(place), "--end-with", str(os.getpid())]
    if plan.variants:
        command += ["--variant", ",".join(plan.variants)]
    if plan.batches:
        command += ["--batch", ",".join(map(str, plan.batches))]
    if plan.cpu is not None:
        command += ["--cpu", str(plan.cpu)]
    if plan.peer_cpu is not None:
        command += ["--peer-cpu", str(plan.peer_cpu)]
    command += surroundings.place_options()
    rows = (samples + plan.warmup) * max(len(plan.variants), 1)
    # A row has at most 80 bytes, and every variant may bring a baseline along.
    most = 2 * 80 * rows + 65_536
    output = await output_of(command, plan.kernel_name, most, deadline, plan.time_limit_s, told)
    return parse_run(output, where=plan.kernel_name)
