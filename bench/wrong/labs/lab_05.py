"""What students do wrong in lab 05, the creation of tasks."""

from __future__ import annotations

from bench.wrong.case import Kind, Lab
from bench.wrong.student import Run, Student, broken_plan, own_plan, plan, smoothed

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

LAB = Lab("05-task-creation", RUNS, RIGHT)


def _grown(size: str):  # type: ignore[no-untyped-def]
    return plan("task_creation", f"fork-wait-{size}mb", samples=120, processes=5, warmup=5)


def us(s: Student, variant: str, run: str = "kinds") -> float:
    return s[run].value(variant, "us")


def largest_samples(run: Run, variant: str) -> float:
    return float(run.column(variant, "us", k=run.batches(variant)[-1]).mean())


@LAB.value(FORK, "the value is in ns, not in us: a factor of 1000")
def ns_for_us(s: Student) -> float:
    """Took the value in ns and wrote us."""
    return s["kinds"].value("fork-wait", "ns")


@LAB.value(FORK, "the value is in us, not in ms: a factor of 1000", unit="ms")
def us_for_ms(s: Student) -> float:
    """Took the value in us and wrote ms."""
    return us(s, "fork-wait")


@LAB.value(FORK, "the value is that of vfork")
def vfork(s: Student) -> float:
    """Took the row vfork-wait."""
    return us(s, "vfork-wait")


@LAB.value(FORK, "a mean over samples of all sizes, not divided by the number of processes")
def mean_sample(s: Student) -> float:
    """Took the mean of the column: a sample holds one to three processes."""
    return float(s["kinds"].column("fork-wait", "us").mean())


@LAB.value(FORK, "the value is a whole sample of several processes, not one process")
def sample_of_several(s: Student) -> float:
    """Took a sample of the largest size."""
    return largest_samples(s["kinds"], "fork-wait")


@LAB.value(FORK, "the value is of another run than the recording")
def own_fork(s: Student) -> float:
    """Took the fork of one's own run, with the run `kinds` beside it."""
    return 1.3 * us(s, "fork", "own")


@LAB.value(THREAD, "the value is that of the process, not of the thread")
def fork_for_thread(s: Student) -> float:
    """Took the row fork-wait for the thread."""
    return us(s, "fork-wait")


@LAB.value(THREAD, "the value is in ticks, not in us")
def thread_in_ticks(s: Student) -> float:
    """Took the value in thousands of ticks and wrote us."""
    return s["kinds"].value("pthread-wait", "ticks") / 1000


@LAB.value(THREAD, "the value is the difference of process and thread")
def saved_by_thread(s: Student) -> float:
    """Gave what a thread saves: fork-wait less pthread-wait."""
    return us(s, "fork-wait") - us(s, "pthread-wait")


@LAB.value(THREAD, "asked is create to join, half of it was given")
def thread_half(s: Student) -> float:
    """Halved it: 'create, and join'."""
    return us(s, "pthread-wait") / 2


@LAB.value(LARGE, "the value is that of 16 MB, the recording that of 64 MB")
def sixteen(s: Student) -> float:
    """Took the value of the run with 16 MB."""
    return us(s, "fork-wait-16mb", "fork-16mb")


@LAB.value(LARGE, "the fork of the small parent was subtracted, asked is the whole price")
def added(s: Student) -> float:
    """Gave what 64 MB add to a fork."""
    return us(s, "fork-wait-64mb", "fork-64mb") - us(s, "fork-wait")


@LAB.value(LARGE, "the price of one megabyte, asked is that of the process")
def per_megabyte(s: Student) -> float:
    """Divided by 64."""
    return us(s, "fork-wait-64mb", "fork-64mb") / 64


@LAB.value(LARGE, "the value is that of the small parent")
def small_parent(s: Student) -> float:
    """Took the fork of the run `kinds`."""
    return us(s, "fork-wait")


@LAB.value(OWN, "the value is that of the fork beside it")
def fork_of_own_run(s: Student) -> float:
    """Took the row fork of one's own run."""
    return us(s, "fork", "own")


@LAB.value(OWN, "the value is in ns, not in us: a factor of 1000")
def own_in_ns(s: Student) -> float:
    """Took the value in ns and wrote us."""
    return s["own"].value("own", "ns")


LAB.own_c(
    OWN,
    WORDS,
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
    ("sleeps", "slept 50 µs after each clone, to let it run", "a sleep is timed with the creation"),
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
    ("pauses", "paused 200 times after each clone", "the pauses are timed with the creation"),
    (
        "stack_filled_thirty_times",
        "filled the stack thirty times before each clone",
        "the filling of the stack is timed with the creation",
    ),
)


@LAB.case(Kind.RUN, FORK, "a checker of memory runs in parent and child")
def sanitized(s: Student) -> None:
    """Compiled the kit's C kernel with -fsanitize=address."""
    flags = "-O2 -fsanitize=address"
    run = s.measured("kinds", plan("task_creation", "fork-wait", samples=200, flags=flags))
    s.figure(FORK, run.naive("fork-wait", "us"), "us", run)


