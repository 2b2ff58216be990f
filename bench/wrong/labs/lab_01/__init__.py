"""What students do wrong in lab 01, the cost of a timer."""

from __future__ import annotations

from bench.wrong.case import Lab, file_case, mixed_case, own_c, run_case
from bench.wrong.labs.lab_01.values import FENCED, MONOTONIC, OWN, RIGHT, RUNS, VALUES
from bench.wrong.student import Student, lines_without, plan

_C = (
    (
        "unfenced",
        "read the counter as report A does, without a fence at either end",
        "both readings do not wait for the additions",
    ),
    (
        "end_unfenced",
        "fenced the first reading only",
        "the second reading does not wait for the additions",
    ),
    (
        "two_chains",
        "wrote ADDITIONS twice 'to be sure that there is work'",
        "two additions are timed for each that is counted",
    ),
    (
        "additions_before",
        "did the additions before the first reading",
        "nothing stands between the readings: the additions are outside",
    ),
    (
        "additions_after",
        "did the additions after the second reading",
        "nothing stands between the readings: the additions are outside",
    ),
    (
        "divided",
        "divided by k in the C already",
        "the sample is divided by k in C, so that it does not grow with k",
    ),
    (
        "computed",
        "added k + 50 to the first reading so that it comes out as it should",
        "the end is computed from the beginning: nothing was measured",
    ),
    (
        "always_64",
        "did 64 additions, whatever k is",
        "the work does not depend on k",
    ),
    (
        "gettime",
        "took clock_gettime for the counter",
        "the readings are ns of another clock, counted as ticks of the counter",
    ),
    (
        "volatile_sum",
        "wrote a loop over a volatile sum instead of ADDITIONS",
        "each addition goes through memory: that is no addition of one cycle",
    ),
    (
        "independent",
        "split the additions into two chains of half the length",
        "the two chains do not wait for each other, so that they overlap",
    ),
    (
        "fence_each_64",
        "put a fence after each 64 additions, to be exact",
        "a fence is timed with each 64 additions",
    ),
    (
        "looks_each_64",
        "read the counter after each 64 additions, to watch it grow",
        "the counter is read again between the readings",
    ),
    (
        "folded",
        "wrote a loop of link += begin in place of ADDITIONS",
        "the compiler turns the loop into one product: nothing is added",
    ),
    (
        "sum_of_constants",
        "wrote a loop of link += 3 in place of ADDITIONS",
        "the compiler computes the sum: nothing is added",
    ),
)


def _naive_for_fenced(s: Student) -> None:
    s.figure(FENCED, s["naive"].naive(), "ns", s["naive"])


def _few(s: Student) -> None:
    short = plan("timer_overhead", "fenced", samples=20, processes=1, warmup=0)
    run = s.measured("quick", short)
    s.figure(FENCED, run.naive(), "ns", run)


def _other_evidence(s: Student) -> None:
    s.figure(MONOTONIC, s["clocks"].value("monotonic"), "ns", s["fenced"])


def _rows_deleted(s: Student) -> None:
    run = s["fenced"]
    s.edit(run, lines_without(r"^fenced,[3-7],"))
    s.figure(FENCED, run.value(), "ns", run)


def _no_recording(s: Student) -> None:
    s.figure(FENCED, s["fenced"].value(), "ns", None)


def _without_c(s: Student) -> None:
    run = s["own"]
    (s.folder / run.path).with_suffix(".c").unlink()
    s.figure(OWN, run.value(unit="cycles"), "cycles", run)


LAB = Lab(
    "01-timer-overhead",
    RUNS,
    RIGHT,
    (
        *VALUES,
        *own_c(OWN, "01", "own_pair --variant own --samples 800", "cycles", _C),
        run_case(
            "naive-for-fenced",
            FENCED,
            "handed in the first run, `naive`",
            "the run is of unfenced readings, asked are fenced ones",
            _naive_for_fenced,
        ),
        run_case(
            "twenty-samples",
            FENCED,
            "took 20 samples in one process to be done",
            "too few samples and only one process",
            _few,
        ),
        mixed_case(
            "value-of-the-other-run",
            MONOTONIC,
            "gave the right value with the run `fenced` as its evidence",
            "the recording named does not hold this clock at all",
            _other_evidence,
        ),
        file_case(
            "rows-deleted",
            FENCED,
            "deleted the rows of five processes that looked odd",
            "rows of the recording were deleted by hand",
            _rows_deleted,
        ),
        file_case(
            "no-recording",
            FENCED,
            "handed in the value without a recording",
            "no recording is named as evidence",
            _no_recording,
        ),
        file_case(
            "own-c-left-out",
            OWN,
            "forgot to hand in the .c beside the recording",
            "the C is missing, so that nobody can see what was timed",
            _without_c,
        ),
    ),
)
