"""The causes of lab 02 and their true namings."""

from __future__ import annotations

from bench.wrong import truth as t
from bench.wrong.truth import Truth, by_name, value_of

TRUTHS = by_name(
    {
        Truth(("first-sample-lost",), r"later (call|sample)s?"): "warm",
        Truth(("cold-samples-in-mean",)): "mean-of-all",
        t.RATIO: "first-over-later",
        value_of("system-call"): "system-call",
        value_of("lazy-binding"): "lazy-binding",
        t.TICKS: "call-in-ticks cache-in-ticks",
        Truth((), r"largest|maximum|extreme"): "worst",
        value_of("page-present"): "page-present",
        t.WHOLE_SAMPLE: "whole-sample",
        t.THOUSAND: "fault-in-us",
        t.CYCLES: "fault-in-cycles",
        value_of("instruction-cache"): "instruction-cache",
        value_of("data-cached"): "cache-baseline",
        Truth((), r"data-cache \+ instruction-cache"): "added-up",
        value_of("unprepared"): "unprepared",
        Truth((), r"unprepared - own|difference|subtract"): "saved",
        t.PERCENT: "share",
        Truth(("page-still-missing", "other-page-touched")): (
            "c-empty c-other-page c-next-page c-pointer-only c-address-of c-prefetch"
            " c-own-function c-sleeps c-madvise"
        ),
        Truth(("first-sample-lost",), r"calls the code"): "c-calls-it c-calls-twice",
        Truth(("cause-not-isolated", "conclusion-against-table")): "main-memory neither",
        t.NO_SUCH_CHOICE: "no-such-number a-share",
        Truth(("first-sample-lost",), "warm-up"): "warmed-up",
        t.FEW: "one-process",
        t.NOT_OF_THIS_RUN: "load-of-another-run",
        t.OTHER_VARIANT: "fault-by-cold",
        Truth(("recording-altered", "first-sample-lost"), "edited"): "cold-rows-deleted",
    }
)
