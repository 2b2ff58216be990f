"""What would be a true naming of each cause.

Written after the list of submissions, which knows no code of the catalogue.
"""

from __future__ import annotations

from dataclasses import dataclass

from bench.wrong.labs import LABS, slips


@dataclass(frozen=True)
class Truth:
    """Any of these codes names the cause truly, or a finding whose words match `says`."""

    codes: tuple[str, ...] = ()
    says: str = ""


def by_name(groups: dict[Truth, str]) -> dict[str, Truth]:
    """The truth of each case, from names of cases separated by blanks. Names appear once."""
    table: dict[str, Truth] = {}
    for truth, names in groups.items():
        for name in names.split():
            if name in table:
                raise ValueError(f"two truths for {name}")
            table[name] = truth
    return table


def value_of(variant: str) -> Truth:
    """The value is that of another variant of the run."""
    return Truth(
        ("two-results-for-one",), rf"(cost|overhead|result|value|figure|count) of {variant}\b"
    )


#: Nobody could say more than that the value is not this run's.
NOT_OF_THIS_RUN = Truth(("figure-not-from-recording",), "another run|other run|published")
THOUSAND = Truth(("unit-slip",), "factor of 1,?000")
TICKS = Truth(("ticks-for-nanoseconds",), r"value in ticks")
NS_CALLED_TICKS = Truth(("ticks-for-nanoseconds",), r"value in ns")
CYCLES = Truth(
    ("cycles-for-ticks", "cycles-for-nanoseconds"),
    r"value in (core )?cycles(,| and) called|off by the frequency of the core",
)
TICKS_CALLED_CYCLES = Truth(("cycles-for-ticks",), r"value in ticks(,| and) called")
NS_CALLED_CYCLES = Truth(("cycles-for-nanoseconds",), r"value in ns(,| and) called")
HALF = Truth(("half-or-double",), r"half of")
NOT_HALVED = Truth(("half-or-double",), r"(not|without) (halved|divided)|twice")
UPSIDE_DOWN = Truth(("ratio-upside-down",), r"upside down|other way round|inverse")
WHOLE_SAMPLE = Truth(("cost-of-many-for-one", "unclear-divisor"), r"whole sample")
INTERCEPT = Truth(("timer-not-subtracted",), r"intercept|beginning of (the|your) line|overhead of")
SLOPE = Truth((), r"slope|cost of (one|an) addition|each addition")
PERCENT = Truth((), r"percent|hundred times|100 times")
DIFFERENCE = Truth((), r"difference|subtract")
RATIO = Truth((), r"(is|as) (a|the) ratio|divided by|one over the other")
OTHER_VARIANT = Truth(("other-recording",), "")
FEW = Truth(("too-few-samples", "one-process"), "")
EDITED = Truth(("recording-altered",), r"edited|altered|changed after")
AGAINST_DATA = Truth(
    ("conclusion-against-table", "trend-inside-the-noise", "cause-not-isolated"), ""
)
NO_SUCH_CHOICE = Truth(
    (), r"You chose [\d.-]+[;.] (there are|The lab lists) the conclusions|no (conclusion|choice)"
)
COLUMN = Truth(("cost-of-many-for-one",), r"whole sample|mean of the whole column")
#: The formula as it was computed; it is told beside the one that it should be.
NET_NOT_DIVIDED = Truth(("half-or-double",), r"that is [\d,.]+ - \d x [\d,.]+\. It should be \(")
SUBTRACTED_ONCE = Truth((), r"that is \([\d,.]+ - [\d,.]+\) / \d\. It should be .* - \d x")
LOOP = Truth(("loop-counted-along",), r"loop.* (not|was not) subtracted")
CALLS_IN = Truth(("read-and-write-counted-along", "touching-counted-as-switch"), "")
ROUND_TRIP = Truth(
    ("read-and-write-counted-along", "unclear-divisor", "cost-of-many-for-one"), "round trip"
)
OPTIMISATION = Truth(("optimisation-levels-mixed",), "")
TRACED = Truth(("tracer-stops-it",), r"trace[rd]|strace|debugger")
C_MISSING = Truth(
    ("no-c-to-read",), r"\.c\b.*(missing|absent|not there|not handed in)|without its C|C source"
)
C_CHANGED = Truth(("no-c-to-read",), r"hash|not the C|changed since|another C|C source")
FAILS = Truth(
    ("failing-call-timed", "wrong-registers"), r"EBADF|EFAULT|fails|failed|refused|did not work"
)
OTHER_CALL = Truth(
    ("other-recording", "other-call-than-asked"),
    r"another (system )?call|other (system )?call|getppid|not (a |the )?read",
)
FIRST_ONLY = Truth(
    ("library-call-not-system-call", "work-optimised-away"),
    r"never enter|not entered|got (0|no) system calls?\b",
)
#: More is timed than the lab asks for, by what it costs.
MORE_TIMED = Truth(
    ("more-than-the-operation", "more-between-the-readings"), r"more than the (one )?operation"
)
INSTRUMENTED = Truth((), r"-finstrument-functions|-pg\b|-fsanitize")

