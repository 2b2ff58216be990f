"""What students read wrongly off right runs in lab 01, the cost of a timer."""

from __future__ import annotations

from bench.wrong.case import values
from bench.wrong.student import Student, own_plan, plan

FENCED, STEP, MONOTONIC = "timer-overhead-fenced", "timer-step", "timer-overhead-monotonic"
RATIO, OWN = "timer-ratio-process-cpu", "timer-own-addition"

#: The variants of the run `clocks`.
CPU = "process-cpu"

RUNS = {
    "naive": lambda: plan("timer_overhead", "unfenced"),
    "fenced": lambda: plan("timer_overhead", "fenced"),
    "clocks": lambda: plan("timer_overhead", "process-cpu, fenced, monotonic"),
    "own": lambda: own_plan("own_pair --variant own --samples 800", "01/right.c"),
}

#: The run by which each figure is handed in.
RIGHT = {FENCED: "fenced", STEP: "fenced", MONOTONIC: "clocks", RATIO: "clocks", OWN: "own"}

_FENCED = (
    (
        "ticks-for-ns",
        "wrote down the overhead in ticks and gave the unit ns",
        "the value is in ticks, not in ns",
        lambda s: s["fenced"].value(unit="ticks"),
    ),
    (
        "cycles-for-ns",
        "ran .in_unit('cycles') and gave the unit ns",
        "the value is in core cycles, not in ns",
        lambda s: s["fenced"].value(unit="ticks") / s["fenced"].clock("fenced").ticks_in("cycles"),
    ),
    (
        "us-for-ns/us",
        "typed the unit us beside a value in ns",
        "the value is in ns, not in us: a factor of 1000",
        lambda s: s["fenced"].value(),
    ),
    (
        "slope",
        "took the slope of the line, what one more addition costs",
        "the slope is the cost of an addition, the overhead is the intercept",
        lambda s: s["fenced"].slope(),
    ),
    (
        "one-reading",
        "halved the overhead: 'a pair has two readings'",
        "asked is the pair, and half of it was given",
        lambda s: s["fenced"].value() / 2,
    ),
    (
        "sample-of-64",
        "took the shortest sample in the spreadsheet, that of 64 additions",
        "the 64 additions are still in the value",
        lambda s: float(s["fenced"].column("fenced", k=64).min()),
    ),
    (
        "mean-of-column",
        "took AVERAGE over the column ticks, and made ns of it",
        "a mean over samples of all sizes, with the additions in it",
        lambda s: float(s["fenced"].column("fenced").mean()),
    ),
    (
        "end-of-the-line",
        "read the last point of the plot instead of its beginning",
        "the value is that of a sample with 512 additions, not the intercept",
        lambda s: float(s["fenced"].column("fenced", k=512).mean()),
    ),
    (
        "published",
        "copied 28.5, report A's cycles, as ns",
        "the value is report A's, not one of this run",
        lambda s: 28.5,
    ),
)

_STEP = (
    (
        "step-in-ns",
        "gave the step in ns as a number of ticks",
        "the value is the step in ns, not in ticks",
        lambda s: s["fenced"].clock("fenced").step / s["fenced"].clock("fenced").ticks_in("ns"),
    ),
    (
        "step-is-overhead",
        "took the overhead in ticks for the step",
        "the value is the overhead of the pair, not the step of the counter",
        lambda s: s["fenced"].value(unit="ticks"),
    ),
    (
        "step-is-shortest-sample",
        "took the smallest number of the column ticks for the step",
        "the value is the shortest sample, not the smallest difference of two readings",
        lambda s: float(s["fenced"].column("fenced", "ticks").min()),
    ),
    (
        "step-doubled",
        "saw differences of two steps only, and gave two steps",
        "the value is twice the step: a step of the counter was missed",
        lambda s: 2.0 * s["fenced"].clock("fenced").step,
    ),
)

_MONOTONIC = (
    (
        "monotonic-is-process-cpu",
        "took the value of the first row of the table, process-cpu",
        "the value is that of the clock process-cpu, not of CLOCK_MONOTONIC",
        lambda s: s["clocks"].value(CPU),
    ),
    (
        "monotonic-is-fenced",
        "took the value of the fenced counter from the same run",
        "the value is that of the fenced counter, not of CLOCK_MONOTONIC",
        lambda s: s["clocks"].value("fenced"),
    ),
    (
        "monotonic-less-fenced",
        "subtracted the fenced counter's overhead: 'the timer must come off'",
        "another clock's overhead was subtracted, though the clock was timed with itself",
        lambda s: s["clocks"].value("monotonic") - s["clocks"].value("fenced"),
    ),
    (
        "monotonic-slope",
        "took what an addition takes by this clock",
        "the slope is the cost of an addition, the overhead is the intercept",
        lambda s: s["clocks"].slope("monotonic"),
    ),
)


def _ratio(s: Student, over: str, under: str) -> float:
    return s["clocks"].value(over) / s["clocks"].value(under)


_RATIO = (
    (
        "ratio-inverted",
        "divided fenced by process-cpu",
        "the ratio is upside down",
        lambda s: _ratio(s, "fenced", CPU),
    ),
    (
        "ratio-to-monotonic",
        "divided by the overhead of monotonic",
        "divided by CLOCK_MONOTONIC instead of the fenced counter",
        lambda s: _ratio(s, CPU, "monotonic"),
    ),
    (
        "ratio-in-percent",
        "gave the ratio in percent",
        "the value is in percent: a hundred times the ratio",
        lambda s: 100 * _ratio(s, CPU, "fenced"),
    ),
    (
        "difference-for-ratio",
        "subtracted instead of dividing",
        "the value is the difference in ns, not the ratio",
        lambda s: s["clocks"].value(CPU) - s["clocks"].value("fenced"),
    ),
    (
        "ratio-of-means",
        "divided the means of the columns, additions and all",
        "a ratio of whole samples, in which the additions are",
        lambda s: s["clocks"].column(CPU).mean() / s["clocks"].column("fenced").mean(),
    ),
    (
        "ratio-rounded-away",
        "read the two heights off the plot with the logarithmic axis: 3 to 1",
        "the value follows from no two overheads of the run",
        lambda s: 3.1,
    ),
)

_OWN = (
    (
        "own-in-ticks",
        "took what an addition takes in ticks and kept the unit cycles",
        "the value is in ticks, not in core cycles",
        lambda s: s["own"].value(unit="ticks"),
    ),
    (
        "own-whole-sample",
        "took the mean sample of 64 additions, in cycles",
        "the value is a whole sample of 64 additions, not one addition",
        lambda s: float(s["own"].column("own", "cycles", k=64).mean()),
    ),
)

VALUES = (
    *values(FENCED, "fenced", "ns", _FENCED),
    *values(STEP, "fenced", "ticks", _STEP),
    *values(MONOTONIC, "clocks", "ns", _MONOTONIC),
    *values(RATIO, "clocks", "times", _RATIO),
    *values(OWN, "own", "cycles", _OWN),
)
