"""What students do wrong in lab 11, a question of their own."""

from __future__ import annotations

from bench.wrong.case import Kind, Lab
from bench.wrong.student import NoMistake, Student, lines_without, own_plan
from labs.analysis.confidence import separation

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

LAB = Lab("11-own-question", RUNS, RIGHT)


def ns(s: Student, run: str = "own", variant: str = "operation") -> float:
    return s[run].value(variant)


@LAB.value(COST, "the baseline was not subtracted")
def loop_left_in(s: Student) -> float:
    """Took the slope of the plot."""
    return s["own"].slope("operation")


@LAB.value(COST, "the value is that of the baseline")
def only_the_loop(s: Student) -> float:
    """Took the slope of the baseline."""
    return s["own"].baseline("operation")


@LAB.value(COST, "the intercept is what the timer costs, asked is the slope")
def intercept(s: Student) -> float:
    """Took the intercept of the line."""
    return s["own"].intercept("operation")


@LAB.value(COST, "the value is in ticks of the counter")
def ticks_for_ns(s: Student) -> float:
    """Took the value in ticks and wrote ns."""
    return s["own"].value("operation", "ticks")


@LAB.value(COST, "the value is in core cycles")
def cycles_for_ns(s: Student) -> float:
    """Took the value in core cycles and wrote ns."""
    return s["own"].value("operation", "cycles")


@LAB.value(COST, "the value is off by a factor of a thousand")
def us_for_ns(s: Student) -> float:
    """Wrote the nanoseconds as microseconds, and then as ns."""
    return ns(s) * 1000


@LAB.value(COST, "the value is a whole sample of many operations")
def whole_column(s: Student) -> float:
    """Took the mean of the column ticks, in ns."""
    return float(s["own"].column("operation").mean())


@LAB.value(COST, "the value is that of what the operation is compared with")
def other_for_operation(s: Student) -> float:
    """Took the second line printed."""
    return ns(s, variant="other")


@LAB.value(COST, "what it is compared with was subtracted too")
def more_than_other(s: Student) -> float:
    """Subtracted what the operation is compared with."""
    return ns(s) - ns(s, variant="other")


@LAB.value(COST, "the value is the sum of two costs")
def both_together(s: Student) -> float:
    """Added the two costs."""
    return ns(s) + ns(s, variant="other")


@LAB.value(COST, "the value is not of this run")
def predicted(s: Student) -> float:
    """Handed in the prediction."""
    return 5.0 if ns(s) < 4 else 1.7


@LAB.value(OTHER, "the baseline was not subtracted")
def other_with_loop(s: Student) -> float:
    """Took the slope of the other line."""
    return s["own"].slope("other")


@LAB.value(OTHER, "the value is that of the operation")
def operation_for_other(s: Student) -> float:
    """Took the first line printed again."""
    return ns(s)


@LAB.value(OTHER, "the value is off by a factor of a thousand")
def other_in_ps(s: Student) -> float:
    """Wrote picoseconds as ns."""
    return ns(s, variant="other") * 1000


@LAB.value(TESTED, "the baseline was not subtracted")
def tested_with_loop(s: Student) -> float:
    """Took the slope of the plot."""
    return s["tested"].slope("operation")


@LAB.value(TESTED, "the value is in ticks of the counter")
def tested_in_ticks(s: Student) -> float:
    """Took the value in ticks and wrote ns."""
    return s["tested"].value("operation", "ticks")


LAB.own_c(
    COST,
    WORDS,
    (
        "counter_beside",
        "counted in the operation, beside a call of getppid",
        "the count is the operation's own: it would be the same without the call",
    ),
    (
        "failing_call",
        "took a write for working that always fails, and counted beside it",
        "the call fails each time, and the count is the operation's own",
    ),
    (
        "asks_beside",
        "asked in the operation who runs it, 'to be sure'",
        "a system call is timed that the count does not see",
    ),
    ("fails", "wrote to a descriptor that is not open", "the operation never works"),
    ("every_second", "did the work in every second round", "half of the operations happen"),
    ("never_reset", "returned the total of all operations", "the count is not that of one sample"),
    (
        "same_baseline",
        "wrote the operation as its baseline too",
        "the operation is subtracted from itself",
    ),
    (
        "plain_baseline",
        "incremented the same variable in the baseline, not atomically",
        "the baseline does what is counted as the operation",
    ),
    ("prints_counts", "printed the counts in set_up", "the C states its counts itself"),
    (
        "loop_inside",
        "put a loop of nine further increments into the operation, of another variable",
        "ten increments are timed for one that is counted",
    ),
    (
        "baseline_of_another_variable",
        "did the same to another variable in the baseline",
        "the baseline does the operation's work to another variable",
    ),
    (
        "baseline_of_the_same_call",
        "wrote elsewhere in the baseline",
        "the baseline makes the operation's system call as well",
    ),
    (
        "baseline_nearly_all",
        "left 40 of 41 additions in the baseline",
        "the baseline does nearly all of the operation's work",
    ),
    (
        "counter_beside_by_trap",
        "counted in the operation, beside a call by the trap",
        "the count is the operation's own: it would be the same without the call",
    ),
    (
        "counter_in_an_array",
        "counted in an array, beside a call",
        "the count is the operation's own: it would be the same without the call",
    ),
    (
        "counter_of_a_cached_call",
        "kept the answer of getpid, and counted beside it",
        "no system call is made but the first",
    ),
    (
        "counter_beside_the_vdso",
        "counted beside gettimeofday, 'a system call'",
        "the vDSO answers: no system call is made",
    ),
)


