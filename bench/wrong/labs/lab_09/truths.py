"""The causes of lab 09 and their true namings."""

from __future__ import annotations

from bench.wrong import truth as t
from bench.wrong.truth import Truth, by_name, value_of

TRUTHS = by_name(
    {
        t.TICKS_CALLED_CYCLES: "ticks-for-cycles",
        t.NS_CALLED_CYCLES: "ns-for-cycles",
        value_of("random-512k"): "second-cache",
        t.NOT_HALVED: "twice",
        t.HALF: "halved",
        value_of("ordered-128m"): "by-address",
        t.NOT_OF_THIS_RUN: "naive",
        t.TICKS: "ticks-for-ns own-in-ticks",
        t.THOUSAND: "us-for-ns own-in-us",
        t.DIFFERENCE: "difference-of-orders",
        Truth(("order-foreseen",)): "c-in-order c-backwards c-every-seventh foreseen",
        Truth(("cycle-too-short",)): (
            "c-drawn c-swapped-with-any c-stays c-there-and-back c-half c-first-page"
            " c-wraps-early c-always-zero short-cycle"
        ),
        Truth(("memory-never-written",)): "unwritten",
        Truth(("loads-overlap",)): "overlapping",
        Truth(("huge-pages-unnoticed",)): "huge-pages",
        t.AGAINST_DATA: "order-against-data order-nothing",
        t.NO_SUCH_CHOICE: "order-0",
        t.OTHER_VARIANT: "smaller-set own-for-memory",
        t.FEW: "nine-samples",
        t.EDITED: "rows-smoothed",
    }
)