#: Of the slips that all labs have in common, by their causes.
_OF_SLIPS: dict[str, Truth] = {
    slips.LOST_POINT: Truth((), "decimal point"),
    slips.GAINED_POINT: Truth((), "decimal point"),
    slips.THOUSAND: THOUSAND,
    slips.THOUSANDTH: THOUSAND,
    slips.TWICE: Truth(("half-or-double",), r"\btwice"),
    slips.HALF: HALF,
    slips.OVER: Truth(
        ("ratio-upside-down",), r"upside down|turned over|one over|1 /|1,000 /|e\d+ /"
    ),
    slips.MOST: Truth((), r"longest|largest|maximum"),
    slips.DIVIDED: Truth((), r"divided (once more|again|twice)|/ \d+, divided"),
    slips.PRINTED: Truth((), r"report [A-E]\b|published|prints"),
    slips.PERCENT: PERCENT,
    slips.CALLED_CYCLES: TICKS_CALLED_CYCLES,
    slips.PARENTHESES: Truth((), r"parenthes|that is [\w.,-]+ - [\w.,-]+ / \d"),
    slips.OTHER_IN_CYCLES: Truth((), r"cost of [\w-]+ in (core |thousand )?cycles|in cycles"),
    "the value is another row of the run, in ticks": Truth((), r"cost of args12 in ticks"),
    "the value is another row of the run": Truth(
        ("two-results-for-one",), r"cost of (args9|random-64k)\b"
    ),
    "one number is in core cycles and the other in ns": Truth(("ratio-of-unlike-units",)),
}

_ONLY_READ = Truth(("read-not-written",))
_NOT_BROUGHT = Truth(("page-not-brought",))

