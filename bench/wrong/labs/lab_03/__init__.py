"""What students do wrong in lab 03, the system call."""

from __future__ import annotations

from bench.wrong.case import Lab, conclusions, file_case, mixed_case, own_c, run_case
from bench.wrong.labs.lab_03.values import (
    FLOOR,
    GETPPID,
    RATIO,
    READ0,
    RIGHT,
    RUNS,
    SETUID,
    SHARE,
    TRAP,
    VALUES,
    WORDS,
)
from bench.wrong.student import NoMistake, Student, plan, smoothed

_C = (
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
    (
        "fenced",
        "put fences around the call",
        "the fences are timed with the call",
    ),
    (
        "pauses",
        "paused after the call",
        "a pause is timed with the call",
    ),
    (
        "looks_at_the_clock",
        "read the counter around the call as well",
        "two more readings of the counter are timed with the call",
    ),
    (
        "spins",
        "left the call out and looped for about as long",
        "no system call is made at all",
    ),
)


def _getpid(s: Student) -> None:
    run = s.measured("calls", plan("system_call", "getpid, invalid"))
    s.figure(GETPPID, run.value("getpid"), "ns", run)


def _few(s: Student) -> None:
    run = s.measured("calls", plan("system_call", "getppid", samples=16, processes=1, warmup=0))
    s.figure(GETPPID, run.naive("getppid"), "ns", run)


def _traced(s: Student) -> None:
    words = "system_call --variant getppid,invalid --samples 1200 --processes 8 --warmup 5"
    run = s.traced("calls", words)
    s.figure(GETPPID, run.naive("getppid"), "ns", run)


def _instrumented(s: Student) -> None:
    flags = "-O2 -finstrument-functions"
    run = s.measured("calls", plan("system_call", "getppid, invalid", flags=flags))
    s.figure(GETPPID, run.value("getppid"), "ns", run)


def _refused_run(s: Student) -> None:
    run = s.measured("users", plan("system_call", "setuid-refused, invalid"))
    s.figure(SETUID, run.value("setuid-refused"), "ns", run)


def _naive_run(s: Student) -> None:
    s.figure(GETPPID, s["naive"].value("gettimeofday"), "ns", s["naive"])


def _across_runs(s: Student) -> None:
    ratio = s["clocks"].value(TRAP) / s["naive"].value("gettimeofday")
    s.figure(RATIO, ratio * 1.25, "times", s["clocks"])


def _right(s: Student) -> None:
    s.figure(GETPPID, s["calls"].value("getppid"), "ns", s["calls"])
    s.figure(FLOOR, s["calls"].value("invalid"), "ns", s["calls"])


def _smoothed(s: Student) -> None:
    run = s["calls"]
    s.edit(run, smoothed("getppid", "[2-4]"))
    s.figure(GETPPID, run.value("getppid"), "ns", run)


def _other_c(s: Student) -> None:
    run = s["own"]
    path = (s.folder / run.path).with_suffix(".c")
    path.write_text(path.read_text() + "/* cleaned up */\n")
    s.figure(READ0, run.value("read0"), "ns", run)


def _over(s: Student) -> float:
    return s["calls"].value("getppid") / s["calls"].value("invalid")


def _wrong_share(s: Student) -> float:
    """The conclusion that the two rows do not bear out."""
    over = _over(s)
    if 1.75 < over < 2.3:
        raise NoMistake(f"getppid costs {over:.2f} times the floor: at the edge")
    return 2.0 if over < 2 else 1.0


LAB = Lab(
    "03-system-call",
    RUNS,
    RIGHT,
    (
        *VALUES,
        *own_c(READ0, "03", WORDS, "ns", _C),
        *conclusions(
            SHARE,
            "choice",
            _right,
            (
                (
                    "less-than-half",
                    "concluded 2, less than half, by feeling",
                    "the way in and out is more than half: the data say otherwise",
                    _wrong_share,
                ),
                (
                    "cheaper-than-nothing",
                    "concluded 3, it costs less than the way in and out",
                    "getppid costs more than the floor: the data say otherwise",
                    lambda s: 3,
                ),
                (
                    "share-for-number",
                    "gave the share in percent instead of a number of the list",
                    "the value is no number of the list",
                    lambda s: round(100 / _over(s)),
                ),
            ),
        ),
        run_case(
            "instrumented",
            GETPPID,
            "compiled the kit's C kernel with -finstrument-functions",
            "the compiler adds two calls to each function",
            _instrumented,
        ),
        run_case(
            "getpid-for-getppid",
            GETPPID,
            "measured getpid instead of getppid",
            "another variant was measured: getpid",
            _getpid,
        ),
        run_case(
            "sixteen-samples",
            GETPPID,
            "took 16 samples in one process",
            "too few samples and only one process",
            _few,
        ),
        run_case(
            "under-strace",
            GETPPID,
            "ran it under strace, to count the calls as well",
            "each call stops for the tracer: the run is strace's",
            _traced,
        ),
        run_case(
            "only-the-refused",
            SETUID,
            "measured setuid-refused only",
            "the run holds the refused call only",
            _refused_run,
        ),
        mixed_case(
            "naive-for-getppid",
            GETPPID,
            "handed in the naive run with report B's call",
            "the run is of a library call that the vDSO answers, not of getppid",
            _naive_run,
        ),
        mixed_case(
            "ratio-across-runs",
            RATIO,
            "divided by the naive run's call, on another day, and not by that of `clocks`",
            "the value is not of this one run",
            _across_runs,
        ),
        file_case(
            "rows-smoothed",
            GETPPID,
            "made the samples of three slow processes a tenth shorter",
            "samples of the recording were changed by hand",
            _smoothed,
        ),
        file_case(
            "c-changed-afterwards",
            READ0,
            "tidied the .c up after the run",
            "the C is not the one that was measured",
            _other_c,
        ),
    ),
)
