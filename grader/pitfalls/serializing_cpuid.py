"""CPUID as a fence, inside the sample: in a virtual machine it goes to the hypervisor."""

from __future__ import annotations

import re

from grader.cases.case import Case
from grader.cases.spec import Quantity
from grader.cases.verdict import Level
from grader.facts.c import parts
from grader.facts.observed import reads_the_counter
from grader.pitfalls.pitfall import Live, Pitfall
from labs.common.units import rounded

#: How many times the fenced pair, timed in the same run, a pair may cost: with a CPUID in its C it
#: costs too much from the first factor on; if the C is not known, only a CPUID reaches the second.
WITH_CPUID, WITHOUT_SOURCE = 1.5, 20.0

_CPUID = re.compile(r"\bcpuid\b|__cpuid", re.IGNORECASE)


def detect(case: Case) -> str | None:
    line, recording = case.result.line, case.recording
    fenced = recording.number("counter.overhead")
    if case.spec.quantity is not Quantity.OVERHEAD or line is None or not fenced:
        return None
    if not reads_the_counter(recording, case.spec.variant):
        return None
    times = WITHOUT_SOURCE
    if case.source is not None:
        code = parts.whole(case.source)
        if not any(_CPUID.search(text) for text in (*code.words, *code.strings)):
            return None
        times = WITH_CPUID
    elif "True" not in recording.condition("machine.virtual"):
        return None
    if line.overhead.low <= times * fenced + 3 * line.clock.step:
        return None
    return (
        f"Your pair takes {rounded(line.overhead.value)} ticks; a pair of readings fenced by "
        f"LFENCE took {rounded(fenced)} in the same run, {rounded(line.overhead.value / fenced)} "
        "times less."
    )


PITFALL = Pitfall(
    code="serializing-cpuid",
    level=Level.VALIDITY,
    symptom="Most of the pair is the CPUID between its readings.",
    misconception="CPUID serializes, but in a virtual machine the hypervisor answers it, which "
    "takes microseconds.",
    experiment="Put LFENCE in its place and look at the intercept again.",
    seen_in="measuring code after an old white paper: 3.5 to 10 µs a pair in a virtual machine",
    detect=detect,
    broken=(Live("cpuid_inside", "timer-overhead-fenced"),),
)
