"""What students do wrong in lab 03, the system call."""

from __future__ import annotations

from bench.wrong.case import Kind, Lab
from bench.wrong.student import NoMistake, Student, own_plan, plan, smoothed

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

LAB = Lab("03-system-call", RUNS, RIGHT)


@LAB.value(GETPPID, "the value is that of the call that does not exist")
def floor_for_call(s: Student) -> float:
    """Took the row invalid of the table."""
    return s["calls"].value("invalid")


@LAB.value(GETPPID, "the floor was subtracted, asked is the whole call")
def less_the_floor(s: Student) -> float:
    """Subtracted the floor: 'the way in and out is not getppid's'."""
    return s["calls"].value("getppid") - s["calls"].value("invalid")


@LAB.value(GETPPID, "the value is a whole sample, not one call")
def sample_not_divided(s: Student) -> float:
    """Took the mean of the column in ns and forgot that a sample holds many calls."""
    return float(s["calls"].column("getppid").mean())


@LAB.value(GETPPID, "the value is in ticks, not in ns")
def ticks_for_ns(s: Student) -> float:
    """Took the value in ticks."""
    return s["calls"].value("getppid", "ticks")


@LAB.value(GETPPID, "the value is in ns, not in us: a factor of 1000", unit="us")
def unit_of_report_c(s: Student) -> float:
    """Wrote the unit us beside a value in ns, as report C does."""
    return s["calls"].value("getppid")


@LAB.value(GETPPID, "the value is in core cycles, not in ns")
def cycles_for_ns(s: Student) -> float:
    """Took the value in core cycles and wrote ns."""
    return s["calls"].value("getppid", "cycles")


@LAB.value(GETPPID, "the value is that of the empty loop")
def loop(s: Student) -> float:
    """Took the smallest row of the recording, the empty loop."""
    return s["calls"].slope("loop")


@LAB.value(GETPPID, "the intercept is what the timer costs, asked is the slope")
def intercept(s: Student) -> float:
    """Took the intercept of the line, as in lab 01."""
    return s["calls"].intercept("getppid")


@LAB.value(
    FLOOR, "the value is the difference of both calls, asked is the call that does not exist"
)
def difference_for_floor(s: Student) -> float:
    """Gave getppid less invalid as 'the floor'."""
    return s["calls"].value("getppid") - s["calls"].value("invalid")


@LAB.value(FLOOR, "the value is that of getppid")
def getppid_for_floor(s: Student) -> float:
    """Took the row getppid."""
    return s["calls"].value("getppid")


@LAB.value(FLOOR, "asked is the way in and out, half of it was given")
def one_way(s: Student) -> float:
    """Halved it: 'in, and out'."""
    return s["calls"].value("invalid") / 2


@LAB.value(SETUID, "the value is that of the call that is refused")
def refused(s: Student) -> float:
    """Took the row setuid-refused."""
    return s["users"].value("setuid-refused")


@LAB.value(SETUID, "a mean of the call that works and of the one that is refused")
def mean_of_both(s: Student) -> float:
    """Took the mean of both rows."""
    return (s["users"].value("setuid") + s["users"].value("setuid-refused")) / 2


@LAB.value(SETUID, "the floor was subtracted, asked is the whole call")
def setuid_less_floor(s: Student) -> float:
    """Subtracted the floor."""
    return s["users"].value("setuid") - s["users"].value("invalid")


def _ratio(s: Student, over: str, under: str) -> float:
    return s["clocks"].value(over) / s["clocks"].value(under)


@LAB.value(RATIO, "the ratio is upside down")
def inverted(s: Student) -> float:
    """Divided the vDSO by the trap."""
    return _ratio(s, VDSO, TRAP)


@LAB.value(RATIO, "divided by the floor instead of the vDSO")
def to_the_floor(s: Student) -> float:
    """Divided by the call that does not exist."""
    return _ratio(s, TRAP, "invalid")


@LAB.value(RATIO, "the value is the difference in ns, not the ratio")
def difference(s: Student) -> float:
    """Subtracted instead of dividing."""
    return s["clocks"].value(TRAP) - s["clocks"].value(VDSO)


@LAB.value(RATIO, "the ratio less one: how much more, not how many times as much")
def more_than(s: Student) -> float:
    """Gave 'how many times more': the ratio less one."""
    return _ratio(s, TRAP, VDSO) - 1


@LAB.value(RATIO, "the floor was subtracted from one side of the ratio")
def net_of_the_floor(s: Student) -> float:
    """Took the floor off the trap before dividing."""
    return (s["clocks"].value(TRAP) - s["clocks"].value("invalid")) / s["clocks"].value(VDSO)


@LAB.value(READ0, "the value is that of the call that does not exist")
def own_floor(s: Student) -> float:
    """Took the row invalid of one's own run."""
    return s["own"].value("invalid")


@LAB.value(READ0, "the value is a ratio, not ns")
def own_over_floor(s: Student) -> float:
    """Gave how many times the floor, as the cell prints it."""
    return s["own"].value("read0") / s["own"].value("invalid")


