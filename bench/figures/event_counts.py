"""Counts of `--perf` against perf stat, which counts a whole program.

perf stat counts a C kernel that takes some samples, and the same C kernel with twice as many. What
the further operations add is held against our count of one operation. The events of the processor
are held only where this machine counts them.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass

from bench import command, machine
from bench.command import CannotRun
from bench.report import must_hold, say, skipped, verdict
from labs.c_kernels import toolchain
from labs.recording import counts
from labs.results.event_counts import per_operation
from labs.run.measure import Plan, measure_now

#: By how much the two may differ: of perf's program, its start and its other work vary a little.
WITHIN = 0.03
SAMPLES = 4_000


@dataclass(frozen=True)
class Case:
    """An event that the operation of a variant causes so often, by the variant's own claim."""

    kernel: str
    variant: str
    event: str
    batch: int
    parts: int = 1


#: The baseline of a variant is in perf's program too: it makes no switch, and few instructions.
CASES = (
    Case("process_switch", "pipe-pinned", "context-switches", 4, 2),
    Case("thread_switch", "condvar", "context-switches", 8, 2),
    Case("system_call", "getppid-libc", "instructions", 256),
)


def run(quick: bool) -> bool:
    """Every case that this machine counts."""
    allowed = machine.cpus()
    if not allowed:
        return skipped("no pinning here: a switch cannot be made sure of")
    if shutil.which("perf") is None:
        return skipped("perf is not installed (Debian: apt install linux-perf)")
    must_hold(f"what an operation adds to perf stat's count is ours within {WITHIN:.0%}")
    held = [_case(case, allowed[-1], SAMPLES // 4 if quick else SAMPLES) for case in CASES]
    return all(held)


def _case(case: Case, cpu: int, samples: int) -> bool:
    name = f"{case.kernel} {case.variant}: {case.event}"
    found = measure_now(Plan(case.kernel, (case.variant,), samples=400, cpu=cpu, perf=True))
    ours = {each.event: each.value for each in per_operation(found, case.variant)}
    if case.event not in ours:
        return skipped(f"{name}: {counts.absent(found).get(case.event, 'not counted')}")
    try:
        less, more = (_by_perf(case, cpu, factor * samples) for factor in (1, 2))
    except CannotRun as error:
        return skipped(f"{name}: {error}")
    theirs = (more - less) / (samples * case.batch * case.parts)
    say(f"   {name}: ours {ours[case.event]:.3f}, perf stat {theirs:.3f} of one operation")
    return verdict(abs(ours[case.event] - theirs) <= WITHIN * abs(theirs), name)


def _by_perf(case: Case, cpu: int, samples: int) -> float:
    """What perf stat counts for the timed program. Raises CannotRun if it counts nothing."""
    program = toolchain.build(toolchain.c_kernel_source(case.kernel), ("-O2",)).path
    words = ["perf", "stat", "-j", "-e", case.event, str(program)]
    words += ["--variant", case.variant, "--batch", str(case.batch), "--samples", str(samples)]
    printed = command.run(*words, "--warmup", "0", "--cpu", str(cpu), "--seed", "1").output
    told = [json.loads(line) for line in printed.splitlines() if '"counter-value"' in line]
    if len(told) != 1 or told[0]["counter-value"].startswith("<"):  # such as <not supported>
        raise CannotRun(f"perf stat counted nothing: {told}")
    # With fewer hardware counters than events they take turns, and perf scales each count up.
    if told[0]["pcnt-running"] < 100:
        raise CannotRun(f"perf stat counted {told[0]['pcnt-running']} % of the time only")
    return float(told[0]["counter-value"])
