"""The causes of lab 11 and their true namings."""

from __future__ import annotations

from bench.wrong import truth as t
from bench.wrong.truth import Truth, by_name, value_of

TRUTHS = by_name(
    {
        t.LOOP: "loop-left-in other-with-loop tested-with-loop",
        value_of("baseline"): "only-the-loop",
        t.INTERCEPT: "intercept",
        t.TICKS: "ticks-for-ns tested-in-ticks",
        t.CYCLES: "cycles-for-ns",
        t.THOUSAND: "us-for-ns other-in-ps",
        t.COLUMN: "whole-column",
        value_of("other"): "other-for-operation",
        value_of("operation"): "operation-for-other",
        Truth((), r"operation - other|subtract"): "more-than-other",
        Truth((), r"sum of|added|operation \+ other"): "both-together",
        t.NOT_OF_THIS_RUN: "predicted",
        Truth(("counts-itself",)): (
            "c-counter-beside c-failing-call c-asks-beside c-counter-beside-by-trap"
            " c-counter-in-an-array c-counter-of-a-cached-call c-counter-beside-the-vdso"
        ),
        Truth((), r"did not work"): "c-fails",
        Truth((), r"your function counted"): "c-every-second c-never-reset",
        Truth(("baseline-does-it-too",)): (
            "c-same-baseline c-plain-baseline c-baseline-of-another-variable"
            " c-baseline-of-the-same-call c-baseline-nearly-all"
        ),
        Truth(("operations-not-counted",)): "c-prints-counts by-the-starter",
        Truth(("more-than-the-operation",), r"loop in it|does more"): "c-loop-inside",
        t.AGAINST_DATA: "claim-against-data claim-undecided threat-against-data",
        t.NO_SUCH_CHOICE: "claim-0",
        Truth(("work-optimised-away", "less-than-nothing")): "other-is-nothing",
        # Its value is a sample divided by its operations.
        Truth(("too-few-samples", "one-process", "timer-not-subtracted")): "twelve-samples",
        t.FEW: "one-process-only",
        Truth(("not-one-change",)): "own-for-tested",
        t.EDITED: "rows-deleted",
        t.C_MISSING: "c-lost",
        t.C_CHANGED: "c-commented",
    }
)
