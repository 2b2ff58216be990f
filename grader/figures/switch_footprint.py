"""Lab 07: what a switch really costs, with the memory that the next task needs."""

from __future__ import annotations

from grader.cases.spec import CHOICE, Estimates, FigureSpec, Quantity, relation
from grader.cases.verdict import Level
from grader.figures.choices import choices_of
from labs.analysis.compare import difference_of, side

LAB = "07-switch-footprint"

#: The conclusions, by number.
CACHES, ADDRESS_SPACE, UNDECIDED = range(1, 4)

#: What a set costs depends on the pages that a process gets: on which of them share a place in a
#: cache. Runs of ten processes on quiet machines gave intervals that span a third of it.
WIDEST_OF_SETS = 0.3


def _cause(estimates: Estimates) -> int:
    """Whether threads pay half of what the set adds to a switch of processes."""
    processes, processes_alone, threads, threads_alone = estimates
    if side(processes, processes_alone) <= 0:
        return UNDECIDED
    added = difference_of(processes, processes_alone)
    added_to_threads = difference_of(threads, threads_alone)
    return {1: CACHES, -1: ADDRESS_SPACE, 0: UNDECIDED}[side(added_to_threads, added, 0.5)]


FIGURES = (
    FigureSpec(
        id="footprint-processes-8-0",
        lab=LAB,
        asked="what a switch among eight processes costs that touch no memory of their own",
        kernel="switch_footprint",
        variants=("processes-8-0",),
        quantity=Quantity.COST,
        unit="us",
        central="touching-counted-as-switch",
        praise="One CPU, every switch counted by the OS, and the token's own calls taken off.",
        look_next="Measure processes-2-0 as well: does a switch cost eight more than two?",
    ),
    FigureSpec(
        id="footprint-processes-8-256k",
        lab=LAB,
        asked="what a switch among eight processes costs that each use 256 KB",
        kernel="switch_footprint",
        variants=("processes-8-256k",),
        quantity=Quantity.COST,
        unit="us",
        compare_with=("alone-256k", "alone-0"),
        widest=WIDEST_OF_SETS,
        central="working-set-not-touched",
        praise="What one process alone pays for its 256 KB was taken off: the rest is the "
        "switch, with what it left behind.",
        look_next="Which cache holds one set of 256 KB, and not eight of them?",
    ),
    relation(
        "footprint-indirect",
        LAB,
        "the indirect cost: what the working set adds to a switch",
        ("footprint-processes-8-256k", "footprint-processes-8-0"),
        Quantity.DIFFERENCE,
        "us",
        widest=WIDEST_OF_SETS,
        may_be_nothing=True,
        central="figure-not-from-recording",
        praise="Direct and indirect cost are two numbers now, where reports print one.",
        look_next="Does it grow in proportion to the set? Look where your caches end.",
    ),
    FigureSpec(
        id="footprint-cause",
        lab=LAB,
        asked="where the indirect cost comes from",
        kernel="switch_footprint",
        variants=("processes-8-256k", "processes-8-0", "threads-8-256k", "threads-8-0"),
        quantity=Quantity.CHOICE,
        unit=CHOICE,
        points={Level.VALIDITY: 1.0, Level.SUFFICIENCY: 1.0, Level.INTERPRETATION: 2.0},
        choices=choices_of(LAB, "footprint-cause"),
        decide=_cause,
        look_at="`lab.compare(set_for_threads, set_for_processes, times=0.5)`",
        central="conclusion-against-table",
        praise="Threads in the same ring differ from processes in one thing: the address space.",
        look_next="Without a working set, what does the address space alone cost in a switch?",
    ),
    FigureSpec(
        id="footprint-own",
        lab=LAB,
        asked="what a switch costs with 256 KB used by your own C",
        kernel="own_footprint",
        variants=("own-256k",),
        quantity=Quantity.COST,
        unit="us",
        own=True,
        compare_with=("own-0", "alone-256k", "alone-0"),
        widest=WIDEST_OF_SETS,
        central="working-set-not-touched",
        praise="What one process alone pays for your use of its set was subtracted.",
        look_next="Write to each line instead of reading it. What has a cache to do more?",
    ),
)
