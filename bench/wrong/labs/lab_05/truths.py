"""The causes of lab 05 and their true namings."""

from __future__ import annotations

from bench.wrong import truth as t
from bench.wrong.truth import Truth, by_name, value_of

TRUTHS = by_name(
    {
        t.THOUSAND: "ns-for-us us-for-ms own-in-ns",
        value_of("vfork-wait"): "vfork",
        Truth(
            ("cost-of-many-for-one", "cold-samples-in-mean"), r"mean of the whole column"
        ): "mean-sample",
        t.WHOLE_SAMPLE: "sample-of-several",
        t.NOT_OF_THIS_RUN: "own-fork ratio-of-report-a sixteen small-parent",
        value_of("fork-wait"): "fork-for-thread",
        t.TICKS: "thread-in-ticks",
        Truth((), r"fork-wait - pthread-wait"): "saved-by-thread",
        t.DIFFERENCE: "added",
        t.HALF: "thread-half",
        Truth(("unclear-divisor",), r"that is [\d,.]+ / 64"): "per-megabyte",
        value_of("fork"): "fork-of-own-run",
        Truth(("not-a-thread",)): ("c-no-vm c-signal-only c-forks naive-for-own"),
        Truth(("not-a-thread",), r"parent (itself )?raised"): (
            "c-parent-raises c-clone-vm-and-parent-raises"
        ),
        Truth(("not-a-thread",), r"vfork|parent (sleeps|to sleep)"): "c-vfork",
        Truth(("cost-of-many-for-one",), r"(two|2|another) tasks?"): "c-two-tasks",
        Truth((), r"stack is|mmap|memset|maps or unmaps memory"): "c-stack-each-time",
        Truth(("more-than-the-operation",)): "c-long-work",
        Truth((), r"sleep"): "c-sleeps",
        Truth(("pinning-inside-the-interval",)): "c-affinity-inside",
        t.UPSIDE_DOWN: "ratio-inverted",
        Truth(("two-results-for-one", "mechanisms-differ"), r"over vfork|vfork"): "ratio-to-vfork",
        t.PERCENT: "ratio-in-percent",
        t.AGAINST_DATA: "cause-against-data",
        t.NO_SUCH_CHOICE: "cause-12",
        Truth(("other-recording", "child-left-behind", "creation-without-its-end")): (
            "fork-without-wait thread-without-join"
        ),
        Truth(("other-recording", "two-cpus-not-one")): "unpinned",
        Truth(("memory-not-resident",)): "memory-untouched",
        Truth((), r"another variant's memory|one size of memory"): "fork-beside-64mb",
        t.FEW: "nine-samples",
        t.EDITED: "rows-smoothed",
        t.MORE_TIMED: "c-looks-until-it-has-ended c-pauses c-stack-filled-thirty-times",
        t.INSTRUMENTED: "sanitized",
    }
)
