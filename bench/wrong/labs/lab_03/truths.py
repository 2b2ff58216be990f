"""The causes of lab 03 and their true namings."""

from __future__ import annotations

from bench.wrong import truth as t
from bench.wrong.truth import Truth, by_name, value_of

TRUTHS = by_name(
    {
        value_of("invalid"): "floor-for-call own-floor",
        Truth((), r"(getppid|setuid|gettimeofday-trap) - invalid\b"): (
            "less-the-floor setuid-less-floor net-of-the-floor"
        ),
        t.COLUMN: "sample-not-divided",
        t.TICKS: "ticks-for-ns",
        t.THOUSAND: "unit-of-report-c",
        t.CYCLES: "cycles-for-ns",
        value_of("loop"): "loop",
        t.INTERCEPT: "intercept",
        t.DIFFERENCE: "difference",
        Truth((), r"getppid - invalid\."): "difference-for-floor",
        value_of("getppid"): "getppid-for-floor",
        t.HALF: "one-way",
        value_of("setuid-refused"): "refused",
        Truth(("two-results-for-one",), r"\(setuid \+ setuid-refused\) / 2"): "mean-of-both",
        t.UPSIDE_DOWN: "inverted",
        Truth(("two-results-for-one",), r"gettimeofday-trap / invalid"): "to-the-floor",
        Truth(
            (), r"less one|minus one|minus 1|\(gettimeofday-trap - gettimeofday-vdso\) /"
        ): "more-than",
        t.RATIO: "own-over-floor",
        t.FAILS: (
            "c-registers-of-report-c c-minus-one c-unlooked c-failure-taken-for-success"
            " c-number-missing"
        ),
        t.OTHER_CALL: "c-getppid c-writes",
        Truth((), r"4,?096|bytes"): "c-reads-4096",
        Truth(("cost-of-many-for-one",), r"two calls|twice|got 2 (system )?calls"): "c-twice",
        Truth(("cost-of-many-for-one",), r"\bopen\b|close|3 (system )?calls"): "c-opens-each-time",
        t.FIRST_ONLY: "c-remembers c-no-trap c-spins",
        Truth(("vdso-not-system-call", "library-call-not-system-call")): "c-library-time",
        t.AGAINST_DATA: "less-than-half cheaper-than-nothing",
        t.NO_SUCH_CHOICE: "share-for-number",
        t.OTHER_VARIANT: "getpid-for-getppid only-the-refused naive-for-getppid",
        t.TRACED: "under-strace",
        t.FEW: "sixteen-samples",
        t.NOT_OF_THIS_RUN: "ratio-across-runs",
        t.EDITED: "rows-smoothed",
        t.C_CHANGED: "c-changed-afterwards",
        t.MORE_TIMED: "c-fenced c-pauses c-looks-at-the-clock",
        t.INSTRUMENTED: "instrumented",
    }
)
