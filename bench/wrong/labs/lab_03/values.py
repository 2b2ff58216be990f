"""What students read wrongly off right runs in lab 03, the system call."""

from __future__ import annotations

from bench.wrong.case import values
from bench.wrong.student import Student, own_plan, plan

GETPPID, FLOOR, SHARE = "system-call-getppid", "system-call-floor", "system-call-trap-share"
SETUID, RATIO, READ0 = "system-call-setuid", "system-call-vdso-ratio", "system-call-read0"

TRAP, VDSO = "gettimeofday-trap", "gettimeofday-vdso"
WORDS = "own_call --variant read0,invalid --samples 800"

RUNS = {
    "naive": lambda: own_plan("report_b --variant gettimeofday --samples 800", "03/report_b.c"),
    "calls": lambda: plan("system_call", "getppid, invalid"),
    "clocks": lambda: plan("system_call", f"{TRAP}, {VDSO}, invalid"),
    "users": lambda: plan("system_call", "setuid, setuid-refused, invalid"),
    "own": lambda: own_plan(WORDS, "03/right.c"),
}

#: The run by which each figure is handed in.
RIGHT = {GETPPID: "calls", FLOOR: "calls", SETUID: "users", RATIO: "clocks", READ0: "own"}

_GETPPID = (
    (
        "floor-for-call",
        "took the row invalid of the table",
        "the value is that of the call that does not exist",
        lambda s: s["calls"].value("invalid"),
    ),
    (
        "less-the-floor",
        "subtracted the floor: 'the way in and out is not getppid's'",
        "the floor was subtracted, asked is the whole call",
        lambda s: s["calls"].value("getppid") - s["calls"].value("invalid"),
    ),
    (
        "sample-not-divided",
        "took the mean of the column in ns and forgot that a sample holds many calls",
        "the value is a whole sample, not one call",
        lambda s: float(s["calls"].column("getppid").mean()),
    ),
    (
        "ticks-for-ns",
        "took the value in ticks",
        "the value is in ticks, not in ns",
        lambda s: s["calls"].value("getppid", "ticks"),
    ),
    (
        "unit-of-report-c/us",
        "wrote the unit us beside a value in ns, as report C does",
        "the value is in ns, not in us: a factor of 1000",
        lambda s: s["calls"].value("getppid"),
    ),
    (
        "cycles-for-ns",
        "took the value in core cycles and wrote ns",
        "the value is in core cycles, not in ns",
        lambda s: s["calls"].value("getppid", "cycles"),
    ),
    (
        "loop",
        "took the smallest row of the recording, the empty loop",
        "the value is that of the empty loop",
        lambda s: s["calls"].slope("loop"),
    ),
    (
        "intercept",
        "took the intercept of the line, as in lab 01",
        "the intercept is what the timer costs, asked is the slope",
        lambda s: s["calls"].intercept("getppid"),
    ),
)

_FLOOR = (
    (
        "difference-for-floor",
        "gave getppid less invalid as 'the floor'",
        "the value is the difference of both calls, asked is the call that does not exist",
        lambda s: s["calls"].value("getppid") - s["calls"].value("invalid"),
    ),
    (
        "getppid-for-floor",
        "took the row getppid",
        "the value is that of getppid",
        lambda s: s["calls"].value("getppid"),
    ),
    (
        "one-way",
        "halved it: 'in, and out'",
        "asked is the way in and out, half of it was given",
        lambda s: s["calls"].value("invalid") / 2,
    ),
)

_SETUID = (
    (
        "refused",
        "took the row setuid-refused",
        "the value is that of the call that is refused",
        lambda s: s["users"].value("setuid-refused"),
    ),
    (
        "mean-of-both",
        "took the mean of both rows",
        "a mean of the call that works and of the one that is refused",
        lambda s: (s["users"].value("setuid") + s["users"].value("setuid-refused")) / 2,
    ),
    (
        "setuid-less-floor",
        "subtracted the floor",
        "the floor was subtracted, asked is the whole call",
        lambda s: s["users"].value("setuid") - s["users"].value("invalid"),
    ),
)


def _ratio(s: Student, over: str, under: str) -> float:
    return s["clocks"].value(over) / s["clocks"].value(under)


_RATIO = (
    (
        "inverted",
        "divided the vDSO by the trap",
        "the ratio is upside down",
        lambda s: _ratio(s, VDSO, TRAP),
    ),
    (
        "to-the-floor",
        "divided by the call that does not exist",
        "divided by the floor instead of the vDSO",
        lambda s: _ratio(s, TRAP, "invalid"),
    ),
    (
        "difference",
        "subtracted instead of dividing",
        "the value is the difference in ns, not the ratio",
        lambda s: s["clocks"].value(TRAP) - s["clocks"].value(VDSO),
    ),
    (
        "more-than",
        "gave 'how many times more': the ratio less one",
        "the ratio less one: how much more, not how many times as much",
        lambda s: _ratio(s, TRAP, VDSO) - 1,
    ),
    (
        "net-of-the-floor",
        "took the floor off the trap before dividing",
        "the floor was subtracted from one side of the ratio",
        lambda s: (
            (s["clocks"].value(TRAP) - s["clocks"].value("invalid")) / s["clocks"].value(VDSO)
        ),
    ),
)

_READ0 = (
    (
        "own-floor",
        "took the row invalid of one's own run",
        "the value is that of the call that does not exist",
        lambda s: s["own"].value("invalid"),
    ),
    (
        "own-over-floor",
        "gave how many times the floor, as the cell prints it",
        "the value is a ratio, not ns",
        lambda s: s["own"].value("read0") / s["own"].value("invalid"),
    ),
)

VALUES = (
    *values(GETPPID, "calls", "ns", _GETPPID),
    *values(FLOOR, "calls", "ns", _FLOOR),
    *values(SETUID, "users", "ns", _SETUID),
    *values(RATIO, "clocks", "times", _RATIO),
    *values(READ0, "own", "ns", _READ0),
)
