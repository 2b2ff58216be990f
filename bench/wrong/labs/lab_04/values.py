"""What students read wrongly off right runs in lab 04, the procedure call."""

from __future__ import annotations

from bench.wrong.case import values
from bench.wrong.student import Student, own_plan, plan

ARGS0, INLINED, ARGS6 = "call-args0", "call-inlined", "call-args6"
FIVE_SIX, EACH, OWN = "call-five-and-six", "call-per-argument", "call-own"

EVERY = ",".join(f"args{n}" for n in range(13))
WORDS = "own_procedure --variant own --samples 800"

RUNS = {
    "call": lambda: plan("procedure_call", "args0", flags="-O2", samples=800),
    "o0": lambda: plan("procedure_call", EVERY, flags="-O0", samples=600),
    "o2": lambda: plan("procedure_call", f"{EVERY},inlined", flags="-O2", samples=600),
    "own": lambda: own_plan(f"{WORDS} --flags=-O2", "04/right.c"),
}

#: The run by which each figure is handed in.
RIGHT = {ARGS0: "call", INLINED: "o2", ARGS6: "o0", FIVE_SIX: "o0", EACH: "o0", OWN: "own"}


def cycles(s: Student, run: str, variant: str) -> float:
    return s[run].value(variant, "cycles")


_ARGS0 = (
    (
        "ticks-for-cycles",
        "took the value in ticks: 'rdtsc counts cycles'",
        "the value is in ticks of the counter, not in core cycles",
        lambda s: s["call"].value("args0", "ticks") * 1.0,
    ),
    (
        "ns-for-cycles",
        "took the value in ns and wrote cycles",
        "the value is in ns, not in core cycles",
        lambda s: s["call"].value("args0", "ns"),
    ),
    (
        "loop-and-call",
        "took the slope of the plot, loop and call together",
        "the loop was not subtracted",
        lambda s: s["call"].slope("args0", "cycles"),
    ),
    (
        "loop",
        "took the slope of the empty loop",
        "the value is that of the empty loop",
        lambda s: s["call"].baseline("args0", "cycles"),
    ),
    (
        "intercept",
        "took the intercept of the line",
        "the intercept is what the timer costs, asked is the slope",
        lambda s: s["call"].intercept("args0", "cycles"),
    ),
    (
        "one-sample",
        "took a whole sample",
        "the value is a whole sample of many calls, not one call",
        lambda s: float(s["call"].column("args0", "cycles").mean()),
    ),
    (
        "published",
        "copied 3.9 from report A's table and doubled it for -O2",
        "the value is a published one, not of this run",
        lambda s: 7.8,
    ),
)

_ARGS6 = (
    (
        "optimised-value",
        "took six arguments from the run at -O2, with the run at -O0 beside it",
        "the value is of the run at -O2, the recording of that at -O0",
        lambda s: cycles(s, "o2", "args6"),
    ),
    (
        "whole-turn",
        "took the slope, with the loop",
        "the loop was not subtracted",
        lambda s: s["o0"].slope("args6", "cycles"),
    ),
    (
        "args12",
        "took the last row of the table, twelve arguments",
        "the value is that of twelve arguments",
        lambda s: cycles(s, "o0", "args12"),
    ),
    (
        "six-less-none",
        "subtracted the call without arguments",
        "the call without arguments was subtracted, asked is the whole call",
        lambda s: cycles(s, "o0", "args6") - cycles(s, "o0", "args0"),
    ),
    (
        "ns-six",
        "took the value in ns and wrote cycles",
        "the value is in ns, not in core cycles",
        lambda s: s["o0"].value("args6", "ns"),
    ),
)


def _rise(s: Student, run: str = "o0", high: int = 12, low: int = 6) -> float:
    return cycles(s, run, f"args{high}") - cycles(s, run, f"args{low}")


_EACH = (
    (
        "not-divided",
        "subtracted and forgot to divide by six",
        "the difference of six arguments, not divided by six",
        lambda s: _rise(s),
    ),
    (
        "from-none",
        "took (args12 - args0) / 12",
        "the ends of the series, 0 and 12, were taken instead of 6 and 12",
        lambda s: _rise(s, low=0) / 12,
    ),
    (
        "divided-by-twelve",
        "divided the difference by twelve",
        "the divisor is 12 instead of 6",
        lambda s: _rise(s) / 12,
    ),
    (
        "twelve-over-twelve",
        "divided the cost of twelve arguments by twelve",
        "nothing was subtracted: the call itself is in the value",
        lambda s: cycles(s, "o0", "args12") / 12,
    ),
    (
        "optimised-rise",
        "took both from the run at -O2",
        "the values are of the run at -O2, the recording of that at -O0",
        lambda s: _rise(s, "o2") / 6,
    ),
    (
        "rise-in-ticks",
        "subtracted values in ticks",
        "the value is in ticks, not in core cycles",
        lambda s: (s["o0"].value("args12", "ticks") - s["o0"].value("args6", "ticks")) / 6,
    ),
)

_OWN = (
    (
        "own-turn",
        "took the first line printed, a turn with the procedure",
        "the loop was not subtracted",
        lambda s: s["own"].slope("own", "cycles"),
    ),
    (
        "own-in-ns",
        "took the value in ns and wrote cycles",
        "the value is in ns, not in core cycles",
        lambda s: s["own"].value("own", "ns"),
    ),
)

VALUES = (
    *values(ARGS0, "call", "cycles", _ARGS0),
    *values(ARGS6, "o0", "cycles", _ARGS6),
    *values(EACH, "o0", "cycles", _EACH),
    *values(OWN, "own", "cycles", _OWN),
)
