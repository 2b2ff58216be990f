"""The number that each new task should raise is raised by somebody else, or not once by each."""

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
        if trial is not None and (evidence := _evidence(trial)):
            return evidence
    return None


def _evidence(trial: creations.Trial) -> str:
    said = []
    if 2 * trial.by_task <= trial.tried:
        said.append(f"{_who(trial)}, and not the task that own_task returned.")
    # A task with memory of its own raises the number where its parent cannot see it.
    if not trial.once_each and (said or 2 * trial.shares > trial.tried):
        said.append(f"{trial.created:,} calls of own_task raised it {trial.seen:,} times.")
    return " ".join(said)


def _who(trial: creations.Trial) -> str:
    if 2 * trial.by_nobody > trial.tried:
        return "Before the samples the run tried your task, and nobody raised the number"
    by_parent = 2 * trial.by_parent > trial.tried
    who = "the parent itself" if by_parent else "another task"
    return f"Before the samples the run tried your task: {who} raised the number"


PITFALL = Pitfall(
    code="number-not-by-the-task",
    level=Level.VALIDITY,
    symptom="Not every new task raised the number exactly once.",
    misconception="A number that rises shows only that somebody raised it. It proves shared memory "
    "if the new task raised it and its parent sees it.",
    experiment="Let the task store gettid(), and compare that with what own_task returns.",
    seen_in="trials of lab 05: the parent raises the number, or one call creates two tasks",
    detect=detect,
    in_own_c=True,
)
