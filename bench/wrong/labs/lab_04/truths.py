"""The causes of lab 04 and their true namings."""

from __future__ import annotations

from bench.wrong import truth as t
from bench.wrong.truth import Truth, by_name, value_of

TRUTHS = by_name(
    {
        t.TICKS_CALLED_CYCLES: "ticks-for-cycles rise-in-ticks",
        t.NS_CALLED_CYCLES: "ns-for-cycles ns-six own-in-ns",
        t.LOOP: "loop-and-call whole-turn own-turn",
        value_of("loop"): "loop",
        t.INTERCEPT: "intercept",
        t.COLUMN: "one-sample",
        t.NOT_OF_THIS_RUN: "published optimised-value optimised-rise",
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
        t.OPTIMISATION: ("c-plain-flags-o0 five-and-six-by-o2 args0-at-o0 args6-at-o2"),
        t.AGAINST_DATA: "inlined-costs-the-same inlined-costs-half against-the-data",
        Truth(("unit-unknown",), r"by number"): "inlined-in-cycles",
        Truth(("below-the-clock", "timer-not-subtracted")): "one-call",
        Truth(("too-few-samples", "one-process", "timer-not-subtracted")): "twelve-samples",
        Truth((), r"earlier run|older|run before|measured again"): "old-figure",
        t.EDITED: "rows-deleted",
        t.MORE_TIMED: ("c-pauses-flags-o2 c-fenced-flags-o2 c-reads-counter-flags-o2"),
        t.INSTRUMENTED: "c-right-flags-o2-finstrument-functions- profiled",
    }
)
