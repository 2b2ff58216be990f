"""What a walk through memory was: its set, its pages, its order, and where its samples ended.

kernels_c/ladder.h counts all of it outside the timed region: the OS says how much of the set is
resident, the order is followed once, node by node, and each sample must end at the node where the
order leads. Sums over the processes of a run are compared, so one process cannot hide another.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from grader.cases.case import Case
from labs.recording.file import Recording

KERNELS = frozenset({"memory_ladder", "own_ladder"})

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
    if recording.kernel not in KERNELS or not set_kb:
        return None
    resident, huge, nodes, walked, same, samples, right = (
        recording.total(f"variant.{variant}.{key}")
        for key in (
            "resident_kb",
            "huge_kb",
            "set_nodes",
            "nodes_walked",
            "same_hops",
            "samples_walked",
            "ends_right",
        )
    )
    return Walk(set_kb, resident, huge, nodes, walked, same, samples, right)


def per_process(recording: Recording, *sums: int | None) -> tuple[str, ...]:
    """These sums over the processes as text, each as the mean of a process, to a whole number."""
    count = max(len(recording.processes), 1)
    return tuple(f"{(each or 0) / count:,.0f}" for each in sums)


def unforeseen(variant: str) -> bool:
    """Whether the variant claims an order that nobody foresees."""
    return variant.startswith(FORESEEN_BY_NOBODY)


def in_small_pages(variant: str) -> bool:
    """Whether the variant claims pages of the smallest size."""
    return not variant.startswith(IN_HUGE_PAGES)


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
    walks = [walk_of(case.recording, name) for name in case.spec.variants]
    return bool(walks) and all(walk is not None and bool(holds(walk)) for walk in walks)


#: What praise may name, besides the facts of grader.facts.borne_out.
FACTS = (every_line_walked, hops_counted, loads_chained, set_resident)
