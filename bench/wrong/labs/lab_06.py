"""What students do wrong in lab 06, the switch."""

from __future__ import annotations

from bench.wrong.case import Kind, Lab
from bench.wrong.student import NoMistake, Student, broken_plan, lines_without, own_plan, plan
from labs.analysis.confidence import separation
from labs.run.measure import Plan

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

LAB = Lab("06-process-and-thread-switch", RUNS, RIGHT)


def _trip(s: Student, run: str, variant: str) -> float:
    return s[run].slope(variant)


@LAB.value(PROCESS, "the value is the whole round trip: not halved, nothing subtracted")
def round_trip(s: Student) -> float:
    """Took the round trip."""
    return _trip(s, "process", "pipe-pinned")


@LAB.value(PROCESS, "the calls that carry the byte were not subtracted")
def half_a_round_trip(s: Student) -> float:
    """Halved the round trip and subtracted nothing."""
    return _trip(s, "process", "pipe-pinned") / 2


@LAB.value(PROCESS, "two switches, not divided by two")
def not_halved(s: Student) -> float:
    """Subtracted the calls twice, and forgot to halve."""
    return 2 * s["process"].value("pipe-pinned")


@LAB.value(PROCESS, "the calls alone were subtracted once instead of twice")
def subtracted_once(s: Student) -> float:
    """Subtracted the calls once: (round trip - calls) / 2."""
    return (_trip(s, "process", "pipe-pinned") - s["process"].baseline("pipe-pinned")) / 2


@LAB.value(PROCESS, "the calls alone were subtracted twice as often as there are")
def subtracted_four_times(s: Student) -> float:
    """Subtracted the calls after halving too: round trip / 2 - 2 x calls."""
    return _trip(s, "process", "pipe-pinned") / 2 - 2 * s["process"].baseline("pipe-pinned")


@LAB.value(PROCESS, "the value is that of the calls alone, without a switch")
def self_pipe(s: Student) -> float:
    """Took the row self-pipe."""
    return s["process"].slope("self-pipe")


@LAB.value(PROCESS, "the value is in us, not in ns: a factor of 1000")
def us_for_ns(s: Student) -> float:
    """Took the value in us and wrote ns."""
    return s["process"].value("pipe-pinned", "us")


@LAB.value(PROCESS, "the value is in ticks, not in ns")
def ticks_for_ns(s: Student) -> float:
    """Took the value in ticks and wrote ns."""
    return s["process"].value("pipe-pinned", "ticks")


@LAB.value(PROCESS, "the value is that of a thread switch")
def thread_for_process(s: Student) -> float:
    """Took the value of the threads by condition variable."""
    return s["threads"].value("condvar")


@LAB.value(CONDVAR, "the value is the whole round trip: not halved, nothing subtracted")
def condvar_round_trip(s: Student) -> float:
    """Took the round trip."""
    return _trip(s, "threads", "condvar")


@LAB.value(CONDVAR, "the value is that of the pipe")
def pipe_for_condvar(s: Student) -> float:
    """Took the row pipe, and rounded up."""
    return s["threads"].value("pipe")


@LAB.value(PIPE, "the calls that carry the byte were not subtracted")
def pipe_half_round_trip(s: Student) -> float:
    """Halved the round trip and subtracted nothing."""
    return _trip(s, "threads", "pipe") / 2


@LAB.value(PIPE, "two switches, not divided by two")
def pipe_not_halved(s: Student) -> float:
    """Forgot to halve."""
    return 2 * s["threads"].value("pipe")


@LAB.value(CONVOY, "the value is the claim, not the OS's count")
def claimed(s: Student) -> float:
    """Gave 2, as the program claims."""
    return 2


@LAB.value(CONVOY, "the count of the whole run, not of one exchange")
def counted_in_all(s: Student) -> float:
    """Gave all switches that were counted."""
    return s["naive"].switches("bare-mutex").counted + 1


@LAB.value(CONVOY, "the ratio is upside down: exchanges for one switch")
def exchanges_per_switch(s: Student) -> float:
    """Divided the exchanges by the switches."""
    return 1 / max(s["naive"].switches("bare-mutex").each, 1e-6)


@LAB.value(CONVOY, "the count is that of the condition variable, not of the bare mutex")
def count_of_condvar(s: Student) -> float:
    """Took the count of condvar."""
    return s["threads"].switches("condvar").each


@LAB.value(OWN, "the value is the whole round trip: not halved, nothing subtracted")
def own_round_trip(s: Student) -> float:
    """Took the round trip."""
    return _trip(s, "own", "own")


@LAB.value(OWN, "the value is that of the calls alone, without a switch")
def own_alone(s: Student) -> float:
    """Took the row own-alone."""
    return s["own"].baseline("own")


