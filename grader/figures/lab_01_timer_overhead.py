"""Lab 01: what a timer costs."""

from __future__ import annotations

from grader.figures.spec import FigureSpec, Quantity
from grader.figures.verdict import Level
from labs.recording.declared import Estimand

LAB = "01-timer-overhead"

FIGURES = (
    FigureSpec(
        id="timer-overhead-fenced",
        asked="the overhead of the fenced counter pair",
        kernel="timer_overhead",
        estimand=Estimand.OVERHEAD,
        variants=("fenced",),
        quantity=Quantity.OVERHEAD,
        unit="ns",
        central="clock-read-too-early",
        praise="The readings enclose the work, and the interval holds the spread between "
        "several processes.",
        checks="one-process",
        look_next="Compare this overhead with the mean empty sample (k = 0), which holds no "
        "addition: what would it mean if the two differed?",
    ),
    FigureSpec(
        id="timer-step",
        asked="the step of the counter",
        kernel="timer_overhead",
        estimand=Estimand.OVERHEAD,
        variants=("fenced",),
        quantity=Quantity.STEP,
        unit="ticks",
        points={Level.PROVENANCE: 0.5, Level.VALIDITY: 0.5, Level.INTERPRETATION: 1.0},
        why_exact="Each sample is a whole number of steps, so the step is exact.",
        central="step-assumed-one",
        praise="Your samples confirm this step: all of them are multiples of it, and of no "
        "larger step.",
        checks="on the step",
        look_next="What is the shortest operation that a single sample of this counter could "
        "distinguish from none?",
    ),
    FigureSpec(
        id="timer-overhead-monotonic",
        asked="the overhead of clock_gettime(CLOCK_MONOTONIC)",
        kernel="timer_overhead",
        estimand=Estimand.OVERHEAD,
        variants=("monotonic",),
        quantity=Quantity.OVERHEAD,
        unit="ns",
        central="work-counted-as-timer",
        praise="This figure holds only the clock, without the work, and the interval holds the "
        "spread between several processes.",
        checks="one-process",
        look_next="What must this clock do besides reading the counter?",
    ),
    FigureSpec(
        id="timer-ratio-process-cpu",
        asked="the cost of CLOCK_PROCESS_CPUTIME_ID divided by that of the fenced counter pair",
        kernel="timer_overhead",
        estimand=Estimand.OVERHEAD,
        variants=("process-cpu", "fenced"),
        quantity=Quantity.RATIO,
        central="ratio-of-unlike-units",
        praise="You divided times and not ticks, and your recording holds the samples of both "
        "clocks, interleaved.",
        checks="interleaved",
        look_next="Report D timed a procedure call with this clock. What did its 300 ns consist "
        "of?",
    ),
    FigureSpec(
        id="timer-own-addition",
        asked="the time of one dependent addition, by your own C kernel, in core cycles",
        kernel="own_pair",
        variants=("own",),
        unit="cycles",
        own=True,
        central="clock-read-too-early",
        praise={
            "The run saw one chain of additions in your C, and your samples grow with it: "
            "twice the work takes twice the time.": (
                "one chain seen, not-one-chain, clock-read-too-early, more-between-the-readings"
            ),
            "Your samples grow with the work: twice the work takes twice the time.": (
                "clock-read-too-early, more-between-the-readings"
            ),
        },
        look_next="Remove one fence at a time, and save each run under another name. Do "
        "points leave the line, or does the line only begin elsewhere?",
    ),
)
