"""The working sets of a ring of tasks, and the cost of reading one by itself in the same recording.

A task that has the token reads one byte of each cache line of its set. No core makes more than four
loads per cycle, which gives the least possible cost of reading a set on any machine.
"""

from __future__ import annotations

import re

from grader.cases.case import Case
from labs.analysis.estimate import CannotEstimate, Estimate
from labs.analysis.line import Line, fit_line
from labs.analysis.net import subtract_baseline

KERNELS = frozenset({"switch_footprint", "own_footprint"})

LINE_BYTES = 64
LEAST_CYCLES_A_LINE = 0.25

_SIZE = re.compile(r"-(\d+)(k|m)$")


def bytes_of(variant: str) -> int:
    """The size of the working set that a variant claims, in bytes."""
    size = _SIZE.search(variant)
    return int(size[1]) << (10 if size[2] == "k" else 20) if size else 0


def alone(variant: str) -> str:
    """The variant with one task, which reads a set of this size and passes the token to itself."""
    size = _SIZE.search(variant)
    return f"alone{size[0]}" if size else "alone-0"


def least_cycles(variant: str) -> float:
    """The least possible cost of reading its set once, in core cycles."""
    return bytes_of(variant) / LINE_BYTES * LEAST_CYCLES_A_LINE


def reading(case: Case, variant: str) -> Estimate | None:
    """The cost for one task alone to read the set of `variant`, in core cycles; None if unknown."""
    own, hop = _line(case, alone(variant)), _line(case, "alone-0")
    cycle = None if own is None else own.clock.core_cycle_ticks
    if own is None or hop is None or not cycle:
        return None
    value, low, high = (ticks / cycle for ticks in subtract_baseline(own.cost, hop.cost)[0])
    return Estimate(value, low, high, "cycles", "", 0, 0)


def _line(case: Case, variant: str) -> Line | None:
    if variant not in case.recording.variants:
        return None
    if variant in case.results and case.results[variant].line is not None:
        return case.results[variant].line
    try:
        return fit_line(case.recording, variant)
    except CannotEstimate:
        return None
