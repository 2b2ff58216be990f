"""What students do wrong in lab 01, the cost of a timer."""

from __future__ import annotations

from bench.wrong.case import Kind, Lab
from bench.wrong.student import Student, lines_without, own_plan, plan

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

LAB = Lab("01-timer-overhead", RUNS, RIGHT)


@LAB.value(FENCED, "the value is in ticks, not in ns")
def ticks_for_ns(s: Student) -> float:
    """Wrote down the overhead in ticks and gave the unit ns."""
    return s["fenced"].value(unit="ticks")


@LAB.value(FENCED, "the value is in core cycles, not in ns")
def cycles_for_ns(s: Student) -> float:
    """Ran .in_unit('cycles') and gave the unit ns."""
    return s["fenced"].value(unit="ticks") / s["fenced"].clock("fenced").ticks_in("cycles")


@LAB.value(FENCED, "the value is in ns, not in us: a factor of 1000", unit="us")
def us_for_ns(s: Student) -> float:
    """Typed the unit us beside a value in ns."""
    return s["fenced"].value()


@LAB.value(FENCED, "the slope is the cost of an addition, the overhead is the intercept")
def slope(s: Student) -> float:
    """Took the slope of the line, what one more addition costs."""
    return s["fenced"].slope()


@LAB.value(FENCED, "asked is the pair, and half of it was given")
def one_reading(s: Student) -> float:
    """Halved the overhead: 'a pair has two readings'."""
    return s["fenced"].value() / 2


@LAB.value(FENCED, "the 64 additions are still in the value")
def sample_of_64(s: Student) -> float:
    """Took the shortest sample in the spreadsheet, that of 64 additions."""
    return float(s["fenced"].column("fenced", k=64).min())


@LAB.value(FENCED, "a mean over samples of all sizes, with the additions in it")
def mean_of_column(s: Student) -> float:
    """Took AVERAGE over the column ticks, and made ns of it."""
    return float(s["fenced"].column("fenced").mean())


@LAB.value(FENCED, "the value is that of a sample with 512 additions, not the intercept")
def end_of_the_line(s: Student) -> float:
    """Read the last point of the plot instead of its beginning."""
    return float(s["fenced"].column("fenced", k=512).mean())


@LAB.value(FENCED, "the value is report A's, not one of this run")
def published(s: Student) -> float:
    """Copied 28.5, report A's cycles, as ns."""
    return 28.5


@LAB.value(STEP, "the value is the step in ns, not in ticks")
def step_in_ns(s: Student) -> float:
    """Gave the step in ns as a number of ticks."""
    return s["fenced"].clock("fenced").step / s["fenced"].clock("fenced").ticks_in("ns")


@LAB.value(STEP, "the value is the overhead of the pair, not the step of the counter")
def step_is_overhead(s: Student) -> float:
    """Took the overhead in ticks for the step."""
    return s["fenced"].value(unit="ticks")


@LAB.value(STEP, "the value is the shortest sample, not the smallest difference of two readings")
def step_is_shortest_sample(s: Student) -> float:
    """Took the smallest number of the column ticks for the step."""
    return float(s["fenced"].column("fenced", "ticks").min())


@LAB.value(STEP, "the value is twice the step: a step of the counter was missed")
def step_doubled(s: Student) -> float:
    """Saw differences of two steps only, and gave two steps."""
    return 2.0 * s["fenced"].clock("fenced").step


@LAB.value(MONOTONIC, "the value is that of the clock process-cpu, not of CLOCK_MONOTONIC")
def monotonic_is_process_cpu(s: Student) -> float:
    """Took the value of the first row of the table, process-cpu."""
    return s["clocks"].value(CPU)


@LAB.value(MONOTONIC, "the value is that of the fenced counter, not of CLOCK_MONOTONIC")
def monotonic_is_fenced(s: Student) -> float:
    """Took the value of the fenced counter from the same run."""
    return s["clocks"].value("fenced")


@LAB.value(
    MONOTONIC, "another clock's overhead was subtracted, though the clock was timed with itself"
)
def monotonic_less_fenced(s: Student) -> float:
    """Subtracted the fenced counter's overhead: 'the timer must come off'."""
    return s["clocks"].value("monotonic") - s["clocks"].value("fenced")


@LAB.value(MONOTONIC, "the slope is the cost of an addition, the overhead is the intercept")
def monotonic_slope(s: Student) -> float:
    """Took what an addition takes by this clock."""
    return s["clocks"].slope("monotonic")


def _ratio(s: Student, over: str, under: str) -> float:
    return s["clocks"].value(over) / s["clocks"].value(under)


@LAB.value(RATIO, "the ratio is upside down")
def ratio_inverted(s: Student) -> float:
    """Divided fenced by process-cpu."""
    return _ratio(s, "fenced", CPU)


@LAB.value(RATIO, "divided by CLOCK_MONOTONIC instead of the fenced counter")
def ratio_to_monotonic(s: Student) -> float:
    """Divided by the overhead of monotonic."""
    return _ratio(s, CPU, "monotonic")


@LAB.value(RATIO, "the value is in percent: a hundred times the ratio")
def ratio_in_percent(s: Student) -> float:
    """Gave the ratio in percent."""
    return 100 * _ratio(s, CPU, "fenced")


