"""What students read wrongly off right runs in lab 02, the first time."""

from __future__ import annotations

import numpy as np

from bench.wrong.case import values
from bench.wrong.student import Student, own_plan, plan

CALL, FAULT, CACHE = (
    "first-iteration-call",
    "first-iteration-page-fault",
    "first-iteration-data-cache",
)
OWN, CAUSE = "first-call-own", "first-iteration-cause"

CAUSES = "page-fault, data-cache, instruction-cache, branch-predictor"
WORDS = "own_first_call --variant own,unprepared --samples 600 --processes 20"

RUNS = {
    "cold": lambda: plan(
        "first_iteration", "call, system-call, lazy-binding", samples=600, processes=20, warmup=0
    ),
    "load": lambda: plan("first_iteration", "data-cache", samples=500, processes=5, warmup=20),
    "causes": lambda: plan("first_iteration", CAUSES, samples=600, processes=8, warmup=20),
    "own": lambda: own_plan(WORDS, "02/right.c"),
}

#: The run by which each figure is handed in.
RIGHT = {CALL: "cold", FAULT: "causes", CACHE: "causes", OWN: "own"}

_CALL = (
    (
        "warm",
        "took the median of the column: what a call costs later",
        "the value is that of later calls; the first ones vanish in a median",
        lambda s: float(np.median(s["cold"].column("call"))),
    ),
    (
        "mean-of-all",
        "took the mean of all 600 samples",
        "a mean over first and later calls",
        lambda s: float(s["cold"].column("call").mean()),
    ),
    (
        "first-over-later",
        "divided the first by a later one: 'so many times slower'",
        "the value is a ratio, not a difference in ns",
        lambda s: s["cold"].column("call").max() / float(np.median(s["cold"].column("call"))),
    ),
    (
        "system-call",
        "took the row system-call of the table",
        "the value is that of the system call, not of the procedure call",
        lambda s: s["cold"].value("system-call"),
    ),
    (
        "lazy-binding",
        "took the row lazy-binding of the table",
        "the value is that of the library function that is bound, not of the call",
        lambda s: s["cold"].value("lazy-binding"),
    ),
    (
        "call-in-ticks",
        "read the ticks off the spreadsheet and wrote ns",
        "the value is in ticks, not in ns",
        lambda s: s["cold"].value("call", "ticks"),
    ),
    (
        "worst",
        "took the largest sample of all 20 processes",
        "the value is the maximum, one process that was disturbed",
        lambda s: float(s["cold"].column("call").max()),
    ),
)

_FAULT = (
    (
        "page-present",
        "took the row of the baseline: the touch of a page that is there",
        "the value is the baseline, a touch without a page fault",
        lambda s: s["causes"].baseline("page-fault"),
    ),
    (
        "whole-sample",
        "took the mean sample, with all its touches",
        "the value is a whole sample of many faults, not one fault",
        lambda s: float(s["causes"].column("page-fault", k=_largest(s, "page-fault")).mean()),
    ),
    (
        "fault-in-us",
        "took the value in microseconds and kept ns",
        "the value is in us, not in ns: a factor of 1000",
        lambda s: s["causes"].value("page-fault", "us"),
    ),
    (
        "fault-in-cycles",
        "took the value in core cycles and wrote ns",
        "the value is in core cycles, not in ns",
        lambda s: s["causes"].value("page-fault", "cycles"),
    ),
)


def _largest(s: Student, variant: str) -> int:
    return s["causes"].batches(variant)[-1]


_CACHE = (
    (
        "instruction-cache",
        "took the row instruction-cache",
        "the value is that of a missed line of code, not of data",
        lambda s: s["causes"].value("instruction-cache"),
    ),
    (
        "cache-baseline",
        "took the load that hits the cache",
        "the value is the baseline, a load from the cache",
        lambda s: s["causes"].baseline("data-cache"),
    ),
    (
        "cache-in-ticks",
        "took the value in ticks and wrote ns",
        "the value is in ticks, not in ns",
        lambda s: s["causes"].value("data-cache", "ticks"),
    ),
    (
        "added-up",
        "added the missed line of code to the missed line of data",
        "the sum of two causes, asked is one",
        lambda s: s["causes"].value("data-cache") + s["causes"].value("instruction-cache"),
    ),
)

_OWN = (
    (
        "unprepared",
        "took the row unprepared",
        "the value is that of the call that nobody got ready",
        lambda s: s["own"].value("unprepared"),
    ),
    (
        "saved",
        "gave what the page saves: unprepared less own",
        "the value is the difference of the two calls, asked is what is left",
        lambda s: s["own"].value("unprepared") - s["own"].value("own"),
    ),
    (
        "share",
        "gave what is left in percent of the whole, as ns",
        "the value is a share in percent, not ns",
        lambda s: 100 * s["own"].value("own") / s["own"].value("unprepared"),
    ),
)

VALUES = (
    *values(CALL, "cold", "ns", _CALL),
    *values(FAULT, "causes", "ns", _FAULT),
    *values(CACHE, "causes", "ns", _CACHE),
    *values(OWN, "own", "ns", _OWN),
)
