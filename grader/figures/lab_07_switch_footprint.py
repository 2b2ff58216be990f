"""Lab 07: what a switch really costs, with the memory that the next task needs."""

from __future__ import annotations

from grader.figures.spec import Estimates, FigureSpec, Quantity
from grader.figures.verdict import Level
from labs.analysis.confidence import difference_of, side

LAB = "07-switch-footprint"

#: The conclusions, by number.
BOTH, CACHES, UNDECIDED = range(1, 4)

#: What a set costs depends on the pages that a process gets: on which of them share a place in a
#: cache. Runs of ten processes on quiet machines gave intervals that span a third of it.
WIDEST_OF_SETS = 0.3


def _cause(estimates: Estimates) -> int:
    """Whether threads pay for their sets as well, and whether they pay less than processes."""
    processes, processes_alone, threads, threads_alone = estimates
    if side(processes, processes_alone) <= 0 or side(threads, threads_alone) <= 0:
        return UNDECIDED
    added = difference_of(processes, processes_alone)
    return BOTH if side(difference_of(threads, threads_alone), added) < 0 else CACHES


FIGURES = (
    FigureSpec(
        id="footprint-processes-8-0",
        asked="the cost of a switch among eight processes that touch no memory of their own",
        kernel="switch_footprint",
        variants=("processes-8-0",),
        unit="us",
        central="touching-counted-as-switch",
        praise="The tasks were on one CPU, the OS counted the switches, and the token's own "
        "calls are subtracted.",
        checks="on one cpu, switches counted, baseline subtracted",
        look_next="Measure processes-2-0 as well: does a switch cost eight more than two?",
    ),
    FigureSpec(
        id="footprint-processes-8-256k",
        asked="the cost of a switch among eight processes that each use 256 KB",
        kernel="switch_footprint",
        variants=("processes-8-256k",),
        unit="us",
        compare_with=("alone-256k", "alone-0"),
        widest=WIDEST_OF_SETS,
        central="working-set-not-touched",
        praise="The sets were used, and the time that one process alone takes to use its set is "
        "subtracted. The rest is the cost of the switch and its after-effects.",
        checks="use measured, touching-counted-as-switch, baseline subtracted",
        look_next="Which cache holds one set of 256 KB, and not eight of them?",
    ),
    FigureSpec(
        id="footprint-indirect",
        asked="the indirect cost: what the working set adds to a switch",
        of=("footprint-processes-8-256k", "footprint-processes-8-0"),
        quantity=Quantity.DIFFERENCE,
        unit="us",
        widest=WIDEST_OF_SETS,
        may_be_nothing=True,
        praise="You subtracted the direct cost: what is left is the indirect one.",
        look_next="Does this cost grow in proportion to the set? Look where your caches end.",
    ),
    FigureSpec(
        id="footprint-cause",
        asked="where the indirect cost comes from",
        kernel="switch_footprint",
        variants=("processes-8-256k", "processes-8-0", "threads-8-256k", "threads-8-0"),
        quantity=Quantity.CHOICE,
        points={Level.VALIDITY: 1.0, Level.SUFFICIENCY: 1.0, Level.INTERPRETATION: 2.0},
        decide=_cause,
        compared_in="us",
        look_at="`lab.compare(set_for_threads, set_for_processes)`",
        praise="The threads and the processes of one run support this conclusion.",
        look_next="Without a working set, what does the address space alone cost in a switch?",
    ),
    FigureSpec(
        id="footprint-own",
        asked="the cost of a switch with 256 KB that your own C uses",
        kernel="own_footprint",
        variants=("own-256k",),
        unit="us",
        own=True,
        compare_with=("own-0", "alone-256k", "alone-0"),
        widest=WIDEST_OF_SETS,
        central="working-set-not-touched",
        praise={
            "The run changed one cache line after another, and saw your C use each of them: "
            "the compiler could not leave it out.": "every line used, working-set-in-part",
            "The run changed one cache line after another, and saw your C use nearly all of "
            "them: the compiler could not leave it out.": (
                "nearly every line used, working-set-in-part"
            ),
            "The time that one process alone takes to use its set was subtracted.": (
                "baseline subtracted"
            ),
        },
        look_next="Write to each line instead of reading it. Does a switch then cost more here, or "
        "less?",
    ),
)
