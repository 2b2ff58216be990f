"""The causes of lab 06 and their true namings."""

from __future__ import annotations

from bench.wrong import truth as t
from bench.wrong.truth import Truth, by_name, value_of

TRUTHS = by_name(
    {
        t.ROUND_TRIP: "round-trip condvar-round-trip own-round-trip",
        t.CALLS_IN: "half-a-round-trip pipe-half-round-trip",
        t.NET_NOT_DIVIDED: "not-halved pipe-not-halved",
        t.SUBTRACTED_ONCE: "subtracted-once",
        Truth((), r"that is [\d,.]+ / 2 - [\d,.]+\. It should be"): "subtracted-four-times",
        value_of("(self-pipe|the calls alone)"): "self-pipe",
        t.THOUSAND: "us-for-ns",
        t.TICKS: "ticks-for-ns",
        value_of("pipe"): "pipe-for-condvar",
        Truth((), r"claim"): "claimed",
        Truth(("cost-of-many-for-one",), r"whole run|in all"): "counted-in-all",
        t.UPSIDE_DOWN: "exchanges-per-switch ratio-inverted",
        value_of("own-alone"): "own-alone",
        Truth(("never-slept", "not-woken"), r"sched_yield|yield"): "c-yields",
        Truth(("never-slept", "not-woken"), r"spin|time slice"): "c-spins",
        Truth(("not-woken",), r"usleep|polls?\b|sleeps and looks"): "c-sleeps",
        Truth(("not-woken",), r"time-?out|timed ?wait|polls?\b"): "c-times-out",
        Truth(("signal-under-the-lock",)): "c-signal-under-lock signal-inside",
        Truth(("never-slept", "not-woken"), r"without waiting|does not wait"): "c-takes-the-turn",
        Truth(("more-than-the-operation",)): "c-long-work c-calls-in-between",
        Truth(("mechanisms-differ",)): "ratio-by-condvar",
        t.PERCENT: "ratio-in-percent",
        t.NOT_OF_THIS_RUN: "ratio-of-report-d thread-for-process count-of-condvar",
        t.AGAINST_DATA: "dearer-against-data",
        Truth(("other-recording", "two-cpus-not-one")): "two-cpus",
        t.OTHER_VARIANT: "sockets yield-for-condvar",
        Truth(("cpu-time-misses-the-other-side",)): "cpu-time-clock",
        Truth(("creation-counted-as-switch",)): "fork-inside",
        t.TRACED: "under-strace",
        t.FEW: "twelve-samples",
        Truth(("other-recording", "lock-convoy")): "naive-for-condvar",
        t.EDITED: "rows-deleted",
        Truth(("not-woken",), r"before it sleeps|spin"): (
            "c-spins-then-sleeps c-asks-then-sleeps c-pauses-then-sleeps"
        ),
        t.MORE_TIMED: "c-pauses-in-wake",
    }
)