@LAB.value(RATIO, "the value is the difference in ns, not the ratio")
def difference_for_ratio(s: Student) -> float:
    """Subtracted instead of dividing."""
    return s["clocks"].value(CPU) - s["clocks"].value("fenced")


@LAB.value(RATIO, "a ratio of whole samples, in which the additions are")
def ratio_of_means(s: Student) -> float:
    """Divided the means of the columns, additions and all."""
    return float(s["clocks"].column(CPU).mean() / s["clocks"].column("fenced").mean())


@LAB.value(RATIO, "the value follows from no two overheads of the run")
def ratio_rounded_away(s: Student) -> float:
    """Read the two heights off the plot with the logarithmic axis: 3 to 1."""
    return 3.1


@LAB.value(OWN, "the value is in ticks, not in core cycles")
def own_in_ticks(s: Student) -> float:
    """Took what an addition takes in ticks and kept the unit cycles."""
    return s["own"].value(unit="ticks")


@LAB.value(OWN, "the value is a whole sample of 64 additions, not one addition")
def own_whole_sample(s: Student) -> float:
    """Took the mean sample of 64 additions, in cycles."""
    return float(s["own"].column("own", "cycles", k=64).mean())


LAB.own_c(
    OWN,
    "own_pair --variant own --samples 800",
    (
        "unfenced",
        "read the counter as report A does, without a fence at either end",
        "both readings do not wait for the additions",
    ),
    (
        "end_unfenced",
        "fenced the first reading only",
        "the second reading does not wait for the additions",
    ),
    (
        "two_chains",
        "wrote ADDITIONS twice 'to be sure that there is work'",
        "two additions are timed for each that is counted",
    ),
    (
        "additions_before",
        "did the additions before the first reading",
        "nothing stands between the readings: the additions are outside",
    ),
    (
        "additions_after",
        "did the additions after the second reading",
        "nothing stands between the readings: the additions are outside",
    ),
    (
        "divided",
        "divided by k in the C already",
        "the sample is divided by k in C, so that it does not grow with k",
    ),
    (
        "computed",
        "added k + 50 to the first reading so that it comes out as it should",
        "the end is computed from the beginning: nothing was measured",
    ),
    ("always_64", "did 64 additions, whatever k is", "the work does not depend on k"),
    (
        "gettime",
        "took clock_gettime for the counter",
        "the readings are ns of another clock, counted as ticks of the counter",
    ),
    (
        "volatile_sum",
        "wrote a loop over a volatile sum instead of ADDITIONS",
        "each addition goes through memory: that is no addition of one cycle",
    ),
    (
        "independent",
        "split the additions into two chains of half the length",
        "the two chains do not wait for each other, so that they overlap",
    ),
    (
        "fence_each_64",
        "put a fence after each 64 additions, to be exact",
        "a fence is timed with each 64 additions",
    ),
    (
        "looks_each_64",
        "read the counter after each 64 additions, to watch it grow",
        "the counter is read again between the readings",
    ),
    (
        "folded",
        "wrote a loop of link += begin in place of ADDITIONS",
        "the compiler turns the loop into one product: nothing is added",
    ),
    (
        "sum_of_constants",
        "wrote a loop of link += 3 in place of ADDITIONS",
        "the compiler computes the sum: nothing is added",
    ),
)


@LAB.case(Kind.RUN, FENCED, "the run is of unfenced readings, asked are fenced ones")
def naive_for_fenced(s: Student) -> None:
    """Handed in the first run, `naive`."""
    s.figure(FENCED, s["naive"].naive(), "ns", s["naive"])


@LAB.case(Kind.RUN, FENCED, "too few samples and only one process")
def twenty_samples(s: Student) -> None:
    """Took 20 samples in one process to be done."""
    short = plan("timer_overhead", "fenced", samples=20, processes=1, warmup=0)
    run = s.measured("quick", short)
    s.figure(FENCED, run.naive(), "ns", run)


@LAB.case(Kind.CONCLUSION, MONOTONIC, "the recording named does not hold this clock at all")
def value_of_the_other_run(s: Student) -> None:
    """Gave the right value with the run `fenced` as its evidence."""
    s.figure(MONOTONIC, s["clocks"].value("monotonic"), "ns", s["fenced"])


@LAB.case(Kind.FILE, FENCED, "rows of the recording were deleted by hand")
def rows_deleted(s: Student) -> None:
    """Deleted the rows of five processes that looked odd."""
    run = s["fenced"]
    s.edit(run, lines_without(r"^fenced,[3-7],"))
    s.figure(FENCED, run.value(), "ns", run)


@LAB.case(Kind.FILE, FENCED, "no recording is named as evidence")
def no_recording(s: Student) -> None:
    """Handed in the value without a recording."""
    s.figure(FENCED, s["fenced"].value(), "ns", None)


@LAB.case(Kind.FILE, OWN, "the C is missing, so that nobody can see what was timed")
def own_c_left_out(s: Student) -> None:
    """Forgot to hand in the .c beside the recording."""
    run = s["own"]
    (s.folder / run.path).with_suffix(".c").unlink()
    s.figure(OWN, run.value(unit="cycles"), "cycles", run)