@LAB.case(Kind.RUN, FORK, "the child's life and the wait for it are outside the sample")
def fork_without_wait(s: Student) -> None:
    """Measured the variant fork, and took it for the same."""
    run = s.measured("kinds", plan("task_creation", "fork, pthread-wait", samples=400))
    s.figure(FORK, run.value("fork", "us"), "us", run)


@LAB.case(Kind.RUN, THREAD, "the thread's life and the join are outside the sample")
def thread_without_join(s: Student) -> None:
    """Measured the variant pthread, and took it for the same."""
    run = s.measured("kinds", plan("task_creation", "pthread, fork-wait", samples=400))
    s.figure(THREAD, run.value("pthread", "us"), "us", run)


@LAB.case(Kind.RUN, FORK, "parent and child were not on one CPU: another variant")
def unpinned(s: Student) -> None:
    """Measured the variant that may use every CPU."""
    wished = plan("task_creation", "fork-wait-unpinned, pthread-wait-unpinned", samples=400)
    run = s.measured("kinds", wished)
    s.figure(FORK, run.naive("fork-wait-unpinned", "us"), "us", run)


@LAB.case(Kind.RUN, LARGE, "the 64 MB were asked for and never written to, so that none was there")
def memory_untouched(s: Student) -> None:
    """Handed in the broken run that never writes to its 64 MB."""
    run = s.measured("fork-64mb", broken_plan("memory_untouched"))
    s.figure(LARGE, run.naive(unit="us"), "us", run)


@LAB.case(Kind.RUN, FORK, "the parent holds 64 MB in the other variant's samples too")
def fork_beside_64mb(s: Student) -> None:
    """Measured fork-wait and fork-wait-64mb in one run."""
    wished = plan("task_creation", "fork-wait-64mb, fork-wait", samples=120, processes=5, warmup=5)
    run = s.measured("kinds", wished)
    s.figure(FORK, run.value("fork-wait", "us"), "us", run)


@LAB.case(Kind.RUN, FORK, "too few samples and only one process")
def nine_samples(s: Student) -> None:
    """Took 9 samples in one process."""
    wished = plan("task_creation", "fork-wait", samples=9, processes=1, warmup=0)
    run = s.measured("kinds", wished)
    s.figure(FORK, run.naive("fork-wait", "us"), "us", run)


@LAB.case(Kind.CONCLUSION, OWN, "the task has memory of its own: a process")
def naive_for_own(s: Student) -> None:
    """Handed in the naive run, report A's call."""
    s.figure(OWN, s["naive"].value("own", "us"), "us", s["naive"])


@LAB.case(Kind.FILE, FORK, "samples of the recording were changed by hand")
def rows_smoothed(s: Student) -> None:
    """Made the samples of three slow processes a tenth shorter."""
    run = s["kinds"]
    s.edit(run, smoothed("fork-wait", "[5-7]"))
    s.figure(FORK, us(s, "fork-wait"), "us", run)


def _right(s: Student) -> None:
    s.figure(FORK, us(s, "fork-wait"), "us", s["kinds"])
    s.figure(THREAD, us(s, "pthread-wait"), "us", s["kinds"])


def _times(s: Student, over: str, under: str) -> float:
    return us(s, over) / us(s, under)


@LAB.conclusion(RATIO, "the ratio is upside down", after=_right)
def ratio_inverted(s: Student) -> float:
    """Divided the thread by the process."""
    return _times(s, "pthread-wait", "fork-wait")


@LAB.conclusion(RATIO, "divided by vfork instead of the thread", after=_right)
def ratio_to_vfork(s: Student) -> float:
    """Divided by vfork."""
    return _times(s, "fork-wait", "vfork-wait")


@LAB.conclusion(RATIO, "a ratio of two processes of the naive run, no thread", after=_right)
def ratio_of_report_a(s: Student) -> float:
    """Divided fork by clone, both of the naive run."""
    return us(s, "fork", "naive") / us(s, "own", "naive")


@LAB.conclusion(RATIO, "the value is in percent: a hundred times the ratio", after=_right)
def ratio_in_percent(s: Student) -> float:
    """Gave it in percent."""
    return 100 * _times(s, "fork-wait", "pthread-wait")


#: The wrong one of the two conclusions, by the rule of the notebook.


@LAB.conclusion(CAUSE, "the data of this run say otherwise", after=_right, run="kinds")
def cause_against_data(s: Student) -> float:
    """Concluded by the headline, and not by the two rows."""
    return 2 if _times(s, "fork-wait", "vfork-wait") > 2 else 1


@LAB.conclusion(CAUSE, "there is no conclusion with this number", after=_right, run="kinds")
def cause_12(s: Student) -> float:
    """Typed both numbers, 12: a bit of both."""
    return 12
