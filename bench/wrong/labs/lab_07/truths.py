"""The causes of lab 07 and their true namings."""

from __future__ import annotations

from bench.wrong import truth as t
from bench.wrong.truth import Truth, by_name, value_of

TRUTHS = by_name(
    {
        Truth(
            ("touching-counted-as-switch",), r"baselines were not subtracted"
        ): "indirect-of-hops",
        t.CALLS_IN: "hop hop-with-set own-hop touching-in-the-switch",
        t.ROUND_TRIP: "once-round",
        Truth(("unclear-divisor", "cost-of-many-for-one"), t.NET_NOT_DIVIDED.says): "not-divided",
        Truth(("unclear-divisor", "cost-of-many-for-one"), r"eight (switches|times)|8 x \("): (
            "indirect-of-eight"
        ),
        value_of("threads-8-0"): "threads-for-processes",
        t.NOT_OF_THIS_RUN: "one-megabyte",
        t.THOUSAND: "ns-for-us own-in-ns indirect-in-ns",
        t.HALF: "divided-by-sixteen",
        t.SUBTRACTED_ONCE: "alone-once",
        value_of("alone-256k"): "reading-alone",
        Truth((), r"processes-8-256k - processes-8-0"): "indirect-for-whole",
        t.TICKS: "ticks-in-thousands",
        value_of("own-0"): "own-without-set",
        Truth(("working-set-not-touched", "working-set-in-part"), r"not used|not read"): (
            "c-not-kept c-half c-every-second-line c-lines-as-bytes c-one-a-page c-first-byte"
            " c-stride-of-ints c-own-array c-small-array c-address-only c-size-of-pointer"
            " c-last-only c-grows untouched"
        ),
        t.RATIO: "indirect-as-ratio",
        Truth(("less-than-nothing",), r"other way round|sign|upside down"): "indirect-negative",
        Truth((), r"sum of|added"): "sum-for-difference",
        t.AGAINST_DATA: "cause-against-data cause-nothing",
        t.NO_SUCH_CHOICE: "cause-0",
        t.OTHER_VARIANT: "two-for-eight own-for-whole",
        t.FEW: "nine-samples",
        t.EDITED: "rows-smoothed",
        t.MORE_TIMED: "c-twice-the-memory c-pauses-each-line",
    }
)
