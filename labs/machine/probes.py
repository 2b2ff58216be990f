"""Small trials of what measuring needs: compile, run, pin, write. Each one reports its outcome."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from labs import paths
from labs.c_kernels import toolchain
from labs.machine import surroundings

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
    def between_gaps_us(self) -> float | None:
        """The mean time between two interruptions, in microseconds; None if none was seen."""
        return 1e6 / self.gaps_per_s if self.gaps_per_s > 0 else None

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
    return Trials(
        compiler=compiler,
        counter=counter,
        counter_problem=problem,
        cache_without_programs=forbidding,
        pinning=try_pinning(allowed) if allowed else None,
        here=_disk(Path()),
        cache=cache,
        meanwhile=surroundings.load_conditions(before, surroundings.cpu_times()),
    )


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
                return Outcome(
                    problem=paths.no_programs(tempfile.gettempdir()),
                    no_programs_in=tempfile.gettempdir(),
                )
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
