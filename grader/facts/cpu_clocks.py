"""Clocks of CPU time around a switch: which one was read, and whether it counts the work."""

from __future__ import annotations

import re

import numpy as np

from grader.cases.case import Case
from grader.facts.c import parts
from labs.recording import proof

_NAMES = re.compile(r"CLOCK_(PROCESS|THREAD)_CPUTIME_ID")

#: A sample with several times the work must be longer by at least this share of the extra work.
SHARE_OF_GROWTH = 0.25


def missing_the_peer(case: Case, variant: str) -> str | None:
    """The clock that `variant` reads, if it stops while the other task runs; else None.

    The clock of a thread misses all other tasks. The clock of a process misses other processes.
    """
    if not proof.claim_of(case.recording, variant):
        return None
    stated = " ".join(case.recording.condition(f"clock.{variant}.name"))
    words = " ".join(sorted(parts.measured_region(case.source).words))
    match = _NAMES.search(stated) or _NAMES.search(words)
    if match is None:
        return None
    if match[1] == "THREAD" or case.recording.kernel == "process_switch":
        return match[0]
    in_peers = case.recording.total("task.peers.voluntary_switches") or 0
    return match[0] if in_peers else None


def without_growth(case: Case, variant: str) -> tuple[int, float, int, float] | None:
    """Smallest and largest batch size with their median samples in ns, if these hardly grow.

    None if they do grow, or if there is only one batch size.
    """
    samples = case.recording.samples(variant)
    sizes = [size for size in samples.batch_sizes if size > 0]
    if len(sizes) < 2:
        return None
    per_ns = samples.clock.ticks_in("ns")
    few, many = (
        float(np.median(samples.ticks[samples.batch == size])) / per_ns
        for size in (sizes[0], sizes[-1])
    )
    in_proportion = few * (1 + SHARE_OF_GROWTH * (sizes[-1] / sizes[0] - 1))
    return (sizes[0], few, sizes[-1], many) if many < in_proportion else None
