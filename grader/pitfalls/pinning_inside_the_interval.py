"""The task binds itself to a CPU between the two readings."""

from __future__ import annotations

from grader.cases.case import Case
from grader.cases.verdict import Level
from grader.facts.c import calls, parts
from grader.facts.sources import own_source
from grader.pitfalls.pitfall import Live, Pitfall

_PINS = ("sched_setaffinity", "pthread_setaffinity_np", "pin_to")


def detect(case: Case) -> str | None:
    source = own_source(case)
    if source is None:
        return None
    pins = calls.called(parts.timed(source), _PINS)
    if pins is None:
        return None
    return f"Your C calls {pins} between the two readings of the counter."


PITFALL = Pitfall(
    code="pinning-inside-the-interval",
    level=Level.VALIDITY,
    symptom="Your C also times the binding to a CPU.",
    misconception="Binding is a system call that may move the task. Bind once, before the first "
    "reading: a child inherits the binding.",
    experiment="Move the call before the loop, check its result, and compare the figures.",
    seen_in="report A: sched_setaffinity after each fork, its result is never checked",
    detect=detect,
    broken=(Live("pinning_inside", "creation-fork-wait"),),
)
