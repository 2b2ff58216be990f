"""What students read wrongly off right runs in lab 11, a question of their own."""

from __future__ import annotations

from bench.wrong.case import values
from bench.wrong.student import Student, own_plan

COST, OTHER, TESTED = "own-question-cost", "own-question-other", "own-question-tested"
CLAIM, THREAT = "own-question-claim", "own-question-threat"

WORDS = "own_question --variant operation,other --samples 800"

RUNS = {
    "own": lambda: own_plan(f"{WORDS} --batch 64,128,256,512", "11/right.c"),
    "tested": lambda: own_plan(
        "own_question --variant operation --samples 800 --batch 32,64,96,128", "11/right.c"
    ),
}

#: The run by which each figure is handed in.
RIGHT = {COST: "own", OTHER: "own", TESTED: "tested"}


def ns(s: Student, run: str = "own", variant: str = "operation") -> float:
    return s[run].value(variant)


_COST = (
    (
        "loop-left-in",
        "took the slope of the plot",
        "the baseline was not subtracted",
        lambda s: s["own"].slope("operation"),
    ),
    (
        "only-the-loop",
        "took the slope of the baseline",
        "the value is that of the baseline",
        lambda s: s["own"].baseline("operation"),
    ),
    (
        "intercept",
        "took the intercept of the line",
        "the intercept is what the timer costs, asked is the slope",
        lambda s: s["own"].intercept("operation"),
    ),
    (
        "ticks-for-ns",
        "took the value in ticks and wrote ns",
        "the value is in ticks of the counter",
        lambda s: s["own"].value("operation", "ticks"),
    ),
    (
        "cycles-for-ns",
        "took the value in core cycles and wrote ns",
        "the value is in core cycles",
        lambda s: s["own"].value("operation", "cycles"),
    ),
    (
        "us-for-ns",
        "wrote the nanoseconds as microseconds, and then as ns",
        "the value is off by a factor of a thousand",
        lambda s: ns(s) * 1000,
    ),
    (
        "whole-column",
        "took the mean of the column ticks, in ns",
        "the value is a whole sample of many operations",
        lambda s: float(s["own"].column("operation").mean()),
    ),
    (
        "other-for-operation",
        "took the second line printed",
        "the value is that of what the operation is compared with",
        lambda s: ns(s, variant="other"),
    ),
    (
        "more-than-other",
        "subtracted what the operation is compared with",
        "what it is compared with was subtracted too",
        lambda s: ns(s) - ns(s, variant="other"),
    ),
    (
        "both-together",
        "added the two costs",
        "the value is the sum of two costs",
        lambda s: ns(s) + ns(s, variant="other"),
    ),
    (
        "predicted",
        "handed in the prediction",
        "the value is not of this run",
        lambda s: 5.0 if ns(s) < 4 else 1.7,
    ),
)

_OTHER = (
    (
        "other-with-loop",
        "took the slope of the other line",
        "the baseline was not subtracted",
        lambda s: s["own"].slope("other"),
    ),
    (
        "operation-for-other",
        "took the first line printed again",
        "the value is that of the operation",
        lambda s: ns(s),
    ),
    (
        "other-in-ps",
        "wrote picoseconds as ns",
        "the value is off by a factor of a thousand",
        lambda s: ns(s, variant="other") * 1000,
    ),
)

_TESTED = (
    (
        "tested-with-loop",
        "took the slope of the plot",
        "the baseline was not subtracted",
        lambda s: s["tested"].slope("operation"),
    ),
    (
        "tested-in-ticks",
        "took the value in ticks and wrote ns",
        "the value is in ticks of the counter",
        lambda s: s["tested"].value("operation", "ticks"),
    ),
)

VALUES = (
    *values(COST, "own", "ns", _COST),
    *values(OTHER, "own", "ns", _OTHER),
    *values(TESTED, "tested", "ns", _TESTED),
)