LAB.own_c(
    OWN,
    WORDS,
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


def _measured(s: Student, name: str, figure: str, wrong: Plan) -> None:
    """A student who measured something else under the name of the notebook's run."""
    run = s.measured(name, wrong)
    s.figure(figure, run.naive(), "ns", run)


@LAB.case(Kind.RUN, PROCESS, "each call stops for the tracer: the run is strace's")
def under_strace(s: Student) -> None:
    """Ran it under strace, to see the calls as well."""
    words = "process_switch --variant pipe-pinned,self-pipe --samples 1200 --processes 8 --warmup 5"
    run = s.traced("process", words)
    s.figure(PROCESS, run.naive("pipe-pinned"), "ns", run)


@LAB.case(Kind.RUN, PROCESS, "too few samples and only one process")
def twelve_samples(s: Student) -> None:
    """Took 12 samples in one process."""
    wished = plan("process_switch", "pipe-pinned", samples=12, processes=1, warmup=0)
    run = s.measured("process", wished)
    s.figure(PROCESS, run.naive("pipe-pinned"), "ns", run)


@LAB.case(Kind.CONCLUSION, CONDVAR, "the bare mutex hands nothing over: no switch was timed")
def naive_for_condvar(s: Student) -> None:
    """Handed in the naive run."""
    s.figure(CONDVAR, s["naive"].naive("bare-mutex"), "ns", s["naive"])


@LAB.case(Kind.FILE, PROCESS, "rows of the recording were deleted by hand")
def rows_deleted(s: Student) -> None:
    """Deleted three processes that were slower."""
    run = s["process"]
    s.edit(run, lines_without(r"^pipe-pinned,[0-2],"))
    s.figure(PROCESS, run.value("pipe-pinned"), "ns", run)


def _right(s: Student) -> None:
    s.figure(PROCESS, s["process"].value("pipe-pinned"), "ns", s["process"])
    s.figure(PIPE, s["threads"].value("pipe"), "ns", s["threads"])
    s.figure(CONDVAR, s["threads"].value("condvar"), "ns", s["threads"])


def _over(s: Student, variant: str) -> float:
    return s["process"].value("pipe-pinned") / s["threads"].value(variant)


@LAB.conclusion(DEARER, "the data say otherwise", after=_right)
def dearer_against_data(s: Student) -> float:
    """Concluded as report D does, that the thread costs more."""
    apart = separation(s["process"].estimate("pipe-pinned"), s["threads"].estimate("pipe"))
    if apart < -0.5:
        raise NoMistake("the thread switch is not cheaper by these data")
    return 2.0


@LAB.conclusion(RATIO, "the ratio is upside down", after=_right)
def ratio_inverted(s: Student) -> float:
    """Divided the thread's by the process's."""
    return 1 / _over(s, "pipe")


@LAB.conclusion(RATIO, "divided by another mechanism", after=_right)
def ratio_by_condvar(s: Student) -> float:
    """Divided by the condition variable."""
    return _over(s, "condvar")


@LAB.conclusion(RATIO, "the value is in percent: a hundred times the ratio", after=_right)
def ratio_in_percent(s: Student) -> float:
    """Gave it in percent."""
    return 100 * _over(s, "pipe")


@LAB.conclusion(RATIO, "the value is a published one, not of these figures", after=_right)
def ratio_of_report_d(s: Student) -> float:
    """Copied report D's ratio."""
    return 0.386


@LAB.case(Kind.RUN, PROCESS, "two CPUs: a wake-up across CPUs, no switch on one")
def two_cpus(s: Student) -> None:
    """Measured on two CPUs."""
    _measured(s, "process", PROCESS, plan("process_switch", "pipe-two-cpus", samples=400))


@LAB.case(Kind.RUN, PROCESS, "another mechanism was measured: sockets, not a pipe")
def sockets(s: Student) -> None:
    """Exchanged by sockets."""
    _measured(s, "process", PROCESS, plan("process_switch", "socketpair-pinned", samples=400))


@LAB.case(Kind.RUN, CONDVAR, "another mechanism was measured: sched_yield")
def yield_for_condvar(s: Student) -> None:
    """Measured the variant yield."""
    _measured(s, "threads", CONDVAR, plan("thread_switch", "yield", samples=400))


@LAB.case(Kind.RUN, PROCESS, "the clock stops while the other process runs")
def cpu_time_clock(s: Student) -> None:
    """Handed in the broken run with the clock of CPU time."""
    _measured(s, "process", PROCESS, broken_plan("cpu_time_of_one_side"))


@LAB.case(Kind.RUN, PROCESS, "a creation is timed with the switch")
def fork_inside(s: Student) -> None:
    """Handed in the broken run that forks between the readings."""
    _measured(s, "process", PROCESS, broken_plan("fork_inside"))


@LAB.case(Kind.RUN, CONDVAR, "the waiter wakes, blocks on the mutex, and is switched once more")
def signal_inside(s: Student) -> None:
    """Handed in the broken run that signals with the mutex held."""
    _measured(s, "threads", CONDVAR, broken_plan("signal_inside"))
