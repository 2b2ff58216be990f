"""A thread that looks for its turn again and again, and is switched without being woken."""

from __future__ import annotations

from grader.cases.case import Case
from grader.cases.spec import Quantity
from grader.cases.verdict import Level
from grader.facts import switch_counts, unbound
from grader.pitfalls.pitfall import Pitfall

KERNELS = frozenset({"own_switch", "thread_switch", "process_switch"})


def detect(case: Case) -> str | None:
    if case.spec.kernel not in KERNELS or case.spec.quantity is not Quantity.COST or case.others:
        return None
    for name in case.spec.variants:
        seen = switch_counts.sleeps(case.recording, name)
        if seen.goes_on_unwoken:
            return (
                f"In {seen.unwoken} of {seen.tried} processes the run gave the other thread its "
                "turn and woke nobody; that thread went on all the same."
            )
        if seen.hardly_asleep and _as_many_as_claimed(case, name):
            return (
                f"Of the {seen.counted:,} switches that the OS counted, {seen.asleep:,} were "
                "made by a task that went to sleep."
            )
    return None


def _as_many_as_claimed(case: Case, name: str) -> bool:
    """Whether the switches happened. Others tell what it means if they did not."""
    seen = switch_counts.counted(case.recording, name)
    if seen is None or unbound.is_honest(case.recording):
        return False
    return seen.counted >= (1 - switch_counts.SHARE) * seen.claimed


PITFALL = Pitfall(
    code="not-woken",
    level=Level.VALIDITY,
    symptom="The thread that waits does not sleep until it is woken.",
    misconception="With sched_yield or a short sleep, a thread looks again and again whether it "
    "has the turn. A handoff is a sleep that only the other thread's wake ends.",
    experiment="Leave out the wake. The run of a real handoff then never ends, and Ticklab "
    "reports this.",
    seen_in="trials of lab 06: unlock, sched_yield and lock in a loop",
    detect=detect,
    yields_to=("wait-with-an-end",),
    in_own_c=True,
)
