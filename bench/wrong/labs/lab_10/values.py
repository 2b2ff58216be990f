"""What students read wrongly off right runs in lab 10, the page fault."""

from __future__ import annotations

from bench.wrong.case import values
from bench.wrong.student import Student, own_plan, plan

FAULT, COPY, FILE = "page-fault-anonymous", "page-fault-copy", "page-fault-file"
BRING, PREFAULT = "page-fault-bring", "page-fault-prefault"

WORDS = "own_page_fault --variant bring,own,unprepared --samples 600"
KINDS = "anonymous, zero-page, populate, prefaulted"

RUNS = {
    "naive": lambda: plan("page_fault", "zero-page"),
    "kinds": lambda: plan("page_fault", KINDS),
    "copy": lambda: plan("page_fault", "copy-on-write, anonymous"),
    "file": lambda: plan("page_fault", "file"),
    "own": lambda: own_plan(WORDS, "10/right.c"),
}

#: The run by which each figure is handed in.
RIGHT = {FAULT: "kinds", COPY: "copy", FILE: "file", BRING: "own", PREFAULT: "kinds"}

#: The bytes of a page, and the pages that Linux maps with one page fault of a file.
PAGE, NEIGHBOURS = 4096, 16


def ns(s: Student, run: str, variant: str) -> float:
    return s[run].value(variant)


_FAULT = (
    (
        "first-read",
        "took the row zero-page",
        "the value is that of the first read",
        lambda s: ns(s, "kinds", "zero-page"),
    ),
    (
        "by-populate",
        "took the row populate",
        "the value is that of a page by MAP_POPULATE",
        lambda s: ns(s, "kinds", "populate"),
    ),
    (
        "write-after-populate",
        "took the row prefaulted",
        "the value is that of a write without a page fault",
        lambda s: ns(s, "kinds", "prefaulted"),
    ),
    (
        "ticks-for-ns",
        "took the value in ticks and wrote ns",
        "the value is in ticks, not in ns",
        lambda s: s["kinds"].value("anonymous", "ticks"),
    ),
    (
        "cycles-for-ns",
        "took the value in core cycles and wrote ns",
        "the value is in core cycles, not in ns",
        lambda s: s["kinds"].value("anonymous", "cycles"),
    ),
    (
        "us-for-ns",
        "took the value in us and wrote ns",
        "the value is in us, not in ns: a factor of 1000",
        lambda s: s["kinds"].value("anonymous", "us"),
    ),
    (
        "whole-sample",
        "took the mean of the column ticks, in ns",
        "the value is a whole sample of many page faults",
        lambda s: float(s["kinds"].column("anonymous").mean()),
    ),
    (
        "for-a-byte",
        "divided by the bytes of a page",
        "the cost of a page was divided by its bytes",
        lambda s: ns(s, "kinds", "anonymous") / PAGE,
    ),
    (
        "less-first-read",
        "subtracted the first read",
        "the first read was subtracted, asked is one page fault",
        lambda s: ns(s, "kinds", "anonymous") - ns(s, "kinds", "zero-page"),
    ),
    (
        "read-and-write",
        "added the first read, since a page is read and written",
        "the value is the sum of two page faults",
        lambda s: ns(s, "kinds", "anonymous") + ns(s, "kinds", "zero-page"),
    ),
    (
        "predicted",
        "handed in the prediction",
        "the value is not of this run",
        lambda s: 1234.0,
    ),
)

_COPY = (
    (
        "only-the-copying",
        "subtracted the page fault without a copy",
        "the other page fault was subtracted, asked is the whole one",
        lambda s: ns(s, "copy", "copy-on-write") - ns(s, "copy", "anonymous"),
    ),
    (
        "new-for-copied",
        "took the second row",
        "the value is that of new memory",
        lambda s: ns(s, "copy", "anonymous"),
    ),
    (
        "times-for-ns",
        "handed in how many times dearer the copy is",
        "the value is a ratio of two costs",
        lambda s: ns(s, "copy", "copy-on-write") / ns(s, "copy", "anonymous"),
    ),
    (
        "copy-in-ticks",
        "took the value in ticks and wrote ns",
        "the value is in ticks, not in ns",
        lambda s: s["copy"].value("copy-on-write", "ticks"),
    ),
)

_FILE = (
    (
        "for-each-neighbour",
        "divided by the 16 pages that are mapped",
        "the cost of a page fault was divided by the pages that it maps",
        lambda s: ns(s, "file", "file") / NEIGHBOURS,
    ),
    (
        "reads-without-fault",
        "took the slope of the baseline",
        "the value is that of a read without a page fault",
        lambda s: s["file"].baseline("file"),
    ),
    (
        "file-in-us",
        "took the value in us and wrote ns",
        "the value is in us, not in ns: a factor of 1000",
        lambda s: s["file"].value("file", "us"),
    ),
    (
        "intercept",
        "took the intercept of the line",
        "the value is what the timer costs, asked is the slope",
        lambda s: s["file"].intercept("file"),
    ),
)

_BRING = (
    (
        "writes-after",
        "took the row own",
        "the value is that of the writes after the preparation",
        lambda s: ns(s, "own", "own"),
    ),
    (
        "writes-without",
        "took the row unprepared",
        "the value is that of the writes without a preparation",
        lambda s: ns(s, "own", "unprepared"),
    ),
    (
        "bring-in-ticks",
        "took the value in ticks and wrote ns",
        "the value is in ticks, not in ns",
        lambda s: s["own"].value("bring", "ticks"),
    ),
    (
        "all-pages",
        "took the mean of the column ticks, in ns",
        "the value is a whole sample of many pages",
        lambda s: float(s["own"].column("bring").mean()),
    ),
    (
        "what-it-saves",
        "subtracted what the writes cost afterwards from those without a preparation",
        "the value is what is saved later, not what is paid in advance",
        lambda s: ns(s, "own", "unprepared") - ns(s, "own", "own"),
    ),
)


VALUES = (
    *values(FAULT, "kinds", "ns", _FAULT),
    *values(COPY, "copy", "ns", _COPY),
    *values(FILE, "file", "ns", _FILE),
    *values(BRING, "own", "ns", _BRING),
)
