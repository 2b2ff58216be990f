"""What students do wrong in lab 09, the memory ladder."""

from __future__ import annotations

from bench.wrong.case import Lab, conclusions, file_case, mixed_case, own_c, run_case
from bench.wrong.labs.lab_09.values import (
    MEMORY,
    ORDER,
    ORDERED,
    OWN,
    RANDOM,
    RIGHT,
    RUNS,
    VALUES,
    WORDS,
)
from bench.wrong.student import NoMistake, Student, broken_plan, plan, smoothed
from labs.run.c_process import RunFailed

_C = (
    ("in_order", "let each line lead to the next one", "the walk goes by address"),
    ("backwards", "let each line lead to the one before", "the walk goes by address, backwards"),
    ("every_seventh", "took every seventh line", "all hops are equally long"),
    ("drawn", "drew each next line by itself", "the walk soon repeats itself"),
    (
        "swapped_with_any",
        "wrote random_below(i + 1) for random_below(i)",
        "the order has several cycles, and the walk goes round one of them",
    ),
    ("stays", "let each line lead to itself", "the walk never leaves the first line"),
    ("there_and_back", "swapped neighbours", "the walk goes to and fro between two lines"),
    ("half", "shuffled the first half", "half of the set is walked through"),
    ("first_page", "drew from 64 lines", "the walk stays in one page"),
    ("wraps_early", "wrapped at 4096 lines", "the walk stays in 4096 lines"),
    ("always_zero", "let all lines lead to line 0", "the walk stays in line 0"),
)


def _foreseen(s: Student) -> None:
    _hand_in_broken(s, "order_foreseen")


def _short(s: Student) -> None:
    _hand_in_broken(s, "cycle_too_short")


def _unwritten(s: Student) -> None:
    _hand_in_broken(s, "never_written")


def _overlapping(s: Student) -> None:
    _hand_in_broken(s, "loads_overlap")


def _huge(s: Student) -> None:
    try:
        _hand_in_broken(s, "huge_pages_unnoticed")
    except RunFailed as why:
        if why.impossible_here:
            raise NoMistake(str(why)) from why
        raise


def _hand_in_broken(s: Student, kernel: str) -> None:
    run = s.measured("orders", broken_plan(kernel))
    s.figure(MEMORY, run.naive(unit="ns"), "ns", run)


def _smaller(s: Student) -> None:
    run = s.measured("orders", plan("memory_ladder", "random-4m", samples=120))
    s.figure(MEMORY, run.naive("random-4m", "ns"), "ns", run)


def _few(s: Student) -> None:
    run = s.measured("orders", plan("memory_ladder", RANDOM, samples=9, processes=1, warmup=0))
    s.figure(MEMORY, run.naive(RANDOM, "ns"), "ns", run)


def _smoothed(s: Student) -> None:
    run = s["orders"]
    s.edit(run, smoothed(RANDOM, "[0-2]"))
    s.figure(MEMORY, run.value(RANDOM, "ns"), "ns", run)


def _own_for_memory(s: Student) -> None:
    s.figure(MEMORY, s["own"].value("own-128m", "ns"), "ns", s["own"])


def _right(s: Student) -> None:
    s.figure(MEMORY, s["orders"].value(RANDOM, "ns"), "ns", s["orders"])


def _times(s: Student) -> float:
    """How many times the order of addresses the random one costs."""
    times = s["orders"].value(RANDOM, "ns") / s["orders"].value(ORDERED, "ns")
    if 3 < times < 5:
        raise NoMistake(f"{times:.2g} times: the data are at the edge")
    return times


def _nothing_told(s: Student) -> float:
    """The third conclusion, where the rows do tell."""
    _times(s)
    return 3.0


_CONCLUSION = (
    (
        "order-against-data",
        "concluded by feeling, and not by the two rows",
        "the data of this run say otherwise",
        lambda s: 2.0 if _times(s) > 4 else 1.0,
    ),
    (
        "order-nothing",
        "concluded 3, to be careful",
        "the two rows differ by far more than the errors: the data do tell",
        _nothing_told,
    ),
    ("order-0", "counted the conclusions from 0", "there is no conclusion 0", lambda s: 0),
)

LAB = Lab(
    "09-memory-ladder",
    RUNS,
    RIGHT,
    (
        *VALUES,
        *own_c(OWN, "09", WORDS, "ns", _C),
        *conclusions(ORDER, "choice", _right, _CONCLUSION, run="orders"),
        run_case(
            "foreseen",
            MEMORY,
            "handed in the broken run by address",
            "the walk goes by address",
            _foreseen,
        ),
        run_case(
            "short-cycle",
            MEMORY,
            "handed in the broken run whose next lines are drawn",
            "the walk soon repeats itself",
            _short,
        ),
        run_case(
            "unwritten",
            MEMORY,
            "handed in the broken run from memory that was never written",
            "all loads come from one page of zeros",
            _unwritten,
        ),
        run_case(
            "overlapping",
            MEMORY,
            "handed in the broken run that computes its places",
            "the loads do not wait for each other",
            _overlapping,
        ),
        run_case(
            "huge-pages",
            MEMORY,
            "handed in a run whose set the OS gave in huge pages",
            "the loads hardly wait for the page table: the pages are huge",
            _huge,
        ),
        run_case(
            "smaller-set",
            MEMORY,
            "measured 4 MB instead of 128 MB",
            "another variant was measured: a set of 4 MB",
            _smaller,
        ),
        run_case(
            "nine-samples",
            MEMORY,
            "took 9 samples in one process",
            "too few samples and only one process",
            _few,
        ),
        mixed_case(
            "own-for-memory",
            MEMORY,
            "handed in one's own run for the kit's",
            "the run is of one's own C, asked is the kit's walk",
            _own_for_memory,
        ),
        file_case(
            "rows-smoothed",
            MEMORY,
            "made the samples of three slow processes a tenth shorter",
            "samples of the recording were changed by hand",
            _smoothed,
        ),
    ),
)
