"""What students do wrong in lab 05, the creation of tasks."""

from __future__ import annotations

from bench.wrong.case import Lab, conclusions, file_case, mixed_case, own_c, run_case
from bench.wrong.labs.lab_05.values import (
    CAUSE,
    FORK,
    LARGE,
    OWN,
    RATIO,
    RIGHT,
    RUNS,
    THREAD,
    VALUES,
    WORDS,
    us,
)
from bench.wrong.student import Student, broken_plan, plan, smoothed

_C = (
    ("no_vm", "left CLONE_VM out", "the task has memory of its own: a process"),
    ("signal_only", "kept report A's call", "the task has memory of its own: a process"),
    ("forks", "called fork", "the task has memory of its own: a process"),
    (
        "parent_raises",
        "called fork and raised the number in the parent",
        "the parent raised the number itself; the task is a process",
    ),
    (
        "clone_vm_and_parent_raises",
        "kept report A's call, and called raise_number in the parent as well",
        "the parent raised the number itself; the task is a process",
    ),
    ("vfork", "called vfork", "vfork makes a process that borrows the memory, no clone"),
    (
        "two_tasks",
        "made one task, waited for it, and made another",
        "two tasks are made for each that is counted",
    ),
    (
        "stack_each_time",
        "took a clean stack of 1 MB for each task, and set it to 0",
        "the stack is got and filled inside the timed region",
    ),
    ("long_work", "let the task count to 100,000", "the task's own work is timed with it"),
    (
        "sleeps",
        "slept 50 µs after each clone, to let it run",
        "a sleep is timed with the creation",
    ),
    (
        "affinity_inside",
        "pinned the task again and again between the readings",
        "sched_setaffinity is timed with the creation",
    ),
    (
        "looks_until_it_has_ended --samples 16 --processes 4",
        "asked again and again whether the task had ended",
        "the parent looks again and again until its task has ended",
    ),
    (
        "pauses",
        "paused 200 times after each clone",
        "the pauses are timed with the creation",
    ),
    (
        "stack_filled_thirty_times",
        "filled the stack thirty times before each clone",
        "the filling of the stack is timed with the creation",
    ),
)


def _sanitized(s: Student) -> None:
    flags = "-O2 -fsanitize=address"
    run = s.measured("kinds", plan("task_creation", "fork-wait", samples=200, flags=flags))
    s.figure(FORK, run.naive("fork-wait", "us"), "us", run)


def _without_wait(s: Student) -> None:
    run = s.measured("kinds", plan("task_creation", "fork, pthread-wait", samples=400))
    s.figure(FORK, run.value("fork", "us"), "us", run)


def _thread_without_join(s: Student) -> None:
    run = s.measured("kinds", plan("task_creation", "pthread, fork-wait", samples=400))
    s.figure(THREAD, run.value("pthread", "us"), "us", run)


def _two_cpus(s: Student) -> None:
    wished = plan("task_creation", "fork-wait-unpinned, pthread-wait-unpinned", samples=400)
    run = s.measured("kinds", wished)
    s.figure(FORK, run.naive("fork-wait-unpinned", "us"), "us", run)


def _untouched(s: Student) -> None:
    run = s.measured("fork-64mb", broken_plan("memory_untouched"))
    s.figure(LARGE, run.naive(unit="us"), "us", run)


def _with_large(s: Student) -> None:
    wished = plan("task_creation", "fork-wait-64mb, fork-wait", samples=120, processes=5, warmup=5)
    run = s.measured("kinds", wished)
    s.figure(FORK, run.value("fork-wait", "us"), "us", run)


def _few(s: Student) -> None:
    wished = plan("task_creation", "fork-wait", samples=9, processes=1, warmup=0)
    run = s.measured("kinds", wished)
    s.figure(FORK, run.naive("fork-wait", "us"), "us", run)


def _naive_for_own(s: Student) -> None:
    s.figure(OWN, s["naive"].value("own", "us"), "us", s["naive"])


def _deleted(s: Student) -> None:
    run = s["kinds"]
    s.edit(run, smoothed("fork-wait", "[5-7]"))
    s.figure(FORK, us(s, "fork-wait"), "us", run)


def _right(s: Student) -> None:
    s.figure(FORK, us(s, "fork-wait"), "us", s["kinds"])
    s.figure(THREAD, us(s, "pthread-wait"), "us", s["kinds"])


def _times(s: Student, over: str, under: str) -> float:
    return us(s, over) / us(s, under)


_RATIO = (
    (
        "ratio-inverted",
        "divided the thread by the process",
        "the ratio is upside down",
        lambda s: _times(s, "pthread-wait", "fork-wait"),
    ),
    (
        "ratio-to-vfork",
        "divided by vfork",
        "divided by vfork instead of the thread",
        lambda s: _times(s, "fork-wait", "vfork-wait"),
    ),
    (
        "ratio-of-report-a",
        "divided fork by clone, both of the naive run",
        "a ratio of two processes of the naive run, no thread",
        lambda s: us(s, "fork", "naive") / us(s, "own", "naive"),
    ),
    (
        "ratio-in-percent",
        "gave it in percent",
        "the value is in percent: a hundred times the ratio",
        lambda s: 100 * _times(s, "fork-wait", "pthread-wait"),
    ),
)

#: The wrong one of the two conclusions, by the rule of the notebook.
_CAUSE = (
    (
        "cause-against-data",
        "concluded by the headline, and not by the two rows",
        "the data of this run say otherwise",
        lambda s: 2 if _times(s, "fork-wait", "vfork-wait") > 2 else 1,
    ),
    (
        "cause-12",
        "typed both numbers, 12: a bit of both",
        "there is no conclusion with this number",
        lambda s: 12,
    ),
)

LAB = Lab(
    "05-task-creation",
    RUNS,
    RIGHT,
    (
        *VALUES,
        *own_c(OWN, "05", WORDS, "us", _C),
        *conclusions(RATIO, "times", _right, _RATIO),
        *conclusions(CAUSE, "choice", _right, _CAUSE, run="kinds"),
        run_case(
            "sanitized",
            FORK,
            "compiled the kit's C kernel with -fsanitize=address",
            "a checker of memory runs in parent and child",
            _sanitized,
        ),
        run_case(
            "fork-without-wait",
            FORK,
            "measured the variant fork, and took it for the same",
            "the child's life and the wait for it are outside the sample",
            _without_wait,
        ),
        run_case(
            "thread-without-join",
            THREAD,
            "measured the variant pthread, and took it for the same",
            "the thread's life and the join are outside the sample",
            _thread_without_join,
        ),
        run_case(
            "unpinned",
            FORK,
            "measured the variant that may use every CPU",
            "parent and child were not on one CPU: another variant",
            _two_cpus,
        ),
        run_case(
            "memory-untouched",
            LARGE,
            "handed in the broken run that never writes to its 64 MB",
            "the 64 MB were asked for and never written to, so that none was there",
            _untouched,
        ),
        run_case(
            "fork-beside-64mb",
            FORK,
            "measured fork-wait and fork-wait-64mb in one run",
            "the parent holds 64 MB in the other variant's samples too",
            _with_large,
        ),
        run_case(
            "nine-samples",
            FORK,
            "took 9 samples in one process",
            "too few samples and only one process",
            _few,
        ),
        mixed_case(
            "naive-for-own",
            OWN,
            "handed in the naive run, report A's call",
            "the task has memory of its own: a process",
            _naive_for_own,
        ),
        file_case(
            "rows-smoothed",
            FORK,
            "made the samples of three slow processes a tenth shorter",
            "samples of the recording were changed by hand",
            _deleted,
        ),
    ),
)
