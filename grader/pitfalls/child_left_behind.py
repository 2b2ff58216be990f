"""Processes that were made and never waited for: their ends fall into no sample, or into others."""

from __future__ import annotations

from grader.cases.case import Case
from grader.cases.verdict import Level
from grader.facts import creations
from grader.pitfalls.pitfall import Live, Pitfall


def detect(case: Case) -> str | None:
    for account in creations.accounts(case):
        if not account.variant.startswith(creations.COPIED_MEMORY):
            continue
        # The parent writes to its pages again after each fork, and faults: so this OS does count.
        counts = account.faults >= account.created / 2
        if counts and account.children_faults == 0 and not account.children_switches:
            return (
                f"You made {account.created:,} processes by {account.variant}, but the OS "
                "counted no page fault of a child. It counts them once a child is waited for."
            )
    return None


PITFALL = Pitfall(
    code="child-left-behind",
    level=Level.VALIDITY,
    symptom="The children were never waited for.",
    misconception="A process costs time until it has ended. If nobody waits for it, it ends "
    "inside another sample.",
    experiment="Wait for every child, check the result of waitpid, and compare the figures.",
    seen_in="report A: creation timed in the parent alone",
    detect=detect,
    broken=(Live("child_left_behind", "creation-fork-wait"),),
)
