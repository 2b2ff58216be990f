"""What a run did with memory: walks through a set, the working sets of tasks, and page faults.

Sums over the processes of a run are compared, so one process cannot hide another.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from grader.figures.case import Case
from labs.analysis import confidence
from labs.analysis.confidence import CannotEstimate, Estimate
from labs.analysis.line import Line, fit_line
from labs.recording.counts import MOST_FAULTS, PageFaults
from labs.recording.counts import page_faults_of as counted
from labs.recording.file import Recording
from labs.results.warning_thresholds import LEAST_CYCLES_A_LINE

# A walk through memory: its set, its pages, its order, and where its samples ended.
#
# kernels_c/ladder.h counts all of it outside the timed region. The OS says how much of the set is
# resident. The order is followed once, node by node, and each sample must end at the node where the
# order leads.

LADDER_KERNELS = frozenset({"memory_ladder", "own_ladder"})

#: What a variant calls itself if its order is to be foreseen by nobody.
FORESEEN_BY_NOBODY = ("random-", "own-", "huge-")

#: What a variant calls itself if its set is to be in huge pages; all others are in small ones.
IN_HUGE_PAGES = "huge-"

#: From such a share of a set on, huge pages change what a load costs.
SHARE_HUGE = 0.1

#: A count that misses less than this share of what is claimed changes nothing in the cost.
SHARE_MISSING = 0.02


@dataclass(frozen=True)
class Walk:
    """The counts of one variant, summed over the processes; None where the run states none.

    `huge_kb` is what the OS gave of the set in huge pages. `walked` is the nodes that the walk goes
    round, `nodes` those of the set. `same_hops` is the hops as long as one of the four before, and
    `right` is those of `samples` that ended where the order leads.
    """

    set_kb: int
    resident_kb: int | None
    huge_kb: int | None
    nodes: int | None
    walked: int | None
    same_hops: int | None
    samples: int | None
    right: int | None

    @property
    def written(self) -> bool | None:
        """Whether all pages of the set were there; None where the OS does not say."""
        if self.resident_kb is None:
            return None
        return self.resident_kb >= (1 - SHARE_MISSING) * self.set_kb

    @property
    def in_huge_pages(self) -> bool | None:
        """Whether a share of the set that matters is in huge pages; None if the OS does not say."""
        return None if self.huge_kb is None else self.huge_kb >= SHARE_HUGE * self.set_kb

    @property
    def whole(self) -> bool | None:
        """Whether the walk goes round all nodes of the set; None where that is not counted."""
        if self.nodes is None or self.walked is None:
            return None
        return self.walked >= (1 - SHARE_MISSING) * self.nodes

    @property
    def foreseen(self) -> bool | None:
        """Whether most hops are as long as one shortly before; None where that is not counted."""
        if self.same_hops is None or not self.walked:
            return None
        return self.same_hops > self.walked / 2

    @property
    def chained(self) -> bool | None:
        """Whether the samples ended where the order leads; None where that is not counted."""
        if not self.samples or self.right is None:
            return None
        return self.right >= (1 - SHARE_MISSING) * self.samples


def walk_of(recording: Recording, variant: str) -> Walk | None:
    """The counts of `variant`; None if it is no walk through memory."""
    set_kb = recording.total(f"variant.{variant}.set_kb")
    if recording.kernel not in LADDER_KERNELS or not set_kb:
        return None
    keys = (
        *("resident_kb", "huge_kb", "set_nodes", "nodes_walked", "same_hops", "samples_walked"),
        "ends_right",
    )
    return Walk(set_kb, *(recording.total(f"variant.{variant}.{key}") for key in keys))


def walks_of(case: Case) -> Iterator[tuple[str, Walk]]:
    """The variants of the figure that are walks through memory, each with its counts."""
    for name in case.spec.variants:
        if (walk := walk_of(case.recording, name)) is not None:
            yield name, walk


def per_process(recording: Recording, *sums: int | None) -> tuple[str, ...]:
    """These sums over the processes as text, each as the mean of a process, to a whole number."""
    count = max(len(recording.processes), 1)
    return tuple(f"{(each or 0) / count:,.0f}" for each in sums)


def unforeseen(variant: str) -> bool:
    """Whether the variant claims an order that nobody foresees."""
    return variant.startswith(FORESEEN_BY_NOBODY)


def every_line_walked(case: Case) -> bool:
    """Whether the walk of each variant was followed, and goes round its whole set."""
    return _walks(case, lambda walk: walk.whole)


def hops_counted(case: Case) -> bool:
    """Whether the hops of each walk were counted, and most are unlike those shortly before."""
    return _walks(case, lambda walk: walk.foreseen is False)


def loads_chained(case: Case) -> bool:
    """Whether the samples of each walk ended where the loaded addresses lead."""
    return _walks(case, lambda walk: walk.chained)


def set_resident(case: Case) -> bool:
    """Whether the OS counted each set as resident."""
    return _walks(case, lambda walk: walk.written)


def _walks(case: Case, holds: Callable[[Walk], bool | None]) -> bool:
    found = [bool(holds(walk)) for _, walk in walks_of(case)]
    return bool(found) and len(found) == len(case.spec.variants) and all(found)


#: What praise may name, besides the facts of grader.evidence.borne_out.
LADDER_FACTS = (every_line_walked, hops_counted, loads_chained, set_resident)


# The working sets of a ring of tasks, and the cost of reading one by itself in the same recording.
#
# A task that has the token reads one byte of each cache line of its set. No core makes more than
# four loads per cycle, which gives the least possible cost of reading a set on any machine.
#
# A run of a student's own C also finds out which lines are used (kernels_c/lines_used.h): it
# changes one line after another, and looks whether what the C hands to keep() changes with it.

SET_KERNELS = frozenset({"switch_footprint", "own_footprint"})

LINE_BYTES = 64

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


def alone_of(variant: str) -> str:
    """The variant with one task, which reads a set of this size and passes the token to itself."""
    size = _SIZE.search(variant)
    return f"alone{size[0]}" if size else "alone-0"


def least_cycles(variant: str) -> float:
    """The least possible cost of reading its set once, in core cycles."""
    return bytes_of(variant) / LINE_BYTES * LEAST_CYCLES_A_LINE


def cost_of_reading(case: Case, variant: str) -> Estimate | None:
    """The cost for one task alone to read the set of `variant`, in core cycles; None if unknown."""
    own, hop = _line(case, alone_of(variant)), _line(case, "alone-0")
    cycle = None if own is None else own.clock.core_cycle_ticks
    if own is None or hop is None or not cycle:
        return None
    value, low, high = (ticks / cycle for ticks in confidence.difference(own.cost, hop.cost))
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


# The page faults of the variants of a figure; `labs.recording.counts` has those of a recording.

PAGE_FAULT_KERNELS = frozenset({"page_fault", "own_page_fault"})

#: The sizes of a page on the machines that Linux runs on, in bytes.
PAGE_BYTES = (4096, 16384, 65536)

#: The variant that reads a file, and how many of its pages Linux maps with one page fault.
OF_FILE, MAPPED_AROUND = "file", 16


def page_faults_of(case: Case) -> Iterator[PageFaults]:
    """The counts of each variant that the figure is about, if the recording has them."""
    if case.spec.kernel not in PAGE_FAULT_KERNELS:
        return
    for name in case.spec.variants:
        found = counted(case.recording, name)
        if found is not None:
            yield found


def one_fault_a_page(case: Case) -> bool:
    """Whether the OS counted one page fault for each page that the samples touched."""
    found = list(page_faults_of(case))
    return bool(found) and all(each.each >= MOST_FAULTS for each in found)


def no_fault_left(case: Case) -> bool:
    """Whether the OS counted no page fault in the writes after a student's preparation."""
    found = counted(case.recording, "own")
    return found is not None and not found.has_faults
