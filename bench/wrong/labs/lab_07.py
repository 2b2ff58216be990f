"""What students do wrong in lab 07, the switch with a working set."""

from __future__ import annotations

from bench.wrong.case import Kind, Lab
from bench.wrong.student import NoMistake, Student, broken_plan, own_plan, plan, smoothed

DIRECT, WHOLE, INDIRECT = (
    "footprint-processes-8-0",
    "footprint-processes-8-256k",
    "footprint-indirect",
)

CAUSE, OWN = "footprint-cause", "footprint-own"

P256, P0, T256, T0 = "processes-8-256k", "processes-8-0", "threads-8-256k", "threads-8-0"

WORDS = "own_footprint --variant own-256k,own-0 --samples 240 --unit us"

RUNS = {
    "naive": lambda: plan("switch_footprint", f"{P256}, {P0}, alone-256k, alone-0", samples=240),
    "sizes": lambda: plan(
        "switch_footprint", f"{P0}, processes-8-64k, {P256}, processes-8-1m", samples=120
    ),
    "kinds": lambda: plan("switch_footprint", f"{P256}, {P0}, {T256}, {T0}", samples=300),
    "own": lambda: own_plan(WORDS, "07/right.c"),
}

#: The run by which each figure is handed in.
RIGHT = {DIRECT: "kinds", WHOLE: "kinds", CAUSE: "kinds", OWN: "own"}

LAB = Lab("07-switch-footprint", RUNS, RIGHT)


def us(s: Student, variant: str, run: str = "kinds") -> float:
    return s[run].value(variant, "us")


def round(s: Student, variant: str, run: str = "kinds") -> float:
    return s[run].slope(variant, "us")


def _alone(s: Student, variant: str = P256, run: str = "kinds") -> float:
    return s[run].baseline(variant, "us")


@LAB.value(DIRECT, "the token's own calls were not subtracted")
def hop(s: Student) -> float:
    """Took once round divided by eight."""
    return round(s, P0) / 8


@LAB.value(DIRECT, "the value is a whole round of eight switches, nothing subtracted")
def once_round(s: Student) -> float:
    """Took once round."""
    return round(s, P0)


@LAB.value(DIRECT, "the value is that of eight switches")
def not_divided(s: Student) -> float:
    """Forgot to divide by eight."""
    return 8 * us(s, P0)


@LAB.value(DIRECT, "the value is that of a switch among threads")
def threads_for_processes(s: Student) -> float:
    """Took the row of the threads."""
    return us(s, T0)


@LAB.value(DIRECT, "the value is in ns, not in us: a factor of 1000")
def ns_for_us(s: Student) -> float:
    """Took the value in ns and wrote us."""
    return s["kinds"].value(P0, "ns")


@LAB.value(DIRECT, "a round has eight switches, divided by sixteen")
def divided_by_sixteen(s: Student) -> float:
    """Divided by sixteen: 'eight there and eight back'."""
    return us(s, P0) / 2


@LAB.value(WHOLE, "the reading of the set was not subtracted")
def hop_with_set(s: Student) -> float:
    """Took once round divided by eight, the reading in it."""
    return round(s, P256) / 8


@LAB.value(WHOLE, "the reading was subtracted once instead of eight times")
def alone_once(s: Student) -> float:
    """Subtracted the reading once a round: (once round - alone) / 8."""
    return (round(s, P256) - _alone(s)) / 8


@LAB.value(WHOLE, "the value is that of one process alone, without a switch")
def reading_alone(s: Student) -> float:
    """Took what one process alone pays."""
    return _alone(s)


@LAB.value(WHOLE, "the direct cost was subtracted, asked is the whole")
def indirect_for_whole(s: Student) -> float:
    """Gave the indirect cost."""
    return us(s, P256) - us(s, P0)


@LAB.value(WHOLE, "the value is that of 1 MB, of another run")
def one_megabyte(s: Student) -> float:
    """Took the row processes-8-1m of the run `sizes`."""
    return us(s, "processes-8-1m", "sizes")


@LAB.value(WHOLE, "the value is in ticks, not in us")
def ticks_in_thousands(s: Student) -> float:
    """Took the value in thousands of ticks and wrote us."""
    return s["kinds"].value(P256, "ticks") / 1000


@LAB.value(OWN, "the value is that without a working set")
def own_without_set(s: Student) -> float:
    """Took the row own-0."""
    return s["own"].value("own-0", "us")


@LAB.value(OWN, "the reading of the set was not subtracted")
def own_hop(s: Student) -> float:
    """Took once round divided by eight, the reading in it."""
    return s["own"].slope("own-256k", "us") / 8


@LAB.value(OWN, "the value is in ns, not in us: a factor of 1000")
def own_in_ns(s: Student) -> float:
    """Took the value in ns and wrote us."""
    return s["own"].value("own-256k", "ns")


