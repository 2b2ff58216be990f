"""The causes of labs 05 to 08 and their true namings."""

from __future__ import annotations

from bench.wrong import truth as t
from bench.wrong.truth import Truth, by_name, value_of

_CREATION = by_name(
    {
        t.THOUSAND: "ns-for-us us-for-ms own-in-ns",
        value_of("vfork-wait"): "vfork",
        Truth(
            ("cost-of-many-for-one", "cold-samples-in-mean"), r"mean of the whole column"
        ): "mean-sample",
        t.WHOLE_SAMPLE: "sample-of-three",
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
        Truth((), r"own work|extra work|there is a loop"): "c-long-work",
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
    }
)

_SWITCH = by_name(
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
        Truth(("never-slept", "not-woken"), r"without waiting"): ("c-takes-the-turn"),
        Truth((), r"work of its own|own work|extra work"): "c-long-work",
        Truth((), r"getppid|other (system )?calls|more system calls"): "c-calls-in-between",
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
    }
)

_FOOTPRINT = by_name(
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
    }
)

_TRIAL = by_name(
    {
        Truth(("figure-not-from-recording",), r"repaired|does not follow"): (
            "a-value-of-the-twin e-less-the-clock a-still-broken e-by-hand"
        ),
        t.NOT_OF_THIS_RUN: "a-any-number d-as-printed c-repaired-by-hand",
        t.THOUSAND: "b-in-us c-as-printed c-repaired-in-us",
        t.TICKS: "e-in-ticks a-repaired-in-ticks",
        t.ROUND_TRIP: "d-round-trip",
        t.CALLS_IN: "d-half-round-trip",
        t.LOOP: "e-with-the-loop",
        Truth(("vdso-not-system-call", "call-not-by-hand")): "c-as-it-was",
        Truth(("library-call-beside-trap",)): "c-library-beside",
        t.FAILS: "c-bad-pointer c-unlooked c-wrong-number",
        Truth(("call-without-its-argument",), r"argument|pointer|address"): "c-null-pointer",
        Truth((), r"call number of (getppid|clock_gettime)|(an)?other (system )?call"): (
            "c-other-number c-clock-gettime"
        ),
        Truth(("cost-of-many-for-one",), r"two calls|twice|got 2 system calls"): "c-twice",
        t.FIRST_ONLY: "c-cached",
        Truth(("conclusion-against-table",)): (
            "a-suspect-1 a-suspect-3 b-suspect-2 c-suspect-1 d-suspect-3 e-suspect-2"
        ),
        t.NO_SUCH_CHOICE: "e-suspect-5",
        Truth(("library-call-not-system-call", "other-recording")): "a-broken-for-repaired",
        Truth(("wrong-registers", "other-recording")): "c-broken-for-repaired",
        Truth(("lock-convoy", "other-recording")): "d-broken-for-repaired",
        Truth(("timer-not-subtracted", "other-recording")): "e-broken-for-repaired",
        Truth(("mistake-not-reproduced",)): "b-repaired-for-broken",
        t.OTHER_VARIANT: "d-yields c-by-library b-twin-for-own",
        t.FEW: "a-twelve-samples",
        t.EDITED: "a-rows-deleted",
    }
)

TRUTHS: dict[str, dict[str, Truth]] = {
    "05-task-creation": _CREATION,
    "06-process-and-thread-switch": _SWITCH,
    "07-switch-footprint": _FOOTPRINT,
    "08-five-reports-on-trial": _TRIAL,
}
