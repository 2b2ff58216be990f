"""Counts of `--perf` against perf stat, which counts a whole program.

perf stat counts a C kernel that takes some samples, and the same C kernel with twice as many. What
the further operations add is held against our count of one operation. The events of the processor
are held only where this machine counts them.
"""

from __future__ import annotations

import math
import re
import shutil
from dataclasses import dataclass

from bench import command, machine
from bench.command import CannotRun
from bench.report import must_hold, say, skipped, verdict
from labs.c_kernels import toolchain
from labs.recording import counts
from labs.results.event_counts import per_operation
from labs.run.measure import Plan, measure_now

SEPARATOR = ";"
NOT_SUPPORTED, NOT_COUNTED = "<not supported>", "<not counted>"
_SPREAD = re.compile(r"\d+\.\d+%")


@dataclass(frozen=True)
class Count:
    """The count of an event; None with the reason `why_not` if there is none.

    `share`, from 0 to 1, is how much of the time the event was counted: a count with less than 1 is
    scaled up from that.
    """

    event: str
    value: float | None
    share: float
    why_not: str = ""

    @property
    def whole(self) -> bool:
        """Whether it was counted all the time."""
        return self.value is not None and self.share >= 1


def parse(text: str, separator: str = SEPARATOR) -> dict[str, Count]:
    """What `perf stat` counted by event, without what follows a colon (`instructions:u`).

    The fields of a line stand in man perf-stat, "CSV format": count, unit, event, with -r the
    spread of the runs, time of the counter in ns, share of that time in which it counted, and
    metrics. With fewer hardware counters than events, perf lets the events take turns and scales
    each count up: its share is then below 100.

    Lines of another form, such as comments and messages of the program, are left out.
    """
    found = (_count(line.split(separator)) for line in text.splitlines())
    return {count.event: count for count in found if count is not None}


def _count(fields: list[str]) -> Count | None:
    if len(fields) < 5 or not fields[2]:
        return None
    value, event = fields[0].strip(), fields[2].strip().partition(":")[0]
    rest = fields[4:] if _SPREAD.fullmatch(fields[3].strip()) else fields[3:]
    if len(rest) < 2:
        return None
    reasons = {NOT_SUPPORTED: "this machine does not count it", NOT_COUNTED: "no counter was free"}
    try:
        share = float(rest[1]) / 100
        number = None if value in reasons else float(value)
    except ValueError:
        return None
    if not 0 <= share <= 1 or (number is not None and not math.isfinite(number)):
        return None
    if number is not None and share == 0:
        number, value = None, NOT_COUNTED
    return Count(event, number, share, reasons.get(value, ""))


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
    words = ["perf", "stat", "-x", SEPARATOR, "-e", case.event, str(program)]
    words += ["--variant", case.variant, "--batch", str(case.batch), "--samples", str(samples)]
    printed = command.run(*words, "--warmup", "0", "--cpu", str(cpu), "--seed", "1").output
    count = parse(printed).get(case.event)
    if count is None or count.value is None:
        raise CannotRun(f"perf stat: {count.why_not if count is not None else 'no count'}")
    if not count.whole:
        raise CannotRun(f"perf stat counted during {count.share:.0%} of the time only")
    return count.value
