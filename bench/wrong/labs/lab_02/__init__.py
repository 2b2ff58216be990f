"""What students do wrong in lab 02, the first time."""

from __future__ import annotations

from bench.wrong.case import Lab, conclusions, file_case, mixed_case, own_c, run_case
from bench.wrong.labs.lab_02.values import (
    CACHE,
    CALL,
    CAUSE,
    FAULT,
    OWN,
    RIGHT,
    RUNS,
    VALUES,
    WORDS,
)
from bench.wrong.student import Student, lines_without, plan

_C = (
    ("empty", "left get_ready empty", "nothing gets the page ready"),
    ("calls_it", "called the code in get_ready", "the code is called in get_ready: no first call"),
    (
        "calls_twice",
        "read the code, then called it ten times 'to warm it up'",
        "the code is called in get_ready: what is timed is no first call",
    ),
    ("other_page", "touched an array of one's own", "another page is touched, not the code's"),
    ("next_page", "touched code[4096]", "the next page is touched, not the code's"),
    (
        "pointer_only",
        "copied the pointer and read nothing through it",
        "the pointer is copied, its page is never read",
    ),
    (
        "address_of",
        "copied the bytes of the pointer by memcpy",
        "the bytes of the pointer are copied, its page is never read",
    ),
    (
        "prefetch",
        "asked for the line by a prefetch",
        "a prefetch gives up where the page is missing: the page stays away",
    ),
    (
        "own_function",
        "touched a procedure of one's own that does the same",
        "the page of another procedure is touched",
    ),
    (
        "madvise",
        "announced the page by madvise",
        "the page is announced, which does not bring it into the page table",
    ),
    ("sleeps", "slept two milliseconds", "waiting brings no page: nothing touches it"),
)


def _warmed(s: Student) -> None:
    run = s.measured("warmed", plan("first_iteration", "call", samples=400, processes=20, warmup=1))
    s.figure(CALL, run.naive("call"), "ns", run)


def _one_process(s: Student) -> None:
    run = s.measured("single", plan("first_iteration", "call", samples=400, processes=1, warmup=0))
    s.figure(CALL, float(run.column("call").max()), "ns", run)


def _right(s: Student) -> None:
    s.figure(CALL, s["cold"].value("call"), "ns", s["cold"])
    s.figure(CACHE, s["causes"].value("data-cache"), "ns", s["causes"])
    s.figure(OWN, s["own"].value("own"), "ns", s["own"])


def _other_load(s: Student) -> None:
    s.figure(CACHE, s["load"].value("data-cache") * 1.3, "ns", s["causes"])


def _cold_rows_deleted(s: Student) -> None:
    run = s["cold"]
    s.edit(run, lines_without(r"^call,[0-9]+,0,"))
    s.figure(CALL, 12.0, "ns", run)


def _wrong_file(s: Student) -> None:
    s.figure(FAULT, s["causes"].value("page-fault"), "ns", s["cold"])


LAB = Lab(
    "02-first-iteration",
    RUNS,
    RIGHT,
    (
        *VALUES,
        *own_c(OWN, "02", WORDS, "ns", _C),
        *conclusions(
            CAUSE,
            "choice",
            _right,
            (
                (
                    "main-memory",
                    "concluded 1, main memory, as reports D and E do",
                    "one load is far less than half of the first call: the data say otherwise",
                    lambda s: 1,
                ),
                (
                    "neither",
                    "concluded 3, neither, to be careful",
                    "with the page there most of the cost is gone: the data do name a cause",
                    lambda s: 3,
                ),
                (
                    "no-such-number",
                    "typed 22 for 2",
                    "there is no conclusion with this number",
                    lambda s: 22,
                ),
                (
                    "a-share",
                    "gave the share that is left instead of a number of the list",
                    "the value is no number of the list",
                    lambda s: s["own"].value("own") / s["cold"].value("call"),
                ),
            ),
        ),
        run_case(
            "warmed-up",
            CALL,
            "asked for a warm-up of 1, as in lab 01",
            "the warm-up took the first call",
            _warmed,
        ),
        run_case(
            "one-process",
            CALL,
            "ran 400 samples in one process, and took the largest",
            "one process has one first call only: too few processes",
            _one_process,
        ),
        mixed_case(
            "load-of-another-run",
            CACHE,
            "took the load from the run `load` on another day, 30 % more, with `causes` beside it",
            "the value is of another run than the recording",
            _other_load,
        ),
        mixed_case(
            "fault-by-cold",
            FAULT,
            "gave the right value with the run `cold` as evidence",
            "the recording named has no page-fault variant",
            _wrong_file,
        ),
        file_case(
            "cold-rows-deleted",
            CALL,
            "deleted the first sample of each process as an outlier",
            "the first calls were deleted from the recording by hand",
            _cold_rows_deleted,
        ),
    ),
)
