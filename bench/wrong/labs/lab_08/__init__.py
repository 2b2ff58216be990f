"""What students do wrong in lab 08, the trial of five reports."""

from __future__ import annotations

from collections.abc import Callable

from bench.wrong.case import Case, Kind, Lab, file_case, mixed_case, own_c, run_case
from bench.wrong.labs.lab_08.values import RIGHT, RUNS, VALUES, WORDS, repaired, reproduced, trial
from bench.wrong.student import Student, lines_without, plan

_C = (
    (
        "library_beside",
        "wrote the trap below the library's call and left that where it was",
        "the library's call still runs beside the trap, and is timed with it",
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
    (
        "cached",
        "kept the answer of the first call",
        "only the first call enters the OS kernel",
    ),
    (
        "cached_and_waits",
        "kept the answer of the first call, and looped for about as long as a call",
        "only the first call enters the OS kernel",
    ),
    (
        "pauses",
        "paused after the call",
        "a pause is timed with the call",
    ),
    (
        "fenced",
        "put fences around the call",
        "the fences are timed with the call",
    ),
)


def _twin_for_own(s: Student) -> None:
    s.figure("trial-b-repaired", repaired(s, "b"), "ns", s["trial-b-repaired"])


def _swapped(report: str) -> Callable[[Student], None]:
    """The broken run handed in as the repaired one."""

    def make(s: Student) -> None:
        s.figure(f"trial-{report}-repaired", trial(s, report), "ns", s[f"trial-{report}"])

    return make


def _repaired_as_broken(report: str) -> Callable[[Student], None]:
    def make(s: Student) -> None:
        run = s[f"trial-{report}-repaired"]
        s.figure(reproduced(report), run.value(), "ns", run)

    return make


def _yield_for_condvar(s: Student) -> None:
    run = s.measured("trial-d-repaired", plan("thread_switch", "yield", samples=400))
    s.figure("trial-d-repaired", run.naive("yield"), "ns", run)


def _libc(s: Student) -> None:
    run = s.measured("trial-c-repaired", plan("system_call", "read0-libc, invalid", samples=400))
    s.figure("trial-c-repaired", run.value("read0-libc"), "ns", run)


def _few(s: Student) -> None:
    wished = plan("system_call", "getppid", samples=12, processes=1, warmup=0)
    run = s.measured("trial-a-repaired", wished)
    s.figure("trial-a-repaired", run.naive("getppid"), "ns", run)


def _deleted(s: Student) -> None:
    run = s["trial-a-repaired"]
    s.edit(run, lines_without(r"^getppid,[0-2],"))
    s.figure("trial-a-repaired", run.value(), "ns", run)


def _suspect(report: str, number: float, did: str, cause: str) -> Case:
    def make(s: Student) -> None:
        s.figure(reproduced(report), trial(s, report), "ns", s[f"trial-{report}"])
        run = s["own"] if report == "b" else s[f"trial-{report}-repaired"]
        s.figure(f"trial-{report}-repaired", run.value(), "ns", run)
        s.figure(f"trial-{report}-suspect", number, "choice")

    name = f"{report}-suspect-{number:g}"
    return Case(name, f"trial-{report}-suspect", Kind.CONCLUSION, did, cause, make)


_SUSPECTS = (
    _suspect(
        "a",
        1,
        "suspected the timer overhead, since the lab began with it",
        "the overhead is no system call: it was not got by a cached answer",
    ),
    _suspect(
        "a",
        3,
        "suspected setuid, since it is dear",
        "setuid does enter the OS kernel: it was not got by a cached answer",
    ),
    _suspect(
        "b",
        2,
        "suspected the process switch",
        "the switch was not got by the vDSO: it is a pipe's",
    ),
    _suspect(
        "c",
        1,
        "suspected the process switch",
        "the switch was not got by wrong registers: the read was",
    ),
    _suspect(
        "d",
        3,
        "suspected the process switch",
        "the process switch goes by pipe, not by the bare mutex",
    ),
    _suspect("e", 2, "suspected the process switch", "the procedure call was got like that"),
    _suspect("e", 5, "gave the report's number, E, the fifth", "there is no such number"),
)

LAB = Lab(
    "08-five-reports-on-trial",
    RUNS,
    RIGHT,
    (
        *VALUES,
        *own_c("trial-b-repaired", "08", WORDS, "ns", _C),
        *_SUSPECTS,
        *(
            run_case(
                f"{report}-broken-for-repaired",
                f"trial-{report}-repaired",
                "handed in the broken run as the repaired one",
                cause,
                _swapped(report),
            )
            for report, cause in (
                ("a", "the library answers from memory, no system call is made"),
                ("c", "the arguments are in the wrong registers, so that the call fails"),
                ("d", "the bare mutex hands nothing over: no switch was timed"),
                ("e", "the clock is read around each call, and is in the value"),
            )
        ),
        run_case(
            "b-repaired-for-broken",
            reproduced("b"),
            "handed in the repaired run as the reproduction",
            "the run does not make the mistake that is to be reproduced",
            _repaired_as_broken("b"),
        ),
        run_case(
            "d-yields",
            "trial-d-repaired",
            "measured yield for condvar",
            "another mechanism was measured: sched_yield",
            _yield_for_condvar,
        ),
        run_case(
            "c-by-library",
            "trial-c-repaired",
            "measured the library's read",
            "another variant was measured: the library's call",
            _libc,
        ),
        run_case(
            "a-twelve-samples",
            "trial-a-repaired",
            "took 12 samples in one process",
            "too few samples and only one process",
            _few,
        ),
        mixed_case(
            "b-twin-for-own",
            "trial-b-repaired",
            "handed in the kit's repaired twin instead of one's own C",
            "asked is one's own C, the run is the kit's",
            _twin_for_own,
        ),
        file_case(
            "a-rows-deleted",
            "trial-a-repaired",
            "deleted three processes",
            "rows of the recording were deleted by hand",
            _deleted,
        ),
    ),
)
