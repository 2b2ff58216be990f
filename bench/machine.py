"""On what machine, and in what state of it, the benchmarks run; printed before all of them."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator

from bench.report import say
from labs.machine.description import read_machine
from labs.run import measure


def cpus() -> list[int]:
    """The CPUs this process may use; none where the system offers no pinning."""
    return sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []


@contextlib.contextmanager
def busy(count: int, cpu: int | None = None) -> Iterator[None]:
    """So many other programs that never sleep, on CPU `cpu` or on any, while the block lasts.

    They end with this process too, however it ends: one that stays would disturb all that follows.
    """
    place = "" if cpu is None else f"os.sched_setaffinity(0, {{{cpu}}})\n"
    loop = f"while os.getppid() == {os.getpid()}: sum(range(10**6))"
    endless = [sys.executable, "-I", "-S", "-c", f"import os\n{place}{loop}"]
    running = [subprocess.Popen(endless) for _ in range(count)]
    try:
        yield
    finally:
        for process in running:
            process.kill()
            process.wait()


def describe() -> None:
    """Print CPU, counter, clock and load."""
    facts = read_machine()
    allowed = cpus()
    virtual = ", virtual" if facts.virtual else ""
    say(f"{facts.cpu}{virtual}; CPUs allowed: {', '.join(map(str, allowed)) or 'unknown'}")
    try:
        recording = measure.measure_now(measure.Plan("timer_overhead", samples=500, processes=5))
    except Exception as error:  # no compiler, no counter: every benchmark says so for itself
        say(f"no C kernel runs here: {error}")
        return
    hertz = recording.number("counter.frequency_hz") or 0.0
    cycle = recording.number("core_cycle_ticks") or 0.0
    core = f"core at {hertz / cycle / 1e9:.2f} GHz now" if cycle else "core clock unknown"
    load = ", ".join(f"{each:.1f}" for each in os.getloadavg())
    say(
        f"counter {'/'.join(recording.condition('counter')[:1])} at {hertz / 1e9:.4f} GHz, "
        f"step {recording.number('counter.step') or 0:.0f}; {core}; load {load}"
    )
    if os.getloadavg()[0] > 0.5:
        say("The machine is busy: times have more spread than on a quiet one.")
