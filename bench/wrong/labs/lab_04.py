"""What students do wrong in lab 04, the procedure call."""

from __future__ import annotations

from bench.wrong.case import Kind, Lab
from bench.wrong.student import NoMistake, Student, broken_plan, lines_without, own_plan, plan
from labs.analysis.confidence import separation

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

LAB = Lab("04-procedure-call", RUNS, RIGHT)


def cycles(s: Student, run: str, variant: str) -> float:
    return s[run].value(variant, "cycles")


@LAB.value(ARGS0, "the value is in ticks of the counter, not in core cycles")
def ticks_for_cycles(s: Student) -> float:
    """Took the value in ticks: 'rdtsc counts cycles'."""
    return s["call"].value("args0", "ticks") * 1.0


@LAB.value(ARGS0, "the value is in ns, not in core cycles")
def ns_for_cycles(s: Student) -> float:
    """Took the value in ns and wrote cycles."""
    return s["call"].value("args0", "ns")


@LAB.value(ARGS0, "the loop was not subtracted")
def loop_and_call(s: Student) -> float:
    """Took the slope of the plot, loop and call together."""
    return s["call"].slope("args0", "cycles")


@LAB.value(ARGS0, "the value is that of the empty loop")
def loop(s: Student) -> float:
    """Took the slope of the empty loop."""
    return s["call"].baseline("args0", "cycles")


@LAB.value(ARGS0, "the intercept is what the timer costs, asked is the slope")
def intercept(s: Student) -> float:
    """Took the intercept of the line."""
    return s["call"].intercept("args0", "cycles")


@LAB.value(ARGS0, "the value is a whole sample of many calls, not one call")
def one_sample(s: Student) -> float:
    """Took a whole sample."""
    return float(s["call"].column("args0", "cycles").mean())


@LAB.value(ARGS0, "the value is a published one, not of this run")
def published(s: Student) -> float:
    """Copied 3.9 from report A's table and doubled it for -O2."""
    return 7.8


@LAB.value(ARGS6, "the value is of the run at -O2, the recording of that at -O0")
def optimised_value(s: Student) -> float:
    """Took six arguments from the run at -O2, with the run at -O0 beside it."""
    return cycles(s, "o2", "args6")


@LAB.value(ARGS6, "the loop was not subtracted")
def whole_turn(s: Student) -> float:
    """Took the slope, with the loop."""
    return s["o0"].slope("args6", "cycles")


@LAB.value(ARGS6, "the value is that of twelve arguments")
def args12(s: Student) -> float:
    """Took the last row of the table, twelve arguments."""
    return cycles(s, "o0", "args12")


@LAB.value(ARGS6, "the call without arguments was subtracted, asked is the whole call")
def six_less_none(s: Student) -> float:
    """Subtracted the call without arguments."""
    return cycles(s, "o0", "args6") - cycles(s, "o0", "args0")


@LAB.value(ARGS6, "the value is in ns, not in core cycles")
def ns_six(s: Student) -> float:
    """Took the value in ns and wrote cycles."""
    return s["o0"].value("args6", "ns")


def _rise(s: Student, run: str = "o0", high: int = 12, low: int = 6) -> float:
    return cycles(s, run, f"args{high}") - cycles(s, run, f"args{low}")


@LAB.value(EACH, "the difference of six arguments, not divided by six")
def not_divided(s: Student) -> float:
    """Subtracted and forgot to divide by six."""
    return _rise(s)


@LAB.value(EACH, "the ends of the series, 0 and 12, were taken instead of 6 and 12")
def from_none(s: Student) -> float:
    """Took (args12 - args0) / 12."""
    return _rise(s, low=0) / 12


@LAB.value(EACH, "the divisor is 12 instead of 6")
def divided_by_twelve(s: Student) -> float:
    """Divided the difference by twelve."""
    return _rise(s) / 12


@LAB.value(EACH, "nothing was subtracted: the call itself is in the value")
def twelve_over_twelve(s: Student) -> float:
    """Divided the cost of twelve arguments by twelve."""
    return cycles(s, "o0", "args12") / 12


@LAB.value(EACH, "the values are of the run at -O2, the recording of that at -O0")
def optimised_rise(s: Student) -> float:
    """Took both from the run at -O2."""
    return _rise(s, "o2") / 6


@LAB.value(EACH, "the value is in ticks, not in core cycles")
def rise_in_ticks(s: Student) -> float:
    """Subtracted values in ticks."""
    return (s["o0"].value("args12", "ticks") - s["o0"].value("args6", "ticks")) / 6


@LAB.value(OWN, "the loop was not subtracted")
def own_turn(s: Student) -> float:
    """Took the first line printed, a turn with the procedure."""
    return s["own"].slope("own", "cycles")


@LAB.value(OWN, "the value is in ns, not in core cycles")
def own_in_ns(s: Student) -> float:
    """Took the value in ns and wrote cycles."""
    return s["own"].value("own", "ns")


