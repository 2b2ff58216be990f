"""The causes of labs 01 to 04 and their true namings."""

from __future__ import annotations

from bench.wrong import truth as t
from bench.wrong.truth import Truth, by_name, value_of

_TIMER = by_name(
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
        t.WHOLE_SAMPLE: "own-whole-sample",
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
    }
)

_FIRST = by_name(
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

_CALL = by_name(
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
        t.FIRST_ONLY: "c-remembers c-no-trap",
        Truth(("vdso-not-system-call", "library-call-not-system-call")): "c-library-time",
        t.AGAINST_DATA: "less-than-half cheaper-than-nothing",
        t.NO_SUCH_CHOICE: "share-for-number",
        t.OTHER_VARIANT: "getpid-for-getppid only-the-refused naive-for-getppid",
        t.TRACED: "under-strace",
        t.FEW: "sixteen-samples",
        t.NOT_OF_THIS_RUN: "ratio-across-runs",
        t.EDITED: "rows-smoothed",
        t.C_CHANGED: "c-changed-afterwards",
    }
)

_PROCEDURE = by_name(
    {
        t.TICKS_CALLED_CYCLES: "ticks-for-cycles rise-in-ticks",
        t.NS_CALLED_CYCLES: "ns-for-cycles ns-six own-in-ns",
        t.LOOP: "loop-and-call whole-turn own-turn",
        value_of("loop"): "loop",
        t.INTERCEPT: "intercept",
        t.COLUMN: "one-sample",
        t.NOT_OF_THIS_RUN: "published optimised-value optimised-rise",
        value_of("args12"): "args12",
        Truth(("less-than-nothing",), r"args0.*subtracted|less args0"): "six-less-none",
        Truth(("unclear-divisor",), r"that is args12 - args6\. It should"): "not-divided",
        Truth((), r"args12 - args0"): "from-none",
        Truth(
            ("half-or-double", "unclear-divisor"), r"\(args12 - args6\) / 12"
        ): "divided-by-twelve",
        Truth((), r"args12 / 12"): "twelve-over-twelve",
        Truth(("work-optimised-away",), r"inlined|left out|saw no call"): (
            "c-plain-flags-o2 c-always-inline-flags-o2 c-kept-from-merging-flags-o2"
            " c-volatile-variable-flags-o2"
        ),
        Truth((), r"loop in (it|your procedure)|does more|through a loop"): "c-loop-of-50-flags-o2",
        Truth(("cost-of-many-for-one",), r"(two|several|second|[26]|another) (calls?|procedure)"): (
            "c-two-calls-flags-o2 c-recursive-flags-o2"
        ),
        Truth((), r"system call|getppid|does more"): "c-system-call-flags-o2",
        Truth((), r"print|library|does more|system calls?|saw 1\d calls"): "c-prints-flags-o2",
        Truth((), r"divi(sion|de)|does more|(through|to) memory"): "c-division-flags-o2",
        t.OPTIMISATION: ("c-plain-flags-o0 five-and-six-by-o2 args0-at-o0 args6-at-o2"),
        t.AGAINST_DATA: "inlined-costs-the-same inlined-costs-half against-the-data",
        Truth(("unit-unknown",), r"by number"): "inlined-in-cycles",
        Truth(("below-the-clock", "timer-not-subtracted")): "one-call",
        Truth(("too-few-samples", "one-process", "timer-not-subtracted")): "twelve-samples",
        Truth((), r"earlier run|older|run before|measured again"): "old-figure",
        t.EDITED: "rows-deleted",
    }
)

TRUTHS: dict[str, dict[str, Truth]] = {
    "01-timer-overhead": _TIMER,
    "02-first-iteration": _FIRST,
    "03-system-call": _CALL,
    "04-procedure-call": _PROCEDURE,
}
