"""What students do wrong in lab 08, the trial of five reports."""

from __future__ import annotations

from functools import partial

from bench.wrong.case import Case, Kind, Lab
from bench.wrong.student import (
    Planned,
    Student,
    broken_plan,
    lines_without,
    own_plan,
    plan,
    twin_plan,
)

#: The pair of broken and repaired run of each report's trial.
PAIRS = {
    "a": "cached_getpid",
    "b": "gettimeofday_for_trap",
    "c": "wrong_registers",
    "d": "bare_mutex",
    "e": "readings_around_each",
}

WORDS = "own_call --variant gettimeofday,invalid --samples 800"

RUNS: dict[str, Planned] = {
    **{f"trial-{report}": partial(broken_plan, name) for report, name in PAIRS.items()},
    **{f"trial-{report}-repaired": partial(twin_plan, name) for report, name in PAIRS.items()},
    "own": lambda: own_plan(WORDS, "08/right.c"),
}

#: The run by which each figure is handed in.
RIGHT = {
    **{f"trial-{report}-reproduced": f"trial-{report}" for report in PAIRS},
    **{f"trial-{report}-repaired": f"trial-{report}-repaired" for report in PAIRS},
    "trial-b-repaired": "own",
}

LAB = Lab("08-five-reports-on-trial", RUNS, RIGHT)


def trial(s: Student, report: str) -> float:
    return s[f"trial-{report}"].naive()


def repaired(s: Student, report: str) -> float:
    return s[f"trial-{report}-repaired"].value()


def reproduced(report: str) -> str:
    return f"trial-{report}-reproduced"


@LAB.value(reproduced("a"), "the value is that of the repaired run, not of the broken one")
def a_value_of_the_twin(s: Student) -> float:
    """Gave the repaired value for the reproduced one."""
    return repaired(s, "a")


@LAB.value(reproduced("a"), "the value follows from no run")
def a_any_number(s: Student) -> float:
    """Gave some number because 'it is wrong anyway'."""
    return 12345.0


@LAB.value(reproduced("b"), "the value is in ns, not in us: a factor of 1000", unit="us")
def b_in_us(s: Student) -> float:
    """Wrote the unit us beside a value in ns."""
    return trial(s, "b")


@LAB.value(reproduced("c"), "the value is a thousand times that of the run: a slip of the unit")
def c_as_printed(s: Student) -> float:
    """Made report C's slip of the unit as well: a thousand times the value."""
    return 1000 * trial(s, "c")


@LAB.value(reproduced("d"), "the value is the printed one, the run gives another")
def d_as_printed(s: Student) -> float:
    """Copied report D's 3,323 ns for the reproduction."""
    return 3323.0


@LAB.value(reproduced("e"), "the value is in ticks, not in ns")
def e_in_ticks(s: Student) -> float:
    """Took the value in ticks and wrote ns."""
    return s["trial-e"].naive(unit="ticks")


@LAB.value(reproduced("e"), "the value is that of the repaired run, not of the broken one")
def e_less_the_clock(s: Student) -> float:
    """Took the clock off the reproduction: the repaired value with the broken run."""
    return repaired(s, "e")


@LAB.value("trial-a-repaired", "the value is that of the broken run")
def a_still_broken(s: Student) -> float:
    """Gave the broken value with the repaired run."""
    return trial(s, "a")


@LAB.value("trial-a-repaired", "the value is in ticks, not in ns")
def a_repaired_in_ticks(s: Student) -> float:
    """Took the value in ticks and wrote ns."""
    return s["trial-a-repaired"].value(unit="ticks")


@LAB.value("trial-c-repaired", "the value is the printed one, not of this run")
def c_repaired_by_hand(s: Student) -> float:
    """Divided report C's 320 µs by a thousand."""
    return 320.0


@LAB.value("trial-c-repaired", "the value is in ns, not in us: a factor of 1000", unit="us")
def c_repaired_in_us(s: Student) -> float:
    """Wrote the unit us beside a value in ns, as report C."""
    return repaired(s, "c")


@LAB.value("trial-d-repaired", "the value is the whole round trip: not halved, nothing subtracted")
def d_round_trip(s: Student) -> float:
    """Took the round trip."""
    return s["trial-d-repaired"].slope()


@LAB.value("trial-d-repaired", "the calls alone were not subtracted")
def d_half_round_trip(s: Student) -> float:
    """Halved the round trip and subtracted nothing."""
    return s["trial-d-repaired"].slope() / 2


@LAB.value("trial-e-repaired", "the loop was not subtracted")
def e_with_the_loop(s: Student) -> float:
    """Took the slope, with the loop in it."""
    return s["trial-e-repaired"].slope()


@LAB.value("trial-e-repaired", "the value is half of the broken run's, not of the repaired one")
def e_by_hand(s: Student) -> float:
    """Halved the broken value: 'there is a clock before and after'."""
    return trial(s, "e") / 2


