"""What students do wrong in lab 02, the first time."""

from __future__ import annotations

import numpy as np

from bench.wrong.case import Kind, Lab
from bench.wrong.student import Student, lines_without, own_plan, plan

CALL, FAULT, CACHE = (
    "first-iteration-call",
    "first-iteration-page-fault",
    "first-iteration-data-cache",
)

OWN, CAUSE = "first-call-own", "first-iteration-cause"

CAUSES = "page-fault, data-cache, instruction-cache, branch-predictor"

WORDS = "own_first_call --variant own,unprepared --samples 600 --processes 20"

RUNS = {
    "cold": lambda: plan(
        "first_iteration", "call, system-call, lazy-binding", samples=600, processes=20, warmup=0
    ),
    "load": lambda: plan("first_iteration", "data-cache", samples=500, processes=5, warmup=20),
    "causes": lambda: plan("first_iteration", CAUSES, samples=600, processes=8, warmup=20),
    "own": lambda: own_plan(WORDS, "02/right.c"),
}

#: The run by which each figure is handed in.
RIGHT = {CALL: "cold", FAULT: "causes", CACHE: "causes", OWN: "own"}

LAB = Lab("02-first-iteration", RUNS, RIGHT)


@LAB.value(CALL, "the value is that of later calls; the first ones vanish in a median")
def warm(s: Student) -> float:
    """Took the median of the column: what a call costs later."""
    return float(np.median(s["cold"].column("call")))


@LAB.value(CALL, "a mean over first and later calls")
def mean_of_all(s: Student) -> float:
    """Took the mean of all 600 samples."""
    return float(s["cold"].column("call").mean())


@LAB.value(CALL, "the value is a ratio, not a difference in ns")
def first_over_later(s: Student) -> float:
    """Divided the first by a later one: 'so many times slower'."""
    return float(s["cold"].column("call").max() / np.median(s["cold"].column("call")))


@LAB.value(CALL, "the value is that of the system call, not of the procedure call")
def system_call(s: Student) -> float:
    """Took the row system-call of the table."""
    return s["cold"].value("system-call")


@LAB.value(CALL, "the value is that of the library function that is bound, not of the call")
def lazy_binding(s: Student) -> float:
    """Took the row lazy-binding of the table."""
    return s["cold"].value("lazy-binding")


@LAB.value(CALL, "the value is in ticks, not in ns")
def call_in_ticks(s: Student) -> float:
    """Read the ticks off the spreadsheet and wrote ns."""
    return s["cold"].value("call", "ticks")


@LAB.value(CALL, "the value is the maximum, one process that was disturbed")
def worst(s: Student) -> float:
    """Took the largest sample of all 20 processes."""
    return float(s["cold"].column("call").max())


@LAB.value(FAULT, "the value is the baseline, a touch without a page fault")
def page_present(s: Student) -> float:
    """Took the row of the baseline: the touch of a page that is there."""
    return s["causes"].baseline("page-fault")


@LAB.value(FAULT, "the value is a whole sample of many faults, not one fault")
def whole_sample(s: Student) -> float:
    """Took the mean sample, with all its touches."""
    return float(s["causes"].column("page-fault", k=_largest(s, "page-fault")).mean())


@LAB.value(FAULT, "the value is in us, not in ns: a factor of 1000")
def fault_in_us(s: Student) -> float:
    """Took the value in microseconds and kept ns."""
    return s["causes"].value("page-fault", "us")


@LAB.value(FAULT, "the value is in core cycles, not in ns")
def fault_in_cycles(s: Student) -> float:
    """Took the value in core cycles and wrote ns."""
    return s["causes"].value("page-fault", "cycles")


def _largest(s: Student, variant: str) -> int:
    return s["causes"].batches(variant)[-1]


@LAB.value(CACHE, "the value is that of a missed line of code, not of data")
def instruction_cache(s: Student) -> float:
    """Took the row instruction-cache."""
    return s["causes"].value("instruction-cache")


