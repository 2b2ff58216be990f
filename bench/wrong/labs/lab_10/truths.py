"""The causes of lab 10 and their true namings."""

from __future__ import annotations

from bench.wrong import truth as t
from bench.wrong.truth import Truth, by_name, value_of

#: The touched pages were read only.
ONLY_READ = Truth(("read-not-written",))
#: Pages were missing after the preparation.
NOT_BROUGHT = Truth(("page-not-brought",))
#: All pages were brought, and more was timed besides.
MORE = Truth(("more-than-the-operation",))

TRUTHS = by_name(
    {
        value_of("zero-page"): "first-read",
        value_of("populate"): "by-populate",
        value_of("prefaulted"): "write-after-populate",
        t.TICKS: "ticks-for-ns copy-in-ticks bring-in-ticks",
        t.CYCLES: "cycles-for-ns",
        t.THOUSAND: "us-for-ns file-in-us",
        t.COLUMN: "whole-sample all-pages",
        Truth((), r"4,?096|bytes of a page"): "for-a-byte",
        Truth((), r"anonymous - zero-page|subtract"): "less-first-read",
        Truth((), r"copy-on-write - anonymous|subtract"): "only-the-copying",
        Truth((), r"unprepared - own|subtract|difference"): "what-it-saves",
        Truth((), r"sum of|added|anonymous \+ zero-page"): "read-and-write",
        t.NOT_OF_THIS_RUN: "predicted file-of-another-day",
        value_of("anonymous"): "new-for-copied",
        t.RATIO: "times-for-ns",
        Truth((), r"neighbours|divided by 16|\b16 pages"): "for-each-neighbour",
        value_of("file-touched"): "reads-without-fault",
        # On some runs it is below zero, which is said too.
        Truth((*t.INTERCEPT.codes, "less-than-nothing"), t.INTERCEPT.says): "intercept",
        value_of("own"): "writes-after",
        value_of("unprepared"): "writes-without",
        ONLY_READ: "c-reads c-populate-read only-read",
        NOT_BROUGHT: (
            "c-empty c-first-bytes c-cache-lines c-first-page c-last-page c-every-second c-half"
            " c-one-short c-from-one c-willneed c-huge c-count-for-bytes c-given-back"
            " c-maps-elsewhere c-own-buffer c-only-once c-child-writes c-prefetch c-pointers-only"
        ),
        MORE: (
            "c-reads-first c-twice-over c-more-pages c-every-byte c-sleeps c-call-each"
            " c-filled-thrice c-looks-at-the-clock c-pauses c-twice-the-memory"
        ),
        Truth(("page-there-before",)): "recycled",
        Truth(("neighbours-mapped-along",)): "neighbours",
        t.AGAINST_DATA: "prefault-against-data prefault-nothing",
        t.NO_SUCH_CHOICE: "prefault-0 prefault-times",
        t.OTHER_VARIANT: "by-naive-run by-own-run copy-by-kinds",
        t.FEW: "nine-samples one-process-only",
        t.EDITED: "rows-smoothed rows-deleted",
        Truth(("recording-altered", "read-not-written")): "reads-renamed",
        t.C_MISSING: "c-lost",
        t.C_CHANGED: "c-commented",
    }
)
