"""What students do wrong in lab 09, the memory ladder."""

from __future__ import annotations

from bench.wrong.case import Kind, Lab
from bench.wrong.student import NoMistake, Student, broken_plan, own_plan, plan, smoothed
from labs.run.c_process import RunFailed

L1, MEMORY, ORDER, OWN = "ladder-l1", "ladder-memory", "ladder-order", "ladder-own"


RANDOM, ORDERED, SMALL, MIDDLE = "random-128m", "ordered-128m", "random-16k", "random-64k"

WORDS = "own_ladder --variant own-128m,random-128m --samples 240 --unit ns"

RUNS = {
    "naive": lambda: plan("memory_ladder", ORDERED, samples=120),
    "orders": lambda: plan("memory_ladder", f"{RANDOM}, {ORDERED}", samples=240),
    "sizes": lambda: plan("memory_ladder", f"{SMALL}, {MIDDLE}, random-4m", samples=240),
    "own": lambda: own_plan(WORDS, "09/right.c"),
}

#: The run by which each figure is handed in.
RIGHT = {L1: "sizes", MEMORY: "orders", ORDER: "orders", OWN: "own"}

LAB = Lab("09-memory-ladder", RUNS, RIGHT)


def _first(s: Student, unit: str) -> float:
    return s["sizes"].value(SMALL, unit)


@LAB.value(L1, "the value is in ticks, not in core cycles")
def ticks_for_cycles(s: Student) -> float:
    """Took the value in ticks and wrote cycles."""
    return _first(s, "ticks")


@LAB.value(L1, "the value is in ns, not in core cycles")
def ns_for_cycles(s: Student) -> float:
    """Took the value in ns and wrote cycles."""
    return _first(s, "ns")


@LAB.value(L1, "the value is that of a set of 64 KB")
def second_cache(s: Student) -> float:
    """Took the row of 64k."""
    return s["sizes"].value(MIDDLE, "cycles")


@LAB.value(L1, "twice the cost of a load")
def twice(s: Student) -> float:
    """Counted a load there and a load back."""
    return 2 * _first(s, "cycles")


@LAB.value(MEMORY, "the value is that of the order of addresses")
def by_address(s: Student) -> float:
    """Took the row by address."""
    return s["orders"].value(ORDERED, "ns")


@LAB.value(MEMORY, "the value is that of another run, by address")
def naive(s: Student) -> float:
    """Took the value of the naive run."""
    return s["naive"].value(ORDERED, "ns")


@LAB.value(MEMORY, "the value is in ticks, not in ns")
def ticks_for_ns(s: Student) -> float:
    """Took the value in ticks and wrote ns."""
    return s["orders"].value(RANDOM, "ticks")


@LAB.value(MEMORY, "the value is in us, not in ns: a factor of 1000")
def us_for_ns(s: Student) -> float:
    """Took the value in us and wrote ns."""
    return s["orders"].value(RANDOM, "us")


@LAB.value(MEMORY, "the other order was subtracted, asked is one load")
def difference_of_orders(s: Student) -> float:
    """Subtracted the order of addresses."""
    return s["orders"].value(RANDOM, "ns") - s["orders"].value(ORDERED, "ns")


@LAB.value(MEMORY, "half the cost of a load")
def halved(s: Student) -> float:
    """Divided by two."""
    return s["orders"].value(RANDOM, "ns") / 2


@LAB.value(OWN, "the value is in ticks, not in ns")
def own_in_ticks(s: Student) -> float:
    """Took the value in ticks and wrote ns."""
    return s["own"].value("own-128m", "ticks")


@LAB.value(OWN, "the value is in us, not in ns: a factor of 1000")
def own_in_us(s: Student) -> float:
    """Took the value in us and wrote ns."""
    return s["own"].value("own-128m", "us")


