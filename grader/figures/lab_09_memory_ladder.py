"""Lab 09: what a memory access costs, by working set and order."""

from __future__ import annotations

from grader.figures.spec import FigureSpec, Quantity, by_side
from grader.figures.verdict import Level

LAB = "09-memory-ladder"

#: What a load costs depends on the pages that a process gets, and on what other programs keep in
#: the last cache.
WIDEST_OF_SETS = 0.3

FIGURES = (
    FigureSpec(
        id="ladder-l1",
        asked="the cost of a load from the first cache",
        kernel="memory_ladder",
        variants=("random-16k",),
        unit="cycles",
        central="cycles-for-ticks",
        praise={
            "Each load waited for the one before, all 256 cache lines were visited, and your "
            "figure is in core cycles.": (
                "in core cycles, cycle-too-short, loads chained, every line walked, "
                "cycles-for-ticks"
            ),
            "Each load waited for the one before, and all 256 cache lines were visited.": (
                "cycle-too-short, loads chained, every line walked"
            ),
        },
        look_next="Does a load from 32 KiB cost as much? How large is the first cache here?",
    ),
    FigureSpec(
        id="ladder-memory",
        asked="the cost of a load from 128 MB that no prefetcher foresees",
        kernel="memory_ladder",
        variants=("random-128m",),
        unit="ns",
        widest=WIDEST_OF_SETS,
        central="order-foreseen",
        praise={
            "The walk visited the whole set in an order that nobody foresees, each load "
            "waited for the one before, and every page had been written to.": (
                "set resident, order-foreseen, hops counted, every line walked, loads chained"
            ),
            "The walk visited the whole set in an order that nobody foresees, and each load "
            "waited for the one before.": (
                "order-foreseen, hops counted, every line walked, loads chained"
            ),
        },
        look_next="Which part of this cost is the way to the page? Measure huge-256m, if this "
        "machine has huge pages.",
    ),
    FigureSpec(
        id="ladder-order",
        asked="whether the order of the loads matters",
        kernel="memory_ladder",
        variants=("random-128m", "ordered-128m"),
        quantity=Quantity.CHOICE,
        points={Level.VALIDITY: 1.0, Level.SUFFICIENCY: 1.0, Level.INTERPRETATION: 2.0},
        decide=by_side(0, 1, more=1, less=2, undecided=3, times=4),
        compared_in="ns",
        look_at='`lab.compare(orders["random-128m"], orders["ordered-128m"], times=4)`',
        praise="The two orders of one run support this conclusion.",
        checks="interleaved",
        look_next="Does the order matter as much in 16 KiB?",
    ),
    FigureSpec(
        id="ladder-own",
        asked="the cost of a load from 128 MB in the order of your own C",
        kernel="own_ladder",
        variants=("own-128m",),
        unit="ns",
        own=True,
        compare_with=("random-128m",),
        widest=WIDEST_OF_SETS,
        central="cycle-too-short",
        praise="The run followed your order: it goes round all cache lines of the set, and no "
        "prefetcher foresees it.",
        checks="every line walked, order-foreseen, hops counted",
        look_next="Let your order stay in a page until all its lines were loaded. What does a "
        "load cost then?",
    ),
)