LAB.own_c(
    OWN,
    WORDS,
    ("not_kept", "added up for nobody", "the compiler leaves the loop out: nothing is read"),
    ("half", "read half of the set", "half of the set is read"),
    ("every_second_line", "took steps of 128", "every second cache line is read"),
    (
        "lines_as_bytes",
        "counted lines, and used the count as an address",
        "only the first 4 KB are read, byte by byte",
    ),
    ("one_a_page", "took steps of 4096", "one line of each page is read"),
    ("first_byte", "wrote *set for set[at]", "one and the same byte is read"),
    (
        "stride_of_ints",
        "went through the set as ints, in steps of 64 ints",
        "every fourth cache line is read: a step is 64 ints, 256 bytes",
    ),
    ("own_array", "read an array of one's own", "another array is read, not the set"),
    (
        "small_array",
        "read an array of 4 KB of one's own over and over",
        "another array is read, not the set",
    ),
    ("address_only", "added up the addresses", "the addresses are added up, nothing is read"),
    ("size_of_pointer", "took sizeof(set) for the size", "8 lines are read: sizeof a pointer is 8"),
    ("last_only", "kept the last byte only", "the compiler reads the last byte only"),
    (
        "grows",
        "read a sixteenth of the set at a time",
        "a sixteenth of the set is read whenever a process runs",
    ),
    (
        "twice_the_memory",
        "used an array of 256 KB of one's own beside the set",
        "twice the memory is used that the lab asks for",
    ),
    ("pauses_each_line", "paused after each line", "a pause is timed with each line of the set"),
)


@LAB.case(Kind.RUN, WHOLE, "another variant was measured: a ring of two")
def two_for_eight(s: Student) -> None:
    """Measured two processes instead of eight."""
    wished = plan("switch_footprint", "processes-2-256k, processes-2-0", samples=240)
    run = s.measured("kinds", wished)
    s.figure(WHOLE, run.naive("processes-2-256k", "us"), "us", run)


@LAB.case(Kind.RUN, WHOLE, "the reading of the set was not subtracted")
def touching_in_the_switch(s: Student) -> None:
    """Handed in the broken run that subtracts no reading."""
    run = s.measured("kinds", broken_plan("touching_in_the_switch"))
    s.figure(WHOLE, run.naive(unit="us"), "us", run)


@LAB.case(Kind.RUN, WHOLE, "nothing of the set is read: the compiler leaves the loop out")
def untouched(s: Student) -> None:
    """Handed in the broken run whose loop the compiler leaves out."""
    run = s.measured("kinds", broken_plan("working_set_untouched"))
    s.figure(WHOLE, run.naive(unit="us"), "us", run)


@LAB.case(Kind.RUN, DIRECT, "too few samples and only one process")
def nine_samples(s: Student) -> None:
    """Took 9 samples in one process."""
    run = s.measured("kinds", plan("switch_footprint", P0, samples=9, processes=1, warmup=0))
    s.figure(DIRECT, run.naive(P0, "us"), "us", run)


@LAB.case(Kind.FILE, DIRECT, "samples of the recording were changed by hand")
def rows_smoothed(s: Student) -> None:
    """Made the samples of three slow processes a tenth shorter."""
    run = s["kinds"]
    s.edit(run, smoothed("processes-8-0", "[0-2]"))
    s.figure(DIRECT, us(s, P0), "us", run)


@LAB.case(Kind.CONCLUSION, WHOLE, "the run is of one's own C, asked is the kit's ring")
def own_for_whole(s: Student) -> None:
    """Handed in one's own run for the kit's."""
    s.figure(WHOLE, s["own"].value("own-256k", "us"), "us", s["own"])


def _right(s: Student) -> None:
    s.figure(DIRECT, us(s, P0), "us", s["kinds"])
    s.figure(WHOLE, us(s, P256), "us", s["kinds"])


def _added(s: Student, more: str = P256, less: str = P0) -> float:
    return us(s, more) - us(s, less)


@LAB.conclusion(INDIRECT, "the value is a ratio, not a difference in us", after=_right)
def indirect_as_ratio(s: Student) -> float:
    """Divided instead of subtracting."""
    return us(s, P256) / us(s, P0)


@LAB.conclusion(INDIRECT, "the reading of the set was not subtracted", after=_right)
def indirect_of_hops(s: Student) -> float:
    """Subtracted the hops, the reading in them."""
    return (round(s, P256) - round(s, P0)) / 8


@LAB.conclusion(INDIRECT, "the sign is wrong: the difference is upside down", after=_right)
def indirect_negative(s: Student) -> float:
    """Subtracted the other way round."""
    return -_added(s)


@LAB.conclusion(INDIRECT, "eight times the indirect cost of a switch", after=_right)
def indirect_of_eight(s: Student) -> float:
    """Gave it for a round."""
    return 8 * _added(s)


@LAB.conclusion(INDIRECT, "the value is in ns, not in us: a factor of 1000", after=_right)
def indirect_in_ns(s: Student) -> float:
    """Took ns and wrote us."""
    return 1000 * _added(s)


@LAB.conclusion(INDIRECT, "the two were added, not subtracted", after=_right)
def sum_for_difference(s: Student) -> float:
    """Added direct and whole."""
    return us(s, P256) + us(s, P0)


def _share(s: Student) -> float:
    """What the set adds to a switch of threads, as a share of what it adds to one of processes."""
    share = _added(s, T256, T0) / _added(s)
    if share < 0.2 or 0.8 < share < 1.25:
        raise NoMistake(f"threads pay {share:.0%}: the data are at the edge")
    return share


@LAB.conclusion(CAUSE, "the data of this run say otherwise", after=_right, run="kinds")
def cause_against_data(s: Student) -> float:
    """Concluded by feeling, and not by the four rows."""
    return 2.0 if _share(s) < 1 else 1.0


@LAB.conclusion(
    CAUSE, "the set adds far more than the errors: the data do tell", after=_right, run="kinds"
)
def cause_nothing(s: Student) -> float:
    """Concluded 3, to be careful."""
    _share(s)
    return 3.0


@LAB.conclusion(CAUSE, "there is no conclusion 0", after=_right, run="kinds")
def cause_0(s: Student) -> float:
    """Counted the conclusions from 0."""
    return 0
