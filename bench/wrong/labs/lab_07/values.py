"""What students read wrongly off right runs in lab 07, the switch with a working set."""

from __future__ import annotations

from bench.wrong.case import values
from bench.wrong.student import Student, own_plan, plan

DIRECT, WHOLE, INDIRECT = (
    "footprint-processes-8-0",
    "footprint-processes-8-256k",
    "footprint-indirect",
)
CAUSE, OWN = "footprint-cause", "footprint-own"

P256, P0, T256, T0 = "processes-8-256k", "processes-8-0", "threads-8-256k", "threads-8-0"
WORDS = "own_footprint --variant own-256k,own-0 --samples 240 --unit us"

RUNS = {
    "naive": lambda: plan("switch_footprint", f"{P256}, {P0}, alone-256k, alone-0", samples=240),
    "sizes": lambda: plan(
        "switch_footprint", f"{P0}, processes-8-64k, {P256}, processes-8-1m", samples=120
    ),
    "kinds": lambda: plan("switch_footprint", f"{P256}, {P0}, {T256}, {T0}", samples=300),
    "own": lambda: own_plan(WORDS, "07/right.c"),
}

#: The run by which each figure is handed in.
RIGHT = {DIRECT: "kinds", WHOLE: "kinds", CAUSE: "kinds", OWN: "own"}


def us(s: Student, variant: str, run: str = "kinds") -> float:
    return s[run].value(variant, "us")


def round(s: Student, variant: str, run: str = "kinds") -> float:
    return s[run].slope(variant, "us")


def _alone(s: Student, variant: str = P256, run: str = "kinds") -> float:
    return s[run].baseline(variant, "us")


_DIRECT = (
    (
        "hop",
        "took once round divided by eight",
        "the token's own calls were not subtracted",
        lambda s: round(s, P0) / 8,
    ),
    (
        "once-round",
        "took once round",
        "the value is a whole round of eight switches, nothing subtracted",
        lambda s: round(s, P0),
    ),
    (
        "not-divided",
        "forgot to divide by eight",
        "the value is that of eight switches",
        lambda s: 8 * us(s, P0),
    ),
    (
        "threads-for-processes",
        "took the row of the threads",
        "the value is that of a switch among threads",
        lambda s: us(s, T0),
    ),
    (
        "ns-for-us",
        "took the value in ns and wrote us",
        "the value is in ns, not in us: a factor of 1000",
        lambda s: s["kinds"].value(P0, "ns"),
    ),
    (
        "divided-by-sixteen",
        "divided by sixteen: 'eight there and eight back'",
        "a round has eight switches, divided by sixteen",
        lambda s: us(s, P0) / 2,
    ),
)

_WHOLE = (
    (
        "hop-with-set",
        "took once round divided by eight, the reading in it",
        "the reading of the set was not subtracted",
        lambda s: round(s, P256) / 8,
    ),
    (
        "alone-once",
        "subtracted the reading once a round: (once round - alone) / 8",
        "the reading was subtracted once instead of eight times",
        lambda s: (round(s, P256) - _alone(s)) / 8,
    ),
    (
        "reading-alone",
        "took what one process alone pays",
        "the value is that of one process alone, without a switch",
        lambda s: _alone(s),
    ),
    (
        "indirect-for-whole",
        "gave the indirect cost",
        "the direct cost was subtracted, asked is the whole",
        lambda s: us(s, P256) - us(s, P0),
    ),
    (
        "one-megabyte",
        "took the row processes-8-1m of the run `sizes`",
        "the value is that of 1 MB, of another run",
        lambda s: us(s, "processes-8-1m", "sizes"),
    ),
    (
        "ticks-in-thousands",
        "took the value in thousands of ticks and wrote us",
        "the value is in ticks, not in us",
        lambda s: s["kinds"].value(P256, "ticks") / 1000,
    ),
)

_OWN = (
    (
        "own-without-set",
        "took the row own-0",
        "the value is that without a working set",
        lambda s: s["own"].value("own-0", "us"),
    ),
    (
        "own-hop",
        "took once round divided by eight, the reading in it",
        "the reading of the set was not subtracted",
        lambda s: s["own"].slope("own-256k", "us") / 8,
    ),
    (
        "own-in-ns",
        "took the value in ns and wrote us",
        "the value is in ns, not in us: a factor of 1000",
        lambda s: s["own"].value("own-256k", "ns"),
    ),
)

VALUES = (
    *values(DIRECT, "kinds", "us", _DIRECT),
    *values(WHOLE, "kinds", "us", _WHOLE),
    *values(OWN, "own", "us", _OWN),
)