LAB.own_c(
    OWN,
    WORDS,
    ("plain --flags=-O2", "wrote it plainly", "the compiler inlined it: nothing is called"),
    (
        "always_inline --flags=-O2",
        "wrote always_inline for noinline",
        "the procedure is inlined: nothing is called",
    ),
    (
        "kept_from_merging --flags=-O2",
        "put an empty asm into an inline procedure 'so that it must be called'",
        "the procedure is inlined all the same: nothing is called",
    ),
    (
        "volatile_variable --flags=-O2",
        "made the sum volatile in an inline procedure",
        "nothing is called; what is timed is the way through memory",
    ),
    (
        "loop_of_50 --flags=-O2",
        "put a loop of 50 into the procedure, to have something to measure",
        "the procedure does far more than return x + 1: a loop is timed",
    ),
    (
        "two_calls --flags=-O2",
        "let the procedure call another one",
        "two calls are timed for each that is counted",
    ),
    (
        "recursive --flags=-O2",
        "let a recursion of six do it",
        "several calls are timed for each that is counted",
    ),
    (
        "system_call --flags=-O2",
        "called getppid in it, so that the compiler keeps the call",
        "a system call is timed inside the procedure",
    ),
    (
        "prints --flags=-O2",
        "printed in it, so that the compiler keeps the call",
        "printing is timed inside the procedure",
    ),
    (
        "division --flags=-O2",
        "divided by a volatile in it, so that the compiler keeps the call",
        "a division and memory are timed inside the procedure",
    ),
    ("plain --flags=-O0", "compiled the plain one at -O0", "compiled at -O0, asked is -O2"),
    (
        "pauses --flags=-O2",
        "put a pause into the procedure",
        "a pause is timed inside the procedure",
    ),
    (
        "fenced --flags=-O2",
        "put a fence into the procedure",
        "a fence is timed inside the procedure",
    ),
    (
        "reads_counter --flags=-O2",
        "read the counter inside the procedure",
        "a reading of the counter is timed inside the procedure",
    ),
    (
        "right --flags='-O2 -finstrument-functions'",
        "compiled it with -finstrument-functions",
        "the compiler adds two calls to each call",
    ),
)


@LAB.case(Kind.RUN, ARGS0, "compiled at -O0, asked is -O2")
def args0_at_o0(s: Student) -> None:
    """Measured with the optimisation off."""
    run = s.measured("call", plan("procedure_call", "args0", flags="-O0"))
    s.figure(ARGS0, run.value("args0", "cycles"), "cycles", run)


@LAB.case(Kind.RUN, ARGS6, "compiled at -O2, asked is -O0")
def args6_at_o2(s: Student) -> None:
    """Took value and run at -O2."""
    s.figure(ARGS6, cycles(s, "o2", "args6"), "cycles", s["o2"])


@LAB.case(Kind.RUN, ARGS0, "the compiler adds a call to each function")
def profiled(s: Student) -> None:
    """Compiled the kit's C kernel with -pg, for gprof."""
    run = s.measured("call", plan("procedure_call", "args0", flags="-O2 -pg"))
    s.figure(ARGS0, run.value("args0", "cycles"), "cycles", run)


@LAB.case(Kind.RUN, ARGS0, "one call between two readings is shorter than the clock can tell")
def one_call(s: Student) -> None:
    """Handed in the broken run with one call between two readings."""
    run = s.measured("call", broken_plan("one_call"))
    s.figure(ARGS0, run.naive(unit="cycles"), "cycles", run)


@LAB.case(Kind.RUN, ARGS0, "too few samples and only one process")
def twelve_samples(s: Student) -> None:
    """Took 12 samples in one process."""
    wished = plan("procedure_call", "args0", samples=12, processes=1, warmup=0, flags="-O2")
    run = s.measured("call", wished)
    s.figure(ARGS0, run.naive("args0", "cycles"), "cycles", run)


@LAB.conclusion(FIVE_SIX, "the data of this run say otherwise", run="o0")
def against_the_data(s: Student) -> float:
    """Concluded what was expected, and did not run lab.compare."""
    apart = separation(s["o0"].estimate("args6"), s["o0"].estimate("args5"))
    if 0.5 < abs(apart) < 0.7:
        raise NoMistake("five and six are at the edge")
    return 2.0 if apart > 0 else 1.0


@LAB.case(Kind.CONCLUSION, ARGS0, "the value is of an earlier run than the recording")
def old_figure(s: Student) -> None:
    """Ran the cell anew with other options and left the old figure as it was."""
    old = s.measured("call", plan("procedure_call", "args12", flags="-O0"))
    value = old.value("args12", "cycles")
    run = s.anew("call")
    s.figure(ARGS0, value, "cycles", run)


@LAB.case(Kind.FILE, ARGS0, "rows of the recording were deleted by hand")
def rows_deleted(s: Student) -> None:
    """Deleted three processes."""
    run = s["call"]
    s.edit(run, lines_without(r"^args0,[0-2],"))
    s.figure(ARGS0, run.value("args0", "cycles"), "cycles", run)


@LAB.conclusion(INLINED, "nearly nothing is left: the data say otherwise", run="o2")
def inlined_costs_the_same(s: Student) -> float:
    """Concluded 3, inlining saves nothing."""
    return 3


@LAB.conclusion(INLINED, "nearly nothing is left: the data say otherwise", run="o2")
def inlined_costs_half(s: Student) -> float:
    """Concluded 2, something must be left."""
    return 2


@LAB.conclusion(INLINED, "asked is a conclusion by number, not a cost", run="o2", unit="cycles")
def inlined_in_cycles(s: Student) -> float:
    """Gave the cost of inlined in cycles instead of a conclusion."""
    return abs(cycles(s, "o2", "inlined")) + 0.01


@LAB.conclusion(FIVE_SIX, "the run is at -O2, asked is -O0", run="o2")
def five_and_six_by_o2(s: Student) -> float:
    """Compared five and six in the run at -O2."""
    return 3
