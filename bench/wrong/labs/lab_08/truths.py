"""The causes of lab 08 and their true namings."""

from __future__ import annotations

from bench.wrong import truth as t
from bench.wrong.truth import Truth, by_name

TRUTHS = by_name(
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
        t.FIRST_ONLY: "c-cached c-cached-and-waits",
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
        t.MORE_TIMED: "c-pauses c-fenced",
    }
)
