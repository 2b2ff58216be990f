"""Figures of the counter from a machine on which a program may read none (sandboxes, other CPUs).

There, C kernels read clock_gettime instead (kernels_c/counter.h). The cost of an operation is the
same with both. But a figure of the counter itself is then about clock_gettime, and the verdict says
so.
"""

from __future__ import annotations

from grader.cases.case import Case
from grader.facts.observed import reads_the_counter
from labs.recording import declared

#: The name that C kernels give to clock_gettime if they read it instead of a counter.
STAND_IN = "clock_monotonic"

IN_ITS_PLACE = "That machine lets no program read a counter, only clock_gettime(CLOCK_MONOTONIC)"


def caveat(case: Case) -> str:
    """A sentence on what a figure of the counter measures on such a machine; else ''."""
    recording = case.recording
    if set(recording.condition("counter")) != {STAND_IN}:
        return ""
    names = [
        name
        for name in case.spec.variants
        if declared.is_overhead(recording, name) and reads_the_counter(recording, name)
    ]
    if not names:
        return ""
    return f"{IN_ITS_PLACE}. So {' and '.join(names)} timed that clock, and the figure is about it."
