"""Figures of the counter where a program may read none (a sandbox; other processors).

There clock_gettime stands in for it (kernels_c/counter.h). What an operation costs is the same by
either; but a figure of the counter itself is then one of clock_gettime, and the verdict says so.
"""

from __future__ import annotations

from grader.cases.case import Case
from grader.facts.observed import reads_the_counter
from labs.recording import declared

#: What C kernels call clock_gettime where it stands in for a counter.
STAND_IN = "clock_monotonic"

IN_ITS_PLACE = "No counter can be read there but clock_gettime(CLOCK_MONOTONIC)"


def caveat(case: Case) -> str:
    """What a figure of the counter is on such a machine, in one sentence; '' elsewhere."""
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
    return f"{IN_ITS_PLACE}: that is what {' and '.join(names)} timed with, and what this is about."
