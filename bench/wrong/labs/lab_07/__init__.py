"""What students do wrong in lab 07, the switch with a working set."""

from __future__ import annotations

from bench.wrong.case import Lab, conclusions, file_case, mixed_case, own_c, run_case
from bench.wrong.labs.lab_07.values import (
    CAUSE,
    DIRECT,
    INDIRECT,
    OWN,
    P0,
    P256,
    RIGHT,
    RUNS,
    T0,
    T256,
    VALUES,
    WHOLE,
    WORDS,
    round,
    us,
)
from bench.wrong.student import NoMistake, Student, broken_plan, plan, smoothed

_C = (
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
    (
        "address_only",
        "added up the addresses",
        "the addresses are added up, nothing is read",
    ),
    ("size_of_pointer", "took sizeof(set) for the size", "8 lines are read: sizeof a pointer is 8"),
    (
        "last_only",
        "kept the last byte only",
        "the compiler reads the last byte only",
    ),
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
    (
        "pauses_each_line",
        "paused after each line",
        "a pause is timed with each line of the set",
    ),
)


def _two_for_eight(s: Student) -> None:
    wished = plan("switch_footprint", "processes-2-256k, processes-2-0", samples=240)
    run = s.measured("kinds", wished)
    s.figure(WHOLE, run.naive("processes-2-256k", "us"), "us", run)


def _touching(s: Student) -> None:
    run = s.measured("kinds", broken_plan("touching_in_the_switch"))
    s.figure(WHOLE, run.naive(unit="us"), "us", run)


def _untouched(s: Student) -> None:
    run = s.measured("kinds", broken_plan("working_set_untouched"))
    s.figure(WHOLE, run.naive(unit="us"), "us", run)


def _few(s: Student) -> None:
    run = s.measured("kinds", plan("switch_footprint", P0, samples=9, processes=1, warmup=0))
    s.figure(DIRECT, run.naive(P0, "us"), "us", run)


def _deleted(s: Student) -> None:
    run = s["kinds"]
    s.edit(run, smoothed("processes-8-0", "[0-2]"))
    s.figure(DIRECT, us(s, P0), "us", run)


def _own_for_whole(s: Student) -> None:
    s.figure(WHOLE, s["own"].value("own-256k", "us"), "us", s["own"])


def _right(s: Student) -> None:
    s.figure(DIRECT, us(s, P0), "us", s["kinds"])
    s.figure(WHOLE, us(s, P256), "us", s["kinds"])


def _added(s: Student, more: str = P256, less: str = P0) -> float:
    return us(s, more) - us(s, less)


_INDIRECT = (
    (
        "indirect-as-ratio",
        "divided instead of subtracting",
        "the value is a ratio, not a difference in us",
        lambda s: us(s, P256) / us(s, P0),
    ),
    (
        "indirect-of-hops",
        "subtracted the hops, the reading in them",
        "the reading of the set was not subtracted",
        lambda s: (round(s, P256) - round(s, P0)) / 8,
    ),
    (
        "indirect-negative",
        "subtracted the other way round",
        "the sign is wrong: the difference is upside down",
        lambda s: -_added(s),
    ),
    (
        "indirect-of-eight",
        "gave it for a round",
        "eight times the indirect cost of a switch",
        lambda s: 8 * _added(s),
    ),
    (
        "indirect-in-ns",
        "took ns and wrote us",
        "the value is in ns, not in us: a factor of 1000",
        lambda s: 1000 * _added(s),
    ),
    (
        "sum-for-difference",
        "added direct and whole",
        "the two were added, not subtracted",
        lambda s: us(s, P256) + us(s, P0),
    ),
)


def _share(s: Student) -> float:
    """What the set adds to a switch of threads, as a share of what it adds to one of processes."""
    share = _added(s, T256, T0) / _added(s)
    if share < 0.2 or 0.8 < share < 1.25:
        raise NoMistake(f"threads pay {share:.0%}: the data are at the edge")
    return share


def _wrong_cause(s: Student) -> float:
    """The conclusion about the cause that the rows do not bear out, by the notebook's rule."""
    return 2.0 if _share(s) < 1 else 1.0


def _nothing_told(s: Student) -> float:
    """The third conclusion, where the rows do tell."""
    _share(s)
    return 3.0


_CAUSE = (
    (
        "cause-against-data",
        "concluded by feeling, and not by the four rows",
        "the data of this run say otherwise",
        _wrong_cause,
    ),
    (
        "cause-nothing",
        "concluded 3, to be careful",
        "the set adds far more than the errors: the data do tell",
        _nothing_told,
    ),
    ("cause-0", "counted the conclusions from 0", "there is no conclusion 0", lambda s: 0),
)

LAB = Lab(
    "07-switch-footprint",
    RUNS,
    RIGHT,
    (
        *VALUES,
        *own_c(OWN, "07", WORDS, "us", _C),
        *conclusions(INDIRECT, "us", _right, _INDIRECT),
        *conclusions(CAUSE, "choice", _right, _CAUSE, run="kinds"),
        run_case(
            "two-for-eight",
            WHOLE,
            "measured two processes instead of eight",
            "another variant was measured: a ring of two",
            _two_for_eight,
        ),
        run_case(
            "touching-in-the-switch",
            WHOLE,
            "handed in the broken run that subtracts no reading",
            "the reading of the set was not subtracted",
            _touching,
        ),
        run_case(
            "untouched",
            WHOLE,
            "handed in the broken run whose loop the compiler leaves out",
            "nothing of the set is read: the compiler leaves the loop out",
            _untouched,
        ),
        run_case(
            "nine-samples",
            DIRECT,
            "took 9 samples in one process",
            "too few samples and only one process",
            _few,
        ),
        mixed_case(
            "own-for-whole",
            WHOLE,
            "handed in one's own run for the kit's",
            "the run is of one's own C, asked is the kit's ring",
            _own_for_whole,
        ),
        file_case(
            "rows-smoothed",
            DIRECT,
            "made the samples of three slow processes a tenth shorter",
            "samples of the recording were changed by hand",
            _deleted,
        ),
    ),
)
