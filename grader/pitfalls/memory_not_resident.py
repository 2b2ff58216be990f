"""A parent that asked for memory and never wrote to it: there is nothing for fork to copy."""

from __future__ import annotations

import re

from grader.cases.case import Case
from grader.cases.verdict import Level
from grader.facts import creations
from grader.pitfalls.pitfall import Live, Pitfall
from labs.common.units import rounded

#: What a process holds besides only adds to it.
LEAST = 0.9

_SIZE = re.compile(r"-(\d+)(mb|gb)$")


def detect(case: Case) -> str | None:
    if case.spec.kernel not in creations.KERNELS:
        return None
    for name in case.spec.variants:
        size = _SIZE.search(name)
        held = case.recording.numbers("memory.resident_kb")
        if size is None or not held:
            continue
        claimed_mb = int(size[1]) * (1024 if size[2] == "gb" else 1)
        if max(held) < LEAST * claimed_mb * 1024:
            return (
                f"Your variant {name} states that its parent holds {claimed_mb} MB more, but by "
                f"the OS the parent held {rounded(max(held) / 1024, 2)} MB in all."
            )
    return None


PITFALL = Pitfall(
    code="memory-not-resident",
    level=Level.VALIDITY,
    symptom="The memory was allocated but never present.",
    misconception="malloc and mmap give addresses. A page is there only once it is written to, "
    "and fork copies the table entries of such pages only.",
    experiment="Write to each page, and read VmRSS in /proc/self/status before and after.",
    seen_in="common in measurements of memory that is allocated and not used",
    detect=detect,
    broken=(Live("memory_untouched", "creation-fork-64mb"),),
)