LAB.own_c(
    OWN,
    WORDS,
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


@LAB.case(Kind.RUN, MEMORY, "the walk goes by address")
def foreseen(s: Student) -> None:
    """Handed in the broken run by address."""
    _hand_in_broken(s, "order_foreseen")


@LAB.case(Kind.RUN, MEMORY, "the walk soon repeats itself")
def short_cycle(s: Student) -> None:
    """Handed in the broken run whose next lines are drawn."""
    _hand_in_broken(s, "cycle_too_short")


@LAB.case(Kind.RUN, MEMORY, "all loads come from one page of zeros")
def unwritten(s: Student) -> None:
    """Handed in the broken run from memory that was never written."""
    _hand_in_broken(s, "never_written")


@LAB.case(Kind.RUN, MEMORY, "the loads do not wait for each other")
def overlapping(s: Student) -> None:
    """Handed in the broken run that computes its places."""
    _hand_in_broken(s, "loads_overlap")


@LAB.case(Kind.RUN, MEMORY, "the loads hardly wait for the page table: the pages are huge")
def huge_pages(s: Student) -> None:
    """Handed in a run whose set the OS gave in huge pages."""
    try:
        _hand_in_broken(s, "huge_pages_unnoticed")
    except RunFailed as why:
        if why.impossible_here:
            raise NoMistake(str(why)) from why
        raise


def _hand_in_broken(s: Student, kernel: str) -> None:
    run = s.measured("orders", broken_plan(kernel))
    s.figure(MEMORY, run.naive(unit="ns"), "ns", run)


@LAB.case(Kind.RUN, MEMORY, "another variant was measured: a set of 4 MB")
def smaller_set(s: Student) -> None:
    """Measured 4 MB instead of 128 MB."""
    run = s.measured("orders", plan("memory_ladder", "random-4m", samples=120))
    s.figure(MEMORY, run.naive("random-4m", "ns"), "ns", run)


@LAB.case(Kind.RUN, MEMORY, "too few samples and only one process")
def nine_samples(s: Student) -> None:
    """Took 9 samples in one process."""
    run = s.measured("orders", plan("memory_ladder", RANDOM, samples=9, processes=1, warmup=0))
    s.figure(MEMORY, run.naive(RANDOM, "ns"), "ns", run)


@LAB.case(Kind.FILE, MEMORY, "samples of the recording were changed by hand")
def rows_smoothed(s: Student) -> None:
    """Made the samples of three slow processes a tenth shorter."""
    run = s["orders"]
    s.edit(run, smoothed(RANDOM, "[0-2]"))
    s.figure(MEMORY, run.value(RANDOM, "ns"), "ns", run)


@LAB.case(Kind.CONCLUSION, MEMORY, "the run is of one's own C, asked is the kit's walk")
def own_for_memory(s: Student) -> None:
    """Handed in one's own run for the kit's."""
    s.figure(MEMORY, s["own"].value("own-128m", "ns"), "ns", s["own"])


def _right(s: Student) -> None:
    s.figure(MEMORY, s["orders"].value(RANDOM, "ns"), "ns", s["orders"])


def _times(s: Student) -> float:
    """How many times the order of addresses the random one costs."""
    times = s["orders"].value(RANDOM, "ns") / s["orders"].value(ORDERED, "ns")
    if 3 < times < 5:
        raise NoMistake(f"{times:.2g} times: the data are at the edge")
    return times


@LAB.conclusion(
    ORDER,
    "the two rows differ by far more than the errors: the data do tell",
    after=_right,
    run="orders",
)
def order_nothing(s: Student) -> float:
    """Concluded 3, to be careful."""
    _times(s)
    return 3.0


@LAB.conclusion(ORDER, "the data of this run say otherwise", after=_right, run="orders")
def order_against_data(s: Student) -> float:
    """Concluded by feeling, and not by the two rows."""
    return 2.0 if _times(s) > 4 else 1.0


@LAB.conclusion(ORDER, "there is no conclusion 0", after=_right, run="orders")
def order_0(s: Student) -> float:
    """Counted the conclusions from 0."""
    return 0
