"""A clock that is a system call itself, around something that is less than one."""

from __future__ import annotations

import numpy as np

from grader.cases.case import Case
from grader.cases.spec import RELATIONS, Quantity
from grader.cases.verdict import Level
from grader.facts.c import parts
from grader.pitfalls.pitfall import Live, Pitfall
from labs.common.units import rounded

#: Clocks of CPU time have to ask the OS kernel: no vDSO answers for it.
SYSTEM_CALL_CLOCK = "CPUTIME"

#: C kernels whose operation takes about as long as a system call, or far less.
OF_CALLS = frozenset({"procedure_call", "own_procedure", "system_call", "own_call"})

#: So few operations in a sample do not outweigh a system call.
FEW = 16


def detect(case: Case) -> str | None:
    asked = {Quantity.COST, Quantity.WHOLE, *RELATIONS}
    if case.spec.quantity not in asked or case.spec.kernel not in OF_CALLS:
        return None
    for name in case.spec.variants:
        samples = case.recording.samples(name)
        # A line has the clock in its intercept, where it does not matter what it costs.
        if case.results[name].line is not None or not len(samples) or samples.batch.max() > FEW:
            continue
        clock = _clock(case, name)
        if clock is None:
            continue
        whole = float(np.median(samples.ticks)) / samples.clock.ticks_in("ns")
        return (
            f"Your samples of {name} are timed by {clock}, which is itself a system call. They "
            f"take {rounded(whole)} ns and hold at most {samples.batch.max()} operation"
            f"{'s' if samples.batch.max() != 1 else ''}."
        )
    return None


def _clock(case: Case, variant: str) -> str | None:
    """The CPU-time clock that the variant reads, by what the recording or its C says."""
    stated = " ".join(case.recording.condition(f"clock.{variant}.name"))
    if SYSTEM_CALL_CLOCK in stated:
        return stated.split()[0]
    in_region = any(SYSTEM_CALL_CLOCK in word for word in parts.measured_region(case.source).words)
    return "a CPU-time clock" if in_region else None


PITFALL = Pitfall(
    code="clock-dearer-than-the-thing",
    level=Level.VALIDITY,
    symptom="The clock costs more than the operation that it times.",
    misconception="Each reading of a CPU-time clock enters the OS kernel; the readings make up "
    "nearly all of such a sample.",
    experiment="Time an empty sample with the same clock.",
    seen_in="report D: a procedure call of 300 ns, which costs more than its system call of 112 ns",
    detect=detect,
    broken=(Live("cpu_clock_around_a_call", "call-args0"),),
)
