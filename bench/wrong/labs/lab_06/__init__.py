"""What students do wrong in lab 06, the switch."""

from __future__ import annotations

from bench.wrong.case import Lab, conclusions, file_case, mixed_case, own_c, run_case
from bench.wrong.labs.lab_06.values import (
    CONDVAR,
    DEARER,
    OWN,
    PIPE,
    PROCESS,
    RATIO,
    RIGHT,
    RUNS,
    VALUES,
    WORDS,
)
from bench.wrong.student import NoMistake, Student, broken_plan, lines_without, plan
from labs.analysis.estimates import separation

_C = (
    (
        "yields",
        "unlocked, called sched_yield, locked, until it was one's turn",
        "nobody sleeps and nobody wakes: the threads yield in a loop",
    ),
    (
        "spins --samples 20 --processes 4 --warmup 2",
        "unlocked and locked until it was one's turn",
        "nobody sleeps: a thread spins until its time slice is over",
    ),
    (
        "sleeps --samples 100",
        "slept 20 µs and looked again",
        "nobody wakes: the threads poll with a sleep",
    ),
    (
        "times_out --samples 100",
        "waited with a time-out, and woke nobody",
        "nobody wakes: each wait ends by its time-out",
    ),
    (
        "signal_under_lock",
        "locked the mutex around the signal and yielded before unlocking",
        "the other is woken while the mutex is held, blocks on it, and is switched once more",
    ),
    (
        "takes_the_turn",
        "set the turn oneself instead of waiting for it",
        "nobody waits: the turn is taken, no switch happens",
    ),
    (
        "long_work",
        "let the thread work before it wakes the other",
        "the thread's own work is timed with it, on one side more than is subtracted",
    ),
    (
        "calls_in_between",
        "called getppid twenty times between the signal and the wait",
        "other system calls are timed with the switch",
    ),
    (
        "spins_then_sleeps --samples 200",
        "unlocked and locked 100 times before each sleep",
        "the thread spins before it sleeps",
    ),
    (
        "asks_then_sleeps --samples 200",
        "called getppid 40 times before each sleep",
        "the thread spins, with calls, before it sleeps",
    ),
    (
        "pauses_then_sleeps --samples 200",
        "paused 60 times before each sleep",
        "the thread spins before it sleeps",
    ),
    (
        "pauses_in_wake --samples 200",
        "paused 60 times after each wake",
        "the pauses are timed with the switch",
    ),
)


def _variant(kernel: str, variant: str, figure: str, name: str):  # type: ignore[no-untyped-def]
    """A student who measured another variant and hands it in."""

    def make(s: Student) -> None:
        run = s.measured(name, plan(kernel, variant, samples=400))
        s.figure(figure, run.naive(variant), "ns", run)

    return make


def _broken(name: str, figure: str, saved: str):  # type: ignore[no-untyped-def]
    def make(s: Student) -> None:
        run = s.measured(saved, broken_plan(name))
        s.figure(figure, run.naive(), "ns", run)

    return make


def _traced(s: Student) -> None:
    words = "process_switch --variant pipe-pinned,self-pipe --samples 1200 --processes 8 --warmup 5"
    run = s.traced("process", words)
    s.figure(PROCESS, run.naive("pipe-pinned"), "ns", run)


def _few(s: Student) -> None:
    wished = plan("process_switch", "pipe-pinned", samples=12, processes=1, warmup=0)
    run = s.measured("process", wished)
    s.figure(PROCESS, run.naive("pipe-pinned"), "ns", run)


def _naive_for_condvar(s: Student) -> None:
    s.figure(CONDVAR, s["naive"].naive("bare-mutex"), "ns", s["naive"])


def _deleted(s: Student) -> None:
    run = s["process"]
    s.edit(run, lines_without(r"^pipe-pinned,[0-2],"))
    s.figure(PROCESS, run.value("pipe-pinned"), "ns", run)


