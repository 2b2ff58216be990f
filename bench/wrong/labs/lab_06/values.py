"""What students read wrongly off right runs in lab 06, the switch."""

from __future__ import annotations

from bench.wrong.case import values
from bench.wrong.student import Student, own_plan, plan

PROCESS, CONDVAR, PIPE = "process-switch-pipe-pinned", "thread-switch-condvar", "thread-switch-pipe"
RATIO, DEARER = "switch-ratio-same-mechanism", "switch-which-is-dearer"
CONVOY, OWN = "switch-convoy-count", "switch-own-hand-over"

WORDS = "own_switch --variant own --samples 300"

RUNS = {
    "naive": lambda: plan("thread_switch", "bare-mutex", batches=(250, 500, 1000), samples=600),
    "process": lambda: plan("process_switch", "pipe-pinned, self-pipe", samples=800),
    "threads": lambda: plan("thread_switch", "condvar, pipe", samples=800),
    "own": lambda: own_plan("own_switch --variant own --samples 800", "06/right.c"),
}

#: The run by which each figure is handed in.
RIGHT = {PROCESS: "process", CONDVAR: "threads", PIPE: "threads", CONVOY: "naive", OWN: "own"}


def _trip(s: Student, run: str, variant: str) -> float:
    return s[run].slope(variant)


_PROCESS = (
    (
        "round-trip",
        "took the round trip",
        "the value is the whole round trip: not halved, nothing subtracted",
        lambda s: _trip(s, "process", "pipe-pinned"),
    ),
    (
        "half-a-round-trip",
        "halved the round trip and subtracted nothing",
        "the calls that carry the byte were not subtracted",
        lambda s: _trip(s, "process", "pipe-pinned") / 2,
    ),
    (
        "not-halved",
        "subtracted the calls twice, and forgot to halve",
        "two switches, not divided by two",
        lambda s: 2 * s["process"].value("pipe-pinned"),
    ),
    (
        "subtracted-once",
        "subtracted the calls once: (round trip - calls) / 2",
        "the calls alone were subtracted once instead of twice",
        lambda s: (_trip(s, "process", "pipe-pinned") - s["process"].baseline("pipe-pinned")) / 2,
    ),
    (
        "subtracted-four-times",
        "subtracted the calls after halving too: round trip / 2 - 2 x calls",
        "the calls alone were subtracted twice as often as there are",
        lambda s: _trip(s, "process", "pipe-pinned") / 2 - 2 * s["process"].baseline("pipe-pinned"),
    ),
    (
        "self-pipe",
        "took the row self-pipe",
        "the value is that of the calls alone, without a switch",
        lambda s: s["process"].slope("self-pipe"),
    ),
    (
        "us-for-ns",
        "took the value in us and wrote ns",
        "the value is in us, not in ns: a factor of 1000",
        lambda s: s["process"].value("pipe-pinned", "us"),
    ),
    (
        "ticks-for-ns",
        "took the value in ticks and wrote ns",
        "the value is in ticks, not in ns",
        lambda s: s["process"].value("pipe-pinned", "ticks"),
    ),
    (
        "thread-for-process",
        "took the value of the threads by condition variable",
        "the value is that of a thread switch",
        lambda s: s["threads"].value("condvar"),
    ),
)

_CONDVAR = (
    (
        "condvar-round-trip",
        "took the round trip",
        "the value is the whole round trip: not halved, nothing subtracted",
        lambda s: _trip(s, "threads", "condvar"),
    ),
    (
        "pipe-for-condvar",
        "took the row pipe, and rounded up",
        "the value is that of the pipe",
        lambda s: s["threads"].value("pipe"),
    ),
)

_PIPE = (
    (
        "pipe-half-round-trip",
        "halved the round trip and subtracted nothing",
        "the calls that carry the byte were not subtracted",
        lambda s: _trip(s, "threads", "pipe") / 2,
    ),
    (
        "pipe-not-halved",
        "forgot to halve",
        "two switches, not divided by two",
        lambda s: 2 * s["threads"].value("pipe"),
    ),
)

_CONVOY = (
    (
        "claimed",
        "gave 2, as the program claims",
        "the value is the claim, not the OS's count",
        lambda s: 2,
    ),
    (
        "counted-in-all",
        "gave all switches that were counted",
        "the count of the whole run, not of one exchange",
        lambda s: s["naive"].switches("bare-mutex").counted + 1,
    ),
    (
        "exchanges-per-switch",
        "divided the exchanges by the switches",
        "the ratio is upside down: exchanges for one switch",
        lambda s: 1 / max(s["naive"].switches("bare-mutex").each, 1e-6),
    ),
    (
        "count-of-condvar",
        "took the count of condvar",
        "the count is that of the condition variable, not of the bare mutex",
        lambda s: s["threads"].switches("condvar").each,
    ),
)

_OWN = (
    (
        "own-round-trip",
        "took the round trip",
        "the value is the whole round trip: not halved, nothing subtracted",
        lambda s: _trip(s, "own", "own"),
    ),
    (
        "own-alone",
        "took the row own-alone",
        "the value is that of the calls alone, without a switch",
        lambda s: s["own"].baseline("own"),
    ),
)

VALUES = (
    *values(PROCESS, "process", "ns", _PROCESS),
    *values(CONDVAR, "threads", "ns", _CONDVAR),
    *values(PIPE, "threads", "ns", _PIPE),
    *values(CONVOY, "naive", "times", _CONVOY),
    *values(OWN, "own", "ns", _OWN),
)
