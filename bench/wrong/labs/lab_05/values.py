"""What students read wrongly off right runs in lab 05, the creation of tasks."""

from __future__ import annotations

from bench.wrong.case import values
from bench.wrong.student import Run, Student, own_plan, plan

FORK, THREAD, RATIO = "creation-fork-wait", "creation-thread", "creation-ratio"
LARGE, CAUSE, OWN = "creation-fork-64mb", "creation-cause", "creation-own"

WORDS = "own_creation --variant own,fork --samples 400 --unit us"

RUNS = {
    "naive": lambda: own_plan("report_a --variant own,fork --samples 400", "05/report_a.c"),
    "kinds": lambda: plan("task_creation", "fork-wait, vfork-wait, pthread-wait", samples=500),
    "fork-16mb": lambda: _grown("16"),
    "fork-64mb": lambda: _grown("64"),
    "own": lambda: own_plan(WORDS, "05/right.c"),
}

#: The run by which each figure is handed in.
RIGHT = {FORK: "kinds", THREAD: "kinds", LARGE: "fork-64mb", CAUSE: "kinds", OWN: "own"}


def _grown(size: str):  # type: ignore[no-untyped-def]
    return plan("task_creation", f"fork-wait-{size}mb", samples=120, processes=5, warmup=5)


def us(s: Student, variant: str, run: str = "kinds") -> float:
    return s[run].value(variant, "us")


def largest_samples(run: Run, variant: str) -> float:
    return float(run.column(variant, "us", k=run.batches(variant)[-1]).mean())


_FORK = (
    (
        "ns-for-us",
        "took the value in ns and wrote us",
        "the value is in ns, not in us: a factor of 1000",
        lambda s: s["kinds"].value("fork-wait", "ns"),
    ),
    (
        "us-for-ms/ms",
        "took the value in us and wrote ms",
        "the value is in us, not in ms: a factor of 1000",
        lambda s: us(s, "fork-wait"),
    ),
    (
        "vfork",
        "took the row vfork-wait",
        "the value is that of vfork",
        lambda s: us(s, "vfork-wait"),
    ),
    (
        "mean-sample",
        "took the mean of the column: a sample holds one to three processes",
        "a mean over samples of all sizes, not divided by the number of processes",
        lambda s: float(s["kinds"].column("fork-wait", "us").mean()),
    ),
    (
        "sample-of-several",
        "took a sample of the largest size",
        "the value is a whole sample of several processes, not one process",
        lambda s: largest_samples(s["kinds"], "fork-wait"),
    ),
    (
        "own-fork",
        "took the fork of one's own run, with the run `kinds` beside it",
        "the value is of another run than the recording",
        lambda s: 1.3 * us(s, "fork", "own"),
    ),
)

_THREAD = (
    (
        "fork-for-thread",
        "took the row fork-wait for the thread",
        "the value is that of the process, not of the thread",
        lambda s: us(s, "fork-wait"),
    ),
    (
        "thread-in-ticks",
        "took the value in thousands of ticks and wrote us",
        "the value is in ticks, not in us",
        lambda s: s["kinds"].value("pthread-wait", "ticks") / 1000,
    ),
    (
        "saved-by-thread",
        "gave what a thread saves: fork-wait less pthread-wait",
        "the value is the difference of process and thread",
        lambda s: us(s, "fork-wait") - us(s, "pthread-wait"),
    ),
    (
        "thread-half",
        "halved it: 'create, and join'",
        "asked is create to join, half of it was given",
        lambda s: us(s, "pthread-wait") / 2,
    ),
)

_LARGE = (
    (
        "sixteen",
        "took the value of the run with 16 MB",
        "the value is that of 16 MB, the recording that of 64 MB",
        lambda s: us(s, "fork-wait-16mb", "fork-16mb"),
    ),
    (
        "added",
        "gave what 64 MB add to a fork",
        "the fork of the small parent was subtracted, asked is the whole price",
        lambda s: us(s, "fork-wait-64mb", "fork-64mb") - us(s, "fork-wait"),
    ),
    (
        "per-megabyte",
        "divided by 64",
        "the price of one megabyte, asked is that of the process",
        lambda s: us(s, "fork-wait-64mb", "fork-64mb") / 64,
    ),
    (
        "small-parent",
        "took the fork of the run `kinds`",
        "the value is that of the small parent",
        lambda s: us(s, "fork-wait"),
    ),
)

_OWN = (
    (
        "fork-of-own-run",
        "took the row fork of one's own run",
        "the value is that of the fork beside it",
        lambda s: us(s, "fork", "own"),
    ),
    (
        "own-in-ns",
        "took the value in ns and wrote us",
        "the value is in ns, not in us: a factor of 1000",
        lambda s: s["own"].value("own", "ns"),
    ),
)

VALUES = (
    *values(FORK, "kinds", "us", _FORK),
    *values(THREAD, "kinds", "us", _THREAD),
    *values(LARGE, "fork-64mb", "us", _LARGE),
    *values(OWN, "own", "us", _OWN),
)
