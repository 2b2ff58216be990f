"""What students do wrong in lab 04, the procedure call."""

from __future__ import annotations

from bench.wrong.case import Lab, conclusions, file_case, mixed_case, own_c, run_case
from bench.wrong.labs.lab_04.values import (
    ARGS0,
    ARGS6,
    FIVE_SIX,
    INLINED,
    OWN,
    RIGHT,
    RUNS,
    VALUES,
    WORDS,
    cycles,
)
from bench.wrong.student import NoMistake, Student, broken_plan, lines_without, plan
from labs.analysis.estimates import separation

_C = (
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


def _o0_for_args0(s: Student) -> None:
    run = s.measured("call", plan("procedure_call", "args0", flags="-O0"))
    s.figure(ARGS0, run.value("args0", "cycles"), "cycles", run)


def _o2_for_args6(s: Student) -> None:
    s.figure(ARGS6, cycles(s, "o2", "args6"), "cycles", s["o2"])


def _profiled(s: Student) -> None:
    run = s.measured("call", plan("procedure_call", "args0", flags="-O2 -pg"))
    s.figure(ARGS0, run.value("args0", "cycles"), "cycles", run)


def _one_call(s: Student) -> None:
    run = s.measured("call", broken_plan("one_call"))
    s.figure(ARGS0, run.naive(unit="cycles"), "cycles", run)


def _few(s: Student) -> None:
    wished = plan("procedure_call", "args0", samples=12, processes=1, warmup=0, flags="-O2")
    run = s.measured("call", wished)
    s.figure(ARGS0, run.naive("args0", "cycles"), "cycles", run)


def _against(s: Student) -> float:
    """The conclusion that the data bear out least."""
    apart = separation(s["o0"].estimate("args6"), s["o0"].estimate("args5"))
    if 0.5 < abs(apart) < 0.7:
        raise NoMistake("five and six are at the edge")
    return 2.0 if apart > 0 else 1.0


def _stale(s: Student) -> None:
    old = s.measured("call", plan("procedure_call", "args12", flags="-O0"))
    value = old.value("args12", "cycles")
    run = s.anew("call")
    s.figure(ARGS0, value, "cycles", run)


def _deleted(s: Student) -> None:
    run = s["call"]
    s.edit(run, lines_without(r"^args0,[0-2],"))
    s.figure(ARGS0, run.value("args0", "cycles"), "cycles", run)


def _nothing(_: Student) -> None:
    """These conclusions have recordings of their own."""


LAB = Lab(
    "04-procedure-call",
    RUNS,
    RIGHT,
    (
        *VALUES,
        *own_c(OWN, "04", WORDS, "cycles", _C),
        *conclusions(
            INLINED,
            "choice",
            _nothing,
            (
                (
                    "inlined-costs-the-same",
                    "concluded 3, inlining saves nothing",
                    "nearly nothing is left: the data say otherwise",
                    lambda s: 3,
                ),
                (
                    "inlined-costs-half",
                    "concluded 2, something must be left",
                    "nearly nothing is left: the data say otherwise",
                    lambda s: 2,
                ),
                (
                    "inlined-in-cycles/cycles",
                    "gave the cost of inlined in cycles instead of a conclusion",
                    "asked is a conclusion by number, not a cost",
                    lambda s: abs(cycles(s, "o2", "inlined")) + 0.01,
                ),
            ),
            run="o2",
        ),
        *conclusions(
            FIVE_SIX,
            "choice",
            _nothing,
            (
                (
                    "against-the-data",
                    "concluded what was expected, and did not run lab.compare",
                    "the data of this run say otherwise",
                    _against,
                ),
            ),
            run="o0",
        ),
        *conclusions(
            FIVE_SIX,
            "choice",
            _nothing,
            (
                (
                    "five-and-six-by-o2",
                    "compared five and six in the run at -O2",
                    "the run is at -O2, asked is -O0",
                    lambda s: 3,
                ),
            ),
            run="o2",
        ),
        run_case(
            "profiled",
            ARGS0,
            "compiled the kit's C kernel with -pg, for gprof",
            "the compiler adds a call to each function",
            _profiled,
        ),
        run_case(
            "args0-at-o0",
            ARGS0,
            "measured with the optimisation off",
            "compiled at -O0, asked is -O2",
            _o0_for_args0,
        ),
        run_case(
            "args6-at-o2",
            ARGS6,
            "took value and run at -O2",
            "compiled at -O2, asked is -O0",
            _o2_for_args6,
        ),
        run_case(
            "one-call",
            ARGS0,
            "handed in the broken run with one call between two readings",
            "one call between two readings is shorter than the clock can tell",
            _one_call,
        ),
        run_case(
            "twelve-samples",
            ARGS0,
            "took 12 samples in one process",
            "too few samples and only one process",
            _few,
        ),
        mixed_case(
            "old-figure",
            ARGS0,
            "ran the cell anew with other options and left the old figure as it was",
            "the value is of an earlier run than the recording",
            _stale,
        ),
        file_case(
            "rows-deleted",
            ARGS0,
            "deleted three processes",
            "rows of the recording were deleted by hand",
            _deleted,
        ),
    ),
)
