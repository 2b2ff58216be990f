"""What students do wrong in lab 11, a question of their own."""

from __future__ import annotations

from bench.wrong.case import Lab, conclusions, file_case, mixed_case, own_c, run_case
from bench.wrong.labs.lab_11.values import (
    CLAIM,
    COST,
    OTHER,
    RIGHT,
    RUNS,
    TESTED,
    THREAT,
    VALUES,
    WORDS,
    ns,
)
from bench.wrong.student import NoMistake, Student, lines_without, own_plan
from labs.analysis.estimates import separation

_C = (
    (
        "counter_beside",
        "counted in the operation, beside a call of getppid",
        "the count is the operation's own: it would be the same without the call",
    ),
    (
        "failing_call",
        "took a write for working that always fails, and counted beside it",
        "the call fails each time, and the count is the operation's own",
    ),
    (
        "asks_beside",
        "asked in the operation who runs it, 'to be sure'",
        "a system call is timed that the count does not see",
    ),
    ("fails", "wrote to a descriptor that is not open", "the operation never works"),
    ("every_second", "did the work in every second round", "half of the operations happen"),
    ("never_reset", "returned the total of all operations", "the count is not that of one sample"),
    (
        "same_baseline",
        "wrote the operation as its baseline too",
        "the operation is subtracted from itself",
    ),
    (
        "plain_baseline",
        "incremented the same variable in the baseline, not atomically",
        "the baseline does what is counted as the operation",
    ),
    (
        "prints_counts",
        "printed the counts in set_up",
        "the C states its counts itself",
    ),
    (
        "loop_inside",
        "put a loop of nine further increments into the operation, of another variable",
        "ten increments are timed for one that is counted",
    ),
    (
        "baseline_of_another_variable",
        "did the same to another variable in the baseline",
        "the baseline does the operation's work to another variable",
    ),
    (
        "baseline_of_the_same_call",
        "wrote elsewhere in the baseline",
        "the baseline makes the operation's system call as well",
    ),
    (
        "baseline_nearly_all",
        "left 40 of 41 additions in the baseline",
        "the baseline does nearly all of the operation's work",
    ),
    (
        "counter_beside_by_trap",
        "counted in the operation, beside a call by the trap",
        "the count is the operation's own: it would be the same without the call",
    ),
    (
        "counter_in_an_array",
        "counted in an array, beside a call",
        "the count is the operation's own: it would be the same without the call",
    ),
    (
        "counter_of_a_cached_call",
        "kept the answer of getpid, and counted beside it",
        "no system call is made but the first",
    ),
    (
        "counter_beside_the_vdso",
        "counted beside gettimeofday, 'a system call'",
        "the vDSO answers: no system call is made",
    ),
)


def _starter(s: Student) -> None:
    words = "own_question --variant operation --samples 800"
    run = s.measured("own", own_plan(words, "11/starter.c"))
    s.figure(COST, run.value("operation"), "ns", run)


def _other_is_nothing(s: Student) -> None:
    run = s.measured("own", own_plan(WORDS, "11/other_is_nothing.c"))
    s.figure(OTHER, run.naive("other"), "ns", run)


def _few(s: Student) -> None:
    words = "own_question --variant operation,other --samples 12 --processes 1 --warmup 1"
    run = s.measured("own", own_plan(words, "11/right.c"))
    s.figure(COST, run.naive("operation"), "ns", run)


def _one_process(s: Student) -> None:
    run = s.measured("own", own_plan(f"{WORDS} --processes 1", "11/right.c"))
    s.figure(COST, run.value("operation"), "ns", run)


def _both(s: Student) -> None:
    for figure, run, variant in ((COST, "own", "operation"), (OTHER, "own", "other")):
        s.figure(figure, ns(s, run, variant), "ns", s[run])


def _two_runs(s: Student) -> None:
    for figure, run in ((COST, "own"), (TESTED, "tested")):
        s.figure(figure, ns(s, run), "ns", s[run])


def _moved_against_data(s: Student) -> float:
    apart = separation(s["tested"].estimate("operation"), s["own"].estimate("operation"))
    if 0.5 < abs(apart) < 1.5:
        raise NoMistake("the two runs are at the edge")
    return 2.0 if apart > -0.5 else 1.0


def _one_run_twice(s: Student) -> None:
    for figure in (COST, TESTED):
        s.figure(figure, ns(s), "ns", s["own"])
    s.figure(THREAT, 3.0, "choice")


def _deleted(s: Student) -> None:
    run = s["own"]
    s.edit(run, lines_without(r"^operation,[0-2],"))
    s.figure(COST, run.value("operation"), "ns", run)


def _c_missing(s: Student) -> None:
    run = s["own"]
    (s.folder / run.path).with_suffix(".c").unlink()
    s.figure(COST, run.value("operation"), "ns", run)


def _c_changed(s: Student) -> None:
    run = s["own"]
    path = (s.folder / run.path).with_suffix(".c")
    path.write_text(path.read_text(encoding="utf-8") + "/* It works. */\n", encoding="utf-8")
    s.figure(COST, run.value("operation"), "ns", run)


_CLAIM = (
    (
        "claim-against-data",
        "concluded what the claim said, and had claimed the opposite",
        "the two costs say otherwise",
        lambda s: 2,
    ),
    (
        "claim-undecided",
        "concluded 3, to be careful",
        "the data do tell the two apart",
        lambda s: 3,
    ),
    ("claim-0", "counted the conclusions from 0", "there is no conclusion 0", lambda s: 0),
)
_THREAT = (
    (
        "threat-against-data",
        "concluded what was expected of the threat",
        "the two runs say otherwise",
        _moved_against_data,
    ),
)

LAB = Lab(
    "11-own-question",
    RUNS,
    RIGHT,
    (
        *VALUES,
        *own_c(COST, "11", WORDS, "ns", _C),
        *conclusions(CLAIM, "choice", _both, _CLAIM),
        *conclusions(THREAT, "choice", _two_runs, _THREAT),
        run_case(
            "by-the-starter",
            COST,
            "handed in the C of `labs new`, with the names of the lab's variants",
            "the counts are what the C itself prints, and no sample was compared with them",
            _starter,
        ),
        run_case(
            "other-is-nothing",
            OTHER,
            "compared with a function that only returns",
            "nothing is executed in what the operation is compared with",
            _other_is_nothing,
        ),
        run_case(
            "twelve-samples",
            COST,
            "took 12 samples in one process",
            "too few samples and only one process",
            _few,
        ),
        run_case(
            "one-process-only",
            COST,
            "took all samples in one process",
            "the spread between processes cannot be seen",
            _one_process,
        ),
        mixed_case(
            "own-for-tested",
            THREAT,
            "handed in the same run for both figures",
            "a run is compared with itself",
            _one_run_twice,
        ),
        file_case(
            "rows-deleted",
            COST,
            "deleted three processes",
            "rows of the recording were deleted by hand",
            _deleted,
        ),
        file_case(
            "c-lost",
            COST,
            "handed in the recording without its C",
            "the C is missing, so that nobody can see what was timed",
            _c_missing,
        ),
        file_case(
            "c-commented",
            COST,
            "wrote a comment into the C after the run",
            "the C next to the recording is not the C that was measured",
            _c_changed,
        ),
    ),
)
