"""A child that borrows its parent's memory while the parent sleeps, taken for a thread."""

from __future__ import annotations

from grader.cases.case import Case
from grader.cases.verdict import Level
from grader.facts import creations
from grader.pitfalls.pitfall import Pitfall


def detect(case: Case) -> str | None:
    if case.spec.kernel not in creations.KERNELS:
        return None
    for name in case.spec.variants:
        trial = creations.trial_of(case.recording, name)
        if trial is not None and 2 * trial.asleep > trial.tried:
            return (
                f"In {trial.asleep} of {trial.tried} trials own_task came back only when its task "
                "had ended: the OS had put the parent to sleep."
            )
    return None


PITFALL = Pitfall(
    code="vfork-for-thread",
    level=Level.VALIDITY,
    symptom="The parent sleeps while its new task runs.",
    misconception="vfork, and clone with CLONE_VFORK, lend the parent's memory to a child process "
    "and stop the parent until that child has ended. A thread runs beside its creator.",
    experiment="Let the task sleep for a second before it ends: does own_task return at once?",
    seen_in="trials of lab 05: vfork handed in as a task in the same memory",
    detect=detect,
    in_own_c=True,
)