LAB.own_c(
    "trial-b-repaired",
    WORDS,
    (
        "library_beside",
        "wrote the trap below the library's call and left that where it was",
        "the library's call still runs beside the trap, and is timed with it",
    ),
    (
        "by_syscall",
        "called syscall() with the number",
        "the C library makes the call, not the trap",
    ),
    ("as_it_was", "left the C as it was", "the library's call, which the vDSO answers"),
    (
        "bad_pointer",
        "handed over 8 for the address, and took any answer but 0 for success",
        "the call fails with EFAULT, and the failure is taken for success",
    ),
    (
        "null_pointer",
        "handed over no address at all",
        "the OS kernel is asked for nothing: it writes no time",
    ),
    (
        "unlooked",
        "handed over 1 for the address and returned 1",
        "the call fails with EFAULT, and its result is not looked at",
    ),
    ("other_number", "called getppid by the trap", "another system call is made"),
    ("clock_gettime", "called clock_gettime by the trap", "another system call is made"),
    (
        "wrong_number",
        "guessed the number and took any result for success",
        "the call number does not exist: the call fails",
    ),
    ("twice", "made the call twice", "two calls are timed for one"),
    ("cached", "kept the answer of the first call", "only the first call enters the OS kernel"),
    (
        "cached_and_waits",
        "kept the answer of the first call, and looped for about as long as a call",
        "only the first call enters the OS kernel",
    ),
    ("pauses", "paused after the call", "a pause is timed with the call"),
    ("fenced", "put fences around the call", "the fences are timed with the call"),
)


@LAB.case(Kind.CONCLUSION, "trial-b-repaired", "asked is one's own C, the run is the kit's")
def b_twin_for_own(s: Student) -> None:
    """Handed in the kit's repaired twin instead of one's own C."""
    s.figure("trial-b-repaired", repaired(s, "b"), "ns", s["trial-b-repaired"])


@LAB.case(Kind.RUN, "trial-d-repaired", "another mechanism was measured: sched_yield")
def d_yields(s: Student) -> None:
    """Measured yield for condvar."""
    run = s.measured("trial-d-repaired", plan("thread_switch", "yield", samples=400))
    s.figure("trial-d-repaired", run.naive("yield"), "ns", run)


@LAB.case(Kind.RUN, "trial-c-repaired", "another variant was measured: the library's call")
def c_by_library(s: Student) -> None:
    """Measured the library's read."""
    run = s.measured("trial-c-repaired", plan("system_call", "read0-libc, invalid", samples=400))
    s.figure("trial-c-repaired", run.value("read0-libc"), "ns", run)


@LAB.case(Kind.RUN, "trial-a-repaired", "too few samples and only one process")
def a_twelve_samples(s: Student) -> None:
    """Took 12 samples in one process."""
    wished = plan("system_call", "getppid", samples=12, processes=1, warmup=0)
    run = s.measured("trial-a-repaired", wished)
    s.figure("trial-a-repaired", run.naive("getppid"), "ns", run)


@LAB.case(Kind.FILE, "trial-a-repaired", "rows of the recording were deleted by hand")
def a_rows_deleted(s: Student) -> None:
    """Deleted three processes."""
    run = s["trial-a-repaired"]
    s.edit(run, lines_without(r"^getppid,[0-2],"))
    s.figure("trial-a-repaired", run.value(), "ns", run)


def _suspect(report: str, number: int, cause: str) -> None:
    """A student who suspected another figure, by its number, of the mistake of a report."""
    figure = f"trial-{report}-suspect"

    def make(s: Student) -> None:
        s.figure(reproduced(report), trial(s, report), "ns", s[f"trial-{report}"])
        run = s["own"] if report == "b" else s[f"trial-{report}-repaired"]
        s.figure(f"trial-{report}-repaired", run.value(), "ns", run)
        s.figure(figure, number, "choice")

    LAB.cases.append(Case(f"{report}-suspect-{number}", figure, Kind.CONCLUSION, cause, make))


# The timer overhead, since the lab began with it; setuid, since it is dear; the process switch.
_suspect("a", 1, "the overhead is no system call: it was not got by a cached answer")
_suspect("a", 3, "setuid does enter the OS kernel: it was not got by a cached answer")
_suspect("b", 2, "the switch was not got by the vDSO: it is a pipe's")
_suspect("c", 1, "the switch was not got by wrong registers: the read was")
_suspect("d", 3, "the process switch goes by pipe, not by the bare mutex")
_suspect("e", 2, "the procedure call was got like that")
_suspect("e", 5, "there is no such number")  # E is the fifth report


def _broken_for_repaired(report: str, cause: str) -> None:
    """A student who handed in the broken run as the repaired one."""
    figure = f"trial-{report}-repaired"

    def make(s: Student) -> None:
        s.figure(figure, trial(s, report), "ns", s[f"trial-{report}"])

    LAB.cases.append(Case(f"{report}-broken-for-repaired", figure, Kind.RUN, cause, make))


_broken_for_repaired("a", "the library answers from memory, no system call is made")
_broken_for_repaired("c", "the arguments are in the wrong registers, so that the call fails")
_broken_for_repaired("d", "the bare mutex hands nothing over: no switch was timed")
_broken_for_repaired("e", "the clock is read around each call, and is in the value")


@LAB.case(Kind.RUN, reproduced("b"), "the run does not make the mistake that is to be reproduced")
def b_repaired_for_broken(s: Student) -> None:
    """Handed in the repaired run as the reproduction."""
    run = s["trial-b-repaired"]
    s.figure(reproduced("b"), run.value(), "ns", run)