@LAB.value(CACHE, "the value is the baseline, a load from the cache")
def cache_baseline(s: Student) -> float:
    """Took the load that hits the cache."""
    return s["causes"].baseline("data-cache")


@LAB.value(CACHE, "the value is in ticks, not in ns")
def cache_in_ticks(s: Student) -> float:
    """Took the value in ticks and wrote ns."""
    return s["causes"].value("data-cache", "ticks")


@LAB.value(CACHE, "the sum of two causes, asked is one")
def added_up(s: Student) -> float:
    """Added the missed line of code to the missed line of data."""
    return s["causes"].value("data-cache") + s["causes"].value("instruction-cache")


@LAB.value(OWN, "the value is that of the call that nobody got ready")
def unprepared(s: Student) -> float:
    """Took the row unprepared."""
    return s["own"].value("unprepared")


@LAB.value(OWN, "the value is the difference of the two calls, asked is what is left")
def saved(s: Student) -> float:
    """Gave what the page saves: unprepared less own."""
    return s["own"].value("unprepared") - s["own"].value("own")


@LAB.value(OWN, "the value is a share in percent, not ns")
def share(s: Student) -> float:
    """Gave what is left in percent of the whole, as ns."""
    return 100 * s["own"].value("own") / s["own"].value("unprepared")


LAB.own_c(
    OWN,
    WORDS,
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


@LAB.case(Kind.RUN, CALL, "the warm-up took the first call")
def warmed_up(s: Student) -> None:
    """Asked for a warm-up of 1, as in lab 01."""
    run = s.measured("warmed", plan("first_iteration", "call", samples=400, processes=20, warmup=1))
    s.figure(CALL, run.naive("call"), "ns", run)


@LAB.case(Kind.RUN, CALL, "one process has one first call only: too few processes")
def one_process(s: Student) -> None:
    """Ran 400 samples in one process, and took the largest."""
    run = s.measured("single", plan("first_iteration", "call", samples=400, processes=1, warmup=0))
    s.figure(CALL, float(run.column("call").max()), "ns", run)


def _right(s: Student) -> None:
    s.figure(CALL, s["cold"].value("call"), "ns", s["cold"])
    s.figure(CACHE, s["causes"].value("data-cache"), "ns", s["causes"])
    s.figure(OWN, s["own"].value("own"), "ns", s["own"])


@LAB.case(Kind.CONCLUSION, CACHE, "the value is of another run than the recording")
def load_of_another_run(s: Student) -> None:
    """Took the load from the run `load` on another day, 30 % more, with `causes` beside it."""
    s.figure(CACHE, s["load"].value("data-cache") * 1.3, "ns", s["causes"])


@LAB.case(Kind.FILE, CALL, "the first calls were deleted from the recording by hand")
def cold_rows_deleted(s: Student) -> None:
    """Deleted the first sample of each process as an outlier."""
    run = s["cold"]
    s.edit(run, lines_without(r"^call,[0-9]+,0,"))
    s.figure(CALL, 12.0, "ns", run)


@LAB.case(Kind.CONCLUSION, FAULT, "the recording named has no page-fault variant")
def fault_by_cold(s: Student) -> None:
    """Gave the right value with the run `cold` as evidence."""
    s.figure(FAULT, s["causes"].value("page-fault"), "ns", s["cold"])


@LAB.conclusion(
    CAUSE, "one load is far less than half of the first call: the data say otherwise", after=_right
)
def main_memory(s: Student) -> float:
    """Concluded 1, main memory, as reports D and E do."""
    return 1


@LAB.conclusion(
    CAUSE, "with the page there most of the cost is gone: the data do name a cause", after=_right
)
def neither(s: Student) -> float:
    """Concluded 3, neither, to be careful."""
    return 3


@LAB.conclusion(CAUSE, "there is no conclusion with this number", after=_right)
def no_such_number(s: Student) -> float:
    """Typed 22 for 2."""
    return 22


@LAB.conclusion(CAUSE, "the value is no number of the list", after=_right)
def a_share(s: Student) -> float:
    """Gave the share that is left instead of a number of the list."""
    return s["own"].value("own") / s["cold"].value("call")
