"""Lab 07: what a switch really costs, with the memory that the next task needs."""

from __future__ import annotations

from collections.abc import Callable

from grader.cases.spec import CHOICE, Choice, FigureSpec, Quantity, relation
from grader.cases.verdict import Level
from grader.figures.choices import EDGE_FROM, EDGE_TO, Estimates
from labs.analysis.compare import separation

LAB = "07-switch-footprint"

#: Operands of the conclusion: what the working set adds to a switch of processes, and of threads.
OF_PROCESSES, OF_THREADS = (0, 1), (2, 3)

#: What a set costs depends on the pages that a process gets: on which of them share a place in a
#: cache. Runs of ten processes on quiet machines gave intervals that span a third of it.
WIDEST_OF_SETS = 0.3

#: How far from a half the share of the threads may lie and still count for either side.
SLACK = 0.2


def _added(operands: Estimates, pair: tuple[int, int]) -> float:
    return operands[pair[0]].value - operands[pair[1]].value


def _adds(operands: Estimates, edge: float) -> bool:
    """Whether the set makes a switch of processes dearer, by more than the errors."""
    return separation(operands[OF_PROCESSES[0]], operands[OF_PROCESSES[1]]) > edge


def _threads_pay(least: float, most: float) -> Callable[[Estimates], bool]:
    """Whether the set adds something to processes, and to threads such a share of it."""
    return lambda operands: (
        _adds(operands, EDGE_FROM)
        and least * _added(operands, OF_PROCESSES)
        <= _added(operands, OF_THREADS)
        <= most * _added(operands, OF_PROCESSES)
    )


FIGURES = (
    FigureSpec(
        id="footprint-processes-8-0",
        lab=LAB,
        asked="what a switch among eight processes costs that touch no memory of their own",
        kernel="switch_footprint",
        variants=("processes-8-0",),
        quantity=Quantity.COST,
        unit="us",
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
        choices=(
            Choice(
                "mostly the caches: threads, which keep their address space, pay at least half "
                "of it as well",
                _threads_pay(0.5 * (1 - SLACK), float("inf")),
            ),
            Choice(
                "mostly the change of address space: threads pay less than half of it",
                _threads_pay(float("-inf"), 0.5 * (1 + SLACK)),
            ),
            Choice(
                "this data cannot tell it from nothing",
                lambda operands: not _adds(operands, EDGE_TO),
            ),
        ),
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
        praise="What one process alone pays for your use of its set was subtracted.",
        look_next="Write to each line instead of reading it. What has a cache to do more?",
    ),
)