@LAB.case(
    Kind.RUN, COST, "the counts are what the C itself prints, and no sample was compared with them"
)
def by_the_starter(s: Student) -> None:
    """Handed in the C of `labs new`, with the names of the lab's variants."""
    words = "own_question --variant operation --samples 800"
    run = s.measured("own", own_plan(words, "11/starter.c"))
    s.figure(COST, run.value("operation"), "ns", run)


@LAB.case(Kind.RUN, OTHER, "nothing is executed in what the operation is compared with")
def other_is_nothing(s: Student) -> None:
    """Compared with a function that only returns."""
    run = s.measured("own", own_plan(WORDS, "11/other_is_nothing.c"))
    s.figure(OTHER, run.naive("other"), "ns", run)


@LAB.case(Kind.RUN, OTHER, "each call fails with EBADF, and its result is not looked at")
def other_is_refused(s: Student) -> None:
    """Compared with a write to a descriptor that is not open, and returned 1."""
    run = s.measured("own", own_plan(WORDS, "11/other_is_refused.c"))
    s.figure(OTHER, run.naive("other"), "ns", run)


@LAB.case(Kind.RUN, COST, "too few samples and only one process")
def twelve_samples(s: Student) -> None:
    """Took 12 samples in one process."""
    words = "own_question --variant operation,other --samples 12 --processes 1 --warmup 1"
    run = s.measured("own", own_plan(words, "11/right.c"))
    s.figure(COST, run.naive("operation"), "ns", run)


@LAB.case(Kind.RUN, COST, "the spread between processes cannot be seen")
def one_process_only(s: Student) -> None:
    """Took all samples in one process."""
    run = s.measured("own", own_plan(f"{WORDS} --processes 1", "11/right.c"))
    s.figure(COST, run.value("operation"), "ns", run)


def _both(s: Student) -> None:
    for figure, run, variant in ((COST, "own", "operation"), (OTHER, "own", "other")):
        s.figure(figure, ns(s, run, variant), "ns", s[run])


def _two_runs(s: Student) -> None:
    for figure, run in ((COST, "own"), (TESTED, "tested")):
        s.figure(figure, ns(s, run), "ns", s[run])


@LAB.conclusion(THREAT, "the two runs say otherwise", after=_two_runs)
def threat_against_data(s: Student) -> float:
    """Concluded what was expected of the threat."""
    apart = separation(s["tested"].estimate("operation"), s["own"].estimate("operation"))
    if 0.5 < abs(apart) < 1.5:
        raise NoMistake("the two runs are at the edge")
    return 2.0 if apart > -0.5 else 1.0


@LAB.case(Kind.CONCLUSION, THREAT, "a run is compared with itself")
def own_for_tested(s: Student) -> None:
    """Handed in the same run for both figures."""
    for figure in (COST, TESTED):
        s.figure(figure, ns(s), "ns", s["own"])
    s.figure(THREAT, 3.0, "choice")


@LAB.case(Kind.FILE, COST, "rows of the recording were deleted by hand")
def rows_deleted(s: Student) -> None:
    """Deleted three processes."""
    run = s["own"]
    s.edit(run, lines_without(r"^operation,[0-2],"))
    s.figure(COST, run.value("operation"), "ns", run)


@LAB.case(Kind.FILE, COST, "the C is missing, so that nobody can see what was timed")
def c_lost(s: Student) -> None:
    """Handed in the recording without its C."""
    run = s["own"]
    (s.folder / run.path).with_suffix(".c").unlink()
    s.figure(COST, run.value("operation"), "ns", run)


@LAB.case(Kind.FILE, COST, "the C next to the recording is not the C that was measured")
def c_commented(s: Student) -> None:
    """Wrote a comment into the C after the run."""
    run = s["own"]
    path = (s.folder / run.path).with_suffix(".c")
    path.write_text(path.read_text(encoding="utf-8") + "/* It works. */\n", encoding="utf-8")
    s.figure(COST, run.value("operation"), "ns", run)


@LAB.conclusion(CLAIM, "the two costs say otherwise", after=_both)
def claim_against_data(s: Student) -> float:
    """Concluded what the claim said, and had claimed the opposite."""
    return 2


@LAB.conclusion(CLAIM, "the data do tell the two apart", after=_both)
def claim_undecided(s: Student) -> float:
    """Concluded 3, to be careful."""
    return 3


@LAB.conclusion(CLAIM, "there is no conclusion 0", after=_both)
def claim_0(s: Student) -> float:
    """Counted the conclusions from 0."""
    return 0
