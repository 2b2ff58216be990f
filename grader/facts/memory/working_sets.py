"""The working sets of a ring of tasks, and the cost of reading one by itself in the same recording.

A task that has the token reads one byte of each cache line of its set. No core makes more than four
loads per cycle, which gives the least possible cost of reading a set on any machine.

A run of a student's own C also finds out which lines are used (kernels_c/lines_used.h): it changes
one line after another, and looks whether what the C hands to keep() changes with it. Recordings of
older kits state no such counts.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from grader.cases.case import Case
from labs.analysis import compare
from labs.analysis.estimate import CannotEstimate, Estimate
from labs.analysis.line import Line, fit_line
from labs.recording.file import Recording

KERNELS = frozenset({"switch_footprint", "own_footprint"})

LINE_BYTES = 64
LEAST_CYCLES_A_LINE = 0.25

#: A loop that leaves out so small a share of the set measures the same.
SHARE_LEFT_OUT = 0.02

_SIZE = re.compile(r"-(\d+)(k|m)$")


@dataclass(frozen=True)
class LinesUsed:
    """Which cache lines of its set a student's C uses; `tried` and `used` are sums over processes.

    `lines` is how many a set has, and `last` is the number of the last one that is used, from 1.
    `keeps` is how many values each use hands to keep().
    """

    lines: int
    tried: int
    used: int
    last: int
    keeps: int

    @property
    def in_part(self) -> bool:
        """Whether more of the set is left out than a loop may that measures the same."""
        return self.used < (1 - SHARE_LEFT_OUT) * self.tried


def lines_used(recording: Recording, variant: str) -> LinesUsed | None:
    """What the run found out about the set of `variant`; None if it did not try."""
    tried = recording.total(f"variant.{variant}.lines_tried")
    used = recording.total(f"variant.{variant}.lines_used")
    lines, last, keeps = (
        max(recording.numbers(f"variant.{variant}.{key}"), default=None)
        for key in ("set_lines", "last_line_used", "keeps")
    )
    if not tried or used is None or lines is None or last is None or keeps is None:
        return None
    return LinesUsed(int(lines), tried, used, int(last), int(keeps))


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
    value, low, high = (ticks / cycle for ticks in compare.difference(own.cost, hop.cost))
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
