"""The causes of lab 01 and their true namings."""

from __future__ import annotations

from bench.wrong import truth as t
from bench.wrong.truth import Truth, by_name, value_of

TRUTHS = by_name(
    {
        t.TICKS: "ticks-for-ns",
        t.CYCLES: "cycles-for-ns",
        t.THOUSAND: "us-for-ns",
        t.SLOPE: "slope monotonic-slope",
        t.HALF: "one-reading",
        Truth(("work-counted-as-timer",), "additions|shortest with 64 operations"): (
            "sample-of-64 end-of-the-line"
        ),
        Truth(
            ("work-counted-as-timer", "cold-samples-in-mean"), r"mean of the whole column"
        ): "mean-of-column",
        t.NOT_OF_THIS_RUN: "published ratio-rounded-away",
        t.NS_CALLED_TICKS: "step-in-ns",
        Truth(("two-results-for-one",), r"is the overhead"): "step-is-overhead",
        Truth(("minimum-taken",), r"(shortest|smallest|empty) sample"): "step-is-shortest-sample",
        Truth(("half-or-double",), r"two steps|twice the step"): "step-doubled",
        value_of("process-cpu"): "monotonic-is-process-cpu",
        value_of("fenced"): "monotonic-is-fenced",
        Truth(
            ("less-than-nothing", "stale-constant"), r"monotonic - fenced"
        ): "monotonic-less-fenced",
        t.UPSIDE_DOWN: "ratio-inverted",
        Truth(("two-results-for-one",), r"over monotonic|monotonic"): "ratio-to-monotonic",
        t.PERCENT: "ratio-in-percent",
        t.DIFFERENCE: "difference-for-ratio",
        Truth(("work-counted-as-timer",), r"whole samples|additions"): "ratio-of-means",
        t.TICKS_CALLED_CYCLES: "own-in-ticks",
        Truth((), r"with 64 operations inside take"): "own-whole-sample",
        Truth(("clock-read-too-early",), "fence"): (
            "c-unfenced c-end-unfenced c-additions-before c-additions-after"
        ),
        Truth(("cost-of-many-for-one",), r"two chains|twice|two additions|2 "): "c-two-chains",
        Truth(("not-on-a-line", "end-not-read"), r"divide"): "c-divided",
        Truth(("end-not-read",), r"computed|made up|no second reading"): "c-computed",
        Truth((), r"depend on k|whatever k|asked for, your C makes 64\."): "c-always-64",
        Truth(("clocks-of-two-processes",), r"clock_gettime|(an)?other clock"): "c-gettime",
        Truth(
            (), r"volatile|(through|to) memory|no ADDITIONS|instead of ADDITIONS"
        ): "c-volatile-sum",
        Truth((), r"chain|overlap|at once"): "c-independent",
        t.OTHER_VARIANT: "naive-for-fenced value-of-the-other-run",
        t.FEW: "twenty-samples",
        t.EDITED: "rows-deleted",
        Truth(("no-recording",)): "no-recording",
        t.C_MISSING: "own-c-left-out",
        Truth(("more-between-the-readings", "more-than-the-operation")): (
            "c-fence-each-64 c-looks-each-64"
        ),
        Truth(("work-optimised-away",), r"no addition|folded|left (them )?out"): (
            "c-folded c-sum-of-constants"
        ),
    }
)
