"""A task that sleeps for a time, or waits with a time-out, instead of being woken."""

from __future__ import annotations

from grader.cases.case import Case
from grader.cases.verdict import Level
from grader.facts import switch_counts
from grader.pitfalls.pitfall import Pitfall
from labs.common.units import rounded

CODE = "wait-with-an-end"


def detect(case: Case) -> str | None:
    seen, called = switch_counts.shown_by(case, CODE), switch_counts.wait_with_an_end(case)
    if seen is None or called is None:
        return None
    return (
        f"{seen.as_text()}: {rounded(seen.each, 2)} for one operation, not {seen.claim:g}. Between "
        f"its readings your C calls {called}()."
    )


PITFALL = Pitfall(
    code=CODE,
    level=Level.VALIDITY,
    symptom="A timer wakes the task, which looks and sleeps again: each look takes a switch.",
    misconception="A time-out looks like waiting for the other task, but it is the timer that "
    "wakes the sleeper, too early or too late.",
    experiment="Double the time-out: a cost that follows it is the timer's.",
    seen_in="the exercise of lab 06, tried with usleep and with pthread_cond_timedwait",
    detect=detect,
)