LAB.own_c(
    READ0,
    WORDS,
    (
        "registers_of_report_c",
        "loaded rbx, rcx and rdx as report C does",
        "the arguments are in registers that the OS kernel does not read",
    ),
    (
        "minus_one",
        "read from descriptor -1 and returned 1",
        "the call fails with EBADF, and its result is not looked at",
    ),
    (
        "unlooked",
        "read from a descriptor that is not open, and returned 1",
        "the call fails with EBADF, and its result is not looked at",
    ),
    (
        "failure_taken_for_success",
        "took a negative result for success",
        "the call fails, and the failure is taken for success",
    ),
    ("getppid", "called getppid instead of read", "another system call is made, not read"),
    ("writes", "called write instead of read", "another system call is made, not read"),
    ("reads_4096", "read 4096 bytes instead of none", "4096 bytes are read, not 0"),
    ("twice", "made the call twice and or'ed the results", "two calls are timed for one"),
    (
        "opens_each_time",
        "opened and closed /dev/zero around each read",
        "open and close are timed with the read",
    ),
    (
        "remembers",
        "kept the result in a static variable once it was 0",
        "only the first call enters the OS kernel, later ones answer from a variable",
    ),
    ("no_trap", "wrote nop where syscall should be", "no system call is made at all"),
    (
        "number_missing",
        "guessed the number of read, 9999, and took any result for success",
        "the call number does not exist: the call fails and nothing is read",
    ),
    (
        "library_time",
        "left report B's gettimeofday in place",
        "a library call answered by the vDSO, no read and no system call",
    ),
    ("by_syscall", "called syscall() with the number", "the C library makes the call"),
    ("fenced", "put fences around the call", "the fences are timed with the call"),
    ("pauses", "paused after the call", "a pause is timed with the call"),
    (
        "looks_at_the_clock",
        "read the counter around the call as well",
        "two more readings of the counter are timed with the call",
    ),
    ("spins", "left the call out and looped for about as long", "no system call is made at all"),
)


@LAB.case(Kind.RUN, GETPPID, "another variant was measured: getpid")
def getpid_for_getppid(s: Student) -> None:
    """Measured getpid instead of getppid."""
    run = s.measured("calls", plan("system_call", "getpid, invalid"))
    s.figure(GETPPID, run.value("getpid"), "ns", run)


@LAB.case(Kind.RUN, GETPPID, "too few samples and only one process")
def sixteen_samples(s: Student) -> None:
    """Took 16 samples in one process."""
    run = s.measured("calls", plan("system_call", "getppid", samples=16, processes=1, warmup=0))
    s.figure(GETPPID, run.naive("getppid"), "ns", run)


@LAB.case(Kind.RUN, GETPPID, "each call stops for the tracer: the run is strace's")
def under_strace(s: Student) -> None:
    """Ran it under strace, to count the calls as well."""
    words = "system_call --variant getppid,invalid --samples 1200 --processes 8 --warmup 5"
    run = s.traced("calls", words)
    s.figure(GETPPID, run.naive("getppid"), "ns", run)


@LAB.case(Kind.RUN, GETPPID, "the compiler adds two calls to each function")
def instrumented(s: Student) -> None:
    """Compiled the kit's C kernel with -finstrument-functions."""
    flags = "-O2 -finstrument-functions"
    run = s.measured("calls", plan("system_call", "getppid, invalid", flags=flags))
    s.figure(GETPPID, run.value("getppid"), "ns", run)


@LAB.case(Kind.RUN, SETUID, "the run holds the refused call only")
def only_the_refused(s: Student) -> None:
    """Measured setuid-refused only."""
    run = s.measured("users", plan("system_call", "setuid-refused, invalid"))
    s.figure(SETUID, run.value("setuid-refused"), "ns", run)


@LAB.case(
    Kind.CONCLUSION, GETPPID, "the run is of a library call that the vDSO answers, not of getppid"
)
def naive_for_getppid(s: Student) -> None:
    """Handed in the naive run with report B's call."""
    s.figure(GETPPID, s["naive"].value("gettimeofday"), "ns", s["naive"])


@LAB.case(Kind.CONCLUSION, RATIO, "the value is not of this one run")
def ratio_across_runs(s: Student) -> None:
    """Divided by the naive run's call, on another day, and not by that of `clocks`."""
    ratio = s["clocks"].value(TRAP) / s["naive"].value("gettimeofday")
    s.figure(RATIO, ratio * 1.25, "times", s["clocks"])


def _right(s: Student) -> None:
    s.figure(GETPPID, s["calls"].value("getppid"), "ns", s["calls"])
    s.figure(FLOOR, s["calls"].value("invalid"), "ns", s["calls"])


@LAB.case(Kind.FILE, GETPPID, "samples of the recording were changed by hand")
def rows_smoothed(s: Student) -> None:
    """Made the samples of three slow processes a tenth shorter."""
    run = s["calls"]
    s.edit(run, smoothed("getppid", "[2-4]"))
    s.figure(GETPPID, run.value("getppid"), "ns", run)


@LAB.case(Kind.FILE, READ0, "the C is not the one that was measured")
def c_changed_afterwards(s: Student) -> None:
    """Tidied the .c up after the run."""
    run = s["own"]
    path = (s.folder / run.path).with_suffix(".c")
    path.write_text(path.read_text() + "/* cleaned up */\n")
    s.figure(READ0, run.value("read0"), "ns", run)


def _over(s: Student) -> float:
    return s["calls"].value("getppid") / s["calls"].value("invalid")


@LAB.conclusion(SHARE, "the way in and out is more than half: the data say otherwise", after=_right)
def less_than_half(s: Student) -> float:
    """Concluded 2, less than half, by feeling."""
    over = _over(s)
    if 1.75 < over < 2.3:
        raise NoMistake(f"getppid costs {over:.2f} times the floor: at the edge")
    return 2.0 if over < 2 else 1.0


@LAB.conclusion(SHARE, "getppid costs more than the floor: the data say otherwise", after=_right)
def cheaper_than_nothing(s: Student) -> float:
    """Concluded 3, it costs less than the way in and out."""
    return 3


@LAB.conclusion(SHARE, "the value is no number of the list", after=_right)
def share_for_number(s: Student) -> float:
    """Gave the share in percent instead of a number of the list."""
    return round(100 / _over(s))