def _right(s: Student) -> None:
    s.figure(PROCESS, s["process"].value("pipe-pinned"), "ns", s["process"])
    s.figure(PIPE, s["threads"].value("pipe"), "ns", s["threads"])
    s.figure(CONDVAR, s["threads"].value("condvar"), "ns", s["threads"])


def _over(s: Student, variant: str) -> float:
    return s["process"].value("pipe-pinned") / s["threads"].value(variant)


def _against(s: Student) -> float:
    apart = separation(s["process"].estimate("pipe-pinned"), s["threads"].estimate("pipe"))
    if apart < -0.5:
        raise NoMistake("the thread switch is not cheaper by these data")
    return 2.0


_RATIO = (
    (
        "ratio-inverted",
        "divided the thread's by the process's",
        "the ratio is upside down",
        lambda s: 1 / _over(s, "pipe"),
    ),
    (
        "ratio-by-condvar",
        "divided by the condition variable",
        "divided by another mechanism",
        lambda s: _over(s, "condvar"),
    ),
    (
        "ratio-in-percent",
        "gave it in percent",
        "the value is in percent: a hundred times the ratio",
        lambda s: 100 * _over(s, "pipe"),
    ),
    (
        "ratio-of-report-d",
        "copied report D's ratio",
        "the value is a published one, not of these figures",
        lambda s: 0.386,
    ),
)

LAB = Lab(
    "06-process-and-thread-switch",
    RUNS,
    RIGHT,
    (
        *VALUES,
        *own_c(OWN, "06", WORDS, "ns", _C),
        *conclusions(RATIO, "times", _right, _RATIO),
        *conclusions(
            DEARER,
            "choice",
            _right,
            (
                (
                    "dearer-against-data",
                    "concluded as report D does, that the thread costs more",
                    "the data say otherwise",
                    _against,
                ),
            ),
        ),
        run_case(
            "two-cpus",
            PROCESS,
            "measured on two CPUs",
            "two CPUs: a wake-up across CPUs, no switch on one",
            _variant("process_switch", "pipe-two-cpus", PROCESS, "process"),
        ),
        run_case(
            "sockets",
            PROCESS,
            "exchanged by sockets",
            "another mechanism was measured: sockets, not a pipe",
            _variant("process_switch", "socketpair-pinned", PROCESS, "process"),
        ),
        run_case(
            "yield-for-condvar",
            CONDVAR,
            "measured the variant yield",
            "another mechanism was measured: sched_yield",
            _variant("thread_switch", "yield", CONDVAR, "threads"),
        ),
        run_case(
            "cpu-time-clock",
            PROCESS,
            "handed in the broken run with the clock of CPU time",
            "the clock stops while the other process runs",
            _broken("cpu_time_of_one_side", PROCESS, "process"),
        ),
        run_case(
            "fork-inside",
            PROCESS,
            "handed in the broken run that forks between the readings",
            "a creation is timed with the switch",
            _broken("fork_inside", PROCESS, "process"),
        ),
        run_case(
            "signal-inside",
            CONDVAR,
            "handed in the broken run that signals with the mutex held",
            "the waiter wakes, blocks on the mutex, and is switched once more",
            _broken("signal_inside", CONDVAR, "threads"),
        ),
        run_case(
            "under-strace",
            PROCESS,
            "ran it under strace, to see the calls as well",
            "each call stops for the tracer: the run is strace's",
            _traced,
        ),
        run_case(
            "twelve-samples",
            PROCESS,
            "took 12 samples in one process",
            "too few samples and only one process",
            _few,
        ),
        mixed_case(
            "naive-for-condvar",
            CONDVAR,
            "handed in the naive run",
            "the bare mutex hands nothing over: no switch was timed",
            _naive_for_condvar,
        ),
        file_case(
            "rows-deleted",
            PROCESS,
            "deleted three processes that were slower",
            "rows of the recording were deleted by hand",
            _deleted,
        ),
    ),
)
