"""What students read wrongly off right runs in lab 09, the memory ladder."""

from __future__ import annotations

from bench.wrong.case import values
from bench.wrong.student import Student, own_plan, plan

L1, MEMORY, ORDER, OWN = "ladder-l1", "ladder-memory", "ladder-order", "ladder-own"

RANDOM, ORDERED, SMALL, MIDDLE = "random-128m", "ordered-128m", "random-16k", "random-512k"
WORDS = "own_ladder --variant own-128m,random-128m --samples 240 --unit ns"

RUNS = {
    "naive": lambda: plan("memory_ladder", ORDERED, samples=120),
    "orders": lambda: plan("memory_ladder", f"{RANDOM}, {ORDERED}", samples=240),
    "sizes": lambda: plan("memory_ladder", f"{SMALL}, random-64k, {MIDDLE}", samples=240),
    "own": lambda: own_plan(WORDS, "09/right.c"),
}

#: The run by which each figure is handed in.
RIGHT = {L1: "sizes", MEMORY: "orders", ORDER: "orders", OWN: "own"}


def _first(s: Student, unit: str) -> float:
    return s["sizes"].value(SMALL, unit)


_L1 = (
    (
        "ticks-for-cycles",
        "took the value in ticks and wrote cycles",
        "the value is in ticks, not in core cycles",
        lambda s: _first(s, "ticks"),
    ),
    (
        "ns-for-cycles",
        "took the value in ns and wrote cycles",
        "the value is in ns, not in core cycles",
        lambda s: _first(s, "ns"),
    ),
    (
        "second-cache",
        "took the row of 512k",
        "the value is that of a set of 512 KB",
        lambda s: s["sizes"].value(MIDDLE, "cycles"),
    ),
    (
        "twice",
        "counted a load there and a load back",
        "twice the cost of a load",
        lambda s: 2 * _first(s, "cycles"),
    ),
)

_MEMORY = (
    (
        "by-address",
        "took the row by address",
        "the value is that of the order of addresses",
        lambda s: s["orders"].value(ORDERED, "ns"),
    ),
    (
        "naive",
        "took the value of the naive run",
        "the value is that of another run, by address",
        lambda s: s["naive"].value(ORDERED, "ns"),
    ),
    (
        "ticks-for-ns",
        "took the value in ticks and wrote ns",
        "the value is in ticks, not in ns",
        lambda s: s["orders"].value(RANDOM, "ticks"),
    ),
    (
        "us-for-ns",
        "took the value in us and wrote ns",
        "the value is in us, not in ns: a factor of 1000",
        lambda s: s["orders"].value(RANDOM, "us"),
    ),
    (
        "difference-of-orders",
        "subtracted the order of addresses",
        "the other order was subtracted, asked is one load",
        lambda s: s["orders"].value(RANDOM, "ns") - s["orders"].value(ORDERED, "ns"),
    ),
    (
        "halved",
        "divided by two",
        "half the cost of a load",
        lambda s: s["orders"].value(RANDOM, "ns") / 2,
    ),
)

_OWN = (
    (
        "own-in-ticks",
        "took the value in ticks and wrote ns",
        "the value is in ticks, not in ns",
        lambda s: s["own"].value("own-128m", "ticks"),
    ),
    (
        "own-in-us",
        "took the value in us and wrote ns",
        "the value is in us, not in ns: a factor of 1000",
        lambda s: s["own"].value("own-128m", "us"),
    ),
)

VALUES = (
    *values(L1, "sizes", "cycles", _L1),
    *values(MEMORY, "orders", "ns", _MEMORY),
    *values(OWN, "own", "ns", _OWN),
)