#: By the number of the lab: of its cases.
_OF_LAB: dict[str, dict[Truth, str]] = {
    "01": {
        TICKS: "ticks-for-ns",
        CYCLES: "cycles-for-ns",
        THOUSAND: "us-for-ns",
        SLOPE: "slope monotonic-slope",
        HALF: "one-reading",
        Truth(("work-counted-as-timer",), "additions|shortest with 64 operations"): (
            "sample-of-64 end-of-the-line"
        ),
        Truth(
            ("work-counted-as-timer", "cold-samples-in-mean"), r"mean of the whole column"
        ): "mean-of-column",
        NOT_OF_THIS_RUN: "published ratio-rounded-away",
        NS_CALLED_TICKS: "step-in-ns",
        Truth(("two-results-for-one",), r"is the overhead"): "step-is-overhead",
        Truth(("minimum-taken",), r"(shortest|smallest|empty) sample"): "step-is-shortest-sample",
        Truth(("half-or-double",), r"two steps|twice the step"): "step-doubled",
        value_of("process-cpu"): "monotonic-is-process-cpu",
        value_of("fenced"): "monotonic-is-fenced",
        Truth(
            ("less-than-nothing", "stale-constant"), r"monotonic - fenced"
        ): "monotonic-less-fenced",
        UPSIDE_DOWN: "ratio-inverted",
        Truth(("two-results-for-one",), r"over monotonic|monotonic"): "ratio-to-monotonic",
        PERCENT: "ratio-in-percent",
        DIFFERENCE: "difference-for-ratio",
        Truth(("work-counted-as-timer",), r"whole samples|additions"): "ratio-of-means",
        TICKS_CALLED_CYCLES: "own-in-ticks",
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
        OTHER_VARIANT: "naive-for-fenced value-of-the-other-run",
        FEW: "twenty-samples",
        EDITED: "rows-deleted",
        Truth(("no-recording",)): "no-recording",
        C_MISSING: "own-c-left-out",
        Truth(("more-between-the-readings", "more-than-the-operation")): (
            "c-fence-each-64 c-looks-each-64"
        ),
        Truth(("work-optimised-away",), r"no addition|folded|left (them )?out"): (
            "c-folded c-sum-of-constants"
        ),
    },
    "02": {
        Truth(("first-sample-lost",), r"later (call|sample)s?"): "warm",
        Truth(("cold-samples-in-mean",)): "mean-of-all",
        RATIO: "first-over-later",
        value_of("system-call"): "system-call",
        value_of("lazy-binding"): "lazy-binding",
        TICKS: "call-in-ticks cache-in-ticks",
        Truth((), r"largest|maximum|extreme"): "worst",
        value_of("page-present"): "page-present",
        WHOLE_SAMPLE: "whole-sample",
        THOUSAND: "fault-in-us",
        CYCLES: "fault-in-cycles",
        value_of("instruction-cache"): "instruction-cache",
        value_of("data-cached"): "cache-baseline",
        Truth((), r"data-cache \+ instruction-cache"): "added-up",
        value_of("unprepared"): "unprepared",
        Truth((), r"unprepared - own|difference|subtract"): "saved",
        PERCENT: "share",
        Truth(("page-still-missing", "other-page-touched")): (
            "c-empty c-other-page c-next-page c-pointer-only c-address-of c-prefetch"
            " c-own-function c-sleeps c-madvise"
        ),
        Truth(("first-sample-lost",), r"calls the code"): "c-calls-it c-calls-twice",
        Truth(("cause-not-isolated", "conclusion-against-table")): "main-memory neither",
        NO_SUCH_CHOICE: "no-such-number a-share",
        Truth(("first-sample-lost",), "warm-up"): "warmed-up",
        FEW: "one-process",
        NOT_OF_THIS_RUN: "load-of-another-run",
        OTHER_VARIANT: "fault-by-cold",
        Truth(("recording-altered", "first-sample-lost"), "edited"): "cold-rows-deleted",
    },
    "03": {
        value_of("invalid"): "floor-for-call own-floor",
        Truth((), r"(getppid|setuid|gettimeofday-trap) - invalid\b"): (
            "less-the-floor setuid-less-floor net-of-the-floor"
        ),
        COLUMN: "sample-not-divided",
        TICKS: "ticks-for-ns",
        THOUSAND: "unit-of-report-c",
        CYCLES: "cycles-for-ns",
        value_of("loop"): "loop",
        INTERCEPT: "intercept",
        DIFFERENCE: "difference",
        Truth((), r"getppid - invalid\."): "difference-for-floor",
        value_of("getppid"): "getppid-for-floor",
        HALF: "one-way",
        value_of("setuid-refused"): "refused",
        Truth(("two-results-for-one",), r"\(setuid \+ setuid-refused\) / 2"): "mean-of-both",
        UPSIDE_DOWN: "inverted",
        Truth(("two-results-for-one",), r"gettimeofday-trap / invalid"): "to-the-floor",
        Truth(
            (), r"less one|minus one|minus 1|\(gettimeofday-trap - gettimeofday-vdso\) /"
        ): "more-than",
        RATIO: "own-over-floor",
        FAILS: (
            "c-registers-of-report-c c-minus-one c-unlooked c-failure-taken-for-success"
            " c-number-missing"
        ),
        OTHER_CALL: "c-getppid c-writes",
        Truth((), r"4,?096|bytes"): "c-reads-4096",
        Truth(("cost-of-many-for-one",), r"two calls|twice|got 2 (system )?calls"): "c-twice",
        Truth(("cost-of-many-for-one",), r"\bopen\b|close|3 (system )?calls"): "c-opens-each-time",
        FIRST_ONLY: "c-remembers c-no-trap c-spins",
        Truth(("vdso-not-system-call", "library-call-not-system-call")): "c-library-time",
        Truth(("call-not-by-hand",)): "c-by-syscall",
        AGAINST_DATA: "less-than-half cheaper-than-nothing",
        NO_SUCH_CHOICE: "share-for-number",
        OTHER_VARIANT: "getpid-for-getppid only-the-refused naive-for-getppid",
        TRACED: "under-strace",
        FEW: "sixteen-samples",
        NOT_OF_THIS_RUN: "ratio-across-runs",
        EDITED: "rows-smoothed",
        C_CHANGED: "c-changed-afterwards",
        MORE_TIMED: "c-fenced c-pauses c-looks-at-the-clock",
        INSTRUMENTED: "instrumented",
    },
    "04": {
        TICKS_CALLED_CYCLES: "ticks-for-cycles rise-in-ticks",
        NS_CALLED_CYCLES: "ns-for-cycles ns-six own-in-ns",
        LOOP: "loop-and-call whole-turn own-turn",
        value_of("loop"): "loop",
        INTERCEPT: "intercept",
        COLUMN: "one-sample",
        NOT_OF_THIS_RUN: "published optimised-value optimised-rise",
        value_of("args12"): "args12",
        Truth(("less-than-nothing",), r"args6 - args0\b"): "six-less-none",
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
        OPTIMISATION: ("c-plain-flags-o0 five-and-six-by-o2 args0-at-o0 args6-at-o2"),
        AGAINST_DATA: "inlined-costs-the-same inlined-costs-half against-the-data",
        Truth(("unit-unknown",), r"by number"): "inlined-in-cycles",
        Truth(("below-the-clock", "timer-not-subtracted")): "one-call",
        Truth(("too-few-samples", "one-process", "timer-not-subtracted")): "twelve-samples",
        Truth((), r"earlier run|older|run before|measured again"): "old-figure",
        EDITED: "rows-deleted",
        MORE_TIMED: ("c-pauses-flags-o2 c-fenced-flags-o2 c-reads-counter-flags-o2"),
        INSTRUMENTED: "c-right-flags-o2-finstrument-functions- profiled",
    },
    "05": {
        THOUSAND: "ns-for-us us-for-ms own-in-ns",
        value_of("vfork-wait"): "vfork",
        Truth(
            ("cost-of-many-for-one", "cold-samples-in-mean"), r"mean of the whole column"
        ): "mean-sample",
        WHOLE_SAMPLE: "sample-of-several",
        NOT_OF_THIS_RUN: "own-fork ratio-of-report-a sixteen small-parent",
        value_of("fork-wait"): "fork-for-thread",
        TICKS: "thread-in-ticks",
        Truth((), r"fork-wait - pthread-wait"): "saved-by-thread",
        DIFFERENCE: "added",
        HALF: "thread-half",
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
        UPSIDE_DOWN: "ratio-inverted",
        Truth(("two-results-for-one", "mechanisms-differ"), r"over vfork|vfork"): "ratio-to-vfork",
        PERCENT: "ratio-in-percent",
        AGAINST_DATA: "cause-against-data",
        NO_SUCH_CHOICE: "cause-12",
        Truth(("other-recording", "child-left-behind", "creation-without-its-end")): (
            "fork-without-wait thread-without-join"
        ),
        Truth(("other-recording", "two-cpus-not-one")): "unpinned",
        Truth(("memory-not-resident",)): "memory-untouched",
        Truth((), r"another variant's memory|one size of memory"): "fork-beside-64mb",
        FEW: "nine-samples",
        EDITED: "rows-smoothed",
        MORE_TIMED: "c-looks-until-it-has-ended c-pauses c-stack-filled-thirty-times",
        INSTRUMENTED: "sanitized",
    },
    "06": {
        ROUND_TRIP: "round-trip condvar-round-trip own-round-trip",
        CALLS_IN: "half-a-round-trip pipe-half-round-trip",
        NET_NOT_DIVIDED: "not-halved pipe-not-halved",
        SUBTRACTED_ONCE: "subtracted-once",
        Truth((), r"that is [\d,.]+ / 2 - [\d,.]+\. It should be"): "subtracted-four-times",
        value_of("(self-pipe|the calls alone)"): "self-pipe",
        THOUSAND: "us-for-ns",
        TICKS: "ticks-for-ns",
        value_of("pipe"): "pipe-for-condvar",
        Truth((), r"claim"): "claimed",
        Truth(("cost-of-many-for-one",), r"whole run|in all"): "counted-in-all",
        UPSIDE_DOWN: "exchanges-per-switch ratio-inverted",
        value_of("own-alone"): "own-alone",
        Truth(("never-slept", "not-woken"), r"sched_yield|yield"): "c-yields",
        Truth(("never-slept", "not-woken"), r"spin|time slice"): "c-spins",
        Truth(("not-woken",), r"usleep|polls?\b|sleeps and looks"): "c-sleeps",
        Truth(("not-woken",), r"time-?out|timed ?wait|polls?\b"): "c-times-out",
        Truth(("signal-under-the-lock",)): "c-signal-under-lock signal-inside",
        Truth(("never-slept", "not-woken"), r"without waiting|does not wait"): "c-takes-the-turn",
        Truth(("more-than-the-operation",)): "c-long-work c-calls-in-between",
        Truth(("mechanisms-differ",)): "ratio-by-condvar",
        PERCENT: "ratio-in-percent",
        NOT_OF_THIS_RUN: "ratio-of-report-d thread-for-process count-of-condvar",
        AGAINST_DATA: "dearer-against-data",
        Truth(("other-recording", "two-cpus-not-one")): "two-cpus",
        OTHER_VARIANT: "sockets yield-for-condvar",
        Truth(("cpu-time-misses-the-other-side",)): "cpu-time-clock",
        Truth(("creation-counted-as-switch",)): "fork-inside",
        TRACED: "under-strace",
        FEW: "twelve-samples",
        Truth(("other-recording", "lock-convoy")): "naive-for-condvar",
        EDITED: "rows-deleted",
        Truth(("not-woken",), r"before it sleeps|spin"): (
            "c-spins-then-sleeps c-asks-then-sleeps c-pauses-then-sleeps"
        ),
        MORE_TIMED: "c-pauses-in-wake",
    },
    "07": {
        Truth(
            ("touching-counted-as-switch",), r"baselines were not subtracted"
        ): "indirect-of-hops",
        CALLS_IN: "hop hop-with-set own-hop touching-in-the-switch",
        ROUND_TRIP: "once-round",
        Truth(("unclear-divisor", "cost-of-many-for-one"), NET_NOT_DIVIDED.says): "not-divided",
        Truth(("unclear-divisor", "cost-of-many-for-one"), r"eight (switches|times)|8 x \("): (
            "indirect-of-eight"
        ),
        value_of("threads-8-0"): "threads-for-processes",
        NOT_OF_THIS_RUN: "one-megabyte",
        THOUSAND: "ns-for-us own-in-ns indirect-in-ns",
        HALF: "divided-by-sixteen",
        SUBTRACTED_ONCE: "alone-once",
        value_of("alone-256k"): "reading-alone",
        Truth((), r"processes-8-256k - processes-8-0"): "indirect-for-whole",
        TICKS: "ticks-in-thousands",
        value_of("own-0"): "own-without-set",
        Truth(("working-set-not-touched", "working-set-in-part"), r"not used|not read"): (
            "c-not-kept c-half c-every-second-line c-lines-as-bytes c-one-a-page c-first-byte"
            " c-stride-of-ints c-own-array c-small-array c-address-only c-size-of-pointer"
            " c-last-only c-grows untouched"
        ),
        RATIO: "indirect-as-ratio",
        Truth(("less-than-nothing",), r"other way round|sign|upside down"): "indirect-negative",
        Truth((), r"sum of|added"): "sum-for-difference",
        AGAINST_DATA: "cause-against-data cause-nothing",
        NO_SUCH_CHOICE: "cause-0",
        OTHER_VARIANT: "two-for-eight own-for-whole",
        FEW: "nine-samples",
        EDITED: "rows-smoothed",
        MORE_TIMED: "c-twice-the-memory c-pauses-each-line",
    },
    "08": {
        Truth(("figure-not-from-recording",), r"repaired|does not follow"): (
            "a-value-of-the-twin e-less-the-clock a-still-broken e-by-hand"
        ),
        NOT_OF_THIS_RUN: "a-any-number d-as-printed c-repaired-by-hand",
        THOUSAND: "b-in-us c-as-printed c-repaired-in-us",
        TICKS: "e-in-ticks a-repaired-in-ticks",
        ROUND_TRIP: "d-round-trip",
        CALLS_IN: "d-half-round-trip",
        LOOP: "e-with-the-loop",
        Truth(("vdso-not-system-call", "call-not-by-hand")): "c-as-it-was",
        Truth(("call-not-by-hand",)): "c-by-syscall",
        Truth(("library-call-beside-trap",)): "c-library-beside",
        FAILS: "c-bad-pointer c-unlooked c-wrong-number",
        Truth(("call-without-its-argument",), r"argument|pointer|address"): "c-null-pointer",
        Truth((), r"call number of (getppid|clock_gettime)|(an)?other (system )?call"): (
            "c-other-number c-clock-gettime"
        ),
        Truth(("cost-of-many-for-one",), r"two calls|twice|got 2 system calls"): "c-twice",
        FIRST_ONLY: "c-cached c-cached-and-waits",
        Truth(("conclusion-against-table",)): (
            "a-suspect-1 a-suspect-3 b-suspect-2 c-suspect-1 d-suspect-3 e-suspect-2"
        ),
        NO_SUCH_CHOICE: "e-suspect-5",
        Truth(("library-call-not-system-call", "other-recording")): "a-broken-for-repaired",
        Truth(("wrong-registers", "other-recording")): "c-broken-for-repaired",
        Truth(("lock-convoy", "other-recording")): "d-broken-for-repaired",
        Truth(("timer-not-subtracted", "other-recording")): "e-broken-for-repaired",
        Truth(("mistake-not-reproduced",)): "b-repaired-for-broken",
        OTHER_VARIANT: "d-yields c-by-library b-twin-for-own",
        FEW: "a-twelve-samples",
        EDITED: "a-rows-deleted",
        MORE_TIMED: "c-pauses c-fenced",
    },
    "09": {
        TICKS_CALLED_CYCLES: "ticks-for-cycles",
        NS_CALLED_CYCLES: "ns-for-cycles",
        value_of("random-64k"): "second-cache",
        NOT_HALVED: "twice",
        HALF: "halved",
        value_of("ordered-128m"): "by-address",
        NOT_OF_THIS_RUN: "naive",
        TICKS: "ticks-for-ns own-in-ticks",
        THOUSAND: "us-for-ns own-in-us",
        DIFFERENCE: "difference-of-orders",
        Truth(("order-foreseen",)): "c-in-order c-backwards c-every-seventh foreseen",
        Truth(("cycle-too-short",)): (
            "c-drawn c-swapped-with-any c-stays c-there-and-back c-half c-first-page"
            " c-wraps-early c-always-zero short-cycle"
        ),
        Truth(("memory-never-written",)): "unwritten",
        Truth(("loads-overlap",)): "overlapping",
        Truth(("huge-pages-unnoticed",)): "huge-pages",
        AGAINST_DATA: "order-against-data order-nothing",
        NO_SUCH_CHOICE: "order-0",
        OTHER_VARIANT: "smaller-set own-for-memory",
        FEW: "nine-samples",
        EDITED: "rows-smoothed",
    },
    "10": {
        value_of("zero-page"): "first-read",
        value_of("populate"): "by-populate",
        value_of("prefaulted"): "write-after-populate",
        TICKS: "ticks-for-ns copy-in-ticks bring-in-ticks",
        CYCLES: "cycles-for-ns",
        THOUSAND: "us-for-ns file-in-us",
        COLUMN: "whole-sample all-pages",
        Truth((), r"4,?096|bytes of a page"): "for-a-byte",
        Truth((), r"anonymous - zero-page|subtract"): "less-first-read",
        Truth((), r"copy-on-write - anonymous|subtract"): "only-the-copying",
        Truth((), r"unprepared - own|subtract|difference"): "what-it-saves",
        Truth((), r"sum of|added|anonymous \+ zero-page"): "read-and-write",
        NOT_OF_THIS_RUN: "predicted file-of-another-day",
        value_of("anonymous"): "new-for-copied",
        RATIO: "times-for-ns",
        Truth((), r"neighbours|divided by 16|\b16 pages"): "for-each-neighbour",
        value_of("file-touched"): "reads-without-fault",
        # On some runs it is below zero, which is said too.
        Truth((*INTERCEPT.codes, "less-than-nothing"), INTERCEPT.says): "intercept",
        value_of("own"): "writes-after",
        value_of("unprepared"): "writes-without",
        _ONLY_READ: "c-reads c-populate-read only-read",
        _NOT_BROUGHT: (
            "c-empty c-first-bytes c-cache-lines c-first-page c-last-page c-every-second c-half"
            " c-one-short c-from-one c-willneed c-huge c-count-for-bytes c-given-back"
            " c-maps-elsewhere c-own-buffer c-only-once c-child-writes c-prefetch c-pointers-only"
        ),
        Truth(("more-than-the-operation",)): (
            "c-reads-first c-twice-over c-more-pages c-every-byte c-sleeps c-call-each"
            " c-filled-thrice c-looks-at-the-clock c-pauses c-twice-the-memory"
        ),
        Truth(("page-there-before",)): "recycled",
        Truth(("neighbours-mapped-along",)): "neighbours",
        AGAINST_DATA: "prefault-against-data prefault-nothing",
        NO_SUCH_CHOICE: "prefault-0 prefault-times",
        OTHER_VARIANT: "by-naive-run by-own-run copy-by-kinds",
        FEW: "nine-samples one-process-only",
        EDITED: "rows-smoothed rows-deleted",
        Truth(("recording-altered", "read-not-written")): "reads-renamed",
        C_MISSING: "c-lost",
        C_CHANGED: "c-commented",
    },
    "11": {
        LOOP: "loop-left-in other-with-loop tested-with-loop",
        value_of("baseline"): "only-the-loop",
        INTERCEPT: "intercept",
        TICKS: "ticks-for-ns tested-in-ticks",
        CYCLES: "cycles-for-ns",
        THOUSAND: "us-for-ns other-in-ps",
        COLUMN: "whole-column",
        value_of("other"): "other-for-operation",
        value_of("operation"): "operation-for-other",
        Truth((), r"operation - other|subtract"): "more-than-other",
        Truth((), r"sum of|added|operation \+ other"): "both-together",
        NOT_OF_THIS_RUN: "predicted",
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
        AGAINST_DATA: "claim-against-data claim-undecided threat-against-data",
        NO_SUCH_CHOICE: "claim-0",
        Truth(("work-optimised-away", "less-than-nothing")): "other-is-nothing",
        FAILS: "other-is-refused",
        # Its value is a sample divided by its operations.
        Truth(("too-few-samples", "one-process", "timer-not-subtracted")): "twelve-samples",
        FEW: "one-process-only",
        Truth(("not-one-change",)): "own-for-tested",
        EDITED: "rows-deleted",
        C_MISSING: "c-lost",
        C_CHANGED: "c-commented",
    },
}

#: By lab and case.
TRUTHS: dict[str, dict[str, Truth]] = {
    lab.lab: by_name(_OF_LAB[lab.lab[:2]])
    | {case.name: _OF_SLIPS[case.cause] for case in lab.cases if case.cause in _OF_SLIPS}
    for lab in LABS
}
